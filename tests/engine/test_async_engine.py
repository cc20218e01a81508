"""The engine for asyncio: the same answers, bounded, and whole however an await ends."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.engine.async_engine import AsyncEngine, AsyncMemories
from oneiros.engine.memories import Memories

NOW = 1_750_000_000.0


class Slow:
    """An embedder that waits until it is let go, and counts who is inside."""

    name = "slow"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.inside = self.most = self.calls = 0
        self._lock = threading.Lock()

    def __call__(self, texts: list[str]) -> Any:
        with self._lock:
            self.inside += 1
            self.calls += 1
            self.most = max(self.most, self.inside)
        self.entered.release()
        assert self.gate.wait(30)
        with self._lock:
            self.inside -= 1
        return np.ones((len(texts), 2), np.float32)


def opened(**options: Any) -> AsyncEngine:
    return oneiros.AsyncEngine(":memory:", clock=lambda: NOW, **options)


@pytest.mark.parametrize(
    ("plain", "awaited"), [(oneiros.Engine, AsyncEngine), (Memories, AsyncMemories)]
)
def test_it_has_every_method_with_its_arguments(plain: type, awaited: type) -> None:
    for name, method in inspect.getmembers(plain, inspect.isfunction):
        if not name.startswith("_") and name not in ("close", "scope", "dream"):
            mine = getattr(awaited, name)
            assert inspect.signature(mine) == inspect.signature(method), name
            assert mine.__doc__ == method.__doc__


def test_it_has_every_property_once_it_is_open(tmp_path: Path) -> None:
    async def properties() -> dict[str, Any]:
        mind = oneiros.AsyncEngine(tmp_path / "agent.db", embedder="hashing")
        for name in ("path", "embedder_name"):
            with pytest.raises(RuntimeError, match="not open yet"):
                getattr(mind, name)
        async with mind:
            await mind.add("Ada likes her coffee black")
            return {name: getattr(mind, name) for name in names}

    names = [name for name, _ in inspect.getmembers(oneiros.Engine, is_public_property)]
    with oneiros.Engine(tmp_path / "agent.db", embedder="hashing") as engine:
        expected = {name: getattr(engine, name) for name in names}
    expected["embedder_name"] = "oneiros/hashing-1-512"
    assert asyncio.run(properties()) == expected
    assert names == ["bounds", "embedder_name", "path"]


def is_public_property(member: object) -> bool:
    return isinstance(member, property) and not member.fget.__name__.startswith("_")  # type: ignore[union-attr]


def test_scopes_have_their_bounds() -> None:
    async def bounds() -> list[dict[str, str]]:
        async with opened() as mind:
            scope = await (await mind.scope(user="ada")).scope(session="s1")
            return [mind.bounds, scope.bounds]

    assert asyncio.run(bounds()) == [{}, {"user": "ada", "session": "s1"}]


def test_answers_are_those_of_the_engine() -> None:
    async def asked() -> tuple[list[str], list[list[str]], list[str], int]:
        async with opened() as mind:
            await mind.add("coffee, black", id="a", project="p")
            await mind.add_many([{"id": "b", "text": "tea"}, {"id": "c", "text": "black coffee"}])
            many = await mind.search_many(["tea", "coffee"])
            scope = await mind.scope(project="p")
            response = await mind.search("coffee")
            memories = [result.memory.text for result in response]
            return (
                memories,
                [one.ids for one in many],
                (await scope.search("coffee")).ids,
                await mind.count(),
            )

    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add("coffee, black", id="a", project="p")
        mind.add_many([{"id": "b", "text": "tea"}, {"id": "c", "text": "black coffee"}])
        many = [one.ids for one in mind.search_many(["tea", "coffee"])]
        texts = [result.memory.text for result in mind.search("coffee")]
    assert asyncio.run(asked()) == (texts, many, ["a"], 3)


def test_memories_come_with_the_results() -> None:
    async def asked() -> oneiros.SearchResponse:
        async with opened() as mind:
            await mind.add("coffee")
            return await mind.search("coffee")

    response = asyncio.run(asked())  # the store is gone
    assert response.results[0].memory.text == "coffee"


def test_the_nearest_misses_come_with_their_memories() -> None:
    async def asked() -> oneiros.SearchResponse:
        async with opened() as mind:
            await mind.add("coffee", embedding=[1.0, 0.0])
            return await mind.search("tea or milk", embedding=[0.0, 1.0])

    response = asyncio.run(asked())
    assert response.abstained
    assert response.nearest_misses[0].memory.text == "coffee"


def test_no_more_than_so_many_are_at_work() -> None:
    async def asked(slow: Slow) -> None:
        async with opened(workers=2, embedder=slow) as mind:
            calls = [asyncio.create_task(mind.search(f"q{n}")) for n in range(5)]
            for _ in range(2):
                await asyncio.to_thread(slow.entered.acquire)
            await asyncio.sleep(0.05)
            assert slow.inside == 2
            slow.gate.set()
            await asyncio.gather(*calls)

    slow = Slow()
    asyncio.run(asked(slow))
    assert (slow.most, slow.calls) == (2, 5)


def test_cancelled_while_it_waits_it_never_starts_and_while_it_runs_it_ends_whole() -> None:
    async def asked(slow: Slow) -> list[str]:
        async with opened(workers=1, embedder=slow) as mind:
            running = asyncio.create_task(mind.add("one", id="one"))
            await asyncio.to_thread(slow.entered.acquire)
            waiting = asyncio.create_task(mind.add("two", id="two"))
            await asyncio.sleep(0)
            for task, words in ((waiting, "never began; nothing"), (running, "goes on")):
                task.cancel()
                with pytest.raises(asyncio.CancelledError) as caught:
                    await task
                (note,) = caught.value.__notes__
                assert words in note
            slow.gate.set()
            return [memory.id for memory in await mind.list()]

    slow = Slow()
    assert asyncio.run(asked(slow)) == ["one"]
    assert slow.calls == 1


def test_a_call_cancelled_while_the_engine_opens_never_began(tmp_path: Path) -> None:
    async def asked() -> list[str]:
        mind = oneiros.AsyncEngine(tmp_path / "a.db")
        first = asyncio.create_task(mind.add("one", id="one"))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await first
        assert caught.value.__notes__ == ["oneiros: the call never began; nothing of it is stored"]
        found = [memory.id for memory in await mind.list()]
        await mind.close()
        return found

    assert asyncio.run(asked()) == []


def test_a_call_cancelled_after_its_end_says_how_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ThreadPoolExecutor.submit
    calls: list[Future[Any]] = []

    def submitted(*arguments: Any) -> Future[Any]:
        calls.append(submit(*arguments))
        return calls[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submitted)

    async def asked(given: dict[str, str]) -> str:
        async with opened() as mind:
            await mind.add("one", id="one")
            task = asyncio.create_task(mind.add("two", **given))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not wait(calls, timeout=60).not_done  # the loop has not heard of it
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            (note,) = caught.value.__notes__
            return str(note)

    assert (
        asyncio.run(asked({"id": "two"})) == "oneiros: the call had ended; what it wrote is stored"
    )
    failed = asyncio.run(asked({"id": "one"}))
    assert failed.startswith("oneiros: the call had failed with DuplicateId: id: 'one' exists")


def test_closing_waits_for_what_runs_and_refuses_the_rest(tmp_path: Path) -> None:
    async def asked(slow: Slow) -> None:
        mind = oneiros.AsyncEngine(tmp_path / "a.db", workers=1, embedder=slow)
        running = asyncio.create_task(mind.add("one", id="one"))
        await asyncio.to_thread(slow.entered.acquire)
        waiting = asyncio.create_task(mind.add("two", id="two"))
        await asyncio.sleep(0)
        closing = asyncio.create_task(mind.close())
        await asyncio.sleep(0)
        closing.cancel()  # and asked again
        with pytest.raises(asyncio.CancelledError):
            await closing
        closing = asyncio.create_task(mind.close())
        await asyncio.sleep(0.01)
        assert not closing.done()
        slow.gate.set()
        await closing
        assert await running == "one"
        with pytest.raises(oneiros.EngineClosed):
            await waiting
        with pytest.raises(oneiros.EngineClosed):
            await mind.search("one")
        await mind.close()

    asyncio.run(asked(Slow()))
    with oneiros.Engine(tmp_path / "a.db", embedder=Slow()) as mind:
        assert [memory.id for memory in mind.list()] == ["one"]


def test_several_tasks_close_while_calls_run(tmp_path: Path) -> None:
    async def closed(slow: Slow) -> None:
        mind = oneiros.AsyncEngine(tmp_path / "a.db", workers=4, embedder=slow)
        running = [asyncio.create_task(mind.add(id, id=id)) for id in ("a", "b", "c", "d")]
        for _ in running:
            await asyncio.to_thread(slow.entered.acquire)
        closing = asyncio.gather(*(mind.close() for _ in range(3)))
        await asyncio.sleep(0)
        slow.gate.set()
        await asyncio.wait_for(closing, 30)
        assert await asyncio.gather(*running) == ["a", "b", "c", "d"]

    asyncio.run(closed(Slow()))


async def cancelled_while_it_runs(mind: AsyncEngine, slow: Slow) -> None:
    running = asyncio.create_task(mind.add("one", id="one"))
    await asyncio.to_thread(slow.entered.acquire)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("workers", [1, 2])
def test_a_call_outlives_its_loop_and_the_next_one_goes_on(tmp_path: Path, workers: int) -> None:
    slow = Slow()
    mind = oneiros.AsyncEngine(tmp_path / "a.db", workers=workers, embedder=slow)

    async def go_on() -> None:
        calls = [asyncio.create_task(mind.add(id, id=id)) for id in ("two", "three")]
        await asyncio.sleep(0.05)
        assert slow.inside == workers  # the call of the first loop still has its thread
        slow.gate.set()
        assert await asyncio.wait_for(asyncio.gather(*calls), 30) == ["two", "three"]

    asyncio.run(cancelled_while_it_runs(mind, slow))
    asyncio.run(go_on())
    asyncio.run(asyncio.wait_for(mind.close(), 30))
    assert slow.most == workers
    with oneiros.Engine(tmp_path / "a.db", embedder=slow) as reopened:
        assert {memory.id for memory in reopened.list()} == {"one", "two", "three"}


def test_closing_in_another_loop_waits_for_a_call_of_the_first(tmp_path: Path) -> None:
    slow = Slow()
    mind = oneiros.AsyncEngine(tmp_path / "a.db", embedder=slow)

    async def closed() -> None:
        closing = asyncio.create_task(mind.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        slow.gate.set()
        await asyncio.wait_for(closing, 30)

    asyncio.run(cancelled_while_it_runs(mind, slow))
    asyncio.run(closed())
    with oneiros.Engine(tmp_path / "a.db", embedder=slow) as reopened:
        assert [memory.id for memory in reopened.list()] == ["one"]


def test_two_loops_at_once_are_refused() -> None:
    async def run() -> None:
        async with opened(workers=1) as mind:
            await mind.add("one", id="one")
            for call in (mind.add("two"), mind.close()):
                with pytest.raises(RuntimeError, match="belongs to one event loop"):
                    await asyncio.to_thread(asyncio.run, call)
            assert await mind.count() == 1

    asyncio.run(run())


def test_an_engine_that_does_not_open_says_why_each_time(tmp_path: Path) -> None:
    path = tmp_path / "no.db"
    path.write_bytes(b"this is no store, whatever its name says" * 100)

    async def asked() -> None:
        mind = oneiros.AsyncEngine(path)
        for _ in range(2):
            with pytest.raises(oneiros.StoreCorrupt):
                await mind.count()
        await mind.close()

    asyncio.run(asked())
    with pytest.raises(ValueError, match="workers: must be in"):
        oneiros.AsyncEngine(path, workers=0)


def test_what_raises_stop_iteration_ends_its_await() -> None:
    moments = [NOW]

    async def run() -> None:
        async with oneiros.AsyncEngine(":memory:", clock=lambda: next(iter(moments))) as engine:
            await engine.add("ant")
            moments.clear()
            with pytest.raises(RuntimeError, match="the call raised StopIteration") as caught:
                await asyncio.wait_for(engine.search("ant"), 30)
            assert isinstance(caught.value.__cause__, StopIteration)

    asyncio.run(run())
