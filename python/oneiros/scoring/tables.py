"""Fields of declarations: ranges of numbers, and immutable, hashable tables by word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sized
from typing import Final, Self, TypeAlias, TypeVar

from oneiros.model.validation import LARGEST_WEIGHT, require_number, require_numbers, settle

__all__ = [
    "NOT_NEGATIVE",
    "POSITIVE",
    "POSITIVE_SHARE",
    "SHARE",
    "WEIGHT",
    "Range",
    "Rows",
    "Table",
    "require_rows",
    "require_table",
    "require_words",
    "settle_limits",
]

Range: TypeAlias = tuple[float, float, bool]
"""The smallest and the largest value, and whether the smallest is refused."""

WEIGHT: Final[Range] = (0.0, LARGEST_WEIGHT, False)
SHARE: Final[Range] = (0.0, 1.0, False)
POSITIVE_SHARE: Final[Range] = (0.0, 1.0, True)
POSITIVE: Final[Range] = (0.0, math.inf, True)
NOT_NEGATIVE: Final[Range] = (0.0, math.inf, False)

_LONGEST_TABLE = 1024
_LONGEST_WORD = 64

Value = TypeVar("Value")


class _Entries(Mapping[str, Value]):
    """An immutable mapping; equality ignores the order of entries."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Value]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, word: str) -> Value:
        return self._entries[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Value]]]:
        return (type(self), (self._entries,))


class Table(_Entries[float]):
    """Numbers by word."""

    __slots__ = ()


class Rows(_Entries[tuple[float, ...]]):
    """Rows of numbers by word."""

    __slots__ = ()


def settle_limits(declaration: object, *fields: str) -> None:
    """Check fields that are above 0, infinity for no limit, and store them as floats."""
    for field in fields:
        value = getattr(declaration, field)
        number = require_number(field, value, low=0.0, above_low=True, finite=False)
        settle(declaration, field, number)


def require_table(
    field: str,
    value: object,
    *,
    low: float,
    high: float,
    above_low: bool = False,
    finite: bool = True,
) -> Table:
    """Return ``value``, a mapping of words to numbers, as a table.

    Args:
        field: its name, for the error.
        value: at most 1,024 words of 1 to 64 bytes.
        low: the least number allowed.
        high: the greatest number allowed.
        above_low: ``low`` itself is not allowed.
        finite: infinity is not allowed.

    Raises:
        TypeError: not a mapping, a key that is not a str, a value that is not a number.
        ValueError: a word or a number out of bounds.
    """
    if not isinstance(value, Mapping):
        msg = f"{field}: expected a table of numbers by word, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    _require_length(field, value)
    return Table(
        {
            _require_word(field, word): require_number(
                f"{field}.{word}",
                number,
                low=low,
                high=high,
                above_low=above_low,
                finite=finite,
            )
            for word, number in value.items()
        }
    )


def require_rows(field: str, value: object, *, count: int, low: float, high: float) -> Rows:
    """Return ``value``, a mapping of words to ``count`` numbers each, as rows.

    Raises:
        TypeError: not a mapping, a key that is not a str, a row that is not a list of numbers.
        ValueError: more than 1,024 words, a word, a row's length or a number out of bounds.
    """
    if not isinstance(value, Mapping):
        msg = f"{field}: expected a table of rows by word, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    _require_length(field, value)
    return Rows(
        {
            _require_word(field, word): require_numbers(
                f"{field}.{word}", row, low=low, high=high, count=count
            )
            for word, row in value.items()
        }
    )


def require_words(field: str, value: object) -> tuple[str, ...]:
    """Return ``value``, a tuple or list of words, as a tuple.

    Raises:
        TypeError: not a tuple or list, or an item that is not a str.
        ValueError: more than 1,024 words, or one that is not 1 to 64 bytes.
    """
    if not isinstance(value, tuple | list):
        msg = f"{field}: expected a list of words, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    _require_length(field, value)
    return tuple(_require_word(field, word) for word in value)


def _require_length(field: str, value: Sized) -> None:
    if len(value) > _LONGEST_TABLE:
        msg = f"{field}: at most {_LONGEST_TABLE} words, got {len(value)}"
        raise ValueError(msg)


def _require_word(field: str, word: object) -> str:
    if not isinstance(word, str):
        msg = f"{field}: every word must be a str, got {type(word).__name__} {word!r}"
        raise TypeError(msg)
    if not 1 <= len(word.encode("utf-8", "surrogatepass")) <= _LONGEST_WORD or _has_surrogate(word):
        msg = f"{field}: a word must be 1 to {_LONGEST_WORD} bytes of UTF-8, got {word!r}"
        raise ValueError(msg)
    return word


def _has_surrogate(word: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in word)
