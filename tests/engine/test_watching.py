"""A watch with ``calling`` is entered around every call that writes, with its result and events."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.engine.memories import Memories
from oneiros.write.sync import Sync

NOW = 1_750_000_000.0
DAY = 86_400.0


class Recorder:
    """Notes the calls that end, the searches too."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, list[tuple[str, ...]]]] = []
        self.failed: list[tuple[str, str]] = []
        self.is_inside = 0
        self.allowed = 1

    @contextmanager
    def searching(self, method: str) -> Iterator[Callable[[Any], None]]:
        yield lambda responses: self.calls.append((method, len(responses), []))

    @contextmanager
    def calling(self, method: str) -> Iterator[Callable[[object, Sequence[oneiros.Event]], None]]:
        self.is_inside += 1
        assert self.is_inside <= self.allowed, "a call within a call"
        try:
            yield lambda result, events: self.calls.append(
                (method, result, [event.ids for event in events])
            )
        except Exception as error:
            self.failed.append((method, type(error).__name__))
            raise
        finally:
            self.is_inside -= 1


@pytest.fixture
def watch() -> Recorder:
    return Recorder()


@pytest.fixture
def engine(watch: Recorder, tmp_path: Path) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(tmp_path / "store.db", watch=watch, clock=lambda: NOW) as opened:
        assert watch.calls == [("open", None, [])]
        opened.add_many(
            [
                {"id": "tea", "text": "green tea"},
                {"id": "milk", "text": "cold milk", "user": "ada"},
                {"id": "old", "text": "stale bread", "ttl": 60, "created_at": NOW - DAY},
            ]
        )
        watch.calls.clear()
        yield opened


class Ones:
    name = "ones"

    def __call__(self, texts: list[str]) -> Any:
        return np.ones((len(texts), 2), np.float32)


CALLS: dict[str, tuple[Callable[[Any], Any], list[tuple[str, ...]]]] = {
    "add": (lambda e: e.add("ant", id="a"), [("a",)]),
    "add_many": (
        lambda e: (
            e.add_many([{"id": id, "text": id} for id in ("a", "tea")], on_conflict="update").ids
        ),
        [("a",), ("tea",)],
    ),
    "update": (lambda e: e.update("tea", text="x"), [("tea",)]),
    "touch": (lambda e: e.touch("tea", ttl=5), [("tea",)]),
    "sweep_expired": (lambda e: e.sweep_expired(), [("old",)]),
    "feedback": (lambda e: e.feedback("tea", "helpful"), [("tea",)]),
    "pin": (lambda e: e.pin("tea"), [("tea",)]),
    "supersede": (lambda e: e.supersede("tea", "milk"), [("tea",)]),
    "resolve_conflict": (lambda e: e.resolve_conflict("tea", "milk", "update"), [("tea",)]),
    "delete": (lambda e: e.delete("tea"), [("tea",)]),
    "restore": (lambda e: e.restore("tea"), []),
    "forget": (lambda e: len(e.forget("tea")), [("tea",)]),
    "forget_many": (lambda e: len(e.forget_many(["tea", "milk"])), [("tea", "milk")]),
    "purge": (lambda e: e.purge(), []),
    "link": (lambda e: e.link("tea", "milk"), [("tea", "milk")]),
    "link_many": (lambda e: e.link_many([("tea", "milk")]), [("milk", "tea")]),
    "unlink": (lambda e: e.unlink("tea", "milk"), []),
    "promote": (lambda e: e.promote(threshold=1.0).ids, []),
    "dream": (lambda e: e.dream(dry_run=True), []),
    "undo_dream": (lambda e: e.undo_dream(e.dream().id), [("tea", "milk", "old")]),
    "reembed": (lambda e: e.reembed(Ones()), []),
}


@pytest.mark.parametrize("method", CALLS)
def test_each_method_is_one_call_with_its_events(
    engine: oneiros.Engine, watch: Recorder, method: str
) -> None:
    call, events = CALLS[method]
    result = call(engine)
    name, seen, ids = watch.calls[-1]
    assert name == method
    assert ids == events
    if isinstance(result, int | str | None):
        assert seen in (result, None) or len(seen) == result


def test_no_method_that_writes_is_left_out() -> None:
    writing = {
        name
        for cls in (Memories, oneiros.Engine)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and "require_writable(" in inspect.getsource(member)
    }
    assert writing - {"keep_dreaming"} <= {*CALLS, "embed_missing"}


def test_an_embedder_that_is_missing_is_a_failed_call(
    engine: oneiros.Engine, watch: Recorder
) -> None:
    with pytest.raises(ValueError, match="embedder"):
        engine.embed_missing()
    with pytest.raises(oneiros.UnknownMemory):
        engine.scope(user="ada").forget("tea")
    with pytest.raises(TypeError, match=r"Scope\.add\(\) missing 1 required"):
        engine.scope(user="ada").add(txt="tea")  # type: ignore[call-arg]
    assert watch.failed == [
        ("embed_missing", "ValueError"),
        ("forget", "UnknownMemory"),
        ("add", "TypeError"),
    ]
    assert watch.calls == []


def test_a_cycle_in_the_background_is_a_call(engine: oneiros.Engine, watch: Recorder) -> None:
    ended: SimpleQueue[object] = SimpleQueue()
    schedule = oneiros.DreamSchedule(every=None, after_new=None, min_gap=0)
    with engine.keep_dreaming(schedule, on_cycle=ended.put):
        engine.end_session()
        report = ended.get(timeout=20)
    assert [(name, result) for name, result, _ in watch.calls] == [("dream", report)]


def test_applying_a_plan_is_a_call(engine: oneiros.Engine, watch: Recorder) -> None:
    plan = engine.dream(dry_run=True)
    report = plan.apply()
    assert [(name, result) for name, result, _ in watch.calls] == [
        ("dream", plan),
        ("apply", report),
    ]


def test_scopes_searches_and_asyncio_are_watched(watch: Recorder, tmp_path: Path) -> None:
    async def talk() -> None:
        async with oneiros.AsyncEngine(tmp_path / "store.db", watch=watch) as engine:
            scope = await engine.scope(user="ada")
            id = await scope.add("green tea")
            await engine.search("tea")
            await engine.forget(id)

    asyncio.run(talk())
    assert [name for name, _, _ in watch.calls] == ["open", "add", "search", "forget"]


def test_a_search_of_the_past_opens_no_store(watch: Recorder, tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db", watch=watch, history="all") as engine:
        engine.add("tea", id="tea")
        at = engine.history("tea")[0].recorded_at
        engine.update("tea", text="milk")
        watch.calls.clear()
        assert engine.search("tea", as_of=at).ids == ["tea"]
        assert [name for name, _, _ in watch.calls] == ["search"]


def test_several_watches_are_entered_in_order(tmp_path: Path) -> None:
    class OfSearches:
        def __init__(self) -> None:
            self.searches: list[str] = []

        @contextmanager
        def searching(self, method: str) -> Iterator[Callable[[Any], None]]:
            yield lambda _: self.searches.append(method)

    one, other, third = Recorder(), Recorder(), OfSearches()
    with oneiros.Engine(tmp_path / "store.db", watch=[one, other, third]) as engine:
        engine.add("tea", id="tea")
        engine.search("tea")
        engine.search_many(["tea", "milk"])
    assert one.calls == other.calls
    assert [name for name, _, _ in one.calls] == ["open", "add", "search", "search_many"]
    assert third.searches == ["search", "search_many"]
    with pytest.raises(TypeError, match=r"watch\[1\]: expected an object with searching"):
        oneiros.Engine(":memory:", watch=[one, "two"])  # type: ignore[list-item]


def test_an_observer_s_own_calls_keep_their_events_apart(
    engine: oneiros.Engine, watch: Recorder
) -> None:
    def pin(event: oneiros.Event) -> None:
        if event.kind == "add":
            engine.pin(event.ids[0])

    watch.allowed = 2
    with engine.observe(pin):
        engine.add("ant", id="a")
        engine.update("a", text="bee")
    assert [(name, ids) for name, _, ids in watch.calls] == [
        ("pin", [("a",)]),
        ("add", [("a",)]),
        ("update", [("a",)]),
    ]


def test_a_watch_that_fails_as_the_store_opens_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    close = Sync.close

    def noting(self: Sync) -> None:
        close(self)
        closed.append(self)

    class Failing(Recorder):
        @contextmanager
        def calling(self, method: str) -> Iterator[Callable[[object, Any], None]]:
            def report(*_: object) -> None:
                raise ZeroDivisionError(method)

            yield report

    monkeypatch.setattr(Sync, "close", noting)
    with pytest.raises(ZeroDivisionError, match="open"):
        oneiros.Engine(tmp_path / "store.db", watch=Failing())
    assert len(closed) == 1
