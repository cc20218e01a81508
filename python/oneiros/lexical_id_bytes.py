"""The ids of a lexical index as bytes, which may be anything when they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.errors import SnapshotDamaged

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["IdReader"]


class IdReader:
    """Takes arrays from the front of bytes that may be anything."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes are not taken yet."""
        return len(self._packed) - self._at

    def require(self, holds: bool) -> None:
        """Raise SnapshotDamaged unless this holds."""
        if not holds:
            msg = "the ids of its texts make no sense"
            raise SnapshotDamaged(msg)

    def take(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        """Return the next values, shape (count,).

        Raises:
            SnapshotDamaged: there are no more so many.
        """
        size = count * np.dtype(kind).itemsize
        self.require(0 <= size <= self.left)
        taken = np.frombuffer(self._packed, kind, count, self._at)
        self._at += size
        return taken

    def text(self, size: int) -> str:
        """Return the text of the next bytes.

        Raises:
            SnapshotDamaged: there are no more so many, or they are not UTF-8.
        """
        try:
            return bytes(self.take(np.uint8, size)).decode()
        except UnicodeDecodeError as error:
            msg = "an id of its texts is not UTF-8"
            raise SnapshotDamaged(msg) from error
