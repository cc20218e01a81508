"""Matching of a query's words with the texts of candidates.

Source: docs/systems/omega.md O3, O18; docs/systems/mnemosyne.md M8.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from oneiros.index.texts import canonical, normalised, stem_of, words_of
from oneiros.scoring import factors as published

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.index.texts import MemoryTexts
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.understanding import QueryWords

__all__ = ["TextMatcher"]


class TextMatcher:
    """The words of one query, and the texts to match them with. REQUIRES: the texts were read."""

    def __init__(self, texts: MemoryTexts, query: str, rule: QueryWords | None = None) -> None:
        self.texts = texts
        self.column = texts.column
        self._query = query
        self._counts_each = rule is not None and rule.counts_each
        self._words = words_of(query, rule)

    @cached_property
    def words(self) -> list[str]:
        """The words that count, normalised."""
        return list(map(normalised, self._words))

    def overlap_words(self, factors: Sequence[Factor]) -> tuple[list[str], list[str], int]:
        """Return the words in canonical form, their stems ("" if equal) and their count.

        Unless the profile counts repetitions, each word counts once and empty ones do not. The
        endings are those of the factor "overlap". Source: docs/systems/omega.md O18.
        """
        forms = map(canonical, self._words)
        words = list(forms if self._counts_each else dict.fromkeys(filter(None, forms)))
        overlaps = (factor for factor in factors if isinstance(factor, published.Overlap))
        suffixes = next(overlaps, published.Overlap()).suffixes
        stems = ["" if (stem := stem_of(word, suffixes)) == word else stem for word in words]
        return words, stems, len(words)

    def start(self, characters: int) -> str:
        """Return the canonical form of the query's first characters. O1."""
        return canonical(self._query[:characters])
