"""A column of a table as scoring reads it: a piece at a time, numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from oneiros.dataclasses_on_use import dataclass, field
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.batch.codes import Codes

    Array = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]
    Coders = Mapping[str, Codes]

__all__ = [
    "Column",
    "Piece",
    "Table",
    "all_missing",
    "is_missing",
    "native",
    "real_of",
    "require_numbers",
    "taken",
]


@dataclass(slots=True)
class Piece:
    """The values of one column over some rows."""

    values: Array
    """Shape (n,), contiguous, in the machine's byte order: floats, integers or bool. Of times,
    seconds; of words, codes."""
    missing: Mask | None = None
    """Where no value is given; None: nowhere. What ``values`` holds there means nothing."""
    broken: dict[int, str] = field(default_factory=dict)
    """Place in the piece -> what is wrong with what is given there, where it is no number."""


class Column(Protocol):
    """One field's values by row."""

    @property
    def real(self) -> np.dtype[Any] | None:
        """The float dtype that its numbers came in; None of integers, words and times."""

    @property
    def is_plain_time(self) -> bool:
        """Whether it holds times as mere numbers, which may be milliseconds by mistake."""

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``, without a copy where that can be."""


class Table(Protocol):
    """A table in whatever form it was given."""

    @property
    def size(self) -> int:
        """How many rows it has."""

    @property
    def are_records(self) -> bool:
        """Whether its rows are records, in which None says "not given" rather than "unknown"."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its columns, in order."""

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None where the table has none.

        Raises:
            TypeError: the column's type cannot hold the field.
            ValueError: times without a time zone; a column that stands there twice.
        """

    def result(self, columns: Mapping[str, Array]) -> Any:
        """Return a table of the same family with ``id``, where this one has it, and ``columns``."""


def require_numbers(name: str, kind: str, got: object) -> None:
    """Refuse a column that is no numbers of its field.

    Args:
        name: the field.
        kind: NumPy's letter for the column's type, empty where it has none.
        got: the type, for the message.

    Raises:
        TypeError: not one that the field takes.
    """
    held = FIELDS[name].kind
    takes = "" if name == "kind" else "fbiu" if held in ("bool", "enum") else "fiu"
    if not kind or kind not in takes:
        wanted = "words" if name == "kind" else "times" if held == "time" else "numbers"
        msg = f"{name}: expected a column of {wanted}, got {got}"
        raise TypeError(msg)


def is_missing(value: object) -> bool:
    """Whether a Python value says that there is none: None, NaN, pandas' NaT and NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NaTType", "NAType")


def native(values: Array) -> Array:
    """Return numbers as the core reads them: contiguous and aligned, no odd order or width."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    if not dtype.isnative:
        return values.astype(dtype.newbyteorder("="))
    return values if values.flags.aligned and values.flags.c_contiguous else values.copy()


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the float dtype that numbers of ``dtype`` are computed in, None of integers."""
    if dtype.kind != "f":
        return None
    return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)


def taken(entries: Piece, indices: Array) -> Piece:
    """Return what each of ``indices`` names among ``entries``: a dictionary-encoded column."""
    piece = Piece(entries.values[indices])
    if entries.missing is not None:
        missing = entries.missing[indices]
        piece.missing = missing if missing.any() else None
    if entries.broken:
        is_broken = np.zeros(len(entries.values), np.bool_)
        is_broken[list(entries.broken)] = True
        places = np.flatnonzero(is_broken[indices]).tolist()
        piece.broken = {place: entries.broken[int(indices[place])] for place in places}
    return piece


def all_missing(count: int) -> Piece:
    """Return a piece that gives nothing."""
    return Piece(np.zeros(count), np.ones(count, np.bool_))
