"""Arrays of working space: in memory while they are small, else in files without a name."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["PART", "ScratchColumn", "parts", "scratch_array"]

PART = 1 << 18
"""How many elements are looked at together."""

_MOST_HELD = 64 << 20  # bytes of one array that stay in memory


def scratch_array(size: int, dtype: npt.DTypeLike) -> Array:
    """Return an array of undefined values; a large one is mapped, so that memory may let it go.

    Raises:
        OSError: the folder of temporary files (TMPDIR) has no room.
    """
    item = np.dtype(dtype)
    if size * item.itemsize <= _MOST_HELD:
        return np.empty(size, item)
    with tempfile.TemporaryFile(prefix="oneiros-") as file:
        file.truncate(size * item.itemsize)
        return np.memmap(file, item, "r+", shape=(size,))


def parts(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Yield the same places of arrays of one length, part by part."""
    for start in range(0, len(arrays[0]), PART):
        yield tuple(np.asarray(array[start : start + PART]) for array in arrays)


class ScratchColumn:
    """Values that come piece by piece, all of one dtype."""

    def __init__(self) -> None:
        """Begin without any."""
        self._held: list[Array] = []
        self._held_bytes = 0
        self._file: BinaryIO | None = None
        self._size = 0
        self._dtype: np.dtype[Any] = np.dtype(np.float64)

    def append(self, piece: Array) -> None:
        """Add a piece, shape (n,).

        Raises:
            OSError: the folder of temporary files has no room.
        """
        if not len(piece):
            return
        self._dtype = piece.dtype
        self._size += len(piece)
        self._held.append(piece)
        self._held_bytes += piece.nbytes
        if self._held_bytes > _MOST_HELD:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="oneiros-")  # noqa: SIM115 - array()
            self._write(self._file)

    def array(self) -> Array:
        """Return all of them. The last call."""
        if self._file is None:
            return np.concatenate(self._held) if self._held else np.empty(0, self._dtype)
        with self._file as file:
            self._write(file)
            file.flush()
            return np.memmap(file, self._dtype, "r+", shape=(self._size,))

    def _write(self, file: BinaryIO) -> None:
        file.writelines(np.ascontiguousarray(piece).data for piece in self._held)
        self._held.clear()
        self._held_bytes = 0
