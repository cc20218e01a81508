"""A lock for one dream cycle at a time across processes, with a record of interrupted cycles."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from oneiros.errors import DreamBusy, StoreFull
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.runtime.locks import fork_safe_lock
from oneiros.store.connections import MEMORY

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Begun", "CycleLock"]

_guard: Final = fork_safe_lock()
# By path. Needed as well as file locks, which belong to a process and not to a thread.
_running: Final[dict[str, object]] = {}


class Begun(NamedTuple):
    """A cycle that was started, and has not finished."""

    id: str
    now: float
    """The cycle's clock, seconds UTC."""


class CycleLock:
    """The lock for the cycles of one store: a file next to it.

    The file names the running cycle and is emptied at its end, so that a name found later is of a
    cycle that a crash interrupted. The system releases the lock when the process ends.

    Args:
        store_path: path of the store, or ":memory:", which no other process opens.
        is_read_only: only read the file.
    """

    def __init__(self, store_path: str, *, is_read_only: bool = False) -> None:
        self._name = store_path
        self._is_read_only = is_read_only
        self.path: Final = None if store_path == MEMORY else f"{store_path}-dream"

    @contextmanager
    def held(self, begun: Begun) -> Iterator[None]:
        """Hold the lock while the block runs.

        Args:
            begun: the cycle that runs in the block.

        Raises:
            DreamBusy: another cycle runs on this store.
            StoreFull: the disk is full.
            OSError: the lock file cannot be written.
        """
        name = f"{id(self)}" if self.path is None else os.path.realpath(self.path)
        cycle = object()  # identifies this call's entry, which an interrupt may leave unmade
        try:
            with _guard:
                if name in _running:
                    raise DreamBusy(self._busy())
                _running[name] = cycle
            if self.path is None:
                yield
            else:
                yield from self._on_file(self.path, begun)
        finally:
            with _guard:
                if _running.get(name) is cycle:
                    del _running[name]

    def _on_file(self, path: str, begun: Begun) -> Iterator[None]:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _take(descriptor, self._busy())
            os.ftruncate(descriptor, 0)
            try:
                os.pwrite(descriptor, json.dumps(begun).encode(), 0)
            except OSError as error:
                error.filename = path  # the system does not name the file of a descriptor
                if error.errno == errno.ENOSPC:
                    msg = f"{path}: the disk is full ({error})"
                    raise StoreFull(msg) from error
                raise
            try:
                yield
            finally:
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    @property
    def is_clean(self) -> bool:
        """Whether the file names no cycle: none is running, and none was interrupted."""
        try:
            return self.path is None or os.stat(self.path).st_size == 0  # noqa: PTH116 - pathlib loads much
        except OSError:
            return True

    def interrupted(self) -> Begun | None:
        """Return the cycle that a crash interrupted; None if none was, or a cycle is running."""
        if self.path is None:
            return None
        # Under the guard no cycle can begin: closing the file would release that cycle's lock, too.
        with _guard:
            return None if os.path.realpath(self.path) in _running else self._read(self.path)

    def _read(self, path: str) -> Begun | None:
        access = os.O_RDONLY if self._is_read_only else os.O_RDWR
        try:
            descriptor = os.open(path, access | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            _take(descriptor, "", fcntl.LOCK_SH if self._is_read_only else fcntl.LOCK_EX)
            record = json.loads(os.pread(descriptor, 4096, 0) or b"null")
            return None if record is None else Begun(str(record[0]), float(record[1]))
        except (DreamBusy, ValueError, TypeError, LookupError, OverflowError, RecursionError):
            return None
        finally:
            os.close(descriptor)

    def _busy(self) -> str:
        return f"{self._name}: another dream cycle runs on this store"


def _take(descriptor: int, busy: str, kind: int | None = None) -> None:
    try:
        fcntl.lockf(descriptor, (fcntl.LOCK_EX if kind is None else kind) | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise DreamBusy(busy) from error
    except PermissionError as error:  # raised by some systems instead
        raise DreamBusy(busy) from error


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_running.clear)  # running cycles stay with the parent
