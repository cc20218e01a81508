"""The store's files as bytes: copies, and searches for traces of erased memories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from oneiros.errors import StoreFull
from oneiros.model.validation import wrong
from oneiros.runtime.files import draft_of, new_file
from oneiros.store.connections import MEMORY

__all__ = ["contains", "copy_into", "copy_to"]

_PAGES_AT_A_TIME: Final = 1024
_BEGINNING: Final = 128  # at least this much of a text follows its id without a break
# A text longer than a page continues on another page, after that page's 4-byte link. This many matching
# bytes there count as a piece of the text.
_PIECE: Final = 16
_LINK: Final = 4


def copy_to(source: apsw.Connection, target: str | os.PathLike[str], *, own: str) -> None:
    """Copy the database to a file, whole or not at all, readable by its owner only.

    REQUIRES: a read transaction is open on ``source``, so that writers do not restart the copy.

    Args:
        source: to read from.
        target: the file.
        own: the database's own path, or ":memory:".

    Raises:
        ValueError: ``target`` is ``own``, a symbolic link (copies do not follow them), a folder or a device, or
            has the log of another database next to it, which SQLite would replay into the copy.
        StoreFull: the disk of the copy is full.
        OSError: the copy cannot be written.
    """
    path = Path(target)
    if own != MEMORY and path.exists() and path.samefile(own):
        raise ValueError(wrong("path", "another file than the store's own", str(path)))
    if path.is_symlink():
        msg = f"path: must not be a symbolic link, got {str(path)!r}"
        raise ValueError(msg)
    if path.exists() and not path.is_file():
        msg = f"path: must be a file or a new one, got {str(path)!r}"
        raise ValueError(msg)
    for log in (f"{path}-wal", f"{path}-journal"):
        if os.path.lexists(log):
            msg = f"path: must not be a database in use, but {log!r} exists"
            raise ValueError(msg)
    draft = draft_of(path)
    with new_file(path, draft=draft) as file:
        os.fchmod(file.fileno(), 0o600)  # undoes the umask
        try:
            _copy_pages(source, draft)
        except apsw.FullError as error:  # of the copy: the source is only read
            msg = f"{path}: the disk is full"
            raise StoreFull(msg) from error
        finally:  # SQLite leaves its journal if it can neither finish nor roll back
            for rest in ("-journal", "-wal", "-shm"):
                Path(f"{draft}{rest}").unlink(missing_ok=True)


def _copy_pages(source: apsw.Connection, path: Path) -> None:
    target = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        copy_into(target, source)
    finally:
        target.close()


def copy_into(target: apsw.Connection, source: apsw.Connection) -> None:
    """Replace a database by a copy of another. REQUIRES: as :func:`copy_to`."""
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_AT_A_TIME)  # Ctrl-C is handled between steps


def contains(connection: apsw.Connection, needle: bytes) -> bool:
    """Return whether the bytes occur anywhere in the database file or its log.

    Free pages and gaps between records are searched too. SQLite splits a long text between pages, so
    its beginning and its pieces are searched for.
    """
    page_size = int(connection.execute("PRAGMA page_size").get)
    main = _File(connection, 0, connection.filename, header=0, before_page=0, page=page_size)
    log = _File(connection, 1, connection.filename_wal, header=32, before_page=24, page=page_size)
    return any(file.contains(needle) for file in (main, log))


class _File:
    """A file of pages, each perhaps after a frame header, read through SQLite.

    Opening and closing the file directly would drop this process's locks on it.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        which: int,
        path: str,
        *,
        header: int,
        before_page: int,
        page: int,
    ) -> None:
        self._connection = connection
        self._which = which
        self._size = Path(path).stat().st_size if Path(path).exists() else 0
        self._header = header
        self._before_page = before_page
        self._page = page

    def contains(self, needle: bytes) -> bool:
        beginning = needle[:_BEGINNING]
        tail = b""
        for block in self._blocks():
            window = tail + block
            if beginning in window or self._holds_piece(block, needle):
                return True
            tail = window[-len(beginning) :]
        return False

    def _blocks(self) -> Iterator[bytes]:
        """Yield the file without its header, split between pages."""
        step = (self._before_page + self._page) * _PAGES_AT_A_TIME
        for offset in range(self._header, self._size, step):
            amount = min(step, self._size - offset)
            yield self._connection.read("main", self._which, offset, amount)[1]

    def _holds_piece(self, block: bytes, needle: bytes) -> bool:
        first = self._before_page + _LINK
        for start in range(first, len(block), self._before_page + self._page):
            place = needle.find(block[start : start + _PIECE])
            while place >= 0 and len(needle) - place >= _PIECE:
                rest = needle[place : place + self._page - _LINK]
                if block.startswith(rest, start):
                    return True
                place = needle.find(block[start : start + _PIECE], place + 1)
        return False
