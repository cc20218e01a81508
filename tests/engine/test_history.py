"""The revisions of a memory and its state as of a time, beside a list of what was seen meanwhile."""

from __future__ import annotations

import asyncio
import math
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.clock import VirtualClock
from oneiros.errors import HistoryUnavailable, StoreCorrupt, UnknownMemory
from oneiros.model.memory import Memory
from oneiros.store.salvage import salvage
from tests.engine.embedders import LetterCounts

START = 1_700_000_000.0


def opened(path: Path | str, clock: VirtualClock, **options: Any) -> oneiros.Engine:
    return oneiros.Engine(path, clock=clock, profile="bm25", **options)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def texts(engine: oneiros.Engine, id: str) -> list[str]:
    return [revision.memory.text for revision in engine.history(id)]


# Revisions


def test_each_change_is_a_revision(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock) as engine:
        engine.add("tea", id="a", tags=["x"])
        clock.advance(10)
        engine.update("a", text="milk", embedding=[0.0, 2.0], metadata={"deep": ["é", 1.5e-300]})
        clock.advance(10)
        engine.delete("a")
        clock.advance(10)
        engine.restore("a")
        first, second, third, last = engine.history("a")
        assert [one.recorded_at for one in (first, second, third, last)] == [
            START + ten for ten in (0, 10, 20, 30)
        ]
        assert [one.until for one in (first, second, third, last)] == [
            *(START + ten for ten in (10, 20, 30)),
            None,
        ]
        assert (first.memory.text, first.memory.tags, first.memory.metadata) == ("tea", ["x"], {})
        assert first.memory.embedding is None
        assert second.memory.embedding is not None
        assert second.memory.embedding.tolist() == [0.0, 1.0]
        assert second.memory.metadata == {"deep": ["é", 1.5e-300]}
        assert first.changed == ()
        assert second.changed == ("text", "embedding", "metadata", "updated_at", "revision_count")
        assert third.changed == ("deleted_at",)
        assert third.memory.deleted_at == START + 20
        assert "deleted_at" in last.changed
        assert last.memory == engine.get("a")
        numbers = [one.revision for one in engine.history("a")]
        assert numbers == sorted(set(numbers))


def test_a_revision_is_frozen(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a")
        (revision,) = engine.history("a")
        with pytest.raises(AttributeError):
            revision.until = 3.0  # type: ignore[misc]


def test_use_is_a_revision_where_states_are_kept(clock: VirtualClock, path: Path) -> None:
    with oneiros.Engine(path, clock=clock) as engine:
        engine.add("tea", id="a")
        engine.search("tea")
        assert len(engine.history("a")) == 1
        assert engine.history("a")[0].memory.access_count == 1
    with oneiros.Engine(path, clock=clock, history="all") as engine:
        engine.search("tea")
        engine.flush()
        clock.advance(1)
        assert engine.get("a", as_of=START).access_count == 2
        first, last = engine.history("a")
        assert (first.memory.access_count, last.memory.access_count) == (1, 2)
        assert "access_count" in last.changed


def test_a_state_that_the_caller_sets_is_kept(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a")
        engine.update("a", status="archived")
        before, after = engine.history("a")
        assert (before.memory.status, after.memory.status) == ("staged", "archived")


def test_other_vectors_are_no_revision(clock: VirtualClock) -> None:
    with opened(":memory:", clock, embedder=LetterCounts()) as engine:
        engine.add("tea", id="a")
        clock.advance(10)
        engine.reembed("hashing")
        (only,) = engine.history("a")
        assert (only.recorded_at, only.until) == (START, None)
        clock.advance(10)
        engine.update("a", text="milk")
        first, last = engine.history("a")
        assert (first.recorded_at, first.until) == (START, START + 20)
        assert "text" in last.changed


def test_an_unknown_memory_has_no_history(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        for call in (engine.history, lambda id: engine.get(id, as_of=START)):
            with pytest.raises(UnknownMemory, match="no memory 'a'"):
                call("a")
        with pytest.raises(TypeError, match="as_of"):
            engine.get("a", as_of=[])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="as_of"):
            engine.get("a", as_of="yesterday")


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=5),
        "title": st.text(max_size=5),
        "tags": st.lists(st.text(max_size=3), max_size=2),
        "importance": st.floats(0, 1, width=32),
        "event_at": st.none() | st.floats(-1e9, 4e9),
        "topic": st.none() | st.text(min_size=1, max_size=3),
        "metadata": st.dictionaries(st.text(max_size=2), st.floats(-1e300, 1e300), max_size=2),
        "embedding": st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2),
        "status": st.sampled_from(["staged", "archived"]),
    },
)


@given(
    changes=st.lists(st.tuples(CHANGES, st.sampled_from([0.0, 1.0, 2.5, -3.0])), max_size=12),
    keep=st.sampled_from(["content", "all"]),
)
@settings(max_examples=60, deadline=None)
def test_a_history_is_what_was_seen(changes: list[tuple[dict[str, Any], float]], keep: str) -> None:
    clock = VirtualClock(START)
    with opened(":memory:", clock, history=keep) as engine:
        engine.add("tea", id="a")
        seen: list[tuple[float, Memory]] = [(START, engine.get("a"))]
        now = START  # the times of commits never fall
        for change, step in changes:
            clock.advance(step)
            now = max(now, clock())
            before = engine.get("a")
            if "text" in change or "title" in change:
                change.setdefault("embedding", None)
            engine.update("a", updated_at=START, **change)
            engine.add("another")
            if engine.get("a") != before:
                seen.append((now, engine.get("a")))
        found = engine.history("a")
        assert [one.memory for one in found] == [memory for _, memory in seen]
        assert [one.recorded_at for one in found] == [time for time, _ in seen]
        assert [one.until for one in found] == [*(time for time, _ in seen[1:]), None]
        for at in {time + step for time, _ in seen for step in (-0.5, 0.0, 0.5)}:
            known = [memory for time, memory in seen if time <= at]
            if known:
                assert engine.get("a", as_of=at) == known[-1]
            else:
                with pytest.raises(UnknownMemory):
                    engine.get("a", as_of=at)


# As of a time


def test_a_time_is_any_time_that_the_engine_takes(clock: VirtualClock) -> None:
    with opened(":memory:", clock, timezone="UTC") as engine:
        engine.add("tea", id="a")
        clock.advance(60)
        engine.update("a", text="milk")
        moment = datetime.fromtimestamp(START + 30, UTC)
        for time in (START + 30, moment, moment.isoformat(), moment.replace(tzinfo=None)):
            assert engine.get("a", as_of=time).text == "tea"


def test_a_deleted_memory_is_unknown_then_and_known_before(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a")
        clock.advance(10)
        engine.delete("a")
        clock.advance(10)
        assert engine.get("a", as_of=START + 5).deleted_at is None
        with pytest.raises(UnknownMemory):
            engine.get("a", as_of=START + 15)
        with pytest.raises(UnknownMemory):
            engine.get("a", as_of=START - 1)


def test_the_time_of_a_commit_is_that_of_the_clock_not_of_now(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a", now=START - 1e6)
        engine.add_many([{"id": "b", "text": "milk"}], now=START + 1e6)
        for id in ("a", "b"):
            assert engine.history(id)[0].recorded_at == START


# Scopes


def test_a_scope_sees_the_revisions_that_lay_in_it(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("one", id="a", user="ada")
        clock.advance(10)
        engine.update("a", text="two", user="bob")
        clock.advance(10)
        engine.update("a", text="three", user="ada")
        ada, bob = engine.scope(user="ada"), engine.scope(user="bob")
        assert [one.memory.text for one in ada.history("a")] == ["one", "three"]
        assert ada.history("a")[1].changed == ("text", "updated_at", "revision_count")
        assert [one.memory.text for one in bob.history("a")] == ["two"]
        assert bob.history("a")[0].changed == ()
        assert bob.get("a", as_of=START + 15).text == "two"
        for at in (START + 5, START + 25):
            with pytest.raises(UnknownMemory):
                bob.get("a", as_of=at)
        with pytest.raises(UnknownMemory):
            engine.scope(user="eve").history("a")


# What is kept


def test_a_store_keeps_its_setting(clock: VirtualClock, path: Path) -> None:
    opened(path, clock, history="all", history_limit=2, history_age=1e6).close()
    with opened(path, clock) as engine, engine._parts.store.read() as reading:
        keeping = reading.history.keeping()
        assert (keeping.keep, keeping.limit, keeping.age) == ("all", 2, 1e6)
    opened(path, clock, history_limit=math.inf, history_age=math.inf).close()
    with opened(path, clock) as engine, engine._parts.store.read() as reading:
        keeping = reading.history.keeping()
        assert (keeping.keep, keeping.limit, keeping.age) == ("all", None, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history": "some"}, "history: must be one of content, all, off"),
        ({"history": 1}, "history"),
        ({"history_limit": 0}, "history_limit"),
        ({"history_limit": 2.5}, "history_limit"),
        ({"history_age": -1}, "history_age"),
        ({"history_age": "1d"}, "history_age"),
    ],
)
def test_a_wrong_setting_is_refused(
    path: Path, clock: VirtualClock, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        opened(path, clock, **options)
    assert not path.exists()


def test_off_keeps_nothing_and_erases_what_was_kept(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock) as engine:
        engine.add("the passphrase is xyzzy", id="a")
        engine.update("a", text="tea")
        assert not engine.verify_erased("xyzzy")
    with opened(path, clock, history="off") as engine:
        assert engine.verify_erased("xyzzy")
        assert texts(engine, "a") == ["tea"]
        assert engine.history("a")[0].recorded_at is None
        engine.update("a", text="milk")
        engine.add("more")
        assert texts(engine, "a") == ["milk"]
        with pytest.raises(HistoryUnavailable) as caught:
            engine.get("a", as_of=START)
        assert caught.value.since is None
    clock.advance(10)
    with opened(path, clock, history="content") as engine:
        engine.update("a", text="water")
        assert texts(engine, "a") == ["milk", "water"]
        with pytest.raises(HistoryUnavailable) as caught:
            engine.get("a", as_of=START + 9)
        assert caught.value.since == START + 10
        assert "2023-11-14T22:13:30+00:00" in str(caught.value)
        assert engine.get("a", as_of=START + 10).text == "water"


def test_another_engine_follows_the_setting(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock, history="off") as engine:
        engine.add("tea", id="a")
        opened(path, clock, history="content").close()
        clock.advance(1)
        engine.add("milk", id="b")
        engine.update("a", text="water")
        assert texts(engine, "a") == ["tea", "water"]
        assert engine.history("b")[0].recorded_at == START + 1
        opened(path, clock, history="off").close()
        engine.add("juice", id="c")
        engine.update("b", text="wine")
        assert texts(engine, "b") == ["wine"]
        with closing(apsw.Connection(str(path))) as connection:
            for table in ("past", "moment"):
                assert connection.execute(f"SELECT count(*) FROM {table}").get == 0


def test_a_limit_bounds_the_changes_of_a_memory(clock: VirtualClock) -> None:
    with opened(":memory:", clock, history_limit=3) as engine:
        engine.add("0", id="a")
        engine.add("b", id="b")
        for number in range(1, 11):
            clock.advance(1)
            engine.update("a", text=str(number))
        found = engine.history("a")
        assert [one.memory.text for one in found] == ["7", "8", "9", "10"]
        assert found[0].recorded_at == START + 7
        assert engine.get("a", as_of=START + 7).text == "7"
        assert engine.get("b", as_of=START + 1).text == "b"
        with pytest.raises(HistoryUnavailable, match="'a' begins later") as caught:
            engine.get("a", as_of=START + 6)
        assert caught.value.since == START + 7
        with engine._parts.store.read() as reading:
            assert reading.rows("SELECT count(*) FROM past")[0][0] == 4


def test_the_default_limit_is_64(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("0", id="a")
        for number in range(1, 101):
            engine.update("a", text=str(number))
        assert texts(engine, "a") == [str(number) for number in range(36, 101)]


def test_an_age_bounds_the_history_of_all(clock: VirtualClock) -> None:
    with opened(":memory:", clock, history_age=10) as engine:
        engine.add("0", id="a")
        engine.add("b", id="b")
        for number in range(1, 31):
            clock.advance(1)
            engine.update("a", text=str(number))
        assert texts(engine, "a") == [str(number) for number in range(20, 31)]
        assert engine.get("a", as_of=START + 20).text == "20"
        assert engine.get("b", as_of=START + 20).text == "b"
        assert engine.history("b")[0].recorded_at is None
        for id in ("a", "b", "unknown"):
            with pytest.raises(HistoryUnavailable) as caught:
                engine.get(id, as_of=START + 19.5)
            assert caught.value.since == START + 20
        with engine._parts.store.read() as reading:
            assert reading.rows("SELECT count(*) FROM past")[0][0] == 10
            assert reading.rows("SELECT count(*) FROM moment")[0][0] == 11


@pytest.mark.parametrize("step", [0.0, 1.0])
def test_an_age_of_0_keeps_no_change(clock: VirtualClock, step: float) -> None:
    with opened(":memory:", clock, history_age=0) as engine:
        engine.add("0", id="a")
        for number in range(1, 5):
            clock.advance(step)
            engine.update("a", text=str(number))
        assert texts(engine, "a") == ["4"]
        assert engine.get("a", as_of=clock()).text == "4"
        with pytest.raises(HistoryUnavailable):
            engine.get("a", as_of=clock() - 0.5)


# Erasure, damage, copies


@pytest.mark.parametrize("keep", ["content", "all"])
def test_an_erased_memory_is_gone_from_the_history(
    clock: VirtualClock, path: Path, keep: str
) -> None:
    with opened(path, clock, history=keep) as engine:
        engine.add("the passphrase is xyzzy", id="a", embedding=[0.25, 0.5])
        engine.add("old", id="old")
        engine.supersede("old", "a", reason="newer")
        engine.update("a", text="plugh", title="not secret", embedding=[0.5, 0.5])
        engine.update("a", text="plover", embedding=[0.5, 0.25])
        assert not engine.verify_erased("xyzzy")
        engine.forget("a")
        for secret in ("xyzzy", "plugh", "plover", "not secret"):
            assert engine.verify_erased(secret)
        for call in (engine.history, lambda id: engine.get(id, as_of=START)):
            with pytest.raises(UnknownMemory):
                call("a")
        assert engine.history("old")[-1].memory.superseded_by is None
    with closing(apsw.Connection(str(path))) as connection:
        sql = "SELECT count(*) FROM past WHERE sequence = 1"
        assert connection.execute(sql).get == 0


def test_purging_takes_the_history(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock) as engine:
        engine.add("the passphrase is xyzzy", id="a")
        engine.update("a", text="tea")
        engine.delete("a")
        clock.advance(100 * 86_400)
        assert engine.purge(30) == 1
        assert engine.verify_erased("xyzzy")


def test_a_failed_write_leaves_no_history(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a")
        with pytest.raises(ValueError, match="importance"):
            engine.update("a", importance=7.0)
        with pytest.raises(oneiros.DuplicateId):
            engine.add_many([{"id": "b", "text": "milk"}, {"id": "a", "text": "milk"}])
        assert len(engine.history("a")) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE past SET cells = replace(cells, 'tea', 'sea')",
        "UPDATE past SET checksum = checksum + 1",
        "UPDATE past SET revision = revision + 1",
        "UPDATE past SET cells = ''",
    ],
)
def test_damage_to_the_history_is_noticed(clock: VirtualClock, path: Path, sql: str) -> None:
    with opened(path, clock) as engine:
        engine.add("tea", id="a")
        clock.advance(1)
        engine.update("a", text="milk")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(sql)
    with opened(path, clock) as engine:
        with pytest.raises(StoreCorrupt, match="history"):
            engine.history("a")
        with pytest.raises(StoreCorrupt, match="history"):
            engine.get("a", as_of=START)
        assert engine.get("a").text == "milk"
        assert any("table past" in problem for problem in engine.check(deep=True))


def test_damage_to_a_time_is_noticed(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock) as engine:
        engine.add("tea", id="a")
        engine.update("a", text="milk")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE moment SET time = time + 1")
    with opened(path, clock) as engine:
        with pytest.raises(StoreCorrupt, match="history"):
            engine.get("a", as_of=START)
        assert any("table moment" in problem for problem in engine.check(deep=True))


def test_a_copy_has_the_history_and_a_salvaged_store_begins_another(
    clock: VirtualClock, path: Path, tmp_path: Path
) -> None:
    with opened(path, clock, history="all") as engine:
        engine.add("tea", id="a")
        clock.advance(10)
        engine.update("a", text="milk")
        engine.backup(tmp_path / "copy.db")
        assert engine.check(deep=True) == []
    with opened(tmp_path / "copy.db", clock) as copy:
        assert texts(copy, "a") == ["tea", "milk"]
        assert copy.get("a", as_of=START + 5).text == "tea"
    assert salvage(path, tmp_path / "new.db").memories == 1
    clock.advance(10)
    with opened(tmp_path / "new.db", clock) as new:
        assert texts(new, "a") == ["milk"]
        with pytest.raises(HistoryUnavailable):
            new.get("a", as_of=START + 5)
        new.update("a", text="water")
        assert new.get("a", as_of=START + 20).text == "water"
        with pytest.raises(HistoryUnavailable):
            new.search("water", as_of=START + 15)
        assert new.search("water", as_of=START + 20).ids == ["a"]


def test_a_read_only_engine_looks_back(clock: VirtualClock, path: Path) -> None:
    with opened(path, clock, history="all") as engine:
        engine.add("tea", id="a")
        clock.advance(10)
        engine.update("a", text="milk")
    with opened(path, clock, read_only=True, history="off") as reader:
        assert texts(reader, "a") == ["tea", "milk"]
        assert reader.get("a", as_of=START).text == "tea"
        assert reader.search("tea", as_of=START).ids == ["a"]


def test_a_replaced_memory_keeps_its_history(clock: VirtualClock) -> None:
    with opened(":memory:", clock) as engine:
        engine.add("tea", id="a", tags=["x"])
        engine.add("milk", id="a", on_conflict="replace")
        assert [one.memory.tags for one in engine.history("a")] == [["x"], []]
        engine.add("water", id="a", on_conflict="update")
        assert texts(engine, "a") == ["tea", "milk", "water"]


def test_a_dream_and_its_undo_are_in_the_history(clock: VirtualClock) -> None:
    with oneiros.Engine(":memory:", clock=clock) as engine:
        ids = [engine.add(f"text {number % 30}") for number in range(60)]
        clock.advance(400 * 86_400)
        report = engine.dream()
        gone = [id for id in ids if engine.get_deleted([id])[0] is not None]
        assert gone
        engine.undo_dream(report.id)
        deleted = [one.memory.deleted_at is not None for one in engine.history(gone[0])]
        assert deleted == [False, True, False]


def test_memories_of_an_engine_without_history_compare(clock: VirtualClock) -> None:
    with opened(":memory:", clock, history="off") as off, opened(":memory:", clock) as on:
        for engine in (off, on):
            engine.add("tea", id="a")
            engine.update("a", text="milk")
        assert replace(off.get("a")) == on.get("a")


def test_the_async_engine_has_the_same(clock: VirtualClock) -> None:
    async def asked() -> None:
        async with oneiros.AsyncEngine(":memory:", clock=clock, history="all") as engine:
            await engine.add("tea", id="a")
            clock.advance(10)
            await engine.update("a", text="milk")
            assert [one.memory.text for one in await engine.history("a")] == ["tea", "milk"]
            assert (await engine.get("a", as_of=START)).text == "tea"
            assert (await engine.search("tea", as_of=START)).texts == ["tea"]
            assert (await engine.search("tea")).ids == []

    asyncio.run(asked())
