"""A tiny embedder for tests: counts letters, so that like texts have like vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class LetterCounts:
    """Vectors of the counts of a few letters; remembers what it was asked."""

    def __init__(self, letters: str = "abcdefgh", name: str = "letter-counts") -> None:
        self.name = name
        self.asked: list[str] = []
        self._letters = letters

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        return np.array([[text.count(letter) for letter in self._letters] for text in texts], "f4")
