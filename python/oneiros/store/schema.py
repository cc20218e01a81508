"""The store's tables, and how a file written by an older version comes forward."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

import apsw

from oneiros.errors import StoreCorrupt, StoreVersionError
from oneiros.hashing import blake2b
from oneiros.store.migrations import MIGRATIONS

__all__ = ["APPLICATION_ID", "MIGRATIONS", "digest_of", "is_current", "migrate", "verify"]

APPLICATION_ID: Final = 0x4F4E4552  # "ONER"; says whose the file is

# Making this version's tables to compare with takes longer than a search. A file with another digest
# is compared with them all the same.
_DIGEST_OF_TABLES: Final = "83c0b5ec75b7eeeb90e4f9da598f887a"


def is_current(connection: apsw.Connection) -> bool:
    """Return whether the file has this version's tables; False also for an empty one.

    Raises:
        StoreCorrupt: another program's database.
        StoreVersionError: written by a newer version.
    """
    application_id = _number(connection, "application_id")
    version = _number(connection, "user_version")
    if application_id != APPLICATION_ID and not _is_blank(connection, application_id, version):
        msg = f"not a store of Oneiros: its application id is {application_id:#x}"
        raise StoreCorrupt(msg)
    if version < 0:
        msg = f"not a store of Oneiros: its schema version is {version}"
        raise StoreCorrupt(msg)
    if version > len(MIGRATIONS):
        msg = (
            f"the store has schema version {version}, this Oneiros knows up to "
            f"{len(MIGRATIONS)}; open it with a newer Oneiros"
        )
        raise StoreVersionError(msg)
    return version == len(MIGRATIONS)


def migrate(connection: apsw.Connection) -> None:
    """Bring the file to this version. REQUIRES: a write transaction is open.

    The caller's commit makes all steps durable at once; a crash before it leaves the old file.

    Raises:
        StoreCorrupt: the file is damaged, or its tables are not those of its version; steps would
            carry over what they can read and drop the rest.
    """
    version = _number(connection, "user_version")
    verify(connection, version)
    _require_whole(connection)
    for step in MIGRATIONS[version:]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def verify(connection: apsw.Connection, version: int | None = None) -> None:
    """Hold the file's tables to a version's, word for word; None: to this version's.

    A file from outside may carry triggers, views or expressions that run when it is read: what
    this version would not have made is refused before any of it is used.

    Raises:
        StoreCorrupt: naming the first difference.
    """
    found = _entries(connection)
    if version is None and digest_of(found) == _DIGEST_OF_TABLES:
        return
    wanted = _wanted(len(MIGRATIONS) if version is None else version)
    if found != wanted:
        name = min(entry[1] for entry in found ^ wanted)
        msg = f"the store's table or index {name!r} is not as Oneiros makes it"
        raise StoreCorrupt(msg)


def digest_of(entries: Iterable[tuple[str, ...]]) -> str:
    """Return a digest of tables and indexes, as :func:`verify` compares them."""
    text = "\0".join("\0".join(entry) for entry in sorted(entries))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _require_whole(connection: apsw.Connection) -> None:
    """Read the whole file, its indexes against their tables."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        msg = f"the store is of an older version and damaged, so it stays as it is: {found[0]}"
        raise StoreCorrupt(msg)


@cache
def _wanted(version: int) -> frozenset[tuple[str, ...]]:
    connection = apsw.Connection(":memory:")
    try:
        for step in MIGRATIONS[:version]:
            step(connection)
        return _entries(connection)
    finally:
        connection.close()


def _entries(connection: apsw.Connection) -> frozenset[tuple[str, ...]]:
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
    )
    try:
        return frozenset(tuple(str(value) for value in row) for row in rows)
    except UnicodeDecodeError as error:
        msg = f"the store's tables are damaged: the text of one is not UTF-8 ({error})"
        raise StoreCorrupt(msg) from error


def _is_blank(connection: apsw.Connection, application_id: int, version: int) -> bool:
    """A file that nobody has written to yet, or whose first writer died before its first commit."""
    return application_id == 0 and version == 0 and not _entries(connection)


def _number(connection: apsw.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").get)
