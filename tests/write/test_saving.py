"""The snapshot of an engine that is open: written once writes pause, and never in their way."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import oneiros
from oneiros.index import snapshot
from oneiros.store.forking import GATE
from oneiros.vector_index import Kind
from oneiros.write import saving
from oneiros.write.saving import Saving

NOW = 1_780_000_000.0
FEW = 60


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause is over soon, and small stores have a snapshot."""
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", FEW)


def filled(path: Path | str, count: int = FEW, **options: Any) -> oneiros.Engine:
    random = Random(count)
    mind = oneiros.Engine(path, clock=lambda: NOW, **options)
    mind.add_many(
        {
            "id": f"m{number}",
            "text": f"memory {number} of {random.choice(['tea', 'milk'])}",
            "embedding": [random.gauss(0, 1) for _ in range(4)],
        }
        for number in range(count)
    )
    return mind


def is_true_soon(asked: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not asked() and time.monotonic() < deadline:
        time.sleep(0.01)
    return asked()


def file_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-snapshot")


def copied(path: Path, to: Path) -> Path:
    """Return a copy of a store's files as a kill would leave them."""
    to.mkdir()
    for file in path.parent.glob(f"{path.name}*"):
        if not file.name.endswith("-shm"):
            subprocess.run(["cp", str(file), str(to / file.name)], check=True)
    return to / path.name


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The revisions at which engines found a snapshot; 0: they read all from the store."""
    revisions: list[int] = []
    load = snapshot.SnapshotFile.load

    def noted(self: snapshot.SnapshotFile, *args: Any, **kwargs: Any) -> int:
        revisions.append(load(self, *args, **kwargs))
        return revisions[-1]

    monkeypatch.setattr(snapshot.SnapshotFile, "load", noted)
    return revisions


def test_what_a_kill_leaves_is_read_from_the_snapshot(tmp_path: Path, loaded: list[int]) -> None:
    path = tmp_path / "mind.db"
    with filled(path) as mind:
        mind.search("tea", 20, session="one")  # uses that wait to be written
        mind.add("the last one", id="last")
        assert is_true_soon(file_of(path).exists)
        assert is_true_soon(lambda: not mind._scope.services.sync._is_snapshot_due)
        left = copied(path, tmp_path / "left")
        mind.flush()
        before = {one.id: one for one in mind}
    with oneiros.Engine(left, clock=lambda: NOW) as again:
        assert loaded == [0, loaded[-1]]
        assert loaded[-1] > 0
        assert again.check(deep=True) == []
        assert {one.id: one for one in again} == before
        assert again.search("last", reinforce=False).ids[0] == "last"


def test_a_store_that_was_never_closed_gets_its_snapshot_after_the_opening(
    tmp_path: Path, loaded: list[int]
) -> None:
    path = tmp_path / "mind.db"
    filled(path).close()
    file_of(path).unlink()
    with oneiros.Engine(path, clock=lambda: NOW):  # no call comes
        assert is_true_soon(file_of(path).exists)
    assert loaded == [0, 0]
    with oneiros.Engine(path, clock=lambda: NOW):
        assert loaded[-1] > 0


def test_a_new_graph_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with filled(path, 400, vector_index="hnsw") as mind:
        assert is_true_soon(lambda: mind.stats()["vector_search"]["method"] == "hnsw")
        assert is_true_soon(lambda: not mind._scope.services.sync._is_snapshot_due)
        left = copied(path, tmp_path / "left")
    with oneiros.Engine(left, vector_index="hnsw") as again:
        vectors = again._scope.services.read_model.indexes.vectors
        assert vectors is not None
        assert vectors._read_graph is not None
        assert vectors.settle(60)
        assert vectors.has_graph


def test_little_that_changed_waits_for_the_close(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with filled(path, 100) as mind:
        sync = mind._scope.services.sync
        assert is_true_soon(lambda: not sync._is_snapshot_due)
        written = file_of(path).stat().st_mtime_ns
        sync.writer.run(lambda: None)  # after the end of what writes it
        sync._saving = Saving()  # as a minute later
        for _ in range(20):
            mind.search("tea", 50)  # what uses change is read fast
        for number in range(14):
            mind.add(f"tea {number}")
        mind.refresh()
        assert not sync._is_snapshot_due
        mind.add("the last of an eighth")
        assert is_true_soon(lambda: file_of(path).stat().st_mtime_ns != written)


@pytest.mark.parametrize("why", ["few", "forgotten", "read only", "in memory", "damaged"])
def test_no_file_is_written_where_none_may_be(why: str, tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    mind = filled(":memory:" if why == "in memory" else path, FEW - (why == "few"))
    if why == "forgotten":
        assert is_true_soon(lambda: not mind._scope.services.sync._is_snapshot_due)
        mind.forget("m3")
    elif why in {"read only", "damaged"}:
        mind.close()
        file_of(path).unlink()
        mind = oneiros.Engine(path, read_only=why == "read only")
    if why == "damaged":
        mind._scope.services.sync.damaged[3] = None  # type: ignore[assignment]
    with mind:
        assert not mind._scope.services.sync._is_snapshot_due
        mind.search("tea", reinforce=False)
        time.sleep(0.3)
        assert not file_of(path).exists()
        mind._scope.services.sync.damaged.clear()


def test_searches_go_on_while_it_is_written_and_writes_come_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, may_begin = tmp_path / "mind.db", threading.Event()
    is_writing, goes_on = threading.Event(), threading.Event()
    own = snapshot.SnapshotFile.write

    def slow(self: snapshot.SnapshotFile, *args: Any) -> bool:
        is_writing.set()
        assert goes_on.wait(60)
        return own(self, *args)

    monkeypatch.setattr(snapshot.SnapshotFile, "write", slow)
    monkeypatch.setattr(Saving, "wait", lambda *_, **__: 0.0 if may_begin.is_set() else 0.01)
    with filled(path) as mind:
        mind.search("tea", session="one")  # reads what searches need, on the thread that writes
        may_begin.set()
        assert is_writing.wait(60)
        for _ in range(3):  # with uses, which wait for the thread that writes
            assert mind.search("tea", session="two").ids
        added = threading.Thread(target=mind.add, args=("while it is written",))
        added.start()
        added.join(0.2)
        assert added.is_alive()
        goes_on.set()
        added.join(60)
        assert not added.is_alive()
        assert mind.search("written while").texts[0] == "while it is written"
        assert mind.check(deep=True) == []
        left = copied(path, tmp_path / "left")
    with oneiros.Engine(left) as again:
        assert again.check(deep=True) == []


def test_searches_that_wait_already_come_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_begin, goes_on, done = threading.Event(), threading.Event(), list[str]()
    own = snapshot.SnapshotFile.write

    def noted(self: snapshot.SnapshotFile, *args: Any) -> bool:
        done.append("file")
        return own(self, *args)

    monkeypatch.setattr(snapshot.SnapshotFile, "write", noted)
    monkeypatch.setattr(Saving, "wait", lambda *_, **__: 0.0 if may_begin.is_set() else 0.01)
    with filled(tmp_path / "mind.db") as mind:
        sync = mind._scope.services.sync
        write_events = sync.write_events_now

        def events() -> None:
            done.append(f"events, others {'leave' if sync._is_busy else 'wait for'} it")
            write_events()

        monkeypatch.setattr(sync, "write_events_now", events)
        before = threading.Thread(target=sync.writer.run, args=(lambda: goes_on.wait(60),))
        before.start()
        search = threading.Thread(target=sync.writer.run, args=(lambda: done.append("search"),))
        search.start()
        assert is_true_soon(lambda: sync.writer._jobs.qsize() == 1)
        may_begin.set()
        goes_on.set()
        for thread in (before, search):
            thread.join(60)
        assert is_true_soon(lambda: not sync._is_snapshot_due)
        assert done == ["search", "events, others leave it", "file"]


def test_a_graph_that_is_built_while_it_is_written_is_kept_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = snapshot._core.save_store_snapshot
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 60.0)
    with filled(tmp_path / "mind.db", 400, vector_index="flat") as mind:
        sync = mind._scope.services.sync
        vectors = sync.read_model.indexes.vectors
        assert vectors is not None

        def slow(**arguments: Any) -> None:
            assert arguments["vector_graph"] == b""
            own(**arguments)
            vectors.kind = "hnsw"  # type: ignore[misc]
            vectors.add([0], vectors.reconstruct([0]))
            assert vectors.settle(60)

        monkeypatch.setattr(snapshot._core, "save_store_snapshot", slow)
        assert sync.writer.run(sync._save)
        assert vectors.has_new_graph
        assert sync._is_snapshot_due
        monkeypatch.undo()


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_an_older_file_of_another_process_does_not_stand_for_this_ones(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: list[int]
) -> None:
    path = tmp_path / "mind.db"
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 60.0)
    with oneiros.Engine(path, clock=lambda: NOW, vector_index=kind) as mind:
        sync = mind._scope.services.sync
        with filled(path, 400, vector_index="flat"):
            pass  # written at its close, without a graph
        if kind == "hnsw":
            assert mind.search("", embedding=[1, 0, 0, 0], reinforce=False).ids
            vectors = sync.read_model.indexes.vectors
            assert vectors is not None
            assert vectors.settle(60)
        else:
            mind.add_many({"text": f"more of tea {number}"} for number in range(200))
        assert sync._is_snapshot_due
        written = file_of(path).stat().st_mtime_ns
        assert sync.writer.run(sync._save)
        assert file_of(path).stat().st_mtime_ns != written
        assert not sync._is_snapshot_due
        left, revision = copied(path, tmp_path / "left"), sync.revision
    with oneiros.Engine(left, clock=lambda: NOW, vector_index=kind) as again:
        assert revision - loaded[-1] <= 1  # the commit that names the file
        kept = again._scope.services.read_model.indexes.vectors
        assert kept is not None
        assert (kept._read_graph is not None) == (kind == "hnsw")


def test_the_file_of_another_process_is_taken_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, written = tmp_path / "mind.db", list[str]()
    filled(path).close()
    file_of(path).unlink()
    own = snapshot.SnapshotFile.write

    def noted(self: snapshot.SnapshotFile, *args: Any) -> bool:
        written.append(threading.current_thread().name)
        return own(self, *args)

    monkeypatch.setattr(snapshot.SnapshotFile, "write", noted)
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 60.0)
    with oneiros.Engine(path) as one, oneiros.Engine(path) as other:
        for mind in (one, other):
            sync = mind._scope.services.sync
            assert sync._is_snapshot_due
            assert sync.writer.run(sync._save)
            assert not sync._is_snapshot_due
        assert one.check(deep=True) == other.check(deep=True) == []
    assert len(written) == 1


def test_a_file_that_cannot_be_written_is_tried_again_much_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(**_: Any) -> None:
        message = "no space left"
        raise OSError(message)

    monkeypatch.setattr(snapshot._core, "save_store_snapshot", refused)
    path = tmp_path / "mind.db"
    with caplog.at_level(logging.WARNING), filled(path) as mind:
        assert is_true_soon(lambda: bool(caplog.records))
        for number in range(5):
            mind.add(f"tea {number}")
            time.sleep(0.1)
        assert len(caplog.records) == 1
        assert mind.search("tea 4", reinforce=False).ids
    assert sorted(file.name for file in tmp_path.iterdir() if "snapshot" in file.name) == []


def test_what_killed_writers_left_goes_before_another_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, own = tmp_path / "mind.db", snapshot._core.save_store_snapshot
    old, older_version, fresh = (
        tmp_path / f"mind.db-snapshot.{digit * 32}" for digit in ("a", "b", "c")
    )
    of_the_user, found = tmp_path / "mind.db-snapshot.mine", list[list[Path]]()

    def noted(**arguments: Any) -> None:
        found.append([file for file in (old, older_version, fresh) if file.exists()])
        own(**arguments)

    monkeypatch.setattr(snapshot._core, "save_store_snapshot", noted)
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 60.0)
    with filled(path):
        old.mkdir()
        fresh.mkdir()
        for file in (old / "snapshot.x", older_version, fresh / "snapshot.y", of_the_user):
            file.touch()
        for file in (old, old / "snapshot.x", older_version, fresh):
            os.utime(file, times=(time.time() - 90, time.time() - 90))
    assert found == [[fresh]]
    assert sorted(tmp_path.iterdir()) == [path, file_of(path), of_the_user]


def test_an_engine_that_is_dropped_ends_its_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    mind = filled(tmp_path / "mind.db")
    assert is_true_soon(file_of(tmp_path / "mind.db").exists)
    del mind
    assert is_true_soon(lambda: gc.collect() >= 0 and threading.active_count() <= before)


def test_no_fork_and_no_forgetting_elsewhere_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, own, done = tmp_path / "mind.db", snapshot._core.save_store_snapshot, list[str]()
    monkeypatch.setattr(saving, "_QUIET_SECONDS", 60.0)
    with filled(path) as mind, oneiros.Engine(path, busy_timeout_seconds=0.0) as other:

        def slow(**arguments: Any) -> None:
            inside = GATE._inside.copy()  # with what engines of other tests left
            own_entries = [inside[entry] for entry in inside.keys() - before]
            is_inside = threading.get_ident() in own_entries
            done.append("a fork would wait" if is_inside else "this thread is not in SQLite")
            other.forget("m3")
            own(**arguments)

        monkeypatch.setattr(snapshot._core, "save_store_snapshot", slow)
        sync = mind._scope.services.sync
        before = set(GATE._inside)
        assert not sync.writer.run(sync._save)
        assert done == ["this thread is not in SQLite"]
        assert [file.name for file in tmp_path.iterdir() if "snapshot" in file.name] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_child_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    filled(path).close()
    file_of(path).unlink()
    with oneiros.Engine(path):
        child = os.fork()
        if not child:
            time.sleep(0.3)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert is_true_soon(file_of(path).exists)
    with oneiros.Engine(path) as again:
        assert again.check(deep=True) == []


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(saving, "monotonic", lambda: self.now)
        monkeypatch.setattr(saving, "_QUIET_SECONDS", 3.0)
        monkeypatch.setattr(saving.os, "urandom", lambda _: b"\0")


def test_a_pause_of_writes_is_waited_for_ten_minutes_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    times = Saving()
    assert times.wait(is_building=False) == 3.0
    clock.now += 2.0
    assert times.wait(is_building=False) == 1.0
    times.note_write()
    assert times.wait(is_building=False) == 3.0
    assert times.wait(is_building=True) == 3.0
    clock.now += 4.0
    assert times.wait(is_building=True) == 3.0
    assert times.wait(is_building=False) == 0.0
    for _ in range(593):
        assert times.wait(is_building=True) is not None
        times.note_write()
        clock.now += 1.0
    times.note_write()
    assert times.wait(is_building=True) == 1.0
    clock.now += 1.0
    times.note_write()
    assert times.wait(is_building=True) == 0.0


def test_files_follow_one_another_at_a_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    times = Saving()
    clock.now += 10.0
    times.note_saved(clock.now - 0.2, is_done=True)
    assert times.wait(is_building=False) == 60.0
    clock.now += 100.0
    assert times.wait(is_building=False) == 0.0
    times.note_saved(clock.now - 4.0, is_done=True)  # fifty times as long
    assert times.wait(is_building=False) is None
    clock.now += 150.0
    assert times.wait(is_building=False) == 50.0
    times.note_saved(clock.now, is_done=False)
    assert times.wait(is_building=False) is None
    clock.now += 600.0
    assert times.wait(is_building=False) == 0.0
