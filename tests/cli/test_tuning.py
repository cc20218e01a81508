"""``oneiros tune``: what it prints, writes and refuses."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

import oneiros
from oneiros import profiles
from oneiros.evaluation import collection
from oneiros.scoring.profile import Profile
from tests.cli.conftest import Run

WEIGHT = ("--over", "fusion.weight=0.55")


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    """A profile that goes by words alone, which the demo's questions speak against."""
    profile = profiles.get("oneiros").replace(name="poor")
    changed = Profile.from_toml(profile.to_toml().replace("weight = 0.55", "weight = 1.0"))
    path = tmp_path / "poor.toml"
    path.write_text(changed.to_toml(), encoding="utf-8")
    return path


def test_a_better_profile_is_told_and_written(run: Run, poor: Path, tmp_path: Path) -> None:
    written = tmp_path / "better.toml"
    outcome = run("tune", "--profile", poor, *WEIGHT, "--output", written)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    for words in ("fusion.weight", "fold 2", "-weight = 1.0", "+weight = 0.55", "written: "):
        assert words in outcome.stdout
    better = Profile.from_toml(written.read_text(encoding="utf-8"))
    assert better == profiles.get("oneiros").replace(name="poor")


def test_nothing_is_written_where_nothing_is_better(run: Run, tmp_path: Path) -> None:
    written = tmp_path / "better.toml"
    options = ("tune", "--over", "factors.feedback.damping=0.1,0.2", "--output", written)
    assert "nothing is better beyond chance" in run(*options).stdout
    document = run(*options, "--json").document
    assert (document["is_better"], document["changes"]) == (False, [])
    assert Profile.from_toml(str(document["tuned"])) == profiles.get("oneiros")
    assert not written.exists()


def test_collections_are_tuned_in_their_language(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "kettles"
    folder.mkdir()
    documents = [{"_id": f"d{n}", "text": f"the kettle leaks word{n}"} for n in range(4)]
    queries = [{"_id": f"q{n}", "text": "kettles"} for n in range(4)]
    for name, lines in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    grades = "".join(f"q{n}\td{n}\t1\n" for n in range(4))
    (folder / "qrels.tsv").write_text(f"query\tdocument\tgrade\n{grades}")
    options = ("tune", folder, "--profile", "bm25", "--over", "channels.lexical.b=0.5", "--json")
    found = {name: run(*options, "--analyzer", name).document for name in ("english", "simple")}
    before = {name: one["folds"][0]["before"] for name, one in found.items()}
    assert before["english"] > 0.0
    assert before["simple"] == 0.0
    store = ("tune", "--forgetting", tmp_path / "mind.db", "--analyzer", "simple")
    assert "--forgetting, --analyzer: only one of them" in run(*store).stderr


@pytest.mark.parametrize("place", ["folder", "link", "nowhere/better.toml"])
def test_an_output_that_cannot_be_is_refused_before_anything_is_measured(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere.toml")
    monkeypatch.setattr("oneiros.evaluation.tuning.tune", None)
    outcome = run("tune", "--output", tmp_path / place)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: --output: ")


@pytest.mark.parametrize("suffix", ["", "-wal", "-snapshot"])
def test_the_store_that_is_read_is_never_written_over(
    run: Run, tmp_path: Path, suffix: str
) -> None:
    store = tmp_path / "mind.db"
    with oneiros.Engine(store) as engine:
        engine.add_many({"id": f"m{n}", "text": f"I like tea number {n}"} for n in range(60))
        for n in range(0, 60, 2):
            engine.feedback(f"m{n}", "helpful")
    before = store.read_bytes()
    outcome = run("tune", "--forgetting", store, "--output", f"{store}{suffix}")
    assert outcome.exit_code == 2
    assert "--output: must be another file than the store's own" in outcome.stderr
    assert store.read_bytes() == before


@pytest.mark.parametrize("name", collection.FILES)
def test_a_collection_that_is_read_is_never_written_over(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("oneiros.evaluation.tuning.tune", None)
    outcome = run("tune", tmp_path, "--output", tmp_path / name)
    assert outcome.exit_code == 2
    assert "--output: must be another file than that of collections" in outcome.stderr


def test_a_write_that_fails_leaves_what_was_there(
    run: Run, poor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = poor.read_bytes()
    monkeypatch.setattr("os.fsync", fails)
    outcome = run("tune", "--profile", poor, *WEIGHT, "--output", poor)
    assert outcome.exit_code == 1
    assert "No space left" in outcome.stderr
    assert poor.read_bytes() == before
    assert [*poor.parent.iterdir()] == [poor]


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("fusion.weight", "--over: expected PATH=NUMBER,NUMBER..., got 'fusion.weight'"),
        ("fusion.weight=much", "--over: expected PATH=NUMBER"),
        ("fusion.weight=2", "--over: weight: must be >= 0 and <= 1, got 2"),
        ("fusion.shine=2", "--over: fusion.shine: profile oneiros has no such number"),
    ],
)
def test_a_number_that_cannot_be_tried_is_refused(run: Run, over: str, message: str) -> None:
    outcome = run("tune", "--over", over)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_a_number_comes_once(run: Run) -> None:
    outcome = run("tune", "--over", "fusion.weight=0.4", "--over", "fusion.weight=0.5")
    assert outcome.exit_code == 2
    assert "--over: each once, got fusion.weight, fusion.weight" in outcome.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 20_000 + "]" * 20_000, "own.toml: text: nested deeper than 8"),
        ("a" + ".a" * 30_000 + " = 1", "own.toml: text: at most 512 dots a line"),
        ('name = "own"\nfusion\n', "own.toml:2: not TOML: "),
        ('name = "own"\nshine = 1\n', "own.toml: profile: unknown key 'shine'"),
    ],
)
def test_a_file_that_is_no_profile_is_refused_at_once(
    run: Run, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    outcome = run("tune", "--profile", path)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith(f"error: --profile: {tmp_path}/{message}")


def test_a_collection_comes_once(run: Run, tmp_path: Path) -> None:
    outcome = run("tune", tmp_path, tmp_path / ".." / tmp_path.name)
    assert outcome.exit_code == 2
    assert f"collections: each once, got {tmp_path}, {tmp_path}" in outcome.stderr


def test_a_profile_without_the_usual_numbers_needs_some(run: Run) -> None:
    outcome = run("tune", "--profile", "cosine")
    assert outcome.exit_code == 2
    assert "--over: parameters: profile cosine has none of the usual ones" in outcome.stderr


def test_too_few_questions_are_no_fault_of_the_numbers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "m", "text": "Ada likes coffee"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "coffee"}\n')
    (tmp_path / "qrels.tsv").write_text("query\tdocument\tgrade\nq\tm\t1\n")
    outcome = run("tune", tmp_path, *WEIGHT)
    assert outcome.exit_code == 2
    assert outcome.stderr == "error: --folds: 2 need as many questions, got 1\n"
