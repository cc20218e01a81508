"""A column of a frame, whichever library's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from oneiros.batch.columns import require_numbers
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    import numpy as np

    from oneiros.batch.columns import Coders, Piece

__all__ = ["SeriesColumn", "has_words", "number_column"]


def has_words(name: str, coders: Coders) -> bool:
    """Whether texts in a field's column are read as what they say: codes, or times."""
    return name in coders or FIELDS[name].kind == "time"


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


def number_column(
    name: str,
    rows: Any,
    decode: Callable[[Any], Piece],
    *,
    kind: str,
    dtype: object,
    real: np.dtype[Any] | None,
) -> SeriesColumn:
    """Return a column of numbers; in a field of times they are seconds.

    Args:
        name: the field.
        rows: as for :class:`SeriesColumn`.
        decode: likewise.
        kind: of the numbers, as NumPy has it in ``dtype.kind``; "" for none.
        dtype: as the frame has it, for the error.
        real: their float dtype, if any.

    Raises:
        TypeError: no numbers.
    """
    require_numbers(name, kind, dtype)
    is_time = FIELDS[name].kind == "time"
    return SeriesColumn(rows, decode, real=None if is_time else real, is_plain_time=is_time)
