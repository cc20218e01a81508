"""A column of a table as scoring reads it: a piece at a time, numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "real_of",
    "require_numbers",
    "seconds_of_datetimes",
    "seconds_of_ticks",
    "taken",
]


_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}
_NAT: Final = np.iinfo(np.int64).min


def seconds_of_ticks(ticks: npt.NDArray[np.int64], unit: str) -> npt.NDArray[np.float64]:
    """Return seconds; from 1685 to 2255 to the last bit those of ``datetime.timestamp``.

    Args:
        ticks: since 1970 in UTC, shape (n,).
        unit: of the ticks, "s", "ms", "us" or "ns".
    """
    if unit == "ns":  # too many for a float: whole microseconds first, which are exact
        micros, rest = np.divmod(ticks, 1000)
        return np.asarray(micros / 1e6 + rest / 1e9)
    return np.asarray(ticks / _PER_SECOND[unit])


def seconds_of_datetimes(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return seconds of ``datetime64`` values, taken as UTC; NaT becomes NaN."""
    unit = np.datetime_data(values.dtype)[0]
    if unit not in (*_PER_SECOND, "ns") or np.datetime_data(values.dtype)[1] != 1:
        values, unit = values.astype("datetime64[us]"), "us"
    ticks = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")).view(np.int64)
    seconds = seconds_of_ticks(ticks, unit)
    seconds[ticks == _NAT] = np.nan
    return seconds


def naive_error(name: str, type_name: object, advice: str) -> str:
    """Return the message for a column of times that have no time zone."""
    return f"{name}: must be aware (it has no time zone), got {type_name}; {advice}"


if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]
    Coders = Mapping[str, "FieldCodes"]


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


class ColumnTable(Protocol):
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


_MOST_KINDS: Final = 2**16 - 1
DEFAULT_KIND: Final = "note"  # docs/systems/fields.md; here its code is 0


class FieldCodes:
    """Numbers for the words of one field, by their place.

    Where the words are fixed, such a number may stand for a word.

    Args:
        field: its name.
        words: those that have a number.
        limit: how many there may be; 0: no others than ``words``.
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
        """Return the code of each word; None and NaN are missing, what is no word is broken.

        Raises:
            ValueError: more distinct words than there may be.
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
    """Return the codes of every field that holds words; those of ``kind`` grow as words come."""
    return {**_fixed_coders(), "kind": FieldCodes("kind", (DEFAULT_KIND,), limit=_MOST_KINDS)}


@cache
def _fixed_coders() -> dict[str, FieldCodes]:
    return {name: FieldCodes(name, words) for name, words in ENUMS.items()}
