"""Vectors without a model: words and character trigrams, hashed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["HashedGrams"]

_WORD_WEIGHT: Final = 2.0
"""What a word counts beside one of its trigrams."""


class HashedGrams:
    """Adds up a signed unit for each word and each trigram of a text, where its CRC-32 says.

    The same text has the same vector everywhere and always; texts are near where they share words,
    or parts of words. Stands in for a model, of whose sense for meaning it has nothing.

    Args:
        dimension: of the vectors, >= 1; the default is that of the demo's.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._known: dict[str, tuple[list[int], list[float]]] = {}

    @property
    def name(self) -> str:
        """What the store records."""
        return f"hashed-grams-{self._dimension}"

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector a text, shape (n, dimension), not of unit length."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                places, values = self._known.get(word) or self._hashed(word)
                np.add.at(vector, places, values)
        return vectors

    def _hashed(self, word: str) -> tuple[list[int], list[float]]:
        """Return where a word counts, and how much."""
        bare = word.strip(".,:;!?'\"")
        edged = f"^{bare}$"
        grams = [edged[first : first + 3] for first in range(len(edged) - 2)]
        hashes = [(crc32(bare.encode()), _WORD_WEIGHT)]
        hashes += [(crc32(b"\0" + gram.encode()), 1.0) for gram in grams]
        places = [number // 2 % self._dimension for number, _ in hashes]
        values = [weight if number % 2 else -weight for number, weight in hashes]
        self._known[word] = (places, values)
        return places, values
