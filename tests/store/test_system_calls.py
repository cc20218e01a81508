"""The system's own calls cut short: interrupted, half done, refused."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.errors import OneirosError, StoreFull, StoreIOError
from oneiros.store import Store
from tests.store.samples import add, memory, rows

NOW = 1_780_000_000.0
PWRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int64,
    use_errno=True,
)
REAL = PWRITE(("pwrite64", ctypes.CDLL(None, use_errno=True)))
Write = Callable[..., int]


def interrupted(*_: int) -> int:
    ctypes.set_errno(errno.EINTR)
    return -1


def short(file: int, data: int, size: int, offset: int) -> int:
    return REAL(file, data, max(1, size // 2), offset)


def out_of_space_half_way(file: int, data: int, size: int, offset: int) -> int:
    REAL(file, data, size // 2, offset)
    ctypes.set_errno(errno.ENOSPC)
    return -1


def refused(*_: int) -> int:
    ctypes.set_errno(errno.EIO)
    return -1


class Calls:
    """Stands in for pwrite and lets one call in `every`, or the one numbered `at`, go wrong."""

    def __init__(self, wrong: Write, *, every: int = 0, at: int = 0) -> None:
        self.wrong, self.every, self.at = wrong, every, at
        self.count = self.went_wrong = 0

    def __call__(self, file: int, data: int, size: int, offset: int) -> int:
        self.count += 1
        if (self.every and self.count % self.every == 0) or self.count == self.at:
            self.went_wrong += 1
            return self.wrong(file, data, size, offset)
        return REAL(file, data, size, offset)


@contextmanager
def in_place_of_pwrite(calls: Calls) -> Iterator[None]:
    vfs = apsw.VFS("for-system-calls", "unix")
    pointer = PWRITE(calls)
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    original = vfs.xGetSystemCall("pwrite64")
    assert original is not None
    try:
        assert vfs.xSetSystemCall("pwrite64", address)
        yield
    finally:
        vfs.xSetSystemCall("pwrite64", original)
        vfs.unregister()


def work(path: Path, kept: list[str]) -> None:
    with Store(path, durability="normal") as store:
        for number in range(15):
            ids = [f"m{number}-{part}" for part in range(1 + number % 3)]
            add(store, *(memory(id, text="text " * 300) for id in ids))
            kept += ids
            if number % 5 == 4:
                store.checkpoint()


@pytest.mark.parametrize("wrong", [interrupted, short])
def test_interrupted_and_short_writes_are_taken_up_again(tmp_path: Path, wrong: Write) -> None:
    kept: list[str] = []
    calls = Calls(wrong, every=3)
    with in_place_of_pwrite(calls):
        work(tmp_path / "mind.db", kept)
    assert calls.went_wrong > 20
    with Store(tmp_path / "mind.db") as store:
        assert [row.id for row in rows(store)] == kept
        assert store.quick_check() == []


@pytest.mark.parametrize("wrong", [out_of_space_half_way, refused])
def test_a_failed_call_is_typed_and_loses_nothing(tmp_path: Path, wrong: Write) -> None:
    step = 1 if os.environ.get("ONEIROS_LONG") else 5
    for at in range(1, 120, step):
        path = tmp_path / f"{at}.db"
        kept: list[str] = []
        calls = Calls(wrong, at=at)
        with in_place_of_pwrite(calls):
            try:
                work(path, kept)
            except OneirosError:
                assert calls.went_wrong
        assert calls.count >= at, "the work has fewer writes than that"
        with Store(path) as store:
            found = [row.id for row in rows(store)]
            assert found[: len(kept)] == kept
            assert len(found) - len(kept) in (0, 1, 2, 3)
            assert store.quick_check() == []


class FullDisk(Calls):
    """Stands in for pwrite: while the disk is full, every call writes half of what it was given."""

    def __init__(self) -> None:
        super().__init__(out_of_space_half_way)
        self.is_full = False

    def __call__(self, file: int, data: int, size: int, offset: int) -> int:
        if not self.is_full:
            return REAL(file, data, size, offset)
        self.went_wrong += 1
        return self.wrong(file, data, size, offset)

    @contextmanager
    def full(self) -> Iterator[None]:
        self.is_full = True
        try:
            yield
        finally:
            self.is_full = False


def copied(path: Path, to: Path) -> Path:
    """Return a copy of a store's files as a crash would leave them."""
    to.mkdir()
    for file in path.parent.glob(f"{path.name}*"):
        if file.is_file() and not file.name.endswith("-shm"):
            subprocess.run(["cp", str(file), str(to / file.name)], check=True)
    return to / path.name


CHANGES: dict[str, Callable[[oneiros.Engine], object]] = {
    "add": lambda mind: mind.add("tea", id="new"),
    "add_many": lambda mind: mind.add_many([{"text": "tea"}, {"text": "coffee"}]),
    "update": lambda mind: mind.update("a", text="tea"),
    "delete": lambda mind: mind.delete("a"),
    "forget": lambda mind: mind.forget("a"),
    "link": lambda mind: mind.link("a", "b"),
    "feedback": lambda mind: mind.feedback("a", "helpful"),
    "pin": lambda mind: mind.pin("a"),
    "dream": lambda mind: mind.dream(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_full_disk_refuses_a_write_and_the_next_one_works(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mind" / "mind.db"
    path.parent.mkdir()
    disk = FullDisk()
    with in_place_of_pwrite(disk), oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.add_many([{"id": "a", "text": "milk"}, {"id": "b", "text": "milk and honey"}])
        before = [*mind]
        for _ in range(2):
            with disk.full(), pytest.raises(StoreFull, match="the disk is full"):
                CHANGES[name](mind)
        assert disk.went_wrong
        assert [*mind] == before
        assert mind.search("milk", reinforce=False).ids == ["a", "b"]
        with oneiros.Engine(copied(path, tmp_path / "copy"), clock=lambda: NOW) as copy:
            assert [*copy] == before
        CHANGES[name](mind)
        assert mind.check() == []
        after = [*mind]
    assert after != before or name in {"link", "dream"}
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        assert [*mind] == after
        assert mind.check() == []


@pytest.mark.parametrize("name", ["forget", "purge"])
def test_a_disk_that_is_full_once_memories_are_erased_is_noted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, remove = FullDisk(), Store.remove_traces

    def full(self: Store, **options: Any) -> None:
        with disk.full():
            remove(self, **options)

    def erase(mind: oneiros.Engine) -> None:
        if name == "forget":
            mind.forget("a")
        else:
            mind.purge(0.0)

    path = tmp_path / "mind.db"
    with in_place_of_pwrite(disk), oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.add_many([{"id": "a", "text": "milk"}, {"id": "b", "text": "honey"}])
        mind.delete("a", now=NOW - 1.0)
        monkeypatch.setattr(Store, "remove_traces", full)
        with pytest.raises(StoreFull, match="the disk is full") as raised:
            erase(mind)
        (note,) = raised.value.__notes__
        assert note.startswith("oneiros: the memories are erased; their bytes may stay in")
        assert mind.get_many(["a"]) == [None]
        monkeypatch.undo()
    with oneiros.Engine(path) as mind:
        assert len(mind) == 1
    assert not any(b"milk" in file.read_bytes() for file in tmp_path.iterdir())


def test_uses_wait_while_the_disk_is_full(tmp_path: Path) -> None:
    disk = FullDisk()
    with in_place_of_pwrite(disk), oneiros.Engine(tmp_path / "mind.db", clock=lambda: NOW) as mind:
        mind.add("milk", id="a")
        mind.search("milk", session="s")
        with disk.full(), pytest.raises(StoreFull):
            mind.flush()
        assert mind.get("a").access_count == 1
        mind.flush()
    with oneiros.Engine(tmp_path / "mind.db", clock=lambda: NOW) as mind:
        assert mind.get("a").access_count == 1


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let every file of this process end at a size, as on a disk that is full."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 100, 512, 4_096, 20_000, 200_000])
def test_a_backup_that_does_not_fit_leaves_no_file(tmp_path: Path, size: int) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, *(memory(f"m{number}", text="text " * 300) for number in range(2_000)))
        store.checkpoint()
        before = {file.name for file in tmp_path.iterdir()}
        with largest_file(size), pytest.raises((StoreFull, StoreIOError)):
            store.backup(tmp_path / "copy.db")
        assert {file.name for file in tmp_path.iterdir()} == before
        store.backup(tmp_path / "copy.db")
    with Store(tmp_path / "copy.db") as copy:
        assert copy.count() == 2_000
