"""The rows behind the ids of a lexical index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.errors import SnapshotDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from oneiros.lexical_arguments import Id

__all__ = ["IdRows"]

_LEAST_ROOM = 1 << 25  # bytes that few ids may take, if their rows are far apart


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

    def packed(self) -> bytes:
        """Return all that :meth:`unpacked` takes to make it again."""
        ids = list(self._rows)
        is_text = np.fromiter((isinstance(id, str) for id in ids), np.uint8, len(ids))
        numbers = np.array([id for id in ids if isinstance(id, int)], np.int64)
        texts = [id.encode() for id in ids if isinstance(id, str)]
        head = np.array([self._row_count, len(ids), len(texts)], np.uint64)
        rows = np.fromiter(self._rows.values(), np.uint32, len(ids))
        sizes = np.fromiter(map(len, texts), np.uint64, len(texts))
        arrays = (head, rows, is_text, numbers, sizes)
        return b"".join((*(array.tobytes() for array in arrays), *texts))

    @classmethod
    def unpacked(cls, packed: bytes) -> IdRows:
        """Return what :meth:`packed` was called on.

        Raises:
            SnapshotDamaged: the bytes are not what it returns.
        """
        reader = _Reader(packed)
        row_count, id_count, text_count = reader.take(np.uint64, 3).tolist()
        rows = reader.take(np.uint32, id_count)
        is_text = reader.take(np.uint8, id_count)
        numbers = reader.take(np.int64, id_count - text_count)
        sizes = reader.take(np.uint64, text_count).tolist()
        texts = iter([reader.text(size) for size in sizes])
        values = iter(numbers.tolist())
        reader.require(reader.left == 0 and int(np.count_nonzero(is_text)) == text_count)
        reader.require(bool((rows < row_count).all()) and len(np.unique(rows)) == id_count)
        reader.require(row_count * 16 <= 2 * len(packed) + _LEAST_ROOM)
        ids: list[Id] = [next(texts) if flag else next(values) for flag in is_text.tolist()]
        made = cls()
        made._make_room(row_count)
        made._ids[rows] = np.fromiter(ids, np.object_, id_count)
        made._is_text_id[rows] = is_text
        made._row_count, made._text_id_count = row_count, text_count
        made._rows = dict(zip(ids, rows.tolist(), strict=True))
        reader.require(len(made._rows) == id_count)
        return made

    def __len__(self) -> int:
        """Return how many ids have a row."""
        return len(self._rows)

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


class _Reader:
    """Takes arrays from the front of bytes that may be anything."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._packed) - self._at

    def require(self, holds: bool) -> None:
        if not holds:
            msg = "the ids of its texts make no sense"
            raise SnapshotDamaged(msg)

    def take(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        size = count * np.dtype(kind).itemsize
        self.require(0 <= size <= self.left)
        taken = np.frombuffer(self._packed, kind, count, self._at)
        self._at += size
        return taken

    def text(self, size: int) -> str:
        try:
            return bytes(self.take(np.uint8, size)).decode()
        except UnicodeDecodeError as error:
            msg = "an id of its texts is not UTF-8"
            raise SnapshotDamaged(msg) from error


def _enlarged(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
