"""Threads, processes, forks and interrupts around one file."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import oneiros

WRITER = """
import sys, oneiros
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with oneiros.Engine(path, busy_timeout_seconds=30) as mind:
    for n in range(count):
        mind.add(f"shared word and {name}{n}", id=f"{name}{n}")
        mind.search("shared", session=name)
    print(len(mind))
"""


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mind.db"


def test_processes_write_one_file_and_lose_nothing(path: Path) -> None:
    with oneiros.Engine(path, busy_timeout_seconds=30) as mind:
        writers = [started(WRITER, path, name, 25) for name in ("a", "b", "c")]
        for number in range(25):
            mind.add(f"shared word and own{number}", id=f"own{number}")
        for writer in writers:
            _, said = writer.communicate(timeout=120)
            assert (writer.returncode, said) == (0, "")
        assert len(mind) == 100
        assert len(mind.search("shared", k=100)) == 100
        assert mind.check() == []
        order = [memory.id for memory in mind.list(limit=200)]
    with oneiros.Engine(path) as again:
        assert [memory.id for memory in again.list(limit=200)] == order
        accesses = sum(memory.access_count for memory in again.list(limit=200))
        assert accesses >= 3 * 25  # each search found at least what its process had just added


def test_another_processes_commit_is_found_by_the_next_search(path: Path) -> None:
    with oneiros.Engine(path) as mind, oneiros.Engine(path, auto_refresh=False) as still:
        assert mind.search("ant").ids == []
        other = started(WRITER, path, "ant", 1)
        other.communicate(timeout=60)
        assert mind.search("ant0").ids == ["ant0"]
        assert still.search("ant0").ids == []
        still.refresh()
        assert still.search("ant0").ids == ["ant0"]


def test_a_store_locked_for_too_long_is_busy_and_stays_usable(path: Path) -> None:
    apsw = pytest.importorskip("apsw")
    with oneiros.Engine(path, busy_timeout_seconds=0.2) as mind:
        mind.add("ant")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(oneiros.StoreBusy):
            mind.add("bee")
        assert mind.search("ant", reinforce=False).results
        other.execute("ROLLBACK")
        other.close()
        mind.add("bee")
        assert len(mind) == 2


def test_one_writer_and_many_readers(path: Path) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def read(mind: oneiros.Engine) -> None:
        seen = 0
        try:
            while not done.is_set():
                found = mind.search("ant", k=100, session="reader")
                assert len(found) >= min(seen, 100)  # every reader sees a prefix, and never less
                seen = len(found)
                assert all(result.memory.text.startswith("ant") for result in found.results[:3])
        except BaseException as error:  # noqa: BLE001 - carried to the test's thread
            failures.append(error)

    with oneiros.Engine(path, durability="normal") as mind:
        readers = [threading.Thread(target=read, args=(mind,)) for _ in range(4)]
        for reader in readers:
            reader.start()
        for number in range(150):
            mind.add(f"ant {number}", embedding=[1.0, number])
            if number % 10 == 3:
                mind.update(mind.list(limit=1)[0].id, importance=number / 150)
        done.set()
        for reader in readers:
            reader.join()
        assert failures == []
        assert mind.check() == []
        assert len(mind) == 150


def test_threads_add_beside_each_other(path: Path) -> None:
    with oneiros.Engine(path, durability="normal") as mind:
        threads = [
            threading.Thread(
                target=lambda name=name: [
                    mind.add(f"ant {name}{n}", id=f"{name}{n}") for n in range(40)
                ]
            )
            for name in "abcd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(mind) == 160
        assert mind.check() == []


def test_a_heartbeat_beats_on_beside_long_calls(mind: oneiros.Engine) -> None:
    """The interpreter is free while the core works: no beat is missed by much."""
    beats: list[float] = []
    done = threading.Event()

    def beat() -> None:
        while not done.wait(0.001):
            beats.append(time.perf_counter())

    heart = threading.Thread(target=beat)
    heart.start()
    mind.add_many([{"text": f"ant bee cat {n} " * 20} for n in range(3_000)])
    mind.search_many(["ant bee cat"] * 500, k=100, threads=2, reinforce=False)
    done.set()
    heart.join()
    assert len(beats) > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_open_for_itself(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        mind.add("ant", embedding=[1.0, 0.0])
        mind.search("ant", embedding=[1.0, 0.0])
        for _ in range(8):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    mind.search("ant")
                except oneiros.EngineClosed:
                    with oneiros.Engine(path) as own:
                        code = 0 if own.search("ant", embedding=[1.0, 0.0]).results else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert mind.search("ant").results


def test_an_engine_that_is_sent_to_another_process_is_refused_by_name(path: Path) -> None:
    mind = oneiros.AsyncEngine(path)
    with oneiros.Engine(path) as engine:
        scope = engine.scope(user="ada")
        sent: list[object] = [engine, engine.search, scope.add, engine.dream(dry_run=True), mind]
        for thing in (*sent, mind.search, asyncio.run(mind.scope(user="ada"))):
            for copied in (pickle.dumps, copy.deepcopy):
                with pytest.raises(TypeError, match="open the store by its path"):
                    copied(thing)
    asyncio.run(mind.close())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_plans_for_itself(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        mind.add("ant")
        plan = mind.dream(dry_run=True)
        assert of_child(plan.apply) == "EngineClosed"
        assert plan.apply().id == plan.id


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_async_engine_does_not_wait_in_a_forked_child_for_its_parents_threads(
    path: Path,
) -> None:
    mind = oneiros.AsyncEngine(path, workers=2)
    unopened = oneiros.AsyncEngine(path)

    async def two() -> None:
        await asyncio.gather(mind.add("ant"), mind.add("bee"))

    async def in_a_loop() -> None:
        await mind.count()  # this loop is the engine's
        assert of_child(lambda: asyncio.run(mind.count())) == "EngineClosed"
        assert await mind.count() == 2

    asyncio.run(two())
    for _ in range(3):
        assert of_child(lambda: asyncio.run(mind.count())) == "EngineClosed"
        assert of_child(lambda: asyncio.run(mind.close())) == "nothing"
        assert of_child(lambda: asyncio.run(unopened.count())) == "nothing"
    asyncio.run(in_a_loop())
    asyncio.run(mind.close())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_is_forked_beside_a_write_collects_its_garbage() -> None:
    reads, forked = threading.Event(), threading.Event()

    def records() -> Iterator[dict[str, object]]:
        yield {"text": "ant"}
        reads.set()
        assert forked.wait(30)

    def own() -> Iterator[dict[str, object]]:
        yield {"text": "bee"}
        assert of_child(collects) == "nothing"

    def collects() -> None:
        if not gc.isenabled():
            raise AssertionError

    with oneiros.Engine(":memory:") as mind:
        writer = threading.Thread(target=mind.add_many, args=(records(),))
        writer.start()
        assert reads.wait(30)
        try:
            assert of_child(collects) == "nothing"
        finally:
            forked.set()
            writer.join()
        mind.add_many(own())
        assert len(mind) == 2
    assert gc.isenabled()


def of_child(call: Callable[[], object]) -> str:
    """Return the name of the exception of a call in a forked child, or "nothing"."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)  # ends a child that waits for ever
            try:
                call()
                name = "nothing"
            except Exception as error:  # noqa: BLE001 - its name is returned
                name = type(error).__name__
            os.write(writer, name.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        name = said.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return name


INTERRUPTED = """
import sys, oneiros
mind = oneiros.Engine(sys.argv[1])
mind.add("first")
print("ready", flush=True)
try:
    while True:
        mind.add_many([{"text": f"word{n} and many more words to make this take a while"} for n in range(20_000)])
        mind.search_many(["words while"] * 50, reinforce=False)
except KeyboardInterrupt:
    pass
mind.refresh()
print(len(mind), len(mind.check()), flush=True)
mind.close()
"""


@pytest.mark.parametrize("after", [0.05, 0.3, 0.9])
def test_an_interrupt_leaves_whole_batches(path: Path, after: float) -> None:
    process = started(INTERRUPTED, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    threading.Event().wait(after)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    count, problems = map(int, out.split())
    assert (count - 1) % 20_000 == 0
    assert problems == 0
    with oneiros.Engine(path) as again:
        assert len(again) == count
        assert again.check() == []
