"""What an engine promises when its caller cannot wait: Ctrl-C, fork, cancelled tasks, exit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.write.sync import Sync


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, also where this process was started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds: float) -> None:
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def run_program(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": f"m{n}", "text": f"memory {n} of topic {n % 97}"} for n in range(count)]


IMPORTS = """
import os, signal, sys, threading, time, oneiros
signal.signal(signal.SIGINT, signal.default_int_handler)
with oneiros.Engine(sys.argv[1]) as engine:
    engine.add_many({"id": f"w{n}", "text": f"warm {n}"} for n in range(100))
    for n, seconds in enumerate((0.2, 0.4, 0.6, 0.8, 1.0)):
        count = len(engine)
        batch = [{"id": f"{n}-{m}", "text": f"memory {m} of topic {m % 97}"} for m in range(20_000)]
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            engine.add_many(batch)
            for _ in range(3_000):
                time.sleep(0.01)  # one that comes just before a sleep is raised after it
            raise AssertionError("no interrupt")
        except KeyboardInterrupt as interrupt:
            notes = getattr(interrupt, "__notes__", [])
        engine.refresh()
        if len(engine) == count:
            assert not notes or "rolled back" in notes[0], notes
        else:
            assert len(engine) == count + 20_000
            assert not notes or "committed" in notes[0], notes
        assert engine.check() == []
    stored = len(engine)
with oneiros.Engine(sys.argv[1]) as again:
    assert again.check() == []
    assert len(again) == stored
"""


def test_an_interrupted_import_is_rolled_back_or_committed_and_reports_which(path: Path) -> None:
    done = run_program(IMPORTS, path)
    assert done.returncode == 0, done.stderr


def test_an_interrupt_reaches_a_caller_who_waits_for_another_process(path: Path) -> None:
    with oneiros.Engine(path, busy_timeout_seconds=30) as engine:
        engine.add("ant", id="a")
        code = (
            "import apsw, sys, time\n"
            "c = apsw.Connection(sys.argv[1]); c.execute('BEGIN IMMEDIATE')\n"
            "print('held', flush=True); time.sleep(30)"
        )
        command = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            interrupt_after(0.2)
            started = time.monotonic()
            with pytest.raises(KeyboardInterrupt) as caught:
                engine.add("bee", id="b")
            assert time.monotonic() - started < 20.0  # of the 30 that the other process holds it
            assert caught.value.__notes__ == [
                "oneiros: the write was rolled back, nothing of it is stored"
            ]
            holder.kill()
        engine.add("cat", id="c")
        assert [memory.id for memory in engine.list()] == ["a", "c"]


def test_a_read_model_that_is_behind_is_rebuilt_by_check(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with oneiros.Engine(path) as engine:
        engine.add_many(records(20))
        engine.search("memory", session="s")
        with monkeypatch.context() as patch:
            patch.setattr(Sync, "_apply", lambda *_: None)
            engine.add_many([{"id": f"x{n}", "text": f"lost {n}"} for n in range(5)])
        engine.add("after them", id="y")
        assert engine.search("lost", reinforce=False).ids == []
        problems = engine.check()
        assert problems
        assert all("rebuilt from the store" in problem for problem in problems)
        assert engine.check() == []
        assert len(engine.search("lost", reinforce=False).ids) == 5
        assert [memory.id for memory in engine.list(limit=100)][-6:] == [
            *(f"x{n}" for n in range(5)),
            "y",
        ]
        scope = engine.scope(session="s")
        engine.add("in the session", id="z", session="s")
        assert scope.search("session", reinforce=False).ids == ["z"]
        counts = {memory.id: memory.access_count for memory in engine.list(limit=100)}
        assert sum(counts.values()) == 10  # what waited for the store was not lost
    with oneiros.Engine(path) as again:
        assert again.check() == []
        held = {memory.id: memory.access_count for memory in again.list(limit=100)}
        assert held == counts


def test_a_cancelled_await_leaves_the_write_whole(path: Path) -> None:
    async def run() -> None:
        async with oneiros.AsyncEngine(path) as engine:
            await engine.add("warm", id="w")
            for n in range(12):
                batch = [{**one, "id": f"{n}-{one['id']}"} for one in records(500)]
                task = asyncio.create_task(engine.add_many(batch))
                await asyncio.sleep(0.002 * n)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):  # or it had ended before
                    await task
            assert await engine.check() == []
            assert (await engine.count() - 1) % 500 == 0

    asyncio.run(run())
    with oneiros.Engine(path) as again:  # with what went on after its await was cancelled
        assert (len(again) - 1) % 500 == 0
        assert again.check() == []


def test_a_process_that_ends_without_closing_loses_nothing(path: Path) -> None:
    code = """
import sys, oneiros
engine = oneiros.Engine(sys.argv[1])
engine.add_many({"id": f"m{n}", "text": f"memory {n}"} for n in range(300))
engine.search("memory", session="s")
"""
    done = run_program(code, path)
    assert (done.returncode, done.stderr) == (0, "")
    with oneiros.Engine(path) as again:
        assert len(again) == 300
        assert sum(memory.access_count for memory in again.list(limit=300)) == 10


def test_an_interrupted_close_is_ended_by_the_exit(path: Path) -> None:
    code = """
import os, signal, sys, oneiros
from oneiros.write.sync import Sync
signal.signal(signal.SIGINT, signal.default_int_handler)
engine = oneiros.Engine(sys.argv[1])
engine.add_many({"id": f"m{n}", "text": f"memory {n}"} for n in range(300))
engine.search("memory", session="s")
write = Sync.write_events_now
def slow(self):
    os.kill(os.getpid(), signal.SIGINT)
    import time; time.sleep(.5)
    write(self)
Sync.write_events_now = slow
try:
    engine.close()
except KeyboardInterrupt:
    print("interrupted")
"""
    done = run_program(code, path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
    with oneiros.Engine(path) as again:
        assert sum(memory.access_count for memory in again.list(limit=300)) == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_forks_amid_writes_neither_hang_nor_write(path: Path) -> None:
    is_over = threading.Event()
    with oneiros.Engine(path, durability="normal") as engine:
        engine.add("warm")

        def write() -> None:
            number = 0
            while not is_over.is_set():
                number += 1
                engine.add_many([{"text": f"memory {number} {n}"} for n in range(20)])
                engine.search("memory")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(8):
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        try:
                            engine.add("from the child")
                        except oneiros.EngineClosed:
                            engine.close()
                            with oneiros.Engine(path) as own:
                                code = 0 if len(own) % 20 == 1 else 2
                    finally:
                        os._exit(code)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
                time.sleep(0.01)
        finally:
            is_over.set()
            writer.join()
        assert engine.check() == []
        assert len(engine) % 20 == 1
