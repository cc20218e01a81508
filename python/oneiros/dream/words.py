"""Columns as memories hold them: words of enumerations, None for no time, Python's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros._lazy import np
from oneiros.model.fields import ENUMS, FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["coded", "said", "shortest"]


def said(field: str, values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as a memory holds the field's.

    Args:
        field: which.
        values: of the column, shape (n,).
    """
    if field in ENUMS:
        words = ENUMS[field]
        return [words[code] for code in values.tolist()]
    if FIELDS[field].kind == "bool":
        return [bool(value) for value in values.tolist()]
    return coded(values)


def coded(values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as the store's table holds them: numbers, None for NaN.

    A float32 becomes its shortest number.
    """
    if values.dtype == np.float32:
        values = shortest(values)
    found: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(values)).tolist():
            found[place] = None
    return found


def shortest(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return of each value the shortest number that reads back as it.

    So 0.3, which somebody gave, and not 0.30000001192092896, which is what it is.
    """
    distinct, which = np.unique(values, return_inverse=True)
    return np.array([float(str(value)) for value in distinct], np.float64)[which]
