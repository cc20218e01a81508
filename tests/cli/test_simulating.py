"""``oneiros simulate``: lives of profiles with dreams and without."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

import pytest

from oneiros.evaluation.tasks import system_names
from tests.cli.conftest import Run

SMALL = ("simulate", "--memories", 60, "--days", 40, "--dream-every", 10)
LINES = [
    {"id": "a", "text": "the port is 80", "questions": "which port?"},
    {"id": "b", "text": "the port is 81", "replaces": "a"},
]


def test_a_row_with_dreams_and_one_without(run: Run) -> None:
    outcome = run(*SMALL, "--profile", "reverie", "--profile", "ciar")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    rows = [line.split()[:3] for line in outcome.stdout.splitlines() if "0." in line]
    assert rows == [["reverie", "-", "60"], ["reverie", "4", rows[1][2]], ["ciar", "-", "60"]]
    assert "60 memories in 40 days" in outcome.stdout


def test_a_narrow_terminal_cuts_no_figure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    outcome = run(*SMALL, "--profile", "ciar")
    assert "…" not in outcome.stdout
    assert "ciar: dreams -; recalled 60; archived 0;" in outcome.stdout


def test_json_has_every_month(run: Run) -> None:
    document = run(*SMALL, "--seed", 2, "--json").document
    assert [(one["memories"], one["seed"]) for one in document["worlds"]] == [(60, 2)]
    assert document["dream_every_days"] == 10.0
    awake, dreaming = document["courses"]
    assert (awake["profile"], awake["is_dreaming"]) == ("oneiros", False)
    assert (dreaming["profile"], dreaming["is_dreaming"], dreaming["dreams"]) == (
        "oneiros",
        True,
        4,
    )
    assert [one["memories"] for one in awake["checkpoints"]] == [60]


def test_seeds_are_lived_one_by_one_and_told_together(run: Run) -> None:
    seeds = ("--seed", 2, "--seed", 3)
    outcome = run(*SMALL, *seeds, "--profile", "reverie")
    assert "60 memories in 40 days, seeds 2, 3" in outcome.stdout
    rows = [line.split() for line in outcome.stdout.splitlines() if line.startswith("reverie")]
    assert [row[:2] for row in rows] == [["reverie", "-"], ["reverie", "4"], ["reverie", "all"]]
    courses = run(*SMALL, *seeds, "--profile", "reverie", "--json").document["courses"]
    lived = [(one["seed"], one["is_dreaming"]) for one in courses]
    assert lived == [(2, False), (3, False), (2, True), (3, True)]
    ends = [one["checkpoints"][-1]["active"] for one in courses[2:]]
    assert int(rows[1][2]) == pytest.approx(sum(ends) / 2, abs=0.5)


def test_all_six_and_none_of_them_dreaming(run: Run) -> None:
    few = ("simulate", "--memories", 10, "--days", 10)
    outcome = run(*few, "--profile", "all", "--no-dream", "--json")
    courses = outcome.document["courses"]
    assert sorted(one["profile"] for one in courses) == sorted(
        {name.partition("-")[0] for name in system_names()}
    )
    assert not any(one["is_dreaming"] for one in courses)
    assert outcome.document["dream_every_days"] is None


def test_what_was_taken_away_is_told_by_kind_and_rule(run: Run) -> None:
    outcome = run(*SMALL, "--profile", "reverie")
    told = outcome.stdout.partition("Removed at the end, of each kind, by rule")[2].splitlines()
    assert told[1].split()[:3] == ["profile", "rule", "all"]
    shares = [line.split()[-len(told[1].split()) + 2 :][0] for line in told[3:] if line.strip()]
    total, *by_rule = (int(share.rstrip("%")) for share in shares)
    assert sum(by_rule) == pytest.approx(total, abs=len(by_rule))
    assert 0 < total < 100


def test_a_page_and_a_picture(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "life.html", tmp_path / "life.svg"
    outcome = run(*SMALL, "--profile", "ciar", "--html", page, "--plot", picture)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert b"<svg" in picture.read_bytes()


@pytest.mark.parametrize("option", ["--plot", "--html"])
def test_a_missing_matplotlib_is_told_before_anybody_lives(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def lived(*_: object) -> None:
        raise AssertionError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("oneiros.simulation.run.simulate", lived)
    outcome = run(*SMALL, option, tmp_path / "life.svg")
    assert outcome.exit_code == 2
    assert (
        f"{option}: matplotlib is not installed; run: pip install 'oneiros[plots]'"
        in outcome.stderr
    )


def test_data_of_ones_own_are_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    document = run("simulate", "--data", path, "--days", 40, "--profile", "ciar", "--json").document
    assert [(one["memories"], one["facts"]) for one in document["worlds"]] == [(2, 1)]
    assert document["courses"][0]["checkpoints"][-1]["memories"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--profile", "nobody"), "--profile: "),
        (("--profile", "ciar", "--profile", "ciar"), "--profile: each once, got ciar, ciar"),
        (("--profile", "all", "--profile", "ciar"), "--profile: each once, got oneiros, "),
        (("--seed", "1", "--seed", "1"), "--seed: each once, got 1, 1"),
        (("--plot", "life.gif"), "--plot: expected a name that ends in .svg or .png"),
        (("--days", "0"), "days: must be >= 1"),
        (("--days", "1e-9"), "days: must be >= 1"),
        (("--memories", "0"), "memories: must be >= 1"),
        (("--dream-every", "0"), "--dream-every: must be >= 0.01"),
        (("--dream-every", "2", "--no-dream"), "--no-dream, --dream-every: only one of them"),
        (("--memories", "5", "--data", "demo"), "--memories, --data: only one of them"),
        (("--data", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_wrong_input_is_named(run: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = run("simulate", *arguments)
    assert outcome.exit_code in (1, 2)
    assert message in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--html", "."), "--html: must be a file's name, got the folder '.'"),
        (("--html", "none/life.html"), "--html: none: no such folder"),
        (("--plot", "none/life.svg"), "--plot: none: no such folder"),
        (("--html", "life.svg", "--plot", "life.svg"), "--html: must be another file than"),
        (("--html", "life.jsonl", "--data", "life.jsonl"), "--html: must be another file than"),
        (("--html", "link.html"), "--html: link.html is a symbolic link"),
    ],
)
def test_what_could_not_be_written_is_told_before_anybody_lives(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    told = "\n".join(map(json.dumps, LINES))
    Path("life.jsonl").write_text(told, encoding="utf-8")
    Path("link.html").symlink_to("life.jsonl")
    outcome = run("simulate", *options)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert Path("life.jsonl").read_text(encoding="utf-8") == told
    assert not Path("life.svg").exists()


def test_a_page_that_cannot_be_written_costs_no_figures(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    picture = tmp_path / "life.svg"
    picture.write_text("what was there before", encoding="utf-8")
    monkeypatch.setattr("os.fsync", full)
    outcome = run(*SMALL, "--profile", "ciar", "--plot", picture)
    assert outcome.exit_code == 1
    assert "60 memories in 40 days" in outcome.stdout
    assert outcome.stderr == f"error: {picture}: No space left on device\n"
    assert [one.name for one in tmp_path.iterdir()] == ["life.svg"]
    assert picture.read_text(encoding="utf-8") == "what was there before"


def test_a_line_that_breaks_the_format_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text("{", encoding="utf-8")
    outcome = run("simulate", "--data", path)
    assert outcome.exit_code == 2
    assert "life.jsonl:1: not JSON in UTF-8" in outcome.stderr
    path.write_text('{"text": "a"}\n')
    words = f"error: --data: {path}: no line has questions, so nothing would be asked\n"
    assert run("simulate", "--data", path).stderr == words
