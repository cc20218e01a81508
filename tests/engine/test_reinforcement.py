"""What a search leaves on what it returned (R20), whatever comes between it and the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import oneiros

NOW = 1_750_000_000.0
DAY = 86_400.0


def opened(path: Path) -> oneiros.Engine:
    return oneiros.Engine(path, profile="reverie", analyzer="simple", clock=lambda: NOW)


def found_once(path: Path) -> oneiros.Engine:
    """An engine whose one memory, of stability 2, was found a week after it was made."""
    mind = opened(path)
    mind.add("ant", id="a", created_at=NOW - 7 * DAY, stability=2.0, project="x")
    assert [result.id for result in mind.search("ant", session="s1").results] == ["a"]
    return mind


def state(mind: oneiros.Engine) -> tuple[int, float | None, float, frozenset[str]]:
    one = mind.get("a")
    return one.access_count, one.last_accessed_at, round(one.stability, 6), frozenset(one.sessions)


FOUND = (1, NOW, 2.2, frozenset({"s1"}))  # one span of seven days: + 10 %


def test_a_search_is_seen_at_once_and_kept(tmp_path: Path) -> None:
    mind = found_once(tmp_path / "mind.db")
    assert state(mind) == FOUND
    mind.close()
    with opened(tmp_path / "mind.db") as again:
        assert state(again) == FOUND


@pytest.mark.parametrize("by", ["id", "filter"])
def test_deleting_and_restoring_keeps_it(tmp_path: Path, by: str) -> None:
    with found_once(tmp_path / "mind.db") as mind:
        assert mind.delete(*(["a"] if by == "id" else []), **(
            {} if by == "id" else {"where": oneiros.where(project="x")}
        )) == 1  # fmt: skip
        mind.restore("a")
        assert state(mind) == FOUND


def test_an_update_of_something_else_keeps_it(tmp_path: Path) -> None:
    with found_once(tmp_path / "mind.db") as mind:
        mind.update("a", text="bee")
        assert state(mind) == FOUND


@pytest.mark.parametrize(
    "is_flushed",
    [
        True,
        False,
    ],
)
def test_a_later_update_wins_over_an_earlier_search(tmp_path: Path, is_flushed: bool) -> None:
    with found_once(tmp_path / "mind.db") as mind:
        if is_flushed:
            mind.flush()
        mind.update("a", stability=5.0, access_count=0, last_accessed_at=NOW - DAY)
        assert state(mind)[:3] == (0, NOW - DAY, 5.0)
        mind.flush()
        assert state(mind)[:3] == (0, NOW - DAY, 5.0)


def test_an_export_and_a_backup_hold_it(tmp_path: Path) -> None:
    with found_once(tmp_path / "mind.db") as mind:
        mind.export(tmp_path / "out.jsonl")
        mind.backup(tmp_path / "copy.db")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["access_count"] == 1
    with opened(tmp_path / "copy.db") as copy:
        assert state(copy) == FOUND


def test_two_engines_of_one_file_add_up(tmp_path: Path) -> None:
    with found_once(tmp_path / "mind.db") as one, opened(tmp_path / "mind.db") as two:
        two.search("ant", session="s2")
        two.search("ant", session="s2")
        one.flush()
        two.flush()
        for mind in (one, two):
            mind.refresh()
            assert mind.get("a").access_count == 3
            assert mind.get("a").sessions == {"s1", "s2"}
            assert mind.get("a").session_spread == 2


def test_reading_is_no_access(tmp_path: Path) -> None:
    with opened(tmp_path / "mind.db") as mind:
        mind.add("ant", id="a")
        mind.get("a")
        mind.get_many(["a"])
        mind.list()
        mind.count()
        mind.export(tmp_path / "out.jsonl")
        mind.search("ant", reinforce=False, explain=True)
        mind.search("bee")
        mind.search("ant", k=0)
        assert state(mind)[:2] == (0, None)


@pytest.mark.parametrize(("stability", "most"), [(9.9, 10.0), (10.0, 10.0), (0.0, 0.0)])
def test_stability_ends_at_ten(tmp_path: Path, stability: float, most: float) -> None:
    with opened(tmp_path / "mind.db") as mind:
        mind.add("ant", id="a", created_at=NOW - 400 * DAY, stability=stability)
        mind.search("ant")
        assert mind.get("a").stability == most


class RunsOut:
    """A core that changes a column and then finds no memory for the rest."""

    def __init__(self, core: Any, columns: Any) -> None:
        self._core = core
        self._columns = columns

    def apply(self, **use: Any) -> None:
        rows = list(use["rows"])
        self._columns.write(rows=rows, values={"access_count": [9] * len(rows)})
        raise MemoryError

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)


def test_memory_that_runs_out_within_a_use_leaves_the_memories_as_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "mind.db") as engine:
        engine.add("tea at the harbour", id="tea")
        on = engine._scope.services.sync.reinforcing._on
        whole, on.core = on.core, RunsOut(on.core, on.lifecycle.columns)  # type: ignore[assignment]
        assert engine.search("tea").ids == ["tea"]
        on.core = whole
        assert int(on.lifecycle.column("access_count")[0]) == 9
        with pytest.raises(MemoryError):
            engine.flush()
        assert engine.check(deep=True) == []
        assert int(on.lifecycle.column("access_count")[0]) == 0
        engine.search("tea")
        engine.flush()
        assert engine.get("tea").access_count == 1
        assert engine.check(deep=True) == []
