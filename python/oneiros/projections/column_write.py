"""One column of many memories, written at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.dataclasses_on_use import NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["ColumnWrite", "LongNumbers"]


class LongNumbers(NamedTuple):
    """Numbers that the store holds and a float32 column does not: 1/3, where the column has 0.33333334."""

    places: npt.NDArray[np.int64]
    """Of the rows of a column write that have one, rising."""
    values: npt.NDArray[np.float64]


class ColumnWrite(NamedTuple):
    """One field of many memories."""

    field: str
    rows: npt.NDArray[np.uint32]
    """Each once."""
    values: npt.NDArray[Any]
    """In the column's dtype."""
    long: LongNumbers | None = None
    """What the store gets in place of some of the values; None: it gets the values."""
