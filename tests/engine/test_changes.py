"""The feed of changes, beside a plain record of what every memory was before and after each call."""

from __future__ import annotations

import asyncio
import itertools
import pickle
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.engine.feed import CHANGE_KINDS, MemoryChange
from oneiros.store.erased import digest_of

DAY = 86_400.0
IDS = [f"m{number}" for number in range(6)]
TEXTS = ["green tea", "black tea", "cold milk", "stale bread"]


class Clock:
    """A clock that moves with every look, so that no two writes look the same."""

    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Record:
    """What each id was after each revision, in plain dicts: the oracle of the feed."""

    def __init__(self, engine: oneiros.Engine) -> None:
        self.engine = engine
        self.state: dict[str, oneiros.Memory] = {}
        self.last: dict[str, int] = {}
        self.erased: dict[str, int] = {}
        self.revisions = [engine.stats()["revision"]]

    def note(self) -> None:
        """Compare all memories with what they were."""
        self.engine.flush()
        live = self.engine.get_many(IDS)
        deleted = self.engine.get_deleted(IDS)
        after = {
            id: memory
            for id, pair in zip(IDS, zip(live, deleted, strict=True), strict=True)
            if (memory := pair[0] or pair[1]) is not None
        }
        revision = self.engine.stats()["revision"]
        for id in {*self.state, *after}:
            if id not in after:
                self.erased[id] = revision
                del self.last[id]
            elif after[id] != self.state.get(id):
                self.last[id] = revision
                # Adding a memory over a soft-deleted one of the same id erases that.
                if id in self.state and after[id].created_at != self.state[id].created_at:
                    self.erased[id] = revision
        self.state = after
        self.revisions.append(revision)

    def expected(self, since: int) -> list[tuple[str, str, int]]:
        """Return the feed after a revision, sorted."""
        found = [
            (id, "changed" if self.state[id].deleted_at is None else "deleted", revision)
            for id, revision in self.last.items()
            if revision > since
        ]
        gone = [
            (id, "erased", revision) for id, revision in self.erased.items() if revision > since
        ]
        return sorted(found + gone, key=lambda change: (change[2], change[0]))


def named(feed: oneiros.ChangeFeed, ids: Iterable[str]) -> list[MemoryChange]:
    """Return the changes with the ids of erased memories in place of their digests."""
    names = {digest_of(id, feed._salt): id for id in ids}
    return [
        change._replace(id=names[change.id]) if change.kind == "erased" else change
        for change in feed
    ]


def listed(feed: oneiros.ChangeFeed, ids: Iterable[str] = ()) -> list[tuple[str, str, int]]:
    return sorted(map(tuple, named(feed, ids)), key=lambda change: (change[2], change[0]))  # type: ignore[arg-type]


ids = st.sampled_from(IDS)
STEPS = st.one_of(
    st.tuples(st.just("add"), ids, st.sampled_from(TEXTS)),
    st.tuples(st.just("add_many"), st.lists(ids, max_size=4, unique=True), st.sampled_from(TEXTS)),
    st.tuples(st.just("update"), ids, st.sampled_from(TEXTS)),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("restore"), ids),
    st.tuples(st.just("forget"), ids),
    st.tuples(st.just("pin"), ids, st.booleans()),
    st.tuples(st.just("feedback"), ids, st.just("helpful")),
    st.tuples(st.just("supersede"), ids, ids),
    st.tuples(st.just("link"), ids, ids),
    st.tuples(st.just("search"), st.sampled_from(["tea", "milk", "bread"])),
    st.tuples(st.just("flush")),
)


def run(engine: oneiros.Engine, step: tuple[Any, ...]) -> None:
    name, *arguments = step
    try:
        if name == "add":
            engine.add(arguments[1], id=arguments[0])
        elif name == "add_many":
            records = [{"id": id, "text": arguments[1]} for id in arguments[0]]
            engine.add_many(records, on_conflict="update")
        elif name == "update":
            engine.update(arguments[0], text=arguments[1])
        else:
            getattr(engine, name)(*arguments)
    except (oneiros.OneirosError, ValueError):
        pass  # such as an unknown id: nothing is stored


@settings(max_examples=60)
@given(st.lists(STEPS, min_size=1, max_size=25), st.integers(1, 4))
@example([("add", "m0", "tea"), ("delete", "m0"), ("add_many", ["m0"], "tea")], 1)
def test_the_feed_is_what_changed(steps: list[tuple[Any, ...]], limit: int) -> None:
    with oneiros.Engine(":memory:", profile="reverie", clock=Clock()) as engine:
        record = Record(engine)
        followed: dict[str, str] = {}
        since = 0
        for step in steps:
            run(engine, step)
            record.note()
            # A follower that reads in small parts knows which memories are live.
            while True:
                feed = engine.changes(since, limit=limit)
                for id in feed.erased_among(list(followed)):
                    del followed[id]
                for change in feed:
                    if change.kind == "changed":
                        followed[change.id] = engine.get(change.id).text
                    else:
                        followed.pop(change.id, None)
                assert feed.has_more or feed.revision == record.revisions[-1]
                assert feed.revision > since or not feed.has_more
                since = feed.revision
                if not feed.has_more:
                    break
            assert followed == {memory.id: memory.text for memory in engine.list()}
        for since in {0, *record.revisions}:
            feed = engine.changes(since)
            # An erased id that was added again has both entries; the last erasure counts.
            told = named(feed, record.erased)
            last = {change.id: change for change in told if change.kind == "erased"}
            shown = [change for change in told if change.kind != "erased"] + [*last.values()]
            found = sorted(map(tuple, shown), key=lambda change: (change[2], change[0]))  # type: ignore[arg-type]
            assert found == record.expected(since)
            assert [change.revision for change in feed] == sorted(c.revision for c in feed)
            assert not feed.has_more
            assert {change.kind for change in feed} <= set(CHANGE_KINDS)
            parts = list(pages(engine, since, limit))
            assert list(itertools.chain.from_iterable(parts)) == list(feed)
            split = [revisions_of(part) for part in parts]
            assert sum(map(len, split)) == len(set().union(*split))  # none in two parts
            assert all(len(part) >= limit for part in parts[:-1])


def pages(source: Any, since: int, limit: int) -> Iterator[oneiros.ChangeFeed]:
    while True:
        feed = source.changes(since, limit=limit)
        yield feed
        since = feed.revision
        if not feed.has_more:
            return


def revisions_of(feed: oneiros.ChangeFeed) -> set[int]:
    return {change.revision for change in feed}


def test_a_limit_never_cuts_a_revision(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db") as engine:
        engine.add("first", id="first")
        engine.add_many([{"id": f"m{number}", "text": f"{number}"} for number in range(700)])
        engine.add("last", id="last")
        sizes = [len(part) for part in pages(engine, 0, 2)]
        assert sizes == [701, 1]
        assert [len(part) for part in pages(engine, 0, 701)] == [701, 1]
        assert [len(part) for part in pages(engine, 0, 702)] == [702]
        engine.delete(where=oneiros.where(kind="note"))
        (feed,) = pages(engine, 0, 1)
        assert {change.kind for change in feed} == {"deleted"}
        assert len(feed) == 702


@pytest.mark.parametrize("profile", ["reverie", "cognitive", "oneiros"])
def test_reinforcement_and_dreams_are_in_the_feed(tmp_path: Path, profile: str) -> None:
    clock = Clock()
    with oneiros.Engine(tmp_path / "store.db", profile=profile, clock=clock) as engine:
        for id, text in zip(IDS, itertools.cycle(TEXTS)):
            engine.add(text, id=id, importance=0.1)
        record = Record(engine)
        record.note()
        start = record.revisions[-1]
        engine.search("tea", session="s")
        record.note()
        assert listed(engine.changes(start)) == record.expected(start) != []
        searched = record.revisions[-1]
        clock.now += 400 * DAY
        report = engine.dream()
        record.note()
        dreamed = {change.id for change in engine.changes(searched)}
        assert {change[0] for change in record.expected(searched)} <= dreamed
        dream = record.revisions[-1]
        if not report.change_count:
            assert not dreamed
            return
        assert dreamed
        engine.undo_dream(report.id)
        record.note()
        undone = {change.id for change in engine.changes(dream)}
        assert {change[0] for change in record.expected(dream)} <= undone
    assert profile == "oneiros" or dreamed


def test_links_and_settings_are_no_changes_of_memories(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db") as engine:
        engine.add_many([{"id": "a", "text": "a"}, {"id": "b", "text": "b"}])
        since = engine.changes().revision
        engine.link("a", "b")
        feed = engine.changes(since)
        assert (len(feed), feed.has_more) == (0, False)
        assert feed.revision == since + 1  # so that it is not read again
        assert engine.changes(feed.revision) == feed


def test_a_scope_reveals_nothing_of_others(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db") as engine:
        ada = engine.scope(user="ada", namespace="acme/support")
        assert ada.changes().revision == 0
        for number in range(5):
            engine.add(f"other {number}", id=f"o{number}", user="bob")
        engine.add("near", id="near", user="ada", namespace="acme/supporters")
        assert (list(ada.changes()), ada.changes().revision) == ([], 0)
        assert ada.changes(3).revision == 3
        assert ada.changes(99).revision == 99  # not compared with the store's last revision
        own = ada.add("mine", id="mine")
        below = engine.add("below", id="below", user="ada", namespace="acme/support/eu")
        engine.delete("o0")
        engine.forget("o1")
        feed = ada.changes()
        assert [(change.id, change.kind) for change in feed] == [
            (own, "changed"),
            (below, "changed"),
        ]
        assert feed.revision == feed[-1].revision
        ada.delete("mine")
        engine.update("below", user="bob")
        assert [change[:2] for change in ada.changes(feed.revision)] == [("mine", "deleted")]
        ada.forget("mine")
        assert list(ada.changes(feed.revision)) == []
        assert {change[:2] for change in named(engine.changes(feed.revision), ["o1", "mine"])} == {
            ("o0", "deleted"),
            ("o1", "erased"),
            ("mine", "erased"),
            ("below", "changed"),
        }


def test_the_feed_of_a_scope_says_that_it_lists_no_erased_memories() -> None:
    with oneiros.Engine(":memory:") as engine:
        ada = engine.scope(user="ada")
        copied = {ada.add("tea"), ada.add("milk")}
        feed = ada.changes()
        assert feed.lists_erased
        erased = min(copied)
        ada.forget(erased)
        feed = ada.changes(feed.revision)
        assert feed.erased_among(copied) == []
        assert not feed.lists_erased
        assert {id for id in copied if ada.get_many([id]) == [None]} == {erased}


def test_scopes_read_in_parts_too(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db") as engine:
        for number in range(40):
            engine.add(f"text {number}", id=f"m{number}", user="ada" if number % 3 else "bob")
        whole = [change.id for change in engine.scope(user="ada").changes()]
        assert whole == [f"m{number}" for number in range(40) if number % 3]
        parts = pages(engine.scope(user="ada"), 0, 4)
        assert [change.id for part in parts for change in part] == whole


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"since": -1}, ValueError, "since: must be .*-1"),
        ({"since": "5"}, TypeError, "since: expected an integer, got str '5'"),
        ({"since": True}, TypeError, "since: expected an integer, got bool True"),
        ({"since": 1.5}, TypeError, "since: expected an integer, got float 1.5"),
        ({"since": 2}, ValueError, "since: must be a revision of this store, at most 1, got 2"),
        ({"limit": 0}, ValueError, "limit: must be .*0"),
        ({"limit": None}, TypeError, "limit: expected an integer, got NoneType None"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        engine.add("tea")
        with pytest.raises(error, match=message):
            engine.changes(**arguments)


def test_a_feed_is_a_short_frozen_value() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        engine.add_many([{"id": f"m{number}", "text": "x"} for number in range(300)])
        feed = engine.changes(limit=1)
    assert repr(feed) == "<ChangeFeed of 300 memories up to revision 1>"
    assert pickle.loads(pickle.dumps(feed)) == feed
    assert feed[0] == ("m0", "changed", 1)
    assert feed[:1] == feed.entries[:1]
    with pytest.raises(AttributeError):
        feed.revision = 5  # type: ignore[misc]


def test_a_damaged_id_does_not_stop_the_feed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, profile="reverie") as engine:
        engine.add_many([{"id": "a", "text": "a"}, {"id": "b", "text": "b"}])
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE memory SET id = CAST(x'ff62' AS TEXT) WHERE id = 'b'")
    connection.close()
    with oneiros.Engine(path, profile="reverie") as engine:
        assert [change.id for change in engine.changes()] == ["a", "\ufffdb"]


def test_async_engines_and_scopes_have_the_feed() -> None:
    async def main() -> None:
        async with oneiros.AsyncEngine(":memory:") as engine:
            await engine.add("tea", id="tea", user="ada")
            assert [change.id for change in await engine.changes()] == ["tea"]
            scope = await engine.scope(user="bob")
            assert len(await scope.changes()) == 0

    asyncio.run(main())


WRITER = """
import sys, oneiros
clock = [1_750_000_000.0]
def tick():
    clock[0] += 1.0
    return clock[0]
with oneiros.Engine(sys.argv[1], profile="cognitive", clock=tick) as engine:
    for n in range(30):
        engine.add(f"shared word and {n % 7}", id=f"m{n}", importance=0.1)
        if n % 3 == 0:
            engine.update(f"m{n}", text=f"changed word {n}")
        if n % 5 == 0:
            engine.delete(f"m{n}")
        if n % 7 == 6:
            engine.forget(f"m{n - 1}")
        if n % 4 == 0:
            engine.search("shared")
            engine.flush()
        if n % 10 == 9:
            clock[0] += 200 * 86_400.0
            engine.dream()
            engine.add_many([{"id": f"b{n}-{k}", "text": f"batch {k}"} for k in range(5)])
    print(engine.stats()["revision"])
"""


def test_another_process_follows_while_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, profile="cognitive") as engine:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        followed: dict[str, tuple[str, int]] = {}
        kinds: set[str] = set()
        since, last, answers = 0, None, 0
        seen: set[int] = set()
        until = time.monotonic() + 120
        while last is None or since < last:
            assert time.monotonic() < until
            if last is None and writer.poll() is not None:
                out, err = writer.communicate()
                assert (writer.returncode, err) == (0, "")
                last = int(out)
            feed = engine.changes(since, limit=4)
            answers += bool(feed.entries)
            assert not revisions_of(feed) & seen
            assert all(change.revision > since for change in feed)
            seen |= revisions_of(feed)
            for id in feed.erased_among(list(followed)):
                del followed[id]
            for change in feed:
                kinds.add(change.kind)
                followed.pop(change.id, None)
                found = engine.get_many([change.id])[0]
                if change.kind == "changed" and found is not None:
                    followed[change.id] = (found.text, found.access_count)
            since = feed.revision
        assert answers > 1
        assert kinds == set(CHANGE_KINDS)
        assert followed == {
            memory.id: (memory.text, memory.access_count) for memory in engine.list(limit=200)
        }
        assert any(count for _, count in followed.values())


def test_reading_the_feed_part_by_part_stays_cheap(tmp_path: Path) -> None:
    """The number of rows that SQLite visits per part does not grow with the store."""
    visited = []
    for size in (2_000, 8_000):
        path = tmp_path / f"{size}.db"
        with oneiros.Engine(path, profile="reverie", durability="normal") as engine:
            for start in range(0, size, 100):
                engine.add_many(
                    [{"id": f"m{n}", "text": f"text {n}"} for n in range(start, start + 100)],
                    links=False,
                )
            with engine._scope.services.store.read() as reading:
                steps = 0

                def count() -> bool:
                    nonlocal steps
                    steps += 1
                    return False

                reading._connection.set_progress_handler(count, 100)
                found = list(itertools.islice(reading.changes_by_revision(0), 150))
                reading._connection.set_progress_handler(None)
            assert len(found) == 150
            visited.append(steps)
    assert visited[1] <= 2 * visited[0] + 20
