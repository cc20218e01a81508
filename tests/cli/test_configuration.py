"""The file of settings, variables and options: which comes first, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oneiros import profiles
from oneiros.engine import Engine
from tests.cli.conftest import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory of the test: empty, without variables of ours."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("CONFIG", "STORE", "PROFILE", "EMBEDDER", "ANALYZER", "TIMEZONE", "SCOPE"):
        monkeypatch.delenv(f"ONEIROS_{name}", raising=False)
    return folder


def settings(run: Run, *arguments: object) -> dict[str, Any]:
    document = run("config", "--json", *arguments).document
    return {name: (one["value"], one["from"]) for name, one in document["settings"].items()}


def test_options_come_before_variables_and_those_before_the_file(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings(run) == {
        "store": ("oneiros.db", "default"),
        "profile": ("oneiros", "default"),
        "embedder": (None, "default"),
        "analyzer": (None, "default"),
        "timezone": (None, "default"),
        "scope": ({}, "default"),
    }
    (here / "oneiros.toml").write_text(
        'store = "a.db"\nprofile = "rrf"\nembedder = "hashing"\nanalyzer = "german"\ntimezone = "Asia/Tokyo"\n[scope]\nuser = "ada"\n'
    )
    file = "file oneiros.toml"
    assert settings(run) == {
        "store": ("a.db", file),
        "profile": ("rrf", file),
        "embedder": ("hashing", file),
        "analyzer": ("german", file),
        "timezone": ("Asia/Tokyo", file),
        "scope": ({"user": "ada"}, file),
    }
    for name, value in (("STORE", "b.db"), ("PROFILE", "ciar"), ("SCOPE", "user=eve project=x")):
        monkeypatch.setenv(f"ONEIROS_{name}", value)
    found = settings(run)
    assert found["store"] == ("b.db", "variable ONEIROS_STORE")
    assert found["profile"] == ("ciar", "variable ONEIROS_PROFILE")
    assert found["embedder"] == ("hashing", file)
    assert found["scope"] == ({"user": "eve", "project": "x"}, "variable ONEIROS_SCOPE")
    found = settings(run, "-s", "c.db", "--profile", "bm25", "--scope", "topic=t")
    assert found["store"] == ("c.db", "option --store")
    assert found["profile"] == ("bm25", "option --profile")
    assert found["scope"] == ({"topic": "t"}, "option --scope")


def test_commands_use_the_file(run: Run, here: Path) -> None:
    (here / "oneiros.toml").write_text(
        'store = "agent.db"\nprofile = "bm25"\nembedder = "hashing"\nscope.user = "ada"\n'
    )
    assert run("add", "Green tea", "--id", "tea").exit_code == 0
    with Engine(here / "agent.db", embedder="hashing") as engine:
        assert engine.get("tea").user == "ada"
        assert engine.stats()["without_vector"] == 0
        engine.add("Black tea", user="eve", id="other")
    found = run("search", "tea", "--json").document
    assert (found["profile"], [one["id"] for one in found["results"]]) == ("bm25", ["tea"])
    assert run("search", "tea", "--profile", "rrf", "--json").document["profile"] == "rrf"
    assert run("list", "--plain").rows[0][0] == "tea"
    assert run("delete", "other").exit_code == 1
    assert run("delete", "tea").exit_code == 0
    assert run("restore", "tea").stdout == "tea: restored\n"
    with Engine(here / "agent.db", embedder="hashing") as engine:
        engine.delete("other", now=0.0)
    assert run("restore", "other").exit_code == 1
    assert run("purge", "--yes", "--json").document["erased"] == 0
    with Engine(here / "agent.db", embedder="hashing") as engine:
        assert engine.purgeable(30.0) == ["other"]
    assert run("dream", "--dry-run").exit_code == 0


def test_a_new_store_has_the_language_of_the_file(run: Run, here: Path) -> None:
    (here / "oneiros.toml").write_text('store = "agent.db"\nanalyzer = "german"\n')
    assert run("add", "Die Häuser stehen leer", "--id", "houses").exit_code == 0
    (here / "oneiros.toml").unlink()
    assert run("search", "Haus", "--store", "agent.db", "--plain").rows[0][0] == "houses"
    (here / "oneiros.toml").write_text('store = "new.db"\nanalyzer = "klingon"\n')
    for command in ("add", "import"):
        refused = run(command, "oneiros.toml")
        assert (refused.exit_code, refused.stdout) == (2, "")
    assert not (here / "new.db").exists()


def test_the_days_of_a_question_are_those_of_the_file(run: Run, here: Path) -> None:
    with Engine(here / "oneiros.db") as engine:
        for day in (16, 17):
            engine.add("Ada called", id=f"{day}", created_at=f"2025-06-{day}T03:00:00Z")
    question = "search", "who called yesterday?", "--now", "2025-06-17T23:00:00Z", "--plain"
    assert run(*question).rows[0][0] == "16"
    (here / "oneiros.toml").write_text('timezone = "Asia/Tokyo"\n')
    assert run(*question).rows[0][0] == "17"
    with Engine(here / "oneiros.db") as engine:
        engine.add("Ada called late", id="late", created_at="2025-06-17T20:00:00Z")
    for command in (("search", "called late", "-k", "1"), ("last", "1")):
        assert "2025-06-18" in run(*command, "--plain").rows[0]
        assert "2025-06-18" in run(*command).stdout
        assert "2025-06-17" in run(*command, "--plain", "--timezone", "UTC").rows[0]
    assert run("list", "--plain").rows[-1][2] == "2025-06-18"
    refused = run(*question, "--timezone", "Tokio")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: --timezone: no time zone is called 'Tokio'")


def test_a_variable_names_the_file_elsewhere(
    run: Run, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.toml"
    other.write_text('store = "agent.db"\n')
    (here / "oneiros.toml").write_text('store = "here.db"\n')
    monkeypatch.setenv("ONEIROS_CONFIG", str(other))
    found = run("config", "--json").document
    assert found["file"] == str(other)
    assert found["settings"]["store"]["value"] == str(tmp_path / "agent.db")
    monkeypatch.setenv("ONEIROS_CONFIG", "absent.toml")
    outcome = run("list")
    assert outcome == (2, "", "error: ONEIROS_CONFIG: absent.toml: no such file\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('profile = "rrf"\nstor = "a.db"\n', "oneiros.toml:2: no setting is named 'stor'; there "),
        ("\nstore = 3\n", "oneiros.toml:2: store: must be a text that is not empty, got 3"),
        ('profile = ""\n', "oneiros.toml:1: profile: must be a text that is not empty, got ''"),
        ('store = "a"\nscope = "ada"\n', "oneiros.toml:2: scope: must be a table such as"),
        ("[scope]\nuser = 1\n", "oneiros.toml:2: scope.user: must be a text that is not empty"),
        ('store = "a.db"\nprofile\n', "oneiros.toml:2: not TOML: "),
        ("x = " + "[" * 50_000, "oneiros.toml: nested too deeply"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(run: Run, here: Path, text: str, message: str) -> None:
    (here / "oneiros.toml").write_text(text)
    outcome = run("stats")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: {message}")
    assert outcome.stderr.count("\n") == 1


def test_a_file_that_is_no_text_is_named_with_its_line(run: Run, here: Path) -> None:
    (here / "oneiros.toml").write_bytes(b'store = "a.db"\nprofile = "\xff"\n')
    assert run("list").stderr == "error: oneiros.toml:2: not UTF-8\n"


def test_files_may_begin_with_a_byte_order_mark(run: Run, here: Path) -> None:
    (here / "oneiros.toml").write_bytes(b'\xef\xbb\xbfprofile = "own.toml"\n')
    (here / "own.toml").write_bytes(b"\xef\xbb\xbf" + profiles.get("bm25").to_toml().encode())
    run("add", "tea")
    assert run("search", "tea").exit_code == 0
    assert "own.toml" in run("config").stdout


def test_the_table_names_values_and_origins(run: Run, here: Path) -> None:
    shown = run("config", "--scope", "user=ada").stdout
    assert "user=ada" in shown
    assert "option --scope" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "store\toneiros.db\tdefault\n" in run("config", "--plain").stdout
    assert list(here.iterdir()) == []
