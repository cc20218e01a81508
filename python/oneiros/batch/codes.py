"""Words as numbers: kinds, and the few words of enumerations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from oneiros.batch.columns import Piece, is_missing
from oneiros.field_checks import wrong
from oneiros.fields import ENUMS, FIELDS

if TYPE_CHECKING:
    from oneiros.field_checks import Check

__all__ = ["DEFAULT_KIND", "Codes", "all_coders"]

_MOST_KINDS: Final = 2**16 - 1
DEFAULT_KIND: Final = "note"  # docs/systems/fields.md; here its code is 0


class Codes:
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


def all_coders() -> dict[str, Codes]:
    """Return the codes of every field that holds words; those of ``kind`` grow as words come."""
    return {**_fixed_coders(), "kind": Codes("kind", (DEFAULT_KIND,), limit=_MOST_KINDS)}


@cache
def _fixed_coders() -> dict[str, Codes]:
    return {name: Codes(name, words) for name, words in ENUMS.items()}
