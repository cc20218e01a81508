"""Conversion of column values to the values of memories: words, Python numbers, None for no time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros._lazy import np
from oneiros.model.fields import ENUMS, FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["coded", "said", "shortest"]


def said(field: str, values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as values of the field in a memory.

    Args:
        field: the field's name.
        values: values of its column, shape (n,).
    """
    if field in ENUMS:
        words = ENUMS[field]
        return [words[code] for code in values.tolist()]
    if FIELDS[field].kind == "bool":
        return [bool(value) for value in values.tolist()]
    return coded(values)


def coded(values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as the store's table holds them: numbers, None for NaN.

    A float32 becomes the shortest number that rounds to it.
    """
    if values.dtype == np.float32:
        values = shortest(values)
    found: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(values)).tolist():
            found[place] = None
    return found


def shortest(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return for each value the shortest decimal number that rounds to it.

    For example 0.3, as given by the user, not the exact 0.30000001192092896.
    """
    distinct, which = np.unique(values, return_inverse=True)
    return np.array([float(str(value)) for value in distinct], np.float64)[which]
