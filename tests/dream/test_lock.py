"""One cycle at a time, and what a cycle that was cut off leaves to say."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import oneiros
from oneiros.dream.lock import Begun, CycleLock
from oneiros.errors import DreamBusy

HOLDER = """
import sys, time
from oneiros.dream.lock import Begun, CycleLock
with CycleLock(sys.argv[1]).held(Begun("cut off", 5.0)):
    print("held", flush=True)
    time.sleep(600)
"""
ONE = Begun("one", 1.0)


def _holder(path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_another_process_keeps_cycles_away_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        id = mind.add("a story")
        done = mind.dream().id
        with _holder(path) as process:
            with pytest.raises(DreamBusy, match="another dream cycle"):
                mind.dream()
            with pytest.raises(DreamBusy, match="another dream cycle"):
                mind.undo_dream(done)
            mind.dream(dry_run=True)  # planning keeps nobody away
            assert mind.interrupted_dream() is None  # it runs
            process.send_signal(signal.SIGKILL)
        assert mind.interrupted_dream() == Begun("cut off", 5.0)
        with pytest.raises(ValueError, match="no dream cycle has the id 'any'"):
            mind.undo_dream("any")
        assert mind.interrupted_dream() == Begun("cut off", 5.0)
        assert [report.id for report in mind.dreams()] == [done]
        assert mind.dream().live_before == 1
        assert mind.interrupted_dream() is None
        assert mind.get(id).text == "a story"


@pytest.mark.parametrize("is_file", [True, False])
def test_another_thread_keeps_cycles_away(tmp_path: Path, is_file: bool) -> None:
    with oneiros.Engine(tmp_path / "mind.db" if is_file else ":memory:") as mind:
        mind.add_many([{"text": "the same", "created_at": 1.0, "topic": "t"} for _ in range(9)])
        begun, goes_on = threading.Event(), threading.Event()
        done: list[object] = []

        def hold() -> None:
            with mind._scope.services.cycles.held(ONE):
                begun.set()
                assert goes_on.wait(60)
            done.append(mind.dream().id)

        thread = threading.Thread(target=hold)
        thread.start()
        assert begun.wait(60)
        with pytest.raises(DreamBusy):
            mind.dream()
        assert mind.interrupted_dream() is None
        with pytest.raises(DreamBusy):  # to ask did not let go of the lock
            mind.dream()
        goes_on.set()
        thread.join()
        assert [report.id for report in mind.dreams()] == done


def test_a_cycle_that_fails_frees_the_lock(tmp_path: Path) -> None:
    lock = CycleLock(str(tmp_path / "mind.db"))
    with pytest.raises(KeyError), lock.held(ONE):
        raise KeyError
    assert lock.interrupted() is None
    with lock.held(ONE):
        pass


@pytest.mark.parametrize(
    "left",
    [
        *(b"", b"null", b"{", b"{}", b"[]", b'["one"]', b'["one", "x"]', b"7"),
        *(b"[" * 4096, b'["one", 1' + b"0" * 400 + b"]"),
    ],
)
def test_a_file_that_says_nothing_is_no_cycle(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "mind.db-dream").write_bytes(left)
    lock = CycleLock(str(tmp_path / "mind.db"))
    assert lock.interrupted() is None
    with lock.held(ONE):
        pass


def test_stores_in_memory_are_each_their_own() -> None:
    with CycleLock(":memory:").held(ONE), CycleLock(":memory:").held(ONE):
        pass
    assert CycleLock(":memory:").interrupted() is None
    assert not Path(":memory:-dream").exists()


def test_one_file_by_two_names_is_one_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "real")
    with (
        CycleLock(str(tmp_path / "real" / "mind.db")).held(ONE),
        pytest.raises(DreamBusy),
        CycleLock(str(tmp_path / "other" / "mind.db")).held(ONE),
    ):
        pass


def test_a_link_to_the_file_is_the_same_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "mind.db")
    with oneiros.Engine(tmp_path / "real" / "mind.db") as mind:
        mind.add("a story")
    with oneiros.Engine(tmp_path / "link.db") as other:
        with _holder(tmp_path / "real" / "mind.db") as process:
            with pytest.raises(DreamBusy):
                other.dream()
            process.kill()
        other.dream()
    assert [one.name for one in tmp_path.iterdir() if one.name != "real"] == ["link.db"]


def test_a_full_disk_is_reported_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> int:  # noqa: ARG001
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    lock = CycleLock(str(tmp_path / "mind.db"))
    named = r"mind\.db-dream: the disk is full .*No space left on device: '.*mind\.db-dream'"
    with pytest.raises(oneiros.StoreFull, match=named):
        lock.held(ONE).__enter__()
    assert lock.interrupted() is None
