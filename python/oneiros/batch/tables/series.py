"""A column of a frame, whichever library's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from oneiros.batch.columns import Piece

__all__ = ["SeriesColumn"]


class SeriesColumn:
    """A series whose parts become numbers by a function of their own.

    Args:
        rows: gives a part of the series by ``rows[start:stop]``.
        decode: makes a piece of such a part.
        real: the float dtype of its numbers, if any.
        is_plain_time: whether it holds times as mere numbers.
    """

    def __init__(
        self,
        rows: Any,
        decode: Callable[[Any], Piece],
        *,
        real: np.dtype[Any] | None = None,
        is_plain_time: bool = False,
    ) -> None:
        self._rows = rows
        self._decode = decode
        self.real = real
        self.is_plain_time = is_plain_time

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``."""
        return self._decode(self._rows[start:stop])
