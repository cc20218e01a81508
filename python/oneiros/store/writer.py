"""The one connection that writes: turns, commits, single inserts, and stopping when the disk fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import apsw

from oneiros import _core, store
from oneiros.clock import Clock, Deadline
from oneiros.errors import EngineClosed, StoreBusy, StorePoisoned
from oneiros.model.validation import moment
from oneiros.store import connections
from oneiros.store.checksums import check_of
from oneiros.store.connections import OpenedFile
from oneiros.store.failures import is_failed_write, translated
from oneiros.store.forking import GATE
from oneiros.store.history import ADD_MOMENT, LAST_MOMENT, kept_by
from oneiros.store.reading import LAST_REVISION, NEXT_SEQUENCE
from oneiros.store.rows import (
    INSERT,
    INSERT_LIFECYCLE,
    INSERTED,
    INSERTED_CELLS,
    INSERTED_LIFECYCLE,
    Cells,
)

if TYPE_CHECKING:
    from oneiros.store.connections import StoreConnection
    from oneiros.store.history import Keeping
    from oneiros.store.transaction import Transaction

__all__ = ["Write", "Writer"]

_check_time: Final = moment("clock")
_STEPS_BETWEEN_LOOKS: Final = 20_000  # of SQLite's virtual machine: a fraction of a millisecond


def _never() -> bool:
    return False


class Writer:
    """Provides one transaction at a time. Thread-safe."""

    def __init__(
        self,
        path: str,
        *,
        vfs: str | None,
        durability: str,
        timeout_seconds: float,
        clock: Clock | None = None,
    ) -> None:
        self._path = path
        self._clock = clock
        self._timeout = timeout_seconds
        self._lock = threading.RLock()  # owned by the writing thread
        self._entered = 0
        self._is_writing = False
        self._is_closed = False
        self._poison = ""
        self._is_ending = False  # a commit or rollback runs, which must not be interrupted
        self._is_unwanted: Callable[[], bool] = _never
        # SQLite's counters of commits by others and of changes by this connection, and the last
        # revision when they were read.
        self._state = (0, 0)
        self._known: tuple[tuple[int, int], int] | None = None
        self._keeping: tuple[int, Keeping] | None = None  # with SQLite's version when it was read
        self.connection = connections.open_writer(
            path, vfs=vfs, durability=durability, deadline=Deadline(timeout_seconds)
        )
        self._file = OpenedFile(path, vfs)

    def interrupt_when(self, is_unwanted: Callable[[], bool]) -> None:
        """Make the statements of a write fail once ``is_unwanted()`` is true.

        Commits and rollbacks are not interrupted.
        """

        def is_to_stop() -> bool:
            return not self._is_ending and is_unwanted()

        self._is_unwanted = is_to_stop
        self.connection.set_progress_handler(is_to_stop, _STEPS_BETWEEN_LOOKS)

    @contextmanager
    def exclusive(self) -> Iterator[StoreConnection]:
        """Wait for this process's other writers."""
        # The lock's own context manager: with a function that acquires it, an interrupt could come
        # between acquiring and entering the block.
        with self._lock:
            self._require_open()
            entered = GATE.enter()
            try:
                yield self.connection
            finally:
                GATE.leave(entered)

    def begin(self) -> Transaction:
        """Start a transaction; :meth:`end` must follow, in the same thread."""
        self._acquire()
        try:
            self._require_sound()
            return self._begun()
        except BaseException:
            self._release()
            raise

    def require_no_write(self) -> None:
        """Raise RuntimeError inside a write. REQUIRES: the thread that writes."""
        if self._is_writing:
            msg = "write() inside write() of the same thread, as of a clock that uses its engine"
            raise RuntimeError(msg)

    def end(self, transaction: Transaction, error: BaseException | None) -> None:
        """Commit, or roll everything back after an error."""
        try:
            if error is None and transaction.failure is None:
                self._keep_history(transaction)
            transaction.is_over = True
            self._is_ending = True
            if error is None and transaction.failure is None:
                self._commit()
                # Other writes may have changed nothing; then the next commit gets the same number.
                if transaction.has_only_inserted:
                    state = (self._state[0], self.connection.total_changes())
                    self._known = (state, transaction.revision)
                else:
                    self._known = None
            else:
                self._take_back(transaction.failure, error)
        finally:
            transaction.keeper = None  # which refers to the transaction: no reference cycle is left
            self._is_writing = self._is_ending = False
            self._release()

    def insert_one(
        self, cells: Cells, last_revision: int, into: list[Cells], *, is_timed: bool
    ) -> bool:
        """Store one new memory; see :meth:`oneiros.store.Store.insert_one`."""
        if self._file.has_moved():
            return False  # the transaction that follows raises the error
        time = self._time() if is_timed and self._clock is not None else None
        entered = GATE.enter()
        try:
            # The core takes the lock only if it is free, and releases it: a signal handler that
            # writes could not wait for a lock that this thread holds.
            return self.connection.insert_one(
                _SINGLE_INSERT, cells, _rows_of(cells), last_revision, time, into, self._lock
            )
        except apsw.Error:  # from a VFS in Python; the transaction that follows raises it again
            return False
        finally:
            GATE.leave(entered)

    def checkpoint(self, *, waits: bool) -> None:
        """Move the log's content into the file and truncate the log."""
        with self.exclusive() as connection:
            self._require_sound()
            try:
                connections.run_when_free(
                    lambda: connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE),
                    Deadline(self._timeout if waits else 0.0),
                    self._path,
                )
            except apsw.Error as error:
                raise self._failed(error) from error

    def close(self) -> None:
        """Close the connection, after the write in progress."""
        with self._lock:
            if not self._is_closed:
                self._notice_failure()
                self._is_closed = True
                self.connection.close()
                self._is_unwanted = _never

    def _begun(self) -> Transaction:
        try:
            connections.run_when_free(self._start, Deadline(self._timeout), self._path)
            version = self.connection.commit_version()
            self._state = (version, self.connection.total_changes())
            known = self._known
            keeping = None if self._clock is None else self._kept(version)
            transaction = store.Transaction(
                self.connection,
                self._path,
                None if known is None or known[0] != self._state else known[1],
                keeping=keeping,
                read_time=self._time,
            )
        except BaseException as error:
            connections.roll_back(self.connection)
            if isinstance(error, apsw.Error):
                raise translated(error, self._path) from error
            raise
        self._is_writing = True
        return transaction

    def _kept(self, version: int) -> Keeping:
        """Return what the store keeps of its history. REQUIRES: a transaction is open.

        Args:
            version: SQLite's, which commits of other connections change.
        """
        if self._keeping is None or self._keeping[0] != version:
            self._keeping = version, kept_by(self.connection)
        return self._keeping[1]

    def _time(self) -> float:
        """Return the time by the clock.

        Raises:
            TypeError, ValueError: it is no time.
        """
        assert self._clock is not None
        time: float = _check_time(self._clock())
        return time

    def _start(self) -> None:
        if self._is_unwanted():
            raise apsw.InterruptError
        self.connection.execute("BEGIN IMMEDIATE")

    def _keep_history(self, transaction: Transaction) -> None:
        """Complete what the transaction keeps of the state it replaces; on an error, roll back."""
        if transaction.has_set:
            self._keeping = None
        if transaction.keeper is None or not transaction.has_written:
            return
        try:
            transaction.keeper.finish()
        except BaseException as error:
            transaction.is_over = self._is_ending = True
            self._take_back(transaction.failure, error)
            raise

    def _commit(self) -> None:
        try:
            self.connection.execute("COMMIT")
        except apsw.BusyError as error:
            connections.roll_back(self.connection)
            raise translated(error, self._path) from error
        except apsw.Error as error:
            raise self._failed(error) from error

    def _take_back(self, failure: apsw.Error | None, error: BaseException | None) -> None:
        """Roll back; raise a disk error even if the block swallowed it."""
        try:
            connections.roll_back(self.connection)
        except apsw.Error as second:
            raise self._poisoned(second) from second
        if failure is not None and is_failed_write(failure):
            raise self._poisoned(failure) from failure
        if failure is not None and error is None:
            raise translated(failure, self._path) from failure

    def _failed(self, error: apsw.Error) -> Exception:
        """Roll back; return the exception for a commit or checkpoint that failed."""
        if not isinstance(error, apsw.FullError) or self.connection.stops_when_full:
            return self._poisoned(error)
        try:
            connections.roll_back(self.connection)
        except apsw.Error as second:
            return self._poisoned(second)
        return translated(error, self._path)

    def _poisoned(self, error: apsw.Error) -> StorePoisoned:
        """Stop writing for good, leaving the files unchanged for the next open.

        The connection stays open if possible: the last one to close removes the log's index, and
        the next reader would then find the commit that was refused here.
        """
        self._stop(f"a write failed ({type(error).__name__}: {error})")
        return StorePoisoned(self._poison_words())

    def _stop(self, reason: str) -> None:
        self._poison = reason
        self.connection.stop_inserting()
        self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        try:
            connections.roll_back(self.connection)
        except apsw.Error:
            self.connection.close(True)  # the only other way to release SQLite's lock

    def _acquire(self) -> None:
        if not self._lock.acquire(timeout=self._timeout):
            msg = f"{self._path}: another thread has been writing for {self._timeout} s"
            raise StoreBusy(msg)
        try:  # release the lock after an interrupt, too
            self._require_open()
            self.require_no_write()  # first, or the entry of the write around would be lost
            self._entered = GATE.enter()  # after the lock, so that waiting for it delays no fork
        except BaseException:
            self._lock.release()
            raise

    def _require_open(self) -> None:
        if self._is_closed:  # closed while this thread waited
            msg = f"{self._path}: the store is closed"
            raise EngineClosed(msg)

    def _release(self) -> None:
        try:
            GATE.leave(self._entered)
        finally:
            self._lock.release()

    def _notice_failure(self) -> None:
        """Stop writing for good if the core met a disk error, or if the file is gone."""
        if self._poison:
            return
        error = self.connection.failure()
        if error is not None:
            self._poisoned(error)
        elif self._file.has_moved():
            # What is written would be lost. The last to close removes the log by its name, which may
            # be that of another store now.
            self._stop(OpenedFile.MOVED)

    def _require_sound(self) -> None:
        self._notice_failure()
        if self._poison:
            raise StorePoisoned(self._poison_words())

    def _poison_words(self) -> str:
        return f"{self._path}: {self._poison}; open the store again to go on writing"


class Write:
    """The context manager of one write. Made by ``Store.write``."""

    __slots__ = ("_transaction", "_writer")

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> Transaction:
        self._transaction = self._writer.begin()
        return self._transaction

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.end(self._transaction, error)


# One call of the core, which an interrupt cannot split.
_SINGLE_INSERT: Final = _core.MemoryInsert(
    memory=INSERT,
    lifecycle=INSERT_LIFECYCLE,
    memory_checksum=check_of("memory"),
    lifecycle_checksum=check_of("lifecycle"),
    last_revision=LAST_REVISION,
    next_sequence=NEXT_SEQUENCE,
    last_moment=LAST_MOMENT,
    moment=ADD_MOMENT,
    moment_checksum=check_of("moment"),
    obstacles=[  # cases in which other rows change too
        ("SELECT 1 FROM memory WHERE text_digest = ?1 LIMIT 1", INSERTED.index("text_digest")),
        (
            "SELECT 1 FROM memory INDEXED BY successor WHERE superseded_by = ?1 LIMIT 1",
            INSERTED.index("id"),
        ),
    ],
)
_UNNUMBERED: Final = {**INSERTED_CELLS, "sequence": None, "revision": None}


def _rows_of(cells: Cells) -> tuple[list[Any], list[Any]]:
    """Return the rows of a memory in both tables, without numbers and checksums.

    Args:
        cells: see :func:`oneiros.store.rows.cells_of`; ``embedding`` is the encoded vector.
    """
    row = _UNNUMBERED | cells
    return [row[name] for name in INSERTED], [row[name] for name in INSERTED_LIFECYCLE]
