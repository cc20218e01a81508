"""Reads a store without writing any file: for read-only media, and for files that others write.

SQLite reads a file in WAL mode through its log and the log's index, ``-wal`` and ``-shm``, and makes
them if they are missing. So there are two ways to read it without writing:

- no log: the file holds everything. It is opened as immutable, without locks. A process that writes
  makes a log first, and changes the file itself only later, at a checkpoint. Each read looks at the
  file before and after, so that a file that was changed meanwhile is never taken for one state.
- a log: another process has the file open, or one was killed. Log and index are opened for reading. If
  no process is connected, SQLite reads the log into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from typing import Final

import apsw

from oneiros.clock import Deadline
from oneiros.errors import StoreBusy, StoreCorrupt, StoreIOError, StoreVersionError
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store import schema
from oneiros.store.connections import Readers, StoreConnection

__all__ = ["FileState", "ReadOnlyReaders", "require_current"]

_PATIENCE_SECONDS: Final = 0.25  # for a process that is just closing, which removes the index first
_PAUSE_SECONDS: Final = 0.01


class FileState(NamedTuple):
    """The state of a store's file, by which it is decided how to read it."""

    log: int
    """Inode of the log; 0: there is none."""
    stamp: tuple[int, ...]
    """Inode, size and times of the file."""


class ReadOnlyReaders(Readers):
    """Connections that read a file and write none. They follow commits of other processes."""

    is_read_only = True

    def opened(self) -> StoreConnection:
        """Return a new connection, to be closed by the caller.

        Raises:
            StoreIOError: the file cannot be read as it is; names the cause.
        """
        deadline = Deadline(_PATIENCE_SECONDS)
        while True:
            connection = self._opened_once()
            try:
                # SQLite opens log and index at the first read, when they may be gone.
                _ = connection.execute("PRAGMA user_version").get
            except BaseException as error:
                is_past = self.is_current(connection) or deadline.left() <= 0
                connection.close(True)
                if is_past or not isinstance(error, apsw.Error):
                    raise
                deadline.pause(_PAUSE_SECONDS)
            else:
                return connection

    def _opened_once(self) -> StoreConnection:
        state = _awaited_state(self._path)
        how = "readonly_shm=1" if state.log else "immutable=1"
        name = self._path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = self._opened(
            f"file:{name}?mode=ro&{how}", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        connection.file_state = state
        return connection

    def is_current(self, connection: StoreConnection) -> bool:
        """Return whether a connection reads the file as it is now."""
        try:
            state = _state_of(self._path)
        except OSError:  # opening it again says why
            return False
        if state is None or connection.file_state is None:
            return False
        if state.log or connection.file_state.log:
            return state.log == connection.file_state.log
        return state == connection.file_state

    @contextmanager
    def lend(self) -> Iterator[StoreConnection]:
        """Provide a connection for a block.

        Raises:
            StoreBusy: another process changed the file during the block, which may have read two
                states.
        """
        with super().lend() as connection:
            try:
                yield connection
            except Exception as error:
                self._require_unchanged(connection, error)
                raise
            self._require_unchanged(connection, None)

    def _require_unchanged(self, connection: StoreConnection, error: Exception | None) -> None:
        state = connection.file_state
        assert state is not None
        if state.log:  # SQLite's own locks hold the state
            return
        with suppress(OSError):
            if _stamp_of(self._path) == state.stamp:
                return
        msg = f"{self._path}: another process changed the file while it was read; read it again"
        raise StoreBusy(msg) from error


def require_current(connection: StoreConnection, path: str) -> None:
    """Check that the file has this version's tables.

    Raises:
        StoreCorrupt: the file is empty, or not a store.
        StoreVersionError: another version wrote the file.
    """
    if not schema.is_current(connection):
        version = int(connection.execute("PRAGMA user_version").get)
        if not version:
            msg = f"{path}: the file is empty, and a read-only engine makes no tables in it"
            raise StoreCorrupt(msg)
        msg = (
            f"{path}: the store has schema version {version}, this Oneiros reads version "
            f"{len(schema.MIGRATIONS)}, and a read-only engine does not migrate it; open it once "
            "without read_only=True"
        )
        raise StoreVersionError(msg)
    schema.verify(connection)


def _awaited_state(path: str) -> FileState:
    """Return the state of a file that can be read without writing.

    Raises:
        StoreIOError: it cannot; names the cause.
    """
    try:
        _stamp_of(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except FileNotFoundError as error:
        msg = f"{path}: there is no such file, and a read-only engine makes none"
        raise StoreIOError(msg) from error
    except OSError as error:
        msg = f"{path}: the file cannot be read: {error.strerror}"
        raise StoreIOError(msg) from error
    if _size_of(f"{path}-journal"):
        msg = (
            f"{path}: a write was interrupted, and {path}-journal must be rolled back first; open "
            "the store once without read_only=True, where it can be written"
        )
        raise StoreIOError(msg)
    deadline = Deadline(_PATIENCE_SECONDS)
    while (state := _state_of(path)) is None:
        if deadline.left() <= 0:
            msg = (
                f"{path}: {path}-wal holds commits that are not in the file yet, and its index "
                f"{path}-shm is missing, which a read-only engine does not make; open the store "
                "once without read_only=True, where it can be written"
            )
            raise StoreIOError(msg)
        deadline.pause(_PAUSE_SECONDS)
    return state


def _state_of(path: str) -> FileState | None:
    """Return the state of a file; None: it has a log that cannot be read without its index."""
    try:
        log = os.stat(f"{path}-wal")  # noqa: PTH116 - pathlib loads much
    except OSError:
        return FileState(0, _stamp_of(path))
    if _size_of(f"{path}-shm"):
        return FileState(log.st_ino, ())
    return None if log.st_size else FileState(0, _stamp_of(path))


def _stamp_of(path: str) -> tuple[int, ...]:
    found = os.stat(path)  # noqa: PTH116 - pathlib loads much
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - pathlib loads much
    except OSError:
        return 0
