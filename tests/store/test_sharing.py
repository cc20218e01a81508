"""One file, many users: processes, threads, children, links and permissions."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

from oneiros.errors import (
    EngineClosed,
    StoreBusy,
)
from oneiros.store import Store
from tests.store.samples import add_ids, memory, small_store

# Others


HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_write_waits_for_another_process_and_then_says_busy(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Store(path, busy_timeout_seconds=0.2) as store:
        add_ids(store, "a")
        command = [sys.executable, "-c", HOLD, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            start = time.monotonic()
            held = re.escape(f"{path}: another process holds")
            with pytest.raises(StoreBusy, match=held), store.write():
                pytest.fail("two processes wrote at once")
            assert 0.2 <= time.monotonic() - start < 5.0
            assert store.load(["a"]) == [memory("a")]  # readers wait for nobody
            assert store.revision() == 1
            holder.kill()
        add_ids(store, "b")
        assert store.revision() == 2


def test_a_write_waits_for_another_thread_and_then_says_busy(tmp_path: Path) -> None:
    for path in (tmp_path / "mind.db", ":memory:"):
        with Store(path, busy_timeout_seconds=0.1) as store:
            results: list[object] = []

            def try_to_write(store: Store = store, results: list[object] = results) -> None:
                try:
                    add_ids(store, "b")
                except StoreBusy as error:
                    results.append(error)

            with store.write():
                thread = threading.Thread(target=try_to_write)
                thread.start()
                thread.join()
            assert len(results) == 1
            add_ids(store, "b")


def test_a_checkpoint_waits_for_readers_of_an_older_state(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db", busy_timeout_seconds=0.1) as store:
        add_ids(store, "a")
        with store.read():
            add_ids(store, "b")
            with pytest.raises(StoreBusy):
                store.checkpoint()
        store.checkpoint()
        assert (tmp_path / "mind.db-wal").stat().st_size == 0


def test_another_process_sees_each_commit(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Store(path) as one, Store(path) as other:
        for number in range(1, 4):
            add_ids(one, f"m{number}")
            assert other.revision() == one.revision() == number
            assert [row.id for part in other.changes(number - 1) for row in part] == [f"m{number}"]
        with other.write() as transaction:
            assert transaction.revision == 4
            transaction.increment([("m1", {"access_count": 2})])
        with one.write() as transaction:
            transaction.increment([("m1", {"access_count": 3})])
        assert one.load(["m1"])[0].access_count == 5


def open_and_add(path: str, name: str, count: int) -> None:
    with Store(path, busy_timeout_seconds=60.0) as store:
        for number in range(count):
            add_ids(store, f"{name}-{number}")


def test_processes_open_a_new_file_at_once_and_write_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=open_and_add, args=(str(path), f"p{number}", 15))
        for number in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    with Store(path) as store:
        assert (store.count(), store.revision()) == (45, 45)
        assert store.quick_check() == []


def test_a_store_does_not_cross_fork(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Store(path) as store:
        add_ids(store, "a")
        store.revision()
        store.count()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in (store.write, store.revision, store.count, store.checkpoint):
                    with pytest.raises(EngineClosed, match="opened before fork"):
                        use()
                store.close()  # leaves the parent's connections alone
                with Store(path) as own:
                    add_ids(own, "child")
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        add_ids(store, "b")
        assert store.revision() == 3
    with Store(path) as store:
        assert store.quick_check() == []
        assert store.count() == 3


# Permissions


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
def test_files_are_readable_by_their_owner_only(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Store(tmp_path / "mind.db") as store:
            add_ids(store, "a")
            store.backup(tmp_path / "copy.db")
            files = sorted(tmp_path.iterdir())
    finally:
        os.umask(before)
    with Store(tmp_path / "mind.db") as store:
        add_ids(store, "b")
        modes = {file.name: oct(mode(file)) for file in tmp_path.iterdir()}
    assert len(files) == 4
    assert set(modes) == {"mind.db", "mind.db-wal", "mind.db-shm", "copy.db"}
    assert set(modes.values()) == {"0o600"}


def test_a_link_to_a_store_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real" / "mind.db")
    small_store(tmp_path / "real" / "mind.db")
    with Store(link) as store:
        add_ids(store, "through")
        assert not list(tmp_path.glob("link.db-*"))  # the log lies beside the file itself
    with Store(tmp_path / "real" / "mind.db") as store:
        assert store.count() == 4


def test_ctrl_c_is_heard_while_waiting_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Store(path) as other, Store(path, busy_timeout_seconds=60.0) as store:
        with other.write():
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt), store.write():
                pytest.fail("two connections wrote at once")
            assert time.monotonic() - start < 10.0  # of 60; the wait hears it within 50 ms
        add_ids(store, "a")
        assert other.count() == 1


class Interrupted:
    """A connection whose BEGIN an interrupt follows at once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)

    def execute(self, sql: str) -> apsw.Cursor:
        found = self.connection.execute(sql)
        if sql == "BEGIN":
            raise KeyboardInterrupt
        return found


def test_a_read_interrupted_as_it_begins_leaves_no_reader_in_a_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_store(tmp_path / "mind.db")
    with Store(tmp_path / "mind.db") as store:
        opened = store._readers.opened
        with monkeypatch.context() as patched:
            patched.setattr(store._readers, "opened", lambda: Interrupted(opened()))
            with pytest.raises(KeyboardInterrupt), store.read():
                pass
        with store.read() as reading:
            assert reading.last_revision() == 1


@pytest.mark.parametrize("step", ["enter", "leave"])
def test_an_interrupt_beside_a_write_keeps_no_lock(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with Store(tmp_path / "mind.db", busy_timeout_seconds=0.5) as store:
        with monkeypatch.context() as patched:
            patched.setattr(f"oneiros.store.writer.GATE.{step}", interrupted)
            with pytest.raises(KeyboardInterrupt), store.write():
                pass
        writing = threading.Thread(target=add_ids, args=(store, "m0"))
        writing.start()
        writing.join()
        assert store.count() == 1
