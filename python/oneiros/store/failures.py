"""Translates SQLite's errors into the package's."""

from __future__ import annotations

import os
from typing import Final

import apsw

from oneiros.errors import (
    EngineClosed,
    OneirosError,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreIOError,
)

__all__ = ["is_failed_write", "translated"]

_MEANING: tuple[tuple[tuple[type[apsw.Error], ...], type[OneirosError], str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        StoreBusy,
        "another process holds the store's lock",
    ),
    (
        (apsw.CorruptError, apsw.NotADBError),
        StoreCorrupt,
        "the store's file is damaged, or is no store",
    ),
    ((apsw.FullError,), StoreFull, "the disk is full"),
    ((apsw.ConnectionClosedError,), EngineClosed, "the store was closed meanwhile"),
)


_CORRUPT_INDEX: Final = apsw.mapping_extended_result_codes["SQLITE_CORRUPT_INDEX"]


def translated(error: apsw.Error, path: str) -> Exception:
    """Return the exception to raise for an error of SQLite.

    Out of memory becomes ``MemoryError``; errors without their own class become ``StoreIOError``.
    """
    if isinstance(error, apsw.NoMemError):
        return MemoryError(f"{path}: {error}")
    if _is_of_an_index(error):
        words = "an index of the store is damaged; check() rebuilds it (oneiros doctor)"
        return StoreCorrupt(f"{path}: {words} ({error})")
    if isinstance(error, apsw.ReadOnlyError) or _is_of_a_folder(error, path):
        words = (
            "the file, its log or their folder cannot be written, or a read-only engine of this "
            "process opened the log first; Engine(..., read_only=True) reads it"
        )
        return StoreIOError(f"{path}: {type(error).__name__}: {error}; {words}")
    for kinds, meaning, words in _MEANING:
        if isinstance(error, kinds):
            return meaning(f"{path}: {words} ({error})")
    return StoreIOError(f"{path}: {type(error).__name__}: {error}")


def _is_of_a_folder(error: apsw.Error, path: str) -> bool:
    """Whether a file that can be read was not opened since no log can be made next to it."""
    return (
        isinstance(error, apsw.CantOpenError)
        and os.access(path, os.R_OK)
        and not os.access(os.path.dirname(path) or ".", os.W_OK)  # noqa: PTH120 - pathlib loads much
    )


def _is_of_an_index(error: BaseException) -> bool:
    return getattr(error, "extendedresult", 0) == _CORRUPT_INDEX


def is_failed_write(error: BaseException) -> bool:
    """Return whether the disk's state is unknown after the error, so that writing must stop.

    A damaged index is no such error: nothing was written, and it can be rebuilt.
    """
    if _is_of_an_index(error):
        return False
    return isinstance(error, (apsw.IOError, apsw.CorruptError, apsw.NotADBError))
