"""Observers get one event per call that changed or searched memories, after the commit."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.engine.observers import EVENT_KINDS, Observation
from oneiros.store.erased import digest_of
from oneiros.write.background import WriterThread

NOW = 1_750_000_000.0
DAY = 86_400.0

Events = list[oneiros.Event]


@pytest.fixture
def events() -> Events:
    return []


@pytest.fixture
def engine(tmp_path: Path, events: Events) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(
        tmp_path / "store.db", profile="reverie", clock=lambda: NOW, observers=[events.append]
    ) as opened:
        yield opened


def filled(engine: oneiros.Engine) -> None:
    engine.add_many(
        [
            {"id": "tea", "text": "green tea", "tags": ["drink"], "importance": 1.0},
            {"id": "milk", "text": "cold milk", "tags": ["drink"], "user": "ada"},
            {"id": "old", "text": "stale bread", "ttl": 60, "created_at": NOW - DAY},
        ]
    )


CALLS: list[tuple[Callable[[oneiros.Engine], Any], list[tuple[str, str, tuple[str, ...]]]]] = [
    (lambda e: e.add("ant", id="a"), [("add", "add", ("a",))]),
    (lambda e: e.add("green tea", id="copy"), [("add", "add", ("copy",))]),
    (
        lambda e: e.add("black tea", id="tea", on_conflict="update"),
        [("update", "add", ("tea",))],
    ),
    (lambda e: e.add("ant", id="a", on_conflict="update"), [("add", "add", ("a",))]),
    (
        lambda e: e.add_many([{"id": "a", "text": "a"}, {"id": "b", "text": "b"}]),
        [("add", "add_many", ("a", "b"))],
    ),
    (
        lambda e: e.add_many(
            [{"id": id, "text": id} for id in ("a", "tea", "b", "a")], on_conflict="replace"
        ),
        [("add", "add_many", ("a", "b")), ("update", "add_many", ("tea",))],
    ),
    (lambda e: e.add_many([]), []),
    (lambda e: e.update("tea", text="x"), [("update", "update", ("tea",))]),
    (lambda e: e.touch("tea", ttl=5), [("update", "touch", ("tea",))]),
    (lambda e: e.touch("milk", ttl=None), []),
    (lambda e: e.feedback("tea", "helpful"), [("update", "feedback", ("tea",))]),
    (lambda e: e.pin("tea"), [("update", "pin", ("tea",))]),
    (lambda e: e.pin("tea", False), []),
    (lambda e: e.supersede("tea", "milk"), [("update", "supersede", ("tea",))]),
    (
        lambda e: e.resolve_conflict("tea", "milk", "update"),
        [("update", "resolve_conflict", ("tea",))],
    ),
    (
        lambda e: e.resolve_conflict("tea", "milk", "distinct"),
        [("link", "resolve_conflict", ("tea", "milk"))],
    ),
    (lambda e: e.sweep_expired(), [("delete", "sweep_expired", ("old",))]),
    (lambda e: e.delete("tea"), [("delete", "delete", ("tea",))]),
    (
        lambda e: e.delete(where=oneiros.where(tags="drink")),
        [("delete", "delete", ("tea", "milk"))],
    ),
    (lambda e: e.delete(where=oneiros.where(tags="none")), []),
    (lambda e: e.restore("tea"), []),
    (
        lambda e: (e.delete("tea"), e.restore("tea")),
        [("delete", "delete", ("tea",)), ("restore", "restore", ("tea",))],
    ),
    (lambda e: e.forget("tea"), [("forget", "forget", ("tea",))]),
    (
        lambda e: (e.delete("tea", now=NOW - 40 * DAY), e.purge(30), e.purge(30)),
        [("delete", "delete", ("tea",)), ("forget", "purge", ("tea",))],
    ),
    (lambda e: e.link("milk", "tea"), [("link", "link", ("milk", "tea"))]),
    (
        lambda e: e.link_many([("milk", "tea"), ("tea", "old")]),
        [("link", "link_many", ("milk", "tea", "old"))],
    ),
    (lambda e: e.unlink("milk", "tea"), []),
    (
        lambda e: (e.link("tea", "milk"), e.unlink("milk", "tea")),
        [("link", "link", ("tea", "milk")), ("link", "unlink", ("milk", "tea"))],
    ),
    (lambda e: e.promote(threshold=0.495), [("update", "promote", ("tea", "milk"))]),
    (lambda e: e.promote(threshold=0.495, dry_run=True), []),
    (lambda e: e.search("tea"), [("search", "search", ("tea",))]),
    (lambda e: e.search("nothing like it"), [("search", "search", ())]),
    (
        lambda e: e.search_many(["milk", "tea", "milk tea"]),
        [("search", "search_many", ("milk", "tea"))],
    ),
    (lambda e: e.search_many([]), []),
    (lambda e: e.promote(threshold=0.99), []),
    (lambda e: e.dream(dry_run=True), []),
    (lambda e: (e.get("tea"), e.list(), e.count(), e.why_not("tea", "milk")), []),
    (lambda e: (e.flush(), e.refresh(), e.check(), e.stats(), e.similar("tea")), []),
]


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=range(len(CALLS)))
def test_each_call_has_its_events(
    engine: oneiros.Engine,
    events: Events,
    call: Callable[[oneiros.Engine], Any],
    expected: list[tuple[str, str, tuple[str, ...]]],
) -> None:
    filled(engine)
    events.clear()
    call(engine)
    assert [(event.kind, event.method, event.ids) for event in events] == expected
    assert {event.kind for event in events} <= set(EVENT_KINDS)
    assert all(event.bounds == () for event in events)


def _rows_with(path: Path, revision: int) -> set[str]:
    """Return the ids that a commit left in the store, by plain SQL; digests of erased ones."""
    sql = """
SELECT id FROM memory WHERE revision = ?1 UNION
SELECT id FROM memory JOIN lifecycle USING (sequence) WHERE lifecycle.revision = ?1 UNION
SELECT substr(id, instr(id, ' ') + 1) FROM erased WHERE revision = ?1"""
    with closing(apsw.Connection(str(path))) as reader:
        return {id for (id,) in reader.execute(sql, (revision,))}


def _erased(path: Path, id: str) -> str:
    """Return what the store keeps of the id of an erased memory."""
    with closing(apsw.Connection(str(path))) as reader:
        sql = "SELECT value FROM setting WHERE key = 'erased_salt'"
        return digest_of(id, str(reader.execute(sql).get))


@pytest.mark.parametrize("through_plan", [False, True])
def test_a_dream_and_its_undo_name_the_memories_that_they_changed(
    tmp_path: Path, events: Events, through_plan: bool
) -> None:
    clock = [NOW]
    path = tmp_path / "store.db"
    with oneiros.Engine(path, profile="cognitive", clock=lambda: clock[0]) as engine:
        for number in range(12):
            engine.add(f"bread {number}", id=f"m{number}", importance=0.1)
        engine.search("bread")
        clock[0] += 400 * DAY
        with engine.observe(events.append):
            plan = engine.dream(dry_run=True) if through_plan else None
            report = engine.dream() if plan is None else plan.apply()
            assert report.change_count
            (event,) = events
            assert (event.kind, event.method) == ("dream", "apply" if through_plan else "dream")
            assert event.time == clock[0]
            assert set(event.ids) == _rows_with(path, event.revision) != set()
            assert len(set(event.ids)) == len(event.ids)
            engine.undo_dream(report.id)
            undone = events[1]
            assert (undone.kind, undone.method) == ("dream", "undo_dream")
            assert set(undone.ids) == _rows_with(path, undone.revision) != set()
            assert undone.revision > event.revision


def test_a_cycle_that_changes_nothing_has_an_event(engine: oneiros.Engine, events: Events) -> None:
    engine.dream()
    assert [(event.kind, event.ids) for event in events] == [("dream", ())]


def test_a_purge_and_both_events_of_a_verdict_have_the_revision_of_their_commit(
    engine: oneiros.Engine,
) -> None:
    engine.add_many([{"id": id, "text": id} for id in ("gone", "older", "newer")])
    engine.delete("gone", now=NOW - 40 * DAY)
    engine.supersede("older", "newer")
    seen: list[int] = []

    def written(event: oneiros.Event) -> None:
        seen.append(event.revision)
        engine.add("seen")

    with engine.observe(written):
        before = engine.stats()["revision"]
        engine.purge(30, now=NOW)
        assert seen == [before + 1]
        engine.resolve_conflict("older", "newer", "distinct")
        assert seen == [before + 1, before + 3, before + 3]


def test_the_revision_is_that_of_the_commit(
    engine: oneiros.Engine, events: Events, tmp_path: Path
) -> None:
    written: list[set[str]] = []
    engine.observe(lambda event: written.append(_rows_with(tmp_path / "store.db", event.revision)))
    filled(engine)
    for number in range(4):
        engine.add(f"ant {number}")
    engine.update("tea", text="black tea")
    engine.add("black tea")  # counted as a duplicate, so not by the core's single insert
    engine.delete("milk")
    engine.forget("old")
    assert len(written) == len(events) == 9
    for event, ids in zip(events[:-1], written, strict=False):
        assert set(event.ids) <= ids, event
    assert (events[-1].kind, events[-1].ids) == ("forget", ("old",))
    assert written[-1] == {_erased(tmp_path / "store.db", "old")}
    revisions = [event.revision for event in events]
    assert revisions == sorted(set(revisions))
    last = revisions[-1]
    engine.search("tea")
    assert events[-1].revision == last


def test_the_time_is_that_of_the_call(engine: oneiros.Engine, events: Events) -> None:
    engine.add("tea", id="tea")
    engine.update("tea", text="x", now=NOW + 5)
    engine.search("x", now=NOW + 7)
    assert [event.time for event in events] == [NOW, NOW + 5, NOW + 7]


def test_calls_of_scopes_carry_their_bounds(engine: oneiros.Engine, events: Events) -> None:
    scope = engine.scope(user="ada").scope(namespace="acme/eu")
    id = scope.add("tea")
    scope.search("tea")
    scope.delete(where=oneiros.where(kind="note"))
    bounds = (("user", "ada"), ("namespace", "acme/eu"))
    assert [(event.kind, event.ids, event.bounds) for event in events] == [
        ("add", (id,), bounds),
        ("search", (id,), bounds),
        ("delete", (id,), bounds),
    ]


def test_an_event_is_a_small_frozen_value_without_texts(
    engine: oneiros.Engine, events: Events
) -> None:
    engine.add("the secret text", id="tea\x1b", title="the secret title", metadata={"k": "secret"})
    engine.search("secret")
    for event in events:
        assert "secret" not in repr(event)
        assert pickle.loads(pickle.dumps(event)) == event
        assert hash(event) == hash(pickle.loads(pickle.dumps(event)))
        with pytest.raises(AttributeError):
            event.kind = "add"
        with pytest.raises(AttributeError):
            event.text = "x"  # type: ignore[attr-defined]
    assert repr(events[0]).startswith("<Event add (add) of 1 memory: 'tea")
    assert "\x1b" not in repr(events[0])


def test_a_failing_call_has_no_event(engine: oneiros.Engine, events: Events) -> None:
    with pytest.raises(oneiros.UnknownMemory):
        engine.delete("none")
    with pytest.raises(ValueError, match="kind"):
        engine.add("x", kind="")
    engine.add("x", id="x")
    with pytest.raises(oneiros.DuplicateId):
        engine.add("x", id="x")
    assert len(events) == 1


def test_an_observer_runs_after_the_commit_outside_of_every_lock(tmp_path: Path) -> None:
    path, seen = tmp_path / "store.db", []

    def look(event: oneiros.Event) -> None:
        # Another connection sees the change and can write, so no transaction is open.
        with closing(apsw.Connection(str(path))) as other:
            count = other.execute("SELECT count(*) FROM memory WHERE deleted_at IS NULL").get
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        # So can another thread through the engine.
        found: list[int] = []
        thread = threading.Thread(target=lambda: found.append(len(engine.list())))
        thread.start()
        thread.join(20)
        seen.append((event.kind, threading.get_ident(), count, found))

    with oneiros.Engine(path, observers=[look]) as engine:
        engine.add("a", id="a")
        engine.add_many([{"text": "b"}, {"text": "c"}])
        engine.search("a")
        engine.dream()
        engine.delete("a")
    me = threading.get_ident()
    assert seen == [
        ("add", me, 1, [1]),
        ("add", me, 3, [3]),
        ("search", me, 3, [3]),
        ("dream", me, 3, [3]),
        ("delete", me, 2, [2]),
    ]


def test_an_observer_may_call_the_engine_and_gets_no_events_of_that(tmp_path: Path) -> None:
    others: Events = []

    def annotate(event: oneiros.Event) -> None:
        if event.kind == "add":
            engine.add(f"seen {event.ids[0]}", id=f"log-{event.ids[0]}")
            engine.search("seen")

    with oneiros.Engine(tmp_path / "store.db", observers=[annotate, others.append]) as engine:
        engine.add("tea", id="tea")
        assert {memory.id for memory in engine.list()} == {"tea", "log-tea"}
    assert [(event.kind, event.ids) for event in others] == [
        ("add", ("log-tea",)),
        ("search", ("log-tea",)),
        ("add", ("tea",)),
    ]
    assert others[0].revision > others[2].revision


def test_the_revision_survives_an_observer_that_writes(tmp_path: Path) -> None:
    seen: Events = []

    def write(_: oneiros.Event) -> None:
        engine.update("other", importance=0.5)

    with oneiros.Engine(tmp_path / "store.db") as engine:
        engine.add("other", id="other")
        engine.add("tea", id="tea")
        with engine.observe(write), engine.observe(seen.append):
            engine.add_many(
                [{"id": "tea", "text": "x"}, {"id": "b", "text": "b"}], on_conflict="update"
            )
    batch = [event for event in seen if event.method == "add_many"]
    assert [event.kind for event in batch] == ["add", "update"]
    assert batch[0].revision == batch[1].revision


def test_two_observers_that_call_the_engine_do_not_call_each_other_for_ever() -> None:
    calls = []

    def first(_: oneiros.Event) -> None:
        calls.append("first")
        engine.search("a")

    def second(_: oneiros.Event) -> None:
        calls.append("second")
        engine.search("b")

    with oneiros.Engine(":memory:", observers=[first, second]) as engine:
        engine.search("c")
    assert calls == ["first", "second", "second", "first"]


def test_a_failing_observer_stops_nothing_and_is_logged_once(
    caplog: pytest.LogCaptureFixture, events: Events
) -> None:
    def fails(event: oneiros.Event) -> None:
        raise RuntimeError(event.kind)

    def fails_too(event: oneiros.Event) -> None:
        raise LookupError(event.kind)

    with (
        caplog.at_level(logging.DEBUG),
        oneiros.Engine(":memory:", observers=[fails, fails_too, events.append]) as engine,
    ):
        engine.add("tea", id="tea")
        engine.update("tea", text="x")
        assert engine.search("x").ids == ["tea"]
    assert [event.kind for event in events] == ["add", "update", "search"]
    logged = [record for record in caplog.records if record.name == "oneiros.engine.observers"]
    assert [record.levelname for record in logged] == ["WARNING", "WARNING"]
    assert "fails" in logged[0].getMessage()
    assert "LookupError" in (caplog.text)


def test_an_interrupt_of_an_observer_passes_and_says_that_the_write_is_stored(
    events: Events,
) -> None:
    def interrupt(_: oneiros.Event) -> None:
        raise KeyboardInterrupt

    with oneiros.Engine(":memory:") as engine:
        with engine.observe(interrupt), engine.observe(events.append):
            with pytest.raises(KeyboardInterrupt) as caught:
                engine.add("tea", id="tea")
            assert caught.value.__notes__ == [
                "oneiros: the write was committed before the interrupt"
            ]
            with pytest.raises(KeyboardInterrupt) as caught:
                engine.search("tea")
            assert not hasattr(caught.value, "__notes__")
        assert engine.get("tea").text == "tea"
    assert events == []


def test_ctrl_c_in_an_observer_leaves_a_sound_engine(tmp_path: Path) -> None:
    def press(_: oneiros.Event) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1_000):
            threading.Event().wait(0.01)

    with oneiros.Engine(tmp_path / "store.db") as engine:
        with engine.observe(press), pytest.raises(KeyboardInterrupt):
            engine.add("tea", id="tea")
        assert engine.check() == []
        assert engine.search("tea").ids == ["tea"]


def test_an_observation_ends(events: Events) -> None:
    with oneiros.Engine(":memory:") as engine:
        with engine.observe(events.append) as observation:
            assert isinstance(observation, Observation)
            assert repr(observation).endswith("running>")
            engine.add("a", id="a")
        engine.add("b")
        assert repr(observation).endswith("closed>")
        observation.close()
        again = engine.observe(events.append)
        twice = engine.observe(events.append)
        engine.add("c", id="c")
        twice.close()
        engine.add("d", id="d")
    assert [event.ids for event in events] == [("a",), ("c",), ("c",), ("d",)]
    assert repr(again).endswith("closed>")  # by the engine
    with pytest.raises(oneiros.EngineClosed):
        engine.observe(events.append)


def test_an_observer_may_end_its_own_observation(events: Events) -> None:
    with oneiros.Engine(":memory:") as engine:

        def once(event: oneiros.Event) -> None:
            events.append(event)
            observation.close()

        observation = engine.observe(once)
        engine.add("a", id="a")
        engine.add("b", id="b")
    assert [event.ids for event in events] == [("a",)]


async def _coroutine(event: oneiros.Event) -> None: ...


class _Awaited:
    async def __call__(self, event: oneiros.Event) -> None: ...


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (print, "observers: expected a list of callables, got builtin_function_or_method"),
        ("abc", "observers: expected a list of callables, got str"),
        ([None], r"observers\[0\]: expected a callable that takes an event, got NoneType"),
        ([print, 5], r"observers\[1\]: expected a callable that takes an event, got int"),
        ([_coroutine], r"observers\[0\]: expected a plain callable, got a coroutine function"),
        ([_Awaited()], r"observers\[0\]: expected a plain callable, got a coroutine function"),
    ],
)
def test_wrong_observers_are_refused_before_the_store_is_made(
    tmp_path: Path, given: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        oneiros.Engine(tmp_path / "store.db", observers=given)
    assert not list(tmp_path.iterdir())


def test_a_wrong_callback_is_refused() -> None:
    with oneiros.Engine(":memory:") as engine:
        with pytest.raises(TypeError, match="callback: expected a callable that takes an event"):
            engine.observe("x")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="callback: expected a plain callable"):
            engine.observe(_coroutine)


def test_the_watch_stays_beside_observers(events: Events) -> None:
    entered = []

    class Spans:
        def searching(self, method: str) -> Any:
            @contextmanager
            def block() -> Iterator[Callable[[Any], None]]:
                entered.append(method)
                yield lambda responses: entered.append(len(responses))
                entered.append("left")

            return block()

    def note(event: oneiros.Event) -> None:
        events.append(event)
        entered.append("event")

    with oneiros.Engine(":memory:", watch=Spans(), observers=[note]) as engine:
        engine.add("tea")
        entered.clear()
        engine.search("tea")
        engine.search_many(["tea", "milk"])
    assert entered == ["search", 1, "left", "event", "search_many", 2, "left", "event"]


def test_an_erasure_whose_log_is_not_empty_yet_has_its_event(
    tmp_path: Path, events: Events
) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, busy_timeout_seconds=0.1, observers=[events.append]) as engine:
        engine.add("tea", id="tea")
        engine.add("milk", id="milk")
        engine.delete("milk")
        events.clear()
        with closing(apsw.Connection(str(path))) as reader:
            reader.execute("BEGIN")
            _ = reader.execute("SELECT count(*) FROM memory").get
            with pytest.raises(oneiros.StoreBusy):
                engine.forget("tea")
            with pytest.raises(oneiros.StoreBusy):
                engine.purge(0)
            reader.execute("ROLLBACK")
        assert engine.count() == 0
    assert [(event.kind, event.ids) for event in events] == [
        ("forget", ("tea",)),
        ("forget", ("milk",)),
    ]


def test_threads_get_their_own_events(tmp_path: Path) -> None:
    seen: list[tuple[int, oneiros.Event]] = []
    with oneiros.Engine(
        tmp_path / "store.db",
        durability="normal",
        observers=[lambda event: seen.append((threading.get_ident(), event))],
    ) as engine:
        all_run = threading.Barrier(4)  # the number of a thread that has ended is given again

        def work(name: str) -> None:
            all_run.wait(60)
            for number in range(20):
                engine.add(f"{name} {number}", id=f"{name}{number}")
                engine.update(f"{name}{number}", importance=0.3)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        last = engine.stats()["revision"]
    assert len(seen) == 4 * 20 * 2
    revisions = [event.revision for _, event in seen]
    assert sorted(revisions) == list(range(last - len(seen) + 1, last + 1))
    for thread in {ident for ident, _ in seen}:
        own = [event for ident, event in seen if ident == thread]
        assert [event.kind for event in own] == ["add", "update"] * 20
        assert len({event.ids[0][0] for event in own}) == 1


def test_background_cycles_are_observed_on_their_thread(tmp_path: Path) -> None:
    done = threading.Event()
    threads: list[str] = []

    def note(event: oneiros.Event) -> None:
        threads.append(f"{event.kind} {threading.current_thread().name}")
        done.set()

    with oneiros.Engine(tmp_path / "store.db", observers=[note]) as engine:
        schedule = oneiros.DreamSchedule(on_session_end=True)
        with engine.keep_dreaming(schedule):
            engine.end_session()
            assert done.wait(30)
    assert threads == ["dream oneiros-dreamer"]


def test_async_engines_observe(events: Events) -> None:
    async def main() -> None:
        async with oneiros.AsyncEngine(":memory:", observers=[events.append]) as engine:
            await engine.add("tea", id="tea")
            with await engine.observe(events.append):
                await engine.search("tea")
            await engine.delete("tea")

    asyncio.run(main())
    assert [event.kind for event in events] == ["add", "search", "search", "delete"]


def test_copies_of_a_store_have_no_observers(events: Events) -> None:
    with oneiros.Engine(":memory:", observers=[events.append]) as engine:
        engine.add("tea")
        events.clear()
        engine.dream(dry_run=True).impact(["tea"])
    assert events == []


def test_every_writing_method_is_in_the_table_above() -> None:
    source = "".join(inspect.getsource(call) for call, _ in CALLS)
    for name in (
        *("add", "add_many", "update", "touch", "sweep_expired", "feedback", "delete", "restore"),
        *("forget", "purge", "supersede", "pin", "link", "link_many", "unlink", "promote"),
        "resolve_conflict",
    ):
        assert f"e.{name}(" in source, name


def test_a_writer_notes_no_commit_of_a_job_without_one() -> None:
    writer = WriterThread(lambda: None, lambda: None, lambda: None)
    writer.run(lambda: writer.note_commit(7), is_write=True)
    assert writer.committed == 7
    writer.run(lambda: None)
    assert writer.committed == 0
    with pytest.raises(ZeroDivisionError):
        writer.run(lambda: (writer.note_commit(9), 1 / 0))
    assert writer.committed == 9
    writer.stop()
