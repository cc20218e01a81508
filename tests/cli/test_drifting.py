"""``oneiros drift``: a line for each cycle."""

from __future__ import annotations

from pathlib import Path

import pytest

from oneiros.clock import VirtualClock
from oneiros.engine import Engine
from tests.cli.conftest import Run

NOW = 1_750_000_000.0
DAY = 86_400.0
ODD = "[red]\x1b[2J[/]"


def dreamt(path: Path) -> list[str]:
    """Dream twice on a new store; returns the ids."""
    clock = VirtualClock(NOW)
    with Engine(path, clock=clock, profile="reverie") as mind:
        for number, kind in enumerate(("a", "b", "c", "d", ODD)):
            mind.add(f"stale {number}", kind=kind, now=NOW - (400 + number) * DAY)
        first = mind.dream()
        mind.add("new", id="new")
        mind.search("new")
        clock.advance(DAY)
        return [first.id, mind.dream().id]


def test_people_see_a_line_a_cycle(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dreamt.db"
    ids = dreamt(path)
    outcome = run("drift", "-s", path)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    lines = outcome.stdout.splitlines()[2:]
    rows = [line.split() for line in lines if line.startswith(tuple(ids))]
    assert rows[0][:7] == [ids[0], "2025-06-15T15:06:40Z", "reverie", "0", "0.0%", "0.000", "-"]
    told = " ".join(outcome.stdout.split())
    assert "a 400, b 401, c 402, d 403, ..." in told
    assert [row[0] for row in rows] == ids
    assert rows[1][3:7] == ["1", "0.0%", "0.000", "100.0%"]
    assert "\x1b" not in outcome.stdout
    last = run("drift", "-s", path, "-n", 1).stdout
    assert (ids[0] in last, ids[1] in last) == (False, True)


def test_a_store_of_which_an_undoing_is_the_last_has_dreamt(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dreamt.db"
    _, last = dreamt(path)
    run("dream", "-s", path, "--undo", last)
    told = run("drift", "-s", path, "-n", 1)
    assert (told.exit_code, told.stderr) == (0, "")
    assert "no dream cycle ran" not in told.stdout
    assert "undoings" in told.stdout
    assert f"{last} " in run("drift", "-s", path, "-n", 2).stdout


def test_a_narrow_terminal_hides_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = tmp_path / "dreamt.db"
    ids = dreamt(path)
    for command in (("drift",), ("dream", "--list")):
        outcome = run(*command, "-s", path)
        assert max(map(len, outcome.stdout.splitlines())) <= 40
        assert all(id in outcome.stdout for id in ids)
    told = " ".join(run("drift", "-s", path).stdout.split())
    assert f"{ids[0]}: when 2025-06-15T15:06:40Z; by reverie; live 0; stale 0.0%; " in told


def test_machines_get_all_figures(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dreamt.db"
    ids = dreamt(path)
    found = run("drift", "-s", path, "--json").document["cycles"]
    assert [one["id"] for one in found] == ids
    assert found[0]["half_life_days"] == {
        "a": 400.0,
        "b": 401.0,
        "c": 402.0,
        "d": 403.0,
        ODD: 404.0,
    }


def test_a_store_that_never_dreamt_says_so(run: Run, store: Path) -> None:
    assert run("drift", "-s", store).stdout == "no dream cycle ran on this store\n"
    assert run("drift", "-s", store, "--json").document["cycles"] == []
