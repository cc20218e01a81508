"""Zeroing the unused bytes of pages, which may hold copies of rows that were moved.

``secure_delete`` overwrites deleted rows. But when SQLite moves rows between pages, to split or join
pages, their bytes stay in the unused gap of the former page, between the cell pointers and the cells,
and outlast the rows. Zeros there change nothing that SQLite reads, so they can be written at any time
at which no page is written, and a crash in between does no harm.

Source: SQLite database file format, section 1.6, "B-tree pages".
"""

from __future__ import annotations

import os
from struct import Struct
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_log_empty", "zero_unused"]

_PAGES_AT_A_TIME: Final = 1024
# Type of page -> length of its header. All other pages begin with a page number, whose first byte is
# smaller than these in files of fewer pages than _MOST_PAGES.
_HEADERS: Final = {2: 12, 5: 12, 10: 8, 13: 8}
_MOST_PAGES: Final = 2 << 24
_COUNT_AND_CONTENT: Final = Struct(">HH")  # number of cells, first byte of the cells
_FILE_HEADER: Final = 100  # before the first page's header


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
            for start, end in _used_gaps(block, page_size, is_first=offset == 0):
                file.xWrite(bytes(end - start), offset + start)
                changed += 1
        if changed:
            file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    connection.execute("PRAGMA shrink_memory")
    return changed


def _used_gaps(block: bytes, page_size: int, *, is_first: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of each gap of a page that is not all zero."""
    zeros = bytes(page_size)
    header_of, unpack = _HEADERS.get, _COUNT_AND_CONTENT.unpack_from
    for page in range(0, len(block), page_size):
        place = page + _FILE_HEADER if is_first and page == 0 else page
        header = header_of(block[place])
        if header is None:
            continue
        cells, content = unpack(block, place + 3)
        start, end = place + header + 2 * cells, page + content
        if start < end <= page + page_size and block[start:end] != zeros[: end - start]:
            yield start, end
