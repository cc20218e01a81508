"""``oneiros dream``: what people and machines are told of a cycle, and how it is taken back."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run

NOW = 1_750_000_000.0
DAY = 86_400.0
CLOCK = ("--now", str(NOW))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "dreams.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add("long forgotten", id="old", created_at=NOW - 800 * DAY)
        mind.add(HOSTILE, id="[red]odd[/]", created_at=NOW - 800 * DAY)
        mind.add("never to go", id="kept", created_at=NOW - 800 * DAY, pinned=True)
        mind.add("said today", id="fresh", created_at=NOW - 3 * DAY)
    return path


def live(store: Path) -> set[str]:
    with Engine(store) as mind:
        return {memory.id for memory in mind.list()}


def dreamed(run: Run, store: Path, *more: str) -> dict[str, object]:
    outcome = run("dream", "--store", store, "--profile", "reverie", *CLOCK, "--json", *more)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome.document


def test_a_cycle_is_run_and_told_as_a_document(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store)
    assert told["is_dry_run"] is False
    assert told["now"] == NOW
    assert told["live_before"] == 4
    assert told["live_after"] == len(live(store)) < 4
    assert "kept" in live(store) < before
    with Engine(store) as mind:
        assert json.loads(json.dumps(mind.dreams(1)[0].record())) == told


def test_a_dry_run_changes_nothing_and_tells_the_same(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store, "--dry-run")
    assert live(store) == before
    done = dreamed(run, store)
    for field in ("named", "left_alone", "live_after", "change_count"):
        assert told[field] == done[field]


def test_people_see_phases_rules_reasons_and_names(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, "--profile", "reverie", *CLOCK, "--dry-run")
    assert outcome.exit_code == 0
    lines = [line.split() for line in outcome.stdout.splitlines()]
    assert "(reverie) as of 2025-06-15T15:06:40+00:00: would change" in outcome.stdout
    assert any(line[:2] == ["prune", "R13"] for line in lines)
    assert any("protected" in line for line in lines)
    deleted = [line for line in lines if line[1:3] == ["deleted_at", "-"]]
    assert deleted
    assert all(line[-2:] == ["prune", "R13"] for line in deleted)


def test_ids_are_shown_literally(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with Engine(path) as mind:
        mind.add("a", id="[red]odd\x1b[2J[/]", created_at=NOW - 800 * DAY)
    shown = run("dream", "-s", path, "--profile", "reverie", *CLOCK).stdout
    assert "[red]odd" in shown
    assert "\x1b" not in shown


def test_a_cycle_is_taken_back(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store)
    outcome = run("dream", "-s", store, "--undo", told["id"])
    assert outcome.exit_code == 0
    assert f"dream {told['id']} undone by " in outcome.stdout
    assert live(store) == before
    again = run("dream", "-s", store, "--undo", told["id"])
    assert again.exit_code == 2
    assert again.stderr.startswith("error: ")


def test_the_cycles_are_listed_the_newest_first(run: Run, store: Path) -> None:
    assert "no dream cycle" in run("dream", "-s", store, "--list").stdout
    told = dreamed(run, store)
    undone = run("dream", "-s", store, "--undo", told["id"], "--json").document
    found = run("dream", "-s", store, "--list", "--json").document["dreams"]
    assert [one["id"] for one in found] == [undone["id"], told["id"]]
    lines = run("dream", "-s", store, "--list").stdout.splitlines()
    assert f"undoes {told['id']}" in lines[-2]
    assert lines[-1].startswith(str(told["id"]))


@pytest.mark.parametrize(
    "damage",
    ["report = '{'", "report = '{}'", "report = CAST(x'FF' AS TEXT)", "dreamed_at = 1e300"],
)
def test_a_damaged_cycle_is_listed_as_one(run: Run, store: Path, damage: str) -> None:
    told = dreamed(run, store)
    with closing(apsw.Connection(str(store))) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE dream_cycle SET {damage}")
    outcome = run("dream", "-s", store, "--list")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert str(told["id"]) in outcome.stdout
    assert "damaged: " in outcome.stdout
    again = run("dream", "-s", store, "--list", "--json")
    assert (again.exit_code, len(again.document["dreams"])) == (0, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dry-run", "--list"], "--list: cannot go with --dry-run"),
        (["--undo", "x", "--list"], "--list: cannot go with --undo"),
        (["--undo", "x", "--profile", "reverie"], "--profile: cannot go with --undo"),
        (["--profile", "nobody"], "--profile: name: no profile is called 'nobody'"),
        (["--now", "soon"], "--now"),
        (["--now=-1e30"], "--now: must be in year 1 or later, seconds since 1970, got -1e+30"),
        (["--watch", "--dry-run"], "--watch: cannot go with --dry-run"),
        (["--watch", "--now", "0"], "--now: cannot go with --watch"),
        (["--watch", "--html", "x.html"], "--html: cannot go with --watch"),
        (["--list", "--now", "0"], "--now: cannot go with --list"),
        (["--list", "--html", "x.html"], "--html: cannot go with --list"),
        (["--every", "4h"], "--every: needs --watch"),
        (["--after-new", "3"], "--after-new: needs --watch"),
        (["--watch", "--every", "soon"], "--every: must be a number and one of s, min, h and d"),
        (["--watch", "--every", "0s"], "--every: must be above 0"),
        (["--watch", "--after-new", str(2**31)], "'--after-new': Input should be less than"),
        (["--watch", "--every", "never", "--after-new", "0"], "one of them must be a reason"),
        (["--undo", "x"], "x"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_done(
    run: Run, store: Path, options: list[str], words: str
) -> None:
    outcome = run("dream", "-s", store, *options)
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("error: ")
    assert words in outcome.stderr
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_no_store_is_made(run: Run, tmp_path: Path) -> None:
    outcome = run("dream", "-s", tmp_path / "none.db")
    assert outcome.exit_code == 2
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("command", ["dream", "drift", "purge"])
def test_an_empty_file_is_no_store_and_becomes_none(run: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "notes.txt"
    path.touch()
    outcome = run(command, "-s", path)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == f"error: {path}: no store: the file is empty\n"
    assert ([one.name for one in tmp_path.iterdir()], path.stat().st_size) == (["notes.txt"], 0)


def test_an_impact_tells_which_answers_a_cycle_would_lose(run: Run, store: Path) -> None:
    questions = store.with_suffix(".jsonl")
    questions.write_text('{"text": "long forgotten"}\n\n{"text": "said today"}\n', encoding="utf-8")
    told = dreamed(run, store, "--dry-run", "--impact", str(questions))
    impact = told["impact"]
    assert isinstance(impact, dict)
    first, second = impact["queries"]
    assert (first["query"], first["before"], first["after"]) == ("long forgotten", ["old"], [])
    assert (second["before"], second["after"], second["overlap"]) == (["fresh"], ["fresh"], 1.0)
    assert impact["lost_by_rule"] == {"R13": 1}
    asked = ("dream", "-s", store, "--profile", "reverie", *CLOCK, "--dry-run")
    outcome = run(*asked, "--impact", str(questions))
    assert "2 questions, top 10: 50.0% stay; lost: R13 1" in outcome.stdout
    assert "old" in live(store)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("{}", "line 1"),
        ('{"text": "a"}\nnot', "line 2"),
        ('{"text": 3}', "line 1"),
        ("\n", "no question in it"),
    ],
)
def test_questions_that_are_none_are_refused_by_their_line(
    run: Run, store: Path, lines: str, problem: str
) -> None:
    questions = store.with_suffix(".jsonl")
    questions.write_text(lines, encoding="utf-8")
    outcome = run("dream", "-s", store, *CLOCK, "--dry-run", "--impact", str(questions))
    assert outcome.exit_code != 0
    assert problem in outcome.stderr


def test_an_impact_is_of_a_dry_run(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, "--impact", str(store))
    assert outcome.exit_code != 0
    assert "--dry-run" in outcome.stderr
