"""Settings from outside: what is read, and what is refused before it costs anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from oneiros.scoring.profile_settings import read_settings

WANT = {"ciar": {"lambda_decay": 0.1, "presets": {"a": {"promotion_threshold": 0.5}}}}


def test_toml_and_yaml_say_the_same(tmp_path: Path) -> None:
    toml = tmp_path / "a.toml"
    toml.write_text("[ciar]\nlambda_decay = 0.1\n[ciar.presets.a]\npromotion_threshold = 0.5\n")
    yaml = tmp_path / "a.yaml"
    yaml.write_text(
        "ciar:  # decay\n  lambda_decay: 0.1\n  presets:\n    a:\n      promotion_threshold: 0.5\n"
    )
    assert read_settings(toml) == read_settings(yaml) == WANT
    assert read_settings(str(yaml.rename(tmp_path / "b.yml"))) == WANT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x [1]\nb: *x", "aliases are not read"),
        ("a: !!python/object/apply:os.system ['true']", "no YAML"),
        ("a: 1\na: 2", "'a' stands there twice"),
        ("p: {a: 1, b: 2, a: 3}", "'a' stands there twice"),
        ("- 1", "expected a table, got list"),
        ("", "expected a table, got NoneType"),
        ("a: [", "no YAML"),
        ("a: " + "[" * 9 + "]" * 9, "nested deeper than 8"),
        ("a: " + "[" * 5000 + "]" * 5000, "nested"),
        ("a: [" + "1, " * 5000 + "1]", "at most 4096 values"),
        ("a: " + "x" * 70_000, "at most 65536 bytes"),
        ("a: \x00", "no YAML"),
    ],
)
def test_yaml_that_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^a.yaml: .*{words}"):
        read_settings(path)


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a .toml, .yaml or .yml file, got 'a.json'"):
        read_settings(tmp_path / "a.json")
    path = tmp_path / "a.toml"
    with pytest.raises(FileNotFoundError):
        read_settings(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"a.toml: expected UTF-8"):
        read_settings(path)
    path.write_text("a = ")
    with pytest.raises(ValueError, match=r"a.toml: "):
        read_settings(path)
