"""A file system for SQLite that fails when told to, and remembers what a loss of power would leave.

It stands on the machine's own: what does not fail happens on real files.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import apsw

Operation = Literal["write", "sync", "truncate", "delete", "open"]


def input_output_error() -> apsw.Error:
    """Return what SQLite gets for EIO."""
    return _failure(apsw.IOError, apsw.SQLITE_IOERR_WRITE, errno.EIO)


def no_space_left() -> apsw.Error:
    """Return what SQLite gets for ENOSPC."""
    return _failure(apsw.FullError, apsw.SQLITE_FULL, errno.ENOSPC)


FAILURES = {"EIO": input_output_error, "ENOSPC": no_space_left}


def _failure(kind: type[apsw.Error], code: int, number: int) -> apsw.Error:
    error = kind(f"injected {errno.errorcode[number]}")
    error.extendedresult = code
    return error


@dataclass
class Plan:
    """What goes wrong: the n-th operation of some kinds, once or from then on."""

    failure: str = "EIO"
    at: int = 0
    """Number of the operation that fails, from 1; 0: none does."""
    kinds: tuple[Operation, ...] = ("write", "sync", "truncate", "delete", "open")
    is_lasting: bool = True
    """Whether all later ones fail too, as on a dead disk."""
    count: int = 0
    """Operations seen."""
    failed: list[str] = field(default_factory=list)
    """What has failed so far."""

    def step(self, kind: Operation, path: str) -> None:
        """Count an operation; raise when it is one to fail."""
        if kind not in self.kinds:
            return
        self.count += 1
        if self.at and (self.count == self.at or (self.is_lasting and self.count > self.at)):
            self.failed.append(f"{kind} {path}")
            raise FAILURES[self.failure]()


@dataclass(frozen=True)
class Event:
    """One thing that happened to a file, or an acknowledgement to the user (kind "ack")."""

    kind: str
    path: str
    offset: int = 0
    data: bytes = b""


class FaultyVFS(apsw.VFS):
    """The shim; made and unmade by :func:`registered`."""

    def __init__(self, name: str, plan: Plan, log: list[Event] | None) -> None:
        self.plan = plan
        self.log = log
        super().__init__(name, "")

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        if flags[0] & apsw.SQLITE_OPEN_CREATE:  # a failed open of what exists harms nothing
            self.plan.step("open", path)
        return FaultyFile(self, name, path, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.plan.step("delete", filename)
        super().xDelete(filename, syncdir)
        self.record(Event("delete", filename))

    def record(self, event: Event) -> None:
        """Note what happened."""
        if self.log is not None:
            self.log.append(event)


class FaultyFile(apsw.VFSFile):
    """A file of the shim."""

    def __init__(
        self,
        vfs: FaultyVFS,
        name: apsw.URIFilename | str | None,
        path: str,
        flags: list[int],
    ) -> None:
        self._vfs = vfs
        self._path = path
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._vfs.plan.step("write", self._path)
        super().xWrite(data, offset)
        self._vfs.record(Event("write", self._path, offset, bytes(data)))

    def xSync(self, flags: int) -> None:  # noqa: ARG002 - the real disk need not flush for a test
        self._vfs.plan.step("sync", self._path)
        self._vfs.record(Event("sync", self._path))

    def xTruncate(self, newsize: int) -> None:
        self._vfs.plan.step("truncate", self._path)
        super().xTruncate(newsize)
        self._vfs.record(Event("truncate", self._path, newsize))


_NUMBER = iter(range(1_000_000))


@contextmanager
def registered(plan: Plan | None = None, log: list[Event] | None = None) -> Iterator[str]:
    """Register a shim for a block and give its name, for ``Store(..., vfs=name)``."""
    name = f"faulty-{next(_NUMBER)}"
    vfs = FaultyVFS(name, plan or Plan(), log)
    try:
        yield name
    finally:
        vfs.unregister()
