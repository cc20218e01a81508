"""Sets of rows by value as arrays, for a snapshot; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyroaring import BitMap

from oneiros.numpy_on_use import np
from oneiros.scopes.row_sets import Rows, RowsByValue, set_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["sets_of_arrays", "values_and_rows"]


def values_and_rows(
    sets: RowsByValue,
) -> tuple[list[object], npt.NDArray[np.uint32], Rows]:
    """Return the values (None, True and False as lists of one), how many rows each has, and these."""
    values: list[object] = []
    sizes: list[int] = []
    pieces: list[bytes] = []
    for value, held in sets.items():
        values.append(list(value) if isinstance(value, tuple) else value)
        rows = BitMap((held,)) if isinstance(held, int) else held
        sizes.append(len(rows))
        pieces.append(rows.to_array().tobytes())
    return values, np.array(sizes, np.uint32), np.frombuffer(b"".join(pieces), np.uint32)


def sets_of_arrays(
    values: list[object], sizes: npt.NDArray[np.uint32], rows: Rows, row_end: int
) -> RowsByValue:
    """Return what :func:`values_and_rows` was given.

    Args:
        values: one a set.
        sizes: rows of each set.
        rows: those of all sets, one set's after the other's.
        row_end: all rows must be below.

    Raises:
        ValueError: they do not fit each other, or no such values can be.
    """
    ends = np.cumsum(sizes, dtype=np.uint64).tolist()
    if (
        len(values) != len(sizes)
        or (ends[-1] if ends else 0) != len(rows)
        or (sizes == 0).any()
        or (rows >= row_end).any()
    ):
        msg = "sets of rows do not fit their values"
        raise ValueError(msg)
    sets = RowsByValue()
    start = 0
    for value, end in zip(values, ends, strict=True):
        held = int(rows[start]) if end == start + 1 else set_of(rows[start:end])
        sets.put(_key_of(value), held)
        start = end
    return sets


def _key_of(value: object) -> object:
    if (
        isinstance(value, list)
        and len(value) == 1
        and (value[0] is None or isinstance(value[0], bool))
    ):
        return (value[0],)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    msg = "a value that nothing can have"
    raise ValueError(msg)
