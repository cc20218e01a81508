"""Zeroing the unused bytes of pages, which may hold copies of rows that were moved.

``secure_delete`` overwrites deleted rows. But when SQLite moves rows between pages, to split or join
pages, their bytes stay in the unused gap of the former page, between the cell pointers and the cells,
and outlast the rows. Zeros there change nothing that SQLite reads, so they can be written at any time
at which no page is written, and a crash in between does no harm. ``cpp/store/unused_bytes.h`` finds
them; damaged pages stay unchanged.

Source: SQLite database file format, section 1.6, "B-tree pages".
"""

from __future__ import annotations

import os
from typing import Final

import apsw

from oneiros import _core

__all__ = ["is_log_empty", "zero_unused"]

_PAGES_AT_A_TIME: Final = 64  # so few that the second reading of them is from the cache
# From here on, the first byte of a page number may be that of a page of a b-tree.
_MOST_PAGES: Final = 2 << 24


def is_log_empty(connection: apsw.Connection) -> bool:
    """Return whether the write-ahead log has no pages. REQUIRES: a write transaction is open."""
    path = connection.filename_wal
    return not os.path.exists(path) or os.stat(path).st_size == 0  # noqa: PTH110, PTH116 - pathlib is slow to load


def zero_unused(connection: apsw.Connection) -> int:
    """Write zeros over the unused gaps of pages, in the file; return the number of pages changed.

    Afterwards the connection reads pages again that it had in memory. Connections of others do so once
    this transaction commits a change. A file of 128 GiB or more (of 4 KiB pages) stays unchanged.

    REQUIRES: a write transaction is open that has changed nothing yet, and the log is empty, so that
    nothing else writes to the file.

    Raises:
        apsw.Error: the file cannot be read or written.
    """
    page_size = int(connection.execute("PRAGMA page_size").get)
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    # SQLite's own file system keeps this process's locks when the file is closed.
    file = apsw.VFSFile(connection.open_vfs, connection.filename, [flags, 0])
    changed = 0
    try:
        size = file.xFileSize()
        if size >= _MOST_PAGES * page_size:
            return 0
        step = page_size * _PAGES_AT_A_TIME
        for offset in range(0, size, step):
            block = file.xRead(min(step, size - offset), offset)
            for begin, end in _core.unused_bytes(
                pages=block, page_size=page_size, begins_file=offset == 0
            ):
                file.xWrite(bytes(end - begin), offset + begin)
                changed += 1
        if changed:
            file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    connection.execute("PRAGMA shrink_memory")
    return changed
