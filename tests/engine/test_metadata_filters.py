"""Filters on metadata through the engine: each call beside a plain scan of the stored metadata."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.filters import Where, metadata_index
from oneiros.filters.conditions import And, AnyOf, Everything, Not, OnMetadata, Or
from oneiros.index import snapshot, stored_rows
from tests.filters.metadata_oracle import METADATA, ON_METADATA, PATHS, SCALARS, holds

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
NOW = 1.8e9
meta, where = oneiros.meta, oneiros.where

FILTERS = st.recursive(
    ON_METADATA | st.sampled_from([where(project="p"), where(kind="note"), where()]),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda a: ~a),
    ),
    max_leaves=4,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 9), METADATA),
        st.tuples(st.just("add_many"), st.integers(0, 9), METADATA),
        st.tuples(st.just("update"), st.integers(0, 9), METADATA),
        st.tuples(st.sampled_from(["delete", "restore", "forget", "reopen"]), st.integers(0, 9)),
        st.tuples(st.just("delete_where"), st.integers(0, 9), FILTERS),
    ),
    max_size=8,
)


def matches(condition: Where, memory: oneiros.Memory) -> bool:
    """Tell whether a memory meets a condition."""
    match condition:
        case OnMetadata():
            return holds(condition, memory.metadata)
        case And(parts=parts):
            return all(matches(part, memory) for part in parts)
        case Or(parts=parts):
            return any(matches(part, memory) for part in parts)
        case Not(part=part):
            return not matches(part, memory)
        case AnyOf(name=name, values=values):
            return getattr(memory, name) in values
        case Everything():
            return True
    raise AssertionError(condition)


def memory(id: str, number: int, metadata: dict[str, object]) -> dict[str, Any]:
    project = "p" if number % 2 else "q"
    vector = [1.0, number / 10]
    return {
        "id": id,
        "text": f"word {id}",
        "project": project,
        "metadata": metadata,
        "embedding": vector,
    }


def take(engine: oneiros.Engine, step: tuple[Any, ...], count: int) -> None:
    """Take one step of a life; ids that do not fit are left out."""
    name, number, *more = step
    id = f"m{number}"
    with contextlib.suppress(oneiros.UnknownMemory):
        if name == "add":
            engine.add(**memory(f"a{count}", number, *more), now=NOW)
        elif name == "add_many":
            fresh = [memory(f"b{count}.{place}", place, *more) for place in range(3)]
            engine.add_many(fresh, now=NOW)
        elif name == "update":
            engine.update(id, metadata=more[0], now=NOW)
        elif name in ("delete", "restore", "forget"):
            getattr(engine, name)(id)
        elif name == "delete_where":
            engine.delete(where=where(id=[f"m{n}" for n in range(number)]) & more[0])


def check(engine: oneiros.Engine, conditions: list[Where]) -> None:
    """Compare every call that takes a filter with a scan."""
    memories = list(engine.list(limit=1_000))
    for condition in conditions:
        wanted = [memory.id for memory in memories if matches(condition, memory)]
        assert [memory.id for memory in engine.list(condition, limit=1_000)] == wanted
        assert engine.count(condition) == len(wanted)
        for query, vector in (("word", None), ("", [1.0, 0.5]), ("word", [0.5, 1.0])):
            found = engine.search(
                query, k=1_000, where=condition, embedding=vector, now=NOW, reinforce=False
            )
            assert sorted(found.ids) == sorted(wanted)
        assert engine.rescore(now=NOW, where=condition).ids == wanted
        links = engine.links(condition, now=NOW)
        assert [(id, link.id) for id, link in links] == [
            ("m0", f"m{number}")
            for number in range(1, 10)
            if "m0" in wanted and f"m{number}" in wanted
        ]
        scope = engine.scope(project="p")
        inside = [m.id for m in memories if m.project == "p" and m.id in wanted]
        assert scope.count(condition) == len(inside)
        assert sorted(
            scope.search("word", k=1_000, where=condition, reinforce=False).ids
        ) == sorted(inside)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    first=st.lists(METADATA, min_size=10, max_size=10),
    steps=STEPS,
    conditions=st.lists(FILTERS, min_size=1, max_size=3),
    limits=st.sampled_from([(1, 3), (1_000, 1_000)]),
)
def test_every_call_is_a_scan_after_every_step(
    first: list[dict[str, object]],
    steps: list[tuple[Any, ...]],
    conditions: list[Where],
    limits: tuple[int, int],
) -> None:
    """One engine changes the store and is reopened from its snapshot; another one follows it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "FEWEST_ROWS", 1)
        patch.setattr(snapshot, "_SHARE_CHANGED", 10**9)
        patch.setattr(stored_rows, "_READ_AT_ONCE", 4)
        patch.setattr(metadata_index, "_MOST_FRESH", limits[0])
        patch.setattr(metadata_index, "_MOST_CHANGES", limits[1])
        path = Path(folder) / "a.db"
        engine = oneiros.Engine(path)
        engine.add_many(
            [memory(f"m{number}", number, metadata) for number, metadata in enumerate(first)],
            now=NOW,
        )
        engine.link_many([("m0", f"m{number}") for number in range(1, 10)], now=NOW)
        with oneiros.Engine(path) as other:
            check(other, conditions)
            for count, step in enumerate(steps):
                if step[0] == "reopen":
                    engine.close()
                    engine = oneiros.Engine(path)
                else:
                    take(engine, step, count)
                check(engine, conditions)
            other.refresh()
            check(other, conditions)
            assert other.check() == []
        engine.close()


@given(metadata=st.lists(METADATA, min_size=1, max_size=6), path=PATHS, value=SCALARS)
@settings(max_examples=50)
def test_a_path_reads_the_snapshot_as_the_memories(
    metadata: list[dict[str, object]], path: str | tuple[str, ...], value: Any
) -> None:
    conditions = [meta(path).exists(), meta(path) == value, meta(path).contains(value)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "FEWEST_ROWS", 1)
        file = Path(folder) / "a.db"
        with oneiros.Engine(file) as engine:
            engine.add_many([memory(f"m{n}", n, each) for n, each in enumerate(metadata)], now=NOW)
        with oneiros.Engine(file) as engine:
            read_model = engine._scope.services.read_model
            assert read_model.row_sets.attributes.stored is not None
            memories = list(engine.list())
            for condition in conditions:
                wanted = [memory.id for memory in memories if matches(condition, memory)]
                assert [memory.id for memory in engine.list(condition)] == wanted


def test_keys_with_escapes_are_found_in_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    keys = ['a"b', "back\\slash", "new\nline", "é", "日本", "\u2028", "\x00"]
    with oneiros.Engine(tmp_path / "a.db") as engine:
        engine.add_many({"text": key, "metadata": {key: {key: key}}} for key in keys)
    with oneiros.Engine(tmp_path / "a.db") as engine:
        for key in keys:
            assert [each.text for each in engine.list(meta([key, key]) == key)] == [key]
            assert engine.count(meta(key).exists()) == 1
        assert engine.count(meta("\ud800").exists()) == 0


def test_memories_added_by_threads_are_found_at_once(tmp_path: Path) -> None:
    """A thread's next filter finds its additions, and no filter finds its changes by the old value."""
    failures: list[str] = []
    with oneiros.Engine(tmp_path / "a.db", durability="normal") as engine:

        def work(name: int) -> None:
            for turn in range(20):
                id = engine.add("text", metadata={"by": name, "turn": turn, "tags": [f"t{turn}"]})
                mine = meta("by") == name
                if engine.count(mine & (meta("turn") >= turn)) != 1:
                    failures.append(f"{name} does not find {turn}")
                engine.update(id, metadata={"by": name, "turn": -1 - turn})
                if engine.count(mine & meta("tags").contains(f"t{turn}")):
                    failures.append(f"{name} finds what {turn} was")
                if engine.count(mine) != turn + 1:
                    failures.append(f"{name} does not find all")

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert engine.count(meta("turn") < 0) == 80
        assert engine.count(meta("turn") >= 0) == 0


def test_a_filter_on_metadata_explains_itself() -> None:
    with oneiros.Engine(":memory:") as engine:
        id = engine.add("tea", metadata={"price": 5, "customer": {"plan": "pro"}})
        for condition, words in (
            (
                meta("price") >= 10,
                '{"metadata": {"price": {"$gte": 10}}}: its metadata "price" is 5',
            ),
            (meta("customer.plan").in_(["team", "x"]), 'its metadata "customer.plan" is "pro"'),
            (meta(["customer", "plan"]).prefix("x"), 'its metadata ["customer", "plan"] is "pro"'),
            (meta("due").exists(), 'its metadata "due" is missing'),
            (meta("due").is_null(), 'its metadata "due" is missing'),
        ):
            (reason,) = engine.why_not("tea", id, where=condition).hidden
            assert reason.reason == "filter"
            assert words in reason.detail
