"""Opens connections to one file, and keeps idle readers for reuse."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeVar

import apsw

from oneiros import _core
from oneiros.clock import Deadline
from oneiros.errors import StoreBusy, StoreIOError
from oneiros.store import checksums, schema
from oneiros.store.forking import GATE

if TYPE_CHECKING:
    from threading import RLock as Lock

    from oneiros.store.read_only import FileState
    from oneiros.store.rows import Cells

Result = TypeVar("Result")

__all__ = [
    "DURABILITIES",
    "MEMORY",
    "OpenedFile",
    "Readers",
    "StoreConnection",
    "create_private",
    "open_writer",
    "run_when_free",
]

MEMORY: Final = ":memory:"

_OLDEST_SQLITE: Final = (3, 51, 3)  # 3.7.0 to 3.51.2 can lose commits in WAL mode
_BUSY_SLICE_MILLISECONDS: Final = 50  # Ctrl-C cannot interrupt SQLite's waits, so they are short
_IDLE_READERS: Final = 8

DURABILITIES: Final = {"full": "FULL", "normal": "NORMAL"}  # to SQLite's names
_SAFETY: Final = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
)
# Plans must not depend on bound values, or SQLite plans a join again for each id it looks up.
_PLANNING: Final = (apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
_PRAGMAS: Final = """
PRAGMA cell_size_check = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
PRAGMA journal_size_limit = 67108864;
"""


class StoreConnection(apsw.Connection):
    """A connection that the core reads and writes rows on, too."""

    def __init__(self, path: str, *, flags: int, vfs: str | None) -> None:
        self._is_in_memory = path == MEMORY
        self._memory_readers: dict[_core.MemoryQuery, _core.MemoryReader] = {}
        self._link_readers: dict[str, _core.LinkReader] = {}
        self._data_version: _core.DataVersion | None = None
        self._memory_writer: _core.MemoryWriter | None = None
        self._inserts_no_more = False
        self._row_inserters: dict[str, _core.RowInserter] = {}
        self.file_state: FileState | None = None
        """The state of the file that a read-only connection reads."""
        self.stops_when_full = vfs is not None
        """Whether the disk's state is unknown where a commit finds it full.

        SQLite's own VFS reports that only for a write, and the frame that commits is written last: it
        is not whole then, so the log ends before it, for other processes and after a crash, too.
        Another VFS may report it for a sync, after the whole frame.
        """
        super().__init__(path, flags=flags, vfs=vfs)

    def memory_reader(self, query: _core.MemoryQuery) -> _core.MemoryReader:
        """Return the reader of a query's rows, made once per connection.

        Raises:
            apsw.Error: SQLite cannot load extensions.
        """
        reader = self._memory_readers.get(query)
        if reader is None:
            reader = _core.MemoryReader(
                connection=self._address(), query=query, is_in_memory=self._is_in_memory
            )
            self._memory_readers[query] = reader
        return reader

    def links_after(
        self, sql: str, checksum: _core.RowChecksum, after: int
    ) -> _core.StoredLinks | None:
        """Return the links changed after a revision; None if one is damaged or the core cannot read them.

        Args:
            sql: returns the columns that ``checksum`` covers, then their checksum.
            checksum: of the rows.
            after: the revision.
        """
        reader = self._link_readers.get(sql)
        if reader is None:
            try:
                address = self._address()
            except apsw.ExtensionLoadingError:
                return None
            reader = _core.LinkReader(connection=address, sql=sql, checksum=checksum)
            self._link_readers[sql] = reader
        return reader.read(after=after)

    def commit_version(self) -> int:
        """Return SQLite's version number of the file, which every other connection's commit changes.

        Raises:
            apsw.Error: it cannot be read.
        """
        number = self.read_version()
        return int(self.execute("PRAGMA data_version").get) if number is None else number

    @property
    def read_version(self) -> Callable[[], int | None]:
        """A function that returns :meth:`commit_version`, or None where the core cannot read it."""
        if self._data_version is None:
            try:
                self._data_version = _core.DataVersion(connection=self._address())
            except apsw.ExtensionLoadingError:
                return _no_version
        return self._data_version.read

    def insert_rows(self, table: str, sql: str, columns: list[Any], count: int) -> list[int]:
        """Insert rows into a table; return their checksums.

        Args:
            table: a key of :data:`oneiros.store.checksums.COVERED`.
            sql: binds the columns of the table in the order there, then the checksum.
            columns: these columns: a list with a cell per row, or one cell for all rows.
            count: of the rows.

        Raises:
            apsw.Error: SQLite refused a row. Those before it are inserted.
        """
        inserter = self._row_inserters.get(table)
        if inserter is None:
            check = checksums.check_of(table)
            try:
                address = self._address()
            except apsw.ExtensionLoadingError:
                made = check.of_columns(columns=columns, count=count)
                whole = (*columns, made)
                lists = (cell if type(cell) is list else repeat(cell) for cell in whole)
                self.executemany(sql, zip(*lists, strict=False))
                return made
            inserter = _core.RowInserter(connection=address, sql=sql, checksum=check)
            self._row_inserters[table] = inserter
        found = inserter.insert(columns=columns, count=count)
        if isinstance(found, tuple):
            raise _error_of(*found)
        return found

    def insert_one(
        self,
        insert: _core.MemoryInsert,
        cells: Cells,
        rows: tuple[list[Any], list[Any]],
        last_revision: int,
        time: float | None,
        into: list[Cells],
        lock: Lock,
    ) -> bool:
        """Store a memory by one call of the core.

        Args:
            insert: the statements.
            cells: see :meth:`oneiros.store.Store.insert_one`.
            rows: the cells of both tables.
            last_revision: see there.
            time: to record for the commit; None: none is recorded.
            into: the list to append the cells to at the commit.
            lock: the writer's lock; if it is not free, nothing is stored.
        """
        writer = self._memory_writer
        if writer is None:
            if self._inserts_no_more:
                return False
            try:
                writer = _core.MemoryWriter(
                    connection=self._address(),
                    insert=insert,
                    stops_when_full=self.stops_when_full,
                )
            except (apsw.ExtensionLoadingError, apsw.ConnectionClosedError):
                return False
            self._memory_writer = writer
        memory, lifecycle = rows
        return writer.insert(
            memory=memory,
            lifecycle=lifecycle,
            last_revision=last_revision,
            time=time,
            record=cells,
            into=into,
            lock=lock,
        )

    def stop_inserting(self) -> None:
        """Make :meth:`insert_one` store nothing more. REQUIRES: its lock."""
        self._inserts_no_more = True
        if self._memory_writer is not None:
            self._memory_writer.close()

    def failure(self) -> apsw.Error | None:
        """Return the error of :meth:`insert_one` after which the disk's state is unknown."""
        found = None if self._memory_writer is None else self._memory_writer.failure
        return None if found is None else _error_of(*found)

    def _address(self) -> int:
        """Return the connection's address, after giving the core SQLite's functions."""
        if not _core.has_sqlite():
            _hand_over_sqlite()
        return self.sqlite3_pointer()

    def close(self, force: bool = False) -> None:
        """Close the core's statements, then the connection."""
        self._close_statements()
        super().close(force)

    def __del__(self) -> None:
        """Close the core's statements: SQLite keeps a connection open as long as it has some."""
        self._close_statements()

    def _close_statements(self) -> None:
        while self._memory_readers:
            self._memory_readers.popitem()[1].close()
        while self._link_readers:
            self._link_readers.popitem()[1].close()
        if self._data_version is not None:
            self._data_version.close()
            self._data_version = None
        while self._row_inserters:
            self._row_inserters.popitem()[1].close()
        self.stop_inserting()


def _error_of(code: int, words: str) -> apsw.Error:
    """Return apsw's exception for a code and a message of SQLite."""
    error = apsw.exception_for(code)
    assert isinstance(error, apsw.Error)
    error.args = (words,)
    return error


def _no_version() -> None:
    return None


class _CoreAsLibrary(apsw.VFS):
    """A file system whose only library is the core, as Python loaded it.

    SQLite's own would open the file again, which may have been replaced, and would show the C++
    runtime's symbols to all libraries loaded later.
    """

    def __init__(self) -> None:
        self.name = f"oneiros-core-{id(self)}"
        super().__init__(self.name, "")

    def xDlOpen(self, filename: str) -> int:  # noqa: ARG002
        """Return a handle; SQLite only passes it on."""
        return 1

    def xDlSym(self, handle: int, symbol: str) -> int:  # noqa: ARG002
        """Return the address of the core's entry point."""
        return _core.sqlite_entry()

    def xDlClose(self, handle: int) -> None:
        """Keep the core loaded."""


def _hand_over_sqlite() -> None:
    """Give the core the functions of apsw's SQLite, which are passed to extensions only.

    Raises:
        apsw.Error: apsw was compiled without extensions, or its SQLite is too old.
    """
    library = _CoreAsLibrary()
    try:
        connection = apsw.Connection(MEMORY, vfs=library.name)
        try:
            connection.enable_load_extension(True)
            connection.load_extension("oneiros", "sqlite3_oneiros_init")
        except AttributeError as error:  # apsw was compiled without
            raise apsw.ExtensionLoadingError(str(error)) from error
        finally:
            connection.close()
    finally:
        library.unregister()


def require_sqlite() -> None:
    """Check that SQLite is not a version that can lose commits.

    Raises:
        RuntimeError: apsw's SQLite is older than 3.51.3.
    """
    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) < _OLDEST_SQLITE:
        wanted = ".".join(map(str, _OLDEST_SQLITE))
        msg = f"SQLite {version} can lose commits in WAL mode; install apsw >= {wanted}"
        raise RuntimeError(msg)


def create_private(path: str) -> None:
    """Create the file, readable by its owner only, unless it exists.

    SQLite gives the log and its index the same permissions.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return  # opening and closing it would drop this process's SQLite locks on it
    try:
        os.fchmod(descriptor, 0o600)  # undoes the umask
    finally:
        os.close(descriptor)
    sync_folder(path)


def sync_folder(path: str) -> None:
    """Make the file's name durable."""
    descriptor = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)  # noqa: PTH100, PTH120
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_writer(
    path: str, *, vfs: str | None, durability: str, deadline: Deadline
) -> StoreConnection:
    """Open a connection for writing; create or migrate the tables.

    The tables are made before WAL mode is set, so that a crash in between leaves a valid store.
    """
    connection = _connected(path, vfs=vfs, busy_milliseconds=_BUSY_SLICE_MILLISECONDS)
    try:
        run_when_free(lambda: _prepare(connection), deadline, path)
        schema.verify(connection)
        if path != MEMORY:
            run_when_free(lambda: _use_log(connection), deadline, path)
        connection.execute(f"PRAGMA synchronous = {DURABILITIES[durability]}")
    except BaseException:
        connection.close(True)
        raise
    return connection


def run_when_free(action: Callable[[], Result], deadline: Deadline, path: str) -> Result:
    """Run ``action`` as soon as no other process holds the lock it needs.

    Args:
        action: raises apsw.BusyError while the lock is held.
        deadline: when to give up.
        path: of the store, for the message.

    Raises:
        StoreBusy: the deadline has passed.
    """
    while True:
        try:
            return action()
        except apsw.BusyError as error:
            if deadline.left() <= 0:
                msg = f"{path}: another process holds the store's lock"
                raise StoreBusy(msg) from error
            deadline.pause(0.002)


def _connected(
    path: str,
    *,
    vfs: str | None,
    busy_milliseconds: int,
    flags: int = apsw.SQLITE_OPEN_READWRITE,
) -> StoreConnection:
    if path == MEMORY:
        flags |= apsw.SQLITE_OPEN_MEMORY
    connection = StoreConnection(path, flags=flags, vfs=vfs)
    try:
        connection.set_busy_timeout(busy_milliseconds)
        for option, value in (*_SAFETY, _PLANNING):
            connection.config(option, value)
        connection.execute(_PRAGMAS)
        checksums.register(connection)
    except BaseException:
        connection.close(True)
        raise
    return connection


def _prepare(connection: apsw.Connection) -> None:
    """Create or migrate the tables, unless they are current, in one transaction."""
    # The check runs in a transaction too: otherwise another process could create the tables between
    # two reads, and the mixed result would look neither empty nor like a store.
    with _transaction(connection, "DEFERRED"):
        if schema.is_current(connection):
            return
    with _transaction(connection, "IMMEDIATE"):
        if not schema.is_current(connection):  # another process may have made them meanwhile
            schema.migrate(connection)


@contextmanager
def _transaction(connection: apsw.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _use_log(connection: apsw.Connection) -> None:
    # The pragma fails silently on an I/O error; it returns the mode in force.
    mode = connection.execute("PRAGMA journal_mode = WAL").get
    if mode != "wal":
        msg = f"the file cannot be written ahead (journal mode {mode!r}); is it on a network drive?"
        raise StoreIOError(msg)


def roll_back(connection: apsw.Connection) -> None:
    """Roll the open transaction back, unless SQLite has already done so."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


class OpenedFile:
    """The file that a path named when this was made, to notice that it was removed or replaced.

    A file system of the caller's own, and memory, have no file to look at.
    """

    MOVED: Final = "the file was removed or replaced"

    def __init__(self, path: str, vfs: str | None) -> None:
        # The path is made whole, as the process may change its folder.
        self._path = None if path == MEMORY or vfs is not None else os.path.abspath(path)  # noqa: PTH100 - pathlib loads much
        self._identity = self._identity_now()

    def has_moved(self) -> bool:
        """Return whether another file, or none, has the path."""
        return self._path is not None and self._identity_now() != self._identity

    def _identity_now(self) -> tuple[int, int] | None:
        """Return what tells a file from others, whatever its name; None: there is no file."""
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)  # noqa: PTH116 - pathlib loads much
        except OSError:
            return None
        return found.st_dev, found.st_ino


class Readers:
    """Connections for reading, each used by one thread at a time and kept for reuse.

    In WAL mode a reader sees the last commit at its start and waits for no writer. All read the file
    that the path named at first.
    """

    is_read_only = False

    def __init__(self, path: str, *, vfs: str | None, timeout_seconds: float) -> None:
        self._path = path
        self._vfs = vfs
        self._busy_milliseconds = math.ceil(timeout_seconds * 1000)
        self._file = OpenedFile(path, vfs)
        self._idle: deque[StoreConnection] = deque()
        self._is_closed = False

    @contextmanager
    def lend(self) -> Iterator[StoreConnection]:
        """Provide a connection for a block."""
        entered = GATE.enter()
        try:
            connection = self._taken()
            try:
                yield connection
            finally:
                self._take_back(connection)
        finally:
            GATE.leave(entered)

    def _taken(self) -> StoreConnection:
        """Return an idle connection that reads the current file, else a new one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self.opened()
            if self.is_current(connection):
                return connection
            connection.close()

    def is_current(self, connection: StoreConnection) -> bool:  # noqa: ARG002 - see ReadOnlyReaders
        """Return whether a connection reads the file as it is now."""
        return True

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they come back."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        """Close the idle connections if the pool is closed."""
        while self._is_closed and self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # taken by another thread meanwhile
                return
            connection.close()

    def idle(self) -> list[StoreConnection]:
        """Return the connections that are not in use."""
        return list(self._idle)

    def opened(self) -> StoreConnection:
        """Return a new connection, to be closed by the caller.

        Raises:
            StoreIOError: the file was removed or replaced, so that it would read another one.
        """
        return self._opened(self._path, apsw.SQLITE_OPEN_READWRITE)

    def _opened(self, name: str, flags: int) -> StoreConnection:
        self._require_same_file()
        connection = _connected(
            name, vfs=self._vfs, busy_milliseconds=self._busy_milliseconds, flags=flags
        )
        try:
            self._require_same_file()  # it may have been replaced just now
        except BaseException:
            connection.close(True)
            raise
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _require_same_file(self) -> None:
        if self._file.has_moved():
            msg = f"{self._path}: {OpenedFile.MOVED} while it was open; open the store again"
            raise StoreIOError(msg)

    def _take_back(self, connection: StoreConnection) -> None:
        # An interrupt may come after a transaction began and before it could be rolled back.
        is_left_open = connection.in_transaction
        if is_left_open or self._is_closed or len(self._idle) >= _IDLE_READERS:
            connection.close(is_left_open)
            return
        # No lock: a signal handler that reads may run at any point here.
        self._idle.append(connection)
        self._close_idle()  # the pool may have been closed meanwhile
