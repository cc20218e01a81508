"""Connections to one file: how they are opened, and the readers kept for reuse."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import apsw

from oneiros import _core
from oneiros.clock import Deadline
from oneiros.errors import StoreBusy, StoreIOError
from oneiros.store import checksums, schema
from oneiros.store.forking import GATE

if TYPE_CHECKING:
    from threading import RLock as Lock

    from oneiros.store.rows import Cells

Result = TypeVar("Result")

__all__ = [
    "DURABILITIES",
    "MEMORY",
    "Readers",
    "StoreConnection",
    "create_private",
    "open_writer",
    "run_when_free",
]

MEMORY: Final = ":memory:"

_OLDEST_SQLITE: Final = (3, 51, 3)  # 3.7.0 to 3.51.2 can lose commits in WAL mode
_BUSY_SLICE_MILLISECONDS: Final = 50  # SQLite's own waits do not hear Ctrl-C; ours between them do
_IDLE_READERS: Final = 8

DURABILITIES: Final = {"full": "FULL", "normal": "NORMAL"}  # and what SQLite calls them
_SAFETY: Final = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
)
# No plan hangs on a bound value: otherwise a join is planned anew for each id that it looks up.
_PLANNING: Final = (apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
_PRAGMAS: Final = """
PRAGMA cell_size_check = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
PRAGMA journal_size_limit = 67108864;
"""


class StoreConnection(apsw.Connection):
    """A connection on which the core, too, reads rows."""

    def __init__(self, path: str, *, flags: int, vfs: str | None) -> None:
        self._memory_readers: dict[_core.MemoryQuery, _core.MemoryReader] = {}
        self._data_version: _core.DataVersion | None = None
        self._memory_writer: _core.MemoryWriter | None = None
        super().__init__(path, flags=flags, vfs=vfs)

    def memory_reader(self, query: _core.MemoryQuery) -> _core.MemoryReader:
        """Return what reads the rows of a query here; it is made once.

        Raises:
            apsw.Error: SQLite cannot load extensions.
        """
        reader = self._memory_readers.get(query)
        if reader is None:
            reader = _core.MemoryReader(connection=self._address(), query=query)
            self._memory_readers[query] = reader
        return reader

    def commit_version(self) -> int:
        """Return SQLite's number of the file's state, which every commit of others moves.

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

    def insert_one(self, cells: Cells, last_revision: int, into: list[Cells], lock: Lock) -> bool:
        """Store a memory by one call of the core.

        Args:
            cells: see :meth:`oneiros.store.Store.insert_one`, also of the next two.
            last_revision: the last commit that the caller knows.
            into: gets the cells at the commit.
            lock: of whoever writes here; where it is not free, nothing is stored.
        """
        from oneiros.store.single_insert import SINGLE_INSERT, rows_of  # noqa: PLC0415 - few write

        writer = self._memory_writer
        if writer is None:
            try:
                writer = _core.MemoryWriter(connection=self._address(), insert=SINGLE_INSERT)
            except (apsw.ExtensionLoadingError, apsw.ConnectionClosedError):
                return False
            self._memory_writer = writer
        memory, lifecycle = rows_of(cells)
        return writer.insert(
            memory=memory,
            lifecycle=lifecycle,
            last_revision=last_revision,
            record=cells,
            into=into,
            lock=lock,
        )

    def stop_inserting(self) -> None:
        """Store nothing more by :meth:`insert_one`. REQUIRES: its lock."""
        if self._memory_writer is not None:
            self._memory_writer.close()

    def failure(self) -> apsw.Error | None:
        """Return what :meth:`insert_one` met that leaves it open what the disk holds."""
        found = None if self._memory_writer is None else self._memory_writer.failure
        if found is None:
            return None
        code, words = found
        error = apsw.exception_for(code)
        assert isinstance(error, apsw.Error)
        error.args = (words,)
        return error

    def _address(self) -> int:
        """Return where the connection lies, once the core can use it."""
        if not _core.has_sqlite():
            _hand_over_sqlite()
        return self.sqlite3_pointer()

    def close(self, force: bool = False) -> None:
        """Close it, and the statements of the core before."""
        self._close_statements()
        super().close(force)

    def __del__(self) -> None:
        """Close the core's statements: SQLite does not close a connection that has open ones."""
        self._close_statements()

    def _close_statements(self) -> None:
        while self._memory_readers:
            self._memory_readers.popitem()[1].close()
        if self._data_version is not None:
            self._data_version.close()
            self._data_version = None
        self.stop_inserting()


def _no_version() -> None:
    return None


class _CoreAsLibrary(apsw.VFS):
    """A file system whose only library is the core, as Python loaded it.

    SQLite's own would open the file again, which may be another by now, and show the symbols of the
    C++ runtime to all libraries that the process loads later.
    """

    def __init__(self) -> None:
        self.name = f"oneiros-core-{id(self)}"
        super().__init__(self.name, "")

    def xDlOpen(self, filename: str) -> int:  # noqa: ARG002
        """Return a handle, which SQLite only passes on."""
        return 1

    def xDlSym(self, handle: int, symbol: str) -> int:  # noqa: ARG002
        """Return the address of the core's entry."""
        return _core.sqlite_entry()

    def xDlClose(self, handle: int) -> None:
        """Keep the core loaded."""


def _hand_over_sqlite() -> None:
    """Give the core the functions of apsw's SQLite, which only an extension gets.

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
    """Refuse an SQLite that can lose commits.

    Raises:
        RuntimeError: apsw's SQLite is older than 3.51.3.
    """
    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) < _OLDEST_SQLITE:
        wanted = ".".join(map(str, _OLDEST_SQLITE))
        msg = f"SQLite {version} can lose commits in WAL mode; install apsw >= {wanted}"
        raise RuntimeError(msg)


def create_private(path: str) -> None:
    """Make the file, readable by its owner only, unless there is one.

    SQLite gives the log and the index of the log the same permissions.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return  # opening and closing it here would drop SQLite's locks on it in this process
    try:
        os.fchmod(descriptor, 0o600)  # whatever the umask took away
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
    """Open a connection for writing; make or bring forward the tables.

    The tables come before WAL mode: a crash between the two leaves a store, not a foreign file.
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
        action: fails while it is held.
        deadline: until when it is tried.
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


def _connected(path: str, *, vfs: str | None, busy_milliseconds: int) -> StoreConnection:
    flags = apsw.SQLITE_OPEN_READWRITE
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
    """Make or migrate the tables, unless they are there, in one transaction."""
    # Looked at in a transaction too: between two reads another process may make the tables, and half
    # of an empty file beside half of a store looks like neither.
    with _transaction(connection, "DEFERRED"):
        if schema.is_current(connection):
            return
    with _transaction(connection, "IMMEDIATE"):
        if not schema.is_current(connection):  # another process may have been quicker
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
    # The pragma fails silently under an I/O error: what it answers is the mode in force.
    mode = connection.execute("PRAGMA journal_mode = WAL").get
    if mode != "wal":
        msg = f"the file cannot be written ahead (journal mode {mode!r}); is it on a network drive?"
        raise StoreIOError(msg)


def roll_back(connection: apsw.Connection) -> None:
    """Take the open transaction back, unless SQLite has done so itself."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


class Readers:
    """Connections for reading, lent to one thread at a time and kept for the next.

    In WAL mode a reader sees the last commit at its start and waits for no writer.
    """

    def __init__(self, path: str, *, vfs: str | None, timeout_seconds: float) -> None:
        self._path = path
        self._vfs = vfs
        self._busy_milliseconds = math.ceil(timeout_seconds * 1000)
        self._idle: deque[StoreConnection] = deque()
        self._is_closed = False

    @contextmanager
    def lend(self) -> Iterator[StoreConnection]:
        """Lend a connection for a block."""
        entered = GATE.enter()
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self.opened()
            try:
                yield connection
            finally:
                self._take_back(connection)
        finally:
            GATE.leave(entered)

    def close(self) -> None:
        """Close the idle connections; those lent out close when they come back."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        """Close the idle connections, if they are not wanted any more."""
        while self._is_closed and self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # it was lent, or closed, meanwhile
                return
            connection.close()

    def idle(self) -> list[StoreConnection]:
        """Return the connections that are not lent out."""
        return list(self._idle)

    def opened(self) -> StoreConnection:
        """Return a new connection, to be closed by the caller."""
        connection = _connected(
            self._path, vfs=self._vfs, busy_milliseconds=self._busy_milliseconds
        )
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _take_back(self, connection: StoreConnection) -> None:
        # An interrupt may come after a transaction began and before anyone would take it back.
        is_left_open = connection.in_transaction
        if is_left_open or self._is_closed or len(self._idle) >= _IDLE_READERS:
            connection.close(is_left_open)
            return
        # No lock: a signal handler that reads may come at any point in here.
        self._idle.append(connection)
        self._close_idle()  # where it was closed meanwhile
