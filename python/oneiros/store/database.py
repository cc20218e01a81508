"""The store: opening, reading, writing, copying and checking it."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import apsw

from oneiros import store
from oneiros.clock import LONGEST_WAIT_SECONDS, Clock, Deadline
from oneiros.errors import EngineClosed, EngineReadOnly, StoreBusy, StoreCorrupt
from oneiros.model.validation import as_float, file_name, is_real, require_choice, wrong
from oneiros.store import connections
from oneiros.store.connections import MEMORY, Readers, StoreConnection
from oneiros.store.failures import translated
from oneiros.store.loading import MOST_AT_ONCE, OwnRow, load_memories, load_own_rows
from oneiros.store.reading import Reading
from oneiros.store.rows import StoredMemory
from oneiros.store.watcher import Watcher
from oneiros.store.writer import Write, Writer

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.store.erased import ErasedMemory
    from oneiros.store.rows import Cells

__all__ = ["Store", "checked_path", "checked_timeout"]


def checked_path(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of a store's file, or ":memory:".

    Symbolic links are resolved. The log, the lock of dream cycles and the snapshot lie next to the
    file itself, so that they are the same under every name of the file.

    Raises:
        TypeError, ValueError: not a path of a file.
    """
    text = file_name("path", path)
    if os.path.isdir(text):  # noqa: PTH112 - pathlib takes longer to load
        msg = f"path: must be a file's name, got the folder {text!r}"
        raise ValueError(msg)
    if os.path.exists(text) and not os.path.isfile(text):  # noqa: PTH110, PTH113 - as above
        msg = f"path: must be a file's name, got the device or pipe {text!r}"
        raise ValueError(msg)
    return text if text == MEMORY else os.path.realpath(text)  # connections are opened later too


def checked_timeout(seconds: Any) -> float:
    """Return a timeout in seconds.

    Raises:
        TypeError, ValueError: not a finite number >= 0.
    """
    if not is_real(seconds):
        raise TypeError(wrong("busy_timeout_seconds", "a number", seconds))
    wait = as_float(seconds)
    if not (math.isfinite(wait) and wait >= 0):
        raise ValueError(wrong("busy_timeout_seconds", "a finite number of seconds >= 0", seconds))
    return min(wait, LONGEST_WAIT_SECONDS)


class Store:
    """Every memory of an engine, in one SQLite file in WAL mode.

    Thread-safe, and safe for several processes. Writes wait for each other, up to
    ``busy_timeout_seconds``. Readers see the last commit and never wait. A store does not cross
    ``fork``: the child must open its own.

    If a commit or sync fails, the state on the disk is unknown: this write and all later ones raise
    ``StorePoisoned``. Reading still works, and opening the file again recovers it. A full disk only
    raises ``StoreFull``: that write is rolled back, and the next one works once there is space (with
    a ``vfs`` of the caller's own, only where it is full before the commit).
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: str = "full",
        busy_timeout_seconds: float = 5.0,
        vfs: str | None = None,
        clock: Clock | None = None,
        read_only: bool = False,
    ) -> None:
        """Open the store, or create it.

        Args:
            path: the file (made readable by its owner only), or ":memory:".
            durability: "full": a write that has returned survives a power loss. "normal": it survives
                a crash of the process, but a power loss may lose the last writes.
            busy_timeout_seconds: the longest wait for another writer; at least 0.
            vfs: the name of an SQLite VFS; None: the default.
            clock: gives the times of commits, for the history; None: this store keeps none of what
                it replaces, so that only a new file or a copy may be opened so for writing.
            read_only: write no file, not even a log; the file must exist.

        Raises:
            ValueError: an unknown durability, a negative timeout, an empty path, or
                ``read_only`` in memory.
            StoreCorrupt: the file is damaged, or not a store.
            StoreVersionError: written by a newer version; with ``read_only`` also by an older one.
            StoreBusy: another process kept the file locked for too long.
            OSError: the file cannot be opened or created; with ``read_only``, not read as it is.
        """
        require_choice("durability", durability, tuple(connections.DURABILITIES))
        timeout_seconds = checked_timeout(busy_timeout_seconds)
        self._path = checked_path(path)
        self._process = os.getpid()
        self._timeout = timeout_seconds
        self._is_closed = False
        self._written_by: Writer | None = None
        connections.require_sqlite()
        if read_only:
            self._readers: Readers = self._read_only_readers(vfs, timeout_seconds)
        else:
            if self._path != MEMORY:
                connections.create_private(self._path)
            with self._translating():
                self._written_by = Writer(
                    self._path,
                    vfs=vfs,
                    durability=durability,
                    timeout_seconds=timeout_seconds,
                    clock=clock,
                )
            self._readers = Readers(self._path, vfs=vfs, timeout_seconds=timeout_seconds)
        self.watcher = Watcher(self._path, self._readers)
        """Returns the last commit of any process. Not used for a store in memory."""
        _OPEN.add(self)

    def _read_only_readers(self, vfs: str | None, timeout_seconds: float) -> Readers:
        if self._path == MEMORY:
            msg = "read_only: must be False for a store in memory, which begins empty"
            raise ValueError(msg)
        readers = store.read_only.ReadOnlyReaders(
            self._path, vfs=vfs, timeout_seconds=timeout_seconds
        )
        try:
            with self._translating(), readers.lend() as connection:
                store.read_only.require_current(connection, self._path)
        except BaseException:
            readers.close()
            raise
        return readers

    @property
    def is_read_only(self) -> bool:
        """Whether the store writes no file."""
        return self._written_by is None

    @property
    def _writer(self) -> Writer:
        """The writer.

        Raises:
            EngineReadOnly: there is none.
        """
        if self._written_by is None:
            msg = f"{self._path}: opened with read_only=True, so nothing is written"
            raise EngineReadOnly(msg)
        return self._written_by

    @property
    def path(self) -> str:
        """The file's absolute path, links resolved, or ":memory:"."""
        return self._path

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """Read one state of the store: ``with store.read() as reading``.

        Commits made during the block are not seen in it. Not for use by several threads.

        Raises:
            EngineClosed: the store is closed, or was opened before a ``fork``.
        """
        with self._unmoving() as connection:
            yield Reading(connection, self._path)

    def write(self) -> Write:
        """Write: ``with store.write() as transaction``.

        The end of the block commits; an exception rolls everything back. Entering and leaving raise:

        - ``StoreBusy``: others kept the store locked for longer than the timeout;
        - ``StoreFull``: the disk is full, and everything is rolled back;
        - ``StorePoisoned``: this or an earlier write failed on the disk;
        - ``EngineClosed``: the store is closed, or was opened before a ``fork``;
        - ``EngineReadOnly``: the store was opened with ``read_only``;
        - ``RuntimeError``: this thread is writing already.
        """
        self._require_open()
        return Write(self._writer)

    def require_no_write(self) -> None:
        """Raise RuntimeError inside a write. REQUIRES: the thread that writes."""
        if self._written_by is not None:
            self._written_by.require_no_write()

    def insert_one(
        self, cells: Cells, last_revision: int, into: list[Cells], *, is_timed: bool = False
    ) -> bool:
        """Store one new memory, in a fraction of a transaction's time.

        It is one call of the core, during which no Python signal handler runs. So the memory is
        stored whole or not at all, on whichever thread.

        Args:
            cells: see ``rows.cells_of``; ``embedding`` is the encoded vector. Must name no successor.
                Sequence number, revision and checksums are added to it.
            last_revision: the last commit known to the caller; all later ones must have been made
                by this method.
            into: the list to append the cells to at the commit.
            is_timed: whether the store kept a history at the last commit known to the caller.

        Returns:
            Whether it was stored. If not, nothing was: there are other commits, the id exists, other
            memories would change too (one with the same text, or one that names this as its
            successor), another write is in progress, or SQLite refused it. Then use a transaction,
            which succeeds or raises the error.

        Raises:
            EngineClosed: the store is closed, or was opened before a ``fork``.
        """
        self._require_open()
        return self._writer.insert_one(cells, last_revision, into, is_timed=is_timed)

    def interrupt_writes_when(self, is_unwanted: Callable[[], bool]) -> None:
        """Make writes fail before their commit, and roll back, once ``is_unwanted()`` is true."""
        if self._written_by is not None:
            self._written_by.interrupt_when(is_unwanted)

    def revision(self) -> int:
        """Return the number of the last commit of any process; cheap if there is no new one."""
        if self._path == MEMORY:
            with self.read() as reading:
                return reading.last_revision()
        self._require_open()
        return self.watcher.commits().last

    def settings(self) -> dict[str, str]:
        """Return every setting."""
        with self.read() as reading:
            return reading.settings()

    def changes(self, after: int, batch: int = 10_000) -> Iterator[list[StoredMemory]]:
        """Yield the memories changed after a revision; see ``Reading.changes``.

        All lists come from one state of the store: that of the first list.
        """
        with self.read() as reading:
            lists = reading.changes(after, batch)
            if self._path != MEMORY:
                yield from lists
                return
            fixed = list(lists)  # so that a slow consumer does not block writers
        yield from fixed

    def erased(self, after: int) -> list[ErasedMemory]:
        """Return the memories erased since the revision ``after``, as far as they are listed."""
        with self.read() as reading:
            return reading.erased(after)

    def load(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return the memories of the ids, soft-deleted ones too; None for unknown ids."""
        with self.read() as reading:
            return reading.load(ids)

    def load_each(
        self, ids: Sequence[str], numbers: Sequence[int | None]
    ) -> list[Memory | StoreCorrupt | None]:
        """Return memories, all from one state of the store; see ``Reading.load_each``."""
        if (memories := self._at_once(ids, numbers, load_memories)) is not None:
            return memories
        with self.read() as reading:
            return reading.load_each(ids, numbers)

    def own_rows(
        self, ids: Sequence[str], numbers: Sequence[int | None]
    ) -> list[OwnRow | StoreCorrupt | None]:
        """Return rows of the table ``memory``, all from one state; see ``Reading.own_rows``."""
        if (rows := self._at_once(ids, numbers, load_own_rows)) is not None:
            return rows
        with self.read() as reading:
            return reading.own_rows(ids, numbers)

    def _at_once(
        self,
        ids: Sequence[str],
        numbers: Sequence[int | None],
        load: Callable[[StoreConnection, Sequence[str], Sequence[int | None]], Sequence[Any]],
    ) -> list[Any] | None:
        """Return what one statement reads, which sees one state; None if it does not find all."""
        self._require_open()
        if len(ids) > MOST_AT_ONCE or self._path == MEMORY:
            return None
        try:
            with self._readers.lend() as connection:
                found = list(load(connection, ids, numbers))
        except apsw.Error as error:
            raise translated(error, self._path) from error
        return None if None in found else found

    def count(self) -> int:
        """Return the number of memories, soft-deleted ones too."""
        with self.read() as reading:
            return reading.count()

    def link_count(self) -> int:
        """Return the number of links, those of soft-deleted memories too."""
        with self.read() as reading:
            return reading.link_count()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store's current state to a new file, without blocking writers.

        The copy appears whole or not at all. It is durable, readable by its owner only, and replaces
        a file of that name.

        Raises:
            ValueError: the path is a symbolic link, or the store's own.
            OSError: the copy cannot be written.
        """
        with self._unmoving() as connection:
            store.files.copy_to(connection, path, own=self._path)

    def at(self, revision: int) -> Store:
        """Return a store in memory with the state after an earlier commit; costs a copy of all.

        Raises:
            HistoryUnavailable: the history does not reach back to it.
        """
        past = Store(MEMORY)
        try:
            with self._unmoving() as connection:
                store.files.copy_into(past._writer.connection, connection)
            with past.write() as transaction:
                store.rewinding.rewind(transaction, revision)
        except BaseException:
            past.close()
            raise
        return past

    def quick_check(self) -> list[str]:
        """Read the whole file and return the problems found; empty for a sound file."""
        with self.read() as reading:
            return reading.quick_check()

    def deep_check(self) -> list[str]:
        """Read every row, its checksum and its indexes; see ``Reading.deep_check``."""
        with self.read() as reading:
            return reading.deep_check()

    def checkpoint(self, *, waits: bool = True) -> None:
        """Move the log into the file and empty it; after ``erase`` this removes the last copies.

        Args:
            waits: False: raise ``StoreBusy`` at once instead of after the timeout.

        Raises:
            StoreBusy: a reader of an older state used the log for longer than the timeout.
            StoreFull: the disk is full; the log stays as it is.
            StorePoisoned: a write or sync failed.
        """
        self._require_open()
        if self._path != MEMORY:
            self._writer.checkpoint(waits=waits)

    def remove_traces(self, *, waits: bool = True) -> None:
        """Empty the log and zero the unused bytes of pages, which may hold what was erased.

        Does nothing for a store in memory.

        Args:
            waits: False: raise ``StoreBusy`` at once if a reader uses the log.

        Raises:
            StoreBusy: others used the log for longer than the timeout.
            StoreIOError, StorePoisoned: a write or sync failed.
        """
        if self._path == MEMORY:
            return
        deadline = Deadline(self._timeout if waits else 0.0)
        while True:
            with self.read() as reading:
                noted = reading.traces()
            self.checkpoint(waits=waits)
            with self.write() as transaction:
                if transaction.clear_traces(noted):
                    return
            if deadline.left() <= 0:
                msg = f"{self._path}: other processes kept writing to the log"
                raise StoreBusy(msg)

    def verify_erased(self, needle: bytes) -> bool:
        """Return whether the file and its log no longer contain the bytes.

        Args:
            needle: such as a forgotten text in UTF-8, at least one byte. Of one over 128 bytes, the
                beginning alone counts as found, since SQLite may have overwritten the rest.
        """
        if not needle:
            raise ValueError(wrong("needle", "at least one byte", needle))
        with self._unmoving() as connection:
            if self._path == MEMORY:
                return needle not in connection.serialize("main")
            return not store.files.contains(connection, needle)

    def close(self) -> None:
        """Close the store; calling it again, or in a child process, does nothing."""
        if self._is_closed or os.getpid() != self._process:
            return
        self._is_closed = True
        with self._translating(), ExitStack() as closing:
            if self._written_by is not None:
                closing.callback(
                    self._written_by.close
                )  # the last to close moves the log into the file
            closing.callback(self._readers.close)
            closing.callback(self.watcher.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _unmoving(self) -> Iterator[StoreConnection]:
        """Provide a connection that sees one state of the store."""
        self._require_open()
        if self._path == MEMORY:  # the only connection: reads and writes take turns
            with self._translating(), self._writer.exclusive() as connection:
                yield connection
            return
        with self._translating(), self._readers.lend() as connection:
            connection.execute("BEGIN")
            try:
                _ = connection.execute(
                    "SELECT count(*) FROM setting"
                ).get  # BEGIN alone does not start the snapshot
                yield connection
            finally:
                connections.roll_back(connection)

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def _require_open(self) -> None:
        if self._is_closed:
            msg = f"{self._path}: the store is closed"
            raise EngineClosed(msg)
        if os.getpid() != self._process:
            msg = f"{self._path}: opened before fork; a child process opens the store for itself"
            raise EngineClosed(msg)

    def _connections(self) -> list[StoreConnection]:
        own = [] if self._written_by is None else [self._written_by.connection]
        return [*own, *self.watcher.connections(), *self._readers.idle()]


_OPEN: Final[weakref.WeakSet[Store]] = weakref.WeakSet()
_LEFT_TO_PARENT: Final[list[StoreConnection]] = []


def _leave_to_parent() -> None:
    """Keep a child process from closing its parent's connections when they are collected."""
    for opened in _OPEN:
        _LEFT_TO_PARENT.extend(opened._connections())


os.register_at_fork(after_in_child=_leave_to_parent)
