"""The columns of a table as scoring reads them: numbers, in pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.validation import wrong
from oneiros.runtime.dataclasses import dataclass, field

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.model.validation import Check

__all__ = [
    "DEFAULT_KIND",
    "Column",
    "ColumnTable",
    "FieldCodes",
    "Piece",
    "all_coders",
    "all_missing",
    "is_missing",
    "naive_error",
    "native",
    "number_column",
    "real_of",
    "require_numbers",
    "seconds_of_datetimes",
    "seconds_of_ticks",
    "taken",
]


_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}
_COARSE: Final = ("Y", "M", "W", "D", "h", "m", "s")
"""Units of ``datetime64`` that are whole seconds."""
_NAT: Final = np.iinfo(np.int64).min


def seconds_of_ticks(ticks: npt.NDArray[np.int64], unit: str) -> npt.NDArray[np.float64]:
    """Return seconds, bit-identical to ``datetime.timestamp`` from 1685 to 2255.

    Args:
        ticks: since 1970 in UTC, shape (n,).
        unit: of the ticks, "s", "ms", "us" or "ns".
    """
    if unit == "ns":  # too large for a float: convert whole microseconds, which are exact, first
        micros, rest = np.divmod(ticks, 1000)
        return np.asarray(micros / 1e6 + rest / 1e9)
    return np.asarray(ticks / _PER_SECOND[unit])


def seconds_of_datetimes(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return ``datetime64`` values, taken as UTC, in seconds; NaT becomes NaN."""
    unit, step = np.datetime_data(values.dtype)
    if unit not in (*_PER_SECOND, "ns") or step != 1:
        unit = "s" if unit in _COARSE else "us"  # "us" would wrap after the year 294246
        values = values.astype(f"datetime64[{unit}]")
    ticks = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")).view(np.int64)
    seconds = seconds_of_ticks(ticks, unit)
    seconds[ticks == _NAT] = np.nan
    return seconds


def naive_error(name: str, type_name: object, advice: str) -> str:
    """Return the message for a column of times without a time zone."""
    return f"{name}: must be aware (it has no time zone), got {type_name}; {advice}"


if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]
    Coders = Mapping[str, "FieldCodes"]


@dataclass(slots=True)
class Piece:
    """The values of one column over some rows."""

    values: Array
    """Shape (n,), contiguous, native byte order: floats, integers or bool. Times are seconds, words
    are codes."""
    missing: Mask | None = None
    """True where no value is given (``values`` is meaningless there); None: nowhere."""
    broken: dict[int, str] = field(default_factory=dict)
    """Position in the piece -> error message for a value that is not a number."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one field by row."""

    read: Callable[[int, int], Piece]
    """Returns the rows from one row up to another, without a copy if possible."""
    real: np.dtype[Any] | None = None
    """The float dtype of its numbers; None for integers, words and times."""
    is_plain_time: bool = False
    """Whether it contains times as plain numbers, which may be milliseconds by mistake."""


def number_column(
    name: str,
    read: Callable[[int, int], Piece],
    *,
    kind: str,
    dtype: object,
    real: np.dtype[Any] | None,
) -> Column:
    """Return a column of numbers; in a time field they are seconds.

    Args:
        name: the field.
        read: as in :class:`Column`.
        kind: NumPy's ``dtype.kind`` of the numbers; "" if they are not numbers.
        dtype: the table's dtype, for the error message.
        real: their float dtype, if any.

    Raises:
        TypeError: not numbers.
    """
    require_numbers(name, kind, dtype)
    is_time = FIELDS[name].kind == "time"
    return Column(read, None if is_time else real, is_plain_time=is_time)


class ColumnTable(Protocol):
    """A table in any supported form."""

    @property
    def size(self) -> int:
        """The number of rows."""

    @property
    def are_records(self) -> bool:
        """Whether rows are records, in which None means "not given" rather than "unknown"."""

    @property
    def names(self) -> Sequence[str]:
        """The column names, in order."""

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if the table has none.

        Raises:
            TypeError: the column's type does not fit the field.
            ValueError: times without a time zone; a duplicate column.
        """

    def result(self, columns: Mapping[str, Array]) -> Any:
        """Return a table of the same family with ``id``, if this one has it, and ``columns``."""


def require_numbers(name: str, kind: str, got: object) -> None:
    """Refuse a column whose type is not numeric in a way that its field takes.

    Args:
        name: the field.
        kind: NumPy's letter for the column's type, empty if it has none.
        got: the type, for the message.

    Raises:
        TypeError: a type that the field does not take.
    """
    field_kind = FIELDS[name].kind
    takes = "" if name == "kind" else "fbiu" if field_kind in ("bool", "enum") else "fiu"
    if not kind or kind not in takes:
        wanted = "words" if name == "kind" else "times" if field_kind == "time" else "numbers"
        msg = f"{name}: expected a column of {wanted}, got {got}"
        raise TypeError(msg)


def is_missing(value: object) -> bool:
    """Return whether a Python value is a missing one: None, NaN, pandas' NaT or NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NaTType", "NAType")


def native(values: Array) -> Array:
    """Return numbers as the core reads them: contiguous, aligned, native byte order and width."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    if not dtype.isnative:
        return values.astype(dtype.newbyteorder("="))
    return values if values.flags.aligned and values.flags.c_contiguous else values.copy()


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the float dtype that numbers of ``dtype`` are computed in; None for integers."""
    if dtype.kind != "f":
        return None
    return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)


def taken(entries: Piece, indices: Array, missing: Mask | None = None) -> Piece:
    """Return the values of a dictionary-encoded column.

    Args:
        entries: the dictionary.
        indices: position in ``entries`` of each row, shape (n,).
        missing: rows without a value, whatever their index; None: none.
    """
    piece = Piece(entries.values[indices])
    if entries.missing is not None:
        is_missing = entries.missing[indices]
        piece.missing = is_missing if is_missing.any() else None
    if entries.broken:
        is_broken = np.zeros(len(entries.values), np.bool_)
        is_broken[list(entries.broken)] = True
        places = np.flatnonzero(is_broken[indices]).tolist()
        piece.broken = {place: entries.broken[int(indices[place])] for place in places}
    if missing is not None and missing.any():
        piece.missing = missing if piece.missing is None else piece.missing | missing
        piece.broken = {place: why for place, why in piece.broken.items() if not missing[place]}
    return piece


def all_missing(count: int) -> Piece:
    """Return a piece without any value."""
    return Piece(np.zeros(count), np.ones(count, np.bool_))


_MOST_KINDS: Final = 2**16 - 1
DEFAULT_KIND: Final = "note"  # docs/systems/fields.md; its code is 0 here


class FieldCodes:
    """Codes for the words of one field: their positions.

    If the words are fixed, a column may contain codes instead of words.

    Args:
        field: its name.
        words: those with a code.
        limit: maximum number of words; 0: only ``words``.
    """

    def __init__(self, field: str, words: Sequence[str], *, limit: int = 0) -> None:
        self._field = field
        self._code_of: dict[object, int] = {word: code for code, word in enumerate(words)}
        self._limit = limit
        self._words: tuple[str, ...] = tuple(words)
        self._check: Check = FIELDS[field].check

    @property
    def words(self) -> tuple[str, ...]:
        """The words by code."""
        if len(self._words) != len(self._code_of):
            self._words = tuple(map(str, self._code_of))
        return self._words

    def of(self, words: Sequence[object]) -> Piece:
        """Return the code of each word; None and NaN are missing, other non-words are broken.

        Raises:
            ValueError: more than ``limit`` distinct words.
        """
        code_of = self._code_of
        try:
            return Piece(np.fromiter((code_of[word] for word in words), np.uint32, len(words)))
        except (KeyError, TypeError):
            return self._of_any(words)

    def _of_any(self, words: Sequence[object]) -> Piece:
        codes = np.zeros(len(words), np.uint32)
        missing = np.zeros(len(words), np.bool_)
        broken: dict[int, str] = {}
        for place, word in enumerate(words):
            if is_missing(word):
                missing[place] = True
                continue
            try:
                codes[place] = self._code(word)
            except (TypeError, ValueError) as error:
                broken[place] = str(error)
        self._require_room()
        return Piece(codes, missing if missing.any() else None, broken)

    def _code(self, word: object) -> int:
        if isinstance(word, int) and not self._limit and 0 <= word < len(self._code_of):
            return word
        if not isinstance(word, str):
            raise TypeError(wrong(self._field, "a word", word))
        code = self._code_of.get(word)
        if code is None:
            code = self._code_of[self._check(word)] = len(self._code_of)
        return code

    def _require_room(self) -> None:
        if self._limit and len(self._code_of) > self._limit:
            msg = f"{self._field}: at most {self._limit} distinct ones in a table, got more"
            raise ValueError(msg)


def all_coders() -> dict[str, FieldCodes]:
    """Return the codes of every field of words; those of ``kind`` grow with the words read."""
    return {**_fixed_coders(), "kind": FieldCodes("kind", (DEFAULT_KIND,), limit=_MOST_KINDS)}


@cache
def _fixed_coders() -> dict[str, FieldCodes]:
    return {name: FieldCodes(name, words) for name, words in ENUMS.items()}
