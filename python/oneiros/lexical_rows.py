"""The rows behind the ids of a lexical index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from oneiros.lexical_arguments import Id

__all__ = ["IdRows"]


class IdRows:
    """An id keeps its row until it is forgotten; no row is used twice.

    One thread at a time may change it; reading is for any.
    """

    def __init__(self) -> None:
        self._rows: dict[Id, int] = {}
        self._ids = np.empty(16, dtype=np.object_)  # by row; replaced when full, never reused
        self._is_text_id = np.zeros(16, dtype=np.bool_)  # by row
        self._row_count = 0
        self._text_id_count = 0  # among the ids that are there

    def row_of(self, id: Id) -> int | None:
        """Return the id's row, if it has one."""
        return self._rows.get(id)

    def known(self, ids: Iterable[Id]) -> npt.NDArray[np.uint32]:
        """Return the rows of those ids that have one."""
        rows = [self._rows.get(id) for id in ids]
        return np.array([row for row in rows if row is not None], dtype=np.uint32)

    def assigned(self, ids: list[Id]) -> list[int]:
        """Return the ids' rows, new ones for new ids."""
        self._make_room(len(ids))
        rows = []
        for id in ids:
            row = self._rows.get(id)
            if row is None:
                row = self._row_count
                self._ids[row] = id  # before the core knows the row: searches look it up
                self._is_text_id[row] = isinstance(id, str)
                self._row_count += 1
                self._text_id_count += isinstance(id, str)
                self._rows[id] = row
            rows.append(row)
        return rows

    def forget(self, id: Id) -> None:
        """Take an id's row from it."""
        del self._rows[id]
        self._text_id_count -= isinstance(id, str)

    def ids_of(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """Return the ids of rows: int64 while every id is an int, else objects."""
        ids = self._ids[rows]
        # A str among the rows may have been the last, and forgotten since.
        has_text_ids = self._text_id_count > 0 or self._is_text_id[rows].any()
        return ids if has_text_ids else ids.astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, without the ids' own objects."""
        return self._ids.nbytes + self._rows.__sizeof__()

    def _make_room(self, count: int) -> None:
        needed = self._row_count + count
        if needed > len(self._ids):
            size = max(needed, 2 * len(self._ids))
            self._ids = _enlarged(self._ids, size)
            self._is_text_id = _enlarged(self._is_text_id, size)


def _enlarged(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
