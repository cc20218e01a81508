"""``oneiros purge``: told and asked first, then erased for good, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from oneiros.cli.terminal import moment
from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run

NOW = 1_750_000_000.0
DAY = 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "deleted.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add("the code of the old door", id="long")
        mind.add(HOSTILE, id="[red]odd[/]", kind="secret")
        mind.add("deleted yesterday", id="lately")
        mind.add("never deleted", id="kept")
        for name, days in (("long", 90), ("[red]odd[/]", 40), ("lately", 1)):
            mind.delete(name, now=NOW - days * DAY)
    return path


def held(store: Path) -> set[str]:
    names = ["long", "[red]odd[/]", "lately", "kept"]
    with Engine(store) as mind:
        found = [*mind.get_many(names), *mind.get_deleted(names)]
    return {memory.id for memory in found if memory is not None}


EVERY = {"long", "[red]odd[/]", "lately", "kept"}


def test_a_dry_run_tells_what_would_go_and_erases_nothing(run: Run, store: Path) -> None:
    outcome = run("purge", "-s", store, "--now", NOW, "--dry-run")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert ["long", "note", "2025-03-17T15:06:40+00:00", "the", "code"] in [row[:5] for row in rows]
    assert "[red]odd[/]" in outcome.stdout
    assert "\x1b" not in outcome.stdout
    assert "lately" not in outcome.stdout
    assert outcome.stdout.endswith("2 memories, deleted more than 30 days ago\n")
    assert held(store) == EVERY


def test_machines_get_the_ids_and_what_was_erased(run: Run, store: Path) -> None:
    asked = ("purge", "-s", store, "--now", NOW, "--json", "--older-than", 60)
    told = {
        "command": "purge",
        "store": str(store),
        "now": moment(NOW),
        "older_than_days": 60.0,
        "is_dry_run": True,
        "erased": 0,
        "ids": ["long"],
        "count": 1,
    }
    assert run(*asked, "--dry-run").document == told
    done = run(*asked, "--yes")
    assert done.document == told | {"is_dry_run": False, "erased": 1}
    assert done.stderr == ""
    assert held(store) == EVERY - {"long"}


@pytest.mark.parametrize("answer", ["y\n", " YES \n"])
def test_who_says_yes_is_obeyed(run: Run, store: Path, answer: str) -> None:
    outcome = run("purge", "-s", store, "--now", NOW, stdin=answer)
    assert outcome.exit_code == 0
    assert outcome.stderr == "erase 2 memories for good? [y/N] "
    assert outcome.stdout.endswith("2 memories erased\n")
    assert held(store) == {"lately", "kept"}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("n\n", 1, "error: nothing was erased"),
        ("\n", 1, "error: nothing was erased"),
        ("yesterday\n", 1, "error: nothing was erased"),
        ("", 2, "error: --yes: needed where stdin has no answer; nothing was erased"),
    ],
)
def test_without_a_yes_nothing_goes(
    run: Run, store: Path, answer: str, code: int, words: str
) -> None:
    outcome = run("purge", "-s", store, "--now", NOW, stdin=answer)
    assert outcome.exit_code == code
    assert words in outcome.stderr
    assert held(store) == EVERY


def test_where_nothing_is_to_go_nobody_is_asked(run: Run, store: Path) -> None:
    outcome = run("purge", "-s", store, "--now", NOW, "--older-than", 100)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout == "nothing was deleted more than 100 days ago\n"


def test_of_many_the_first_fifty_are_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with Engine(path, clock=lambda: NOW) as mind:
        for number in range(53):
            mind.add(f"text {number}", id=f"m{number}")
            mind.delete(f"m{number}", now=NOW - 50 * DAY)
    outcome = run("purge", "-s", path, "--now", NOW, "--dry-run")
    assert "text 49" in outcome.stdout
    assert "text 50" not in outcome.stdout
    assert "... and 3 more\n53 memories" in outcome.stdout
    document = run("purge", "-s", path, "--now", NOW, "--dry-run", "--json").document
    assert document["ids"] == [f"m{number}" for number in range(53)]


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--older-than", "-1"], "--older-than: must be >= 0"), (["--now", "soon"], "--now")],
)
def test_what_cannot_be_is_refused(run: Run, store: Path, options: list[str], words: str) -> None:
    outcome = run("purge", "-s", store, "--yes", *options)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert words in outcome.stderr
    assert held(store) == EVERY


def test_no_store_is_made(run: Run, tmp_path: Path) -> None:
    outcome = run("purge", "-s", tmp_path / "none.db", "--yes")
    assert outcome.exit_code == 2
    assert not (tmp_path / "none.db").exists()
