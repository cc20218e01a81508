"""One dream cycle at a time, over all processes; and what a crash in the midst of one leaves to say."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from oneiros.errors import DreamBusy
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.runtime.locks import fork_safe_lock
from oneiros.store.connections import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Begun", "CycleLock"]

_guard: Final = fork_safe_lock()
_running: Final[
    dict[str, object]
] = {}  # by path: locks of the system are a process's, not a thread's


class Begun(NamedTuple):
    """A cycle that was begun and did not come to its end."""

    id: str
    now: float
    """Its clock, seconds UTC."""


class CycleLock:
    """The lock of one store's cycles, a file beside it.

    The file holds the cycle that runs, and is emptied at its end: what is found in it afterwards is
    one that a crash ended. The system lets go of the lock when its process ends, however it ends.

    Args:
        store_path: of the store, or ":memory:", which no other process opens.
    """

    def __init__(self, store_path: str) -> None:
        self._name = store_path
        self.path: Final = None if store_path == MEMORY else f"{store_path}-dream"

    @contextmanager
    def held(self, begun: Begun) -> Iterator[None]:
        """Keep every other cycle of this store away while the block runs.

        Args:
            begun: the cycle that runs.

        Raises:
            DreamBusy: another one runs.
            OSError: the file cannot be written.
        """
        name = f"{id(self)}" if self.path is None else os.path.realpath(self.path)
        cycle = object()  # whose entry it is: an interrupt may come between the entry and the block
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
            os.pwrite(descriptor, json.dumps(begun).encode(), 0)
            try:
                yield
            finally:
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    @property
    def is_clean(self) -> bool:
        """Whether no cycle is named in the file: none runs, and none was cut off."""
        try:
            return self.path is None or os.stat(self.path).st_size == 0  # noqa: PTH116 - pathlib loads much
        except OSError:
            return True

    def interrupted(self) -> Begun | None:
        """Return the cycle that a crash ended; None where none was, or where one runs now."""
        if self.path is None:
            return None
        with _guard:  # none begins meanwhile: to close the file would let go of its lock, too
            return None if os.path.realpath(self.path) in _running else self._left(self.path)

    @staticmethod
    def _left(path: str) -> Begun | None:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            _take(descriptor, "")
            found = json.loads(os.pread(descriptor, 4096, 0) or b"null")
            return None if found is None else Begun(str(found[0]), float(found[1]))
        except (DreamBusy, ValueError, TypeError, LookupError, OverflowError, RecursionError):
            return None
        finally:
            os.close(descriptor)

    def _busy(self) -> str:
        return f"{self._name}: another dream cycle runs on this store"


def _take(descriptor: int, busy: str) -> None:
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise DreamBusy(busy) from error
    except PermissionError as error:  # how some systems say the same
        raise DreamBusy(busy) from error


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_running.clear)  # what runs there, runs in the parent
