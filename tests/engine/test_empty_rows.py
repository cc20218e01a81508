"""Rows of erased memories are dropped once they are nearly all rows."""

from __future__ import annotations

import itertools
import os
import platform
import sysconfig
import weakref
from pathlib import Path

import numpy as np
import pytest

import oneiros
from oneiros.engine import maintenance
from oneiros.runtime.freed_memory import give_back
from oneiros.scoring.compiled import compile_profile

DAY = 86_400.0
NOW = 1_780_000_000.0


def rows(engine: oneiros.Engine) -> int:
    return len(engine._scope.services.read_model.lifecycle.ids)


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal(8)


def deleted(engine: oneiros.Engine, ids: list[str]) -> None:
    for id in ids:
        engine.delete(id, now=NOW)


def lived(engine: oneiros.Engine, first: int, count: int) -> None:
    """Add memories, and delete nine tenths of them."""
    records = [
        {"id": f"m{n}", "text": f"ant word{n} word{n % 7}", "embedding": vector(n)}
        for n in range(first, first + count)
    ]
    engine.add_many(records, now=NOW, links=False)
    engine.link(f"m{first}", f"m{first + 10}")
    deleted(engine, [f"m{n}" for n in range(first, first + count) if n % 10])


def answers(engine: oneiros.Engine) -> list[object]:
    found: list[object] = []
    for query in ("ant", "word3", "word20"):
        response = engine.search(
            query, k=20, embedding=vector(5), now=NOW + DAY, reinforce=False, explain=True
        )
        found.append(list(zip(response.ids, response.scores, strict=True)))
    found.append([memory.id for memory in engine.list(limit=100)])
    found.append(engine.stats()["links"])
    return found


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_a_purge_drops_rows_once_they_are_nearly_all(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 300)
    path = tmp_path / "store.db" if place == "file" else place
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        lived(engine, 0, 300)
        before = answers(engine)
        assert engine.purge(0, now=NOW + DAY) == 270
        assert rows(engine) == 300  # too few are empty
        assert answers(engine) == before
        lived(engine, 300, 300)
        engine.search("word10", now=NOW + DAY)  # its use is written behind
        before, used = answers(engine), engine.get("m10").access_count
        assert engine.purge(0, now=NOW + DAY) == 270
        assert rows(engine) == 60
        assert answers(engine) == before
        assert engine.get("m10").access_count == used == 1
        assert engine.check(deep=True) == []
        engine.add("ant late", id="late")
        assert engine.search("late").ids[0] == "late"
        assert rows(engine) == 61
    if place == "file":
        with oneiros.Engine(path, clock=lambda: NOW) as again:
            again.delete("late", now=NOW)
            assert answers(again) == before


def test_forgetting_drops_rows_once_they_are_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 300)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        lived(engine, 0, 600)
        before = answers(engine)
        gone = [f"m{n}" for n in range(600) if n % 10]
        engine.forget_many(gone[:270])
        assert rows(engine) == 600  # too few are empty
        engine.scope(project="p").add("ant alone", id="alone")
        engine.forget_many(gone[270:])
        assert rows(engine) == 61
        engine.scope(project="p").forget(where=oneiros.where())
        assert answers(engine) == before
        assert engine.check(deep=True) == []


def test_many_memories_that_live_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 10)
    with oneiros.Engine(tmp_path / "store.db", clock=lambda: NOW) as engine:
        engine.add_many([{"id": f"m{n}", "text": f"word{n}"} for n in range(100)], now=NOW)
        deleted(engine, [f"m{n}" for n in range(70)])
        assert engine.purge(0, now=NOW + DAY) == 70
        assert rows(engine) == 100  # 70 empty ones, 30 memories
        deleted(engine, [f"m{n}" for n in range(70, 80)])
        assert engine.purge(0, now=NOW + DAY) == 10
        assert rows(engine) == 20
        assert engine.check(deep=True) == []


def test_a_response_from_before_still_has_its_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 10)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        lived(engine, 0, 300)
        response = engine.search("word20", now=NOW)
        engine.purge(0, now=NOW + DAY)
        assert rows(engine) == 30
        assert response.ids[0] == "m20"
        assert response.results[0].memory.text == "ant word20 word6"


def test_rebuilding_many_times_keeps_one_set_of_compiled_profiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In whatever order the kinds come."""
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 20)
    monkeypatch.setattr(maintenance, "_EMPTY_PER_ROW", 1)
    kinds = ("fact", "lesson", "note", "plan")
    orders = list(itertools.permutations(kinds))[:8]
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        sizes = []
        last: list[str] = []
        for turn, order in enumerate(orders):
            ids = [f"t{turn}m{number}" for number in range(40)]
            engine.add_many(
                [
                    {"id": id, "text": f"ant word{number}", "kind": order[number % len(order)]}
                    for number, id in enumerate(ids)
                ],
                now=NOW,
            )
            before = engine._scope.services.read_model
            assert engine.search("ant", k=40, now=NOW).ids
            deleted(engine, last)
            last = ids
            engine.purge(0, now=NOW + DAY)
            assert (engine._scope.services.read_model is before) == (not turn)
            assert len(engine.search("ant", k=40, now=NOW)) == 40
            assert {memory.kind for memory in engine.list()} == set(kinds)
            sizes.append(compile_profile.cache_info().currsize)
        assert engine.check(deep=True) == []
    assert sizes[-1] == sizes[1], sizes


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's allocator")
@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="free-threaded Pythons have an allocator of their own",
)
def test_memory_that_was_freed_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [bytearray(1_000) for _ in range(60_000)]
    kept = kept[::600]  # of 60 MB, something stays in use behind the rest
    before = resident()
    give_back()
    assert resident() < before - 30_000_000, len(kept)
    calls: list[bool] = []
    monkeypatch.setattr(maintenance, "give_back", lambda: calls.append(former() is None))
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 10)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        lived(engine, 0, 20)
        former = weakref.ref(engine._scope.services.read_model.lifecycle)
        engine.purge(0, now=NOW)
        assert calls == []  # nothing was deleted before this time
        engine.purge(0, now=NOW + DAY)
        assert calls == [True]  # once the former read model is gone
