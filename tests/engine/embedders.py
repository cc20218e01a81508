"""A tiny embedder for tests: counts letters, so that like texts have like vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


class Meddling(LetterCounts):
    """Does something while it embeds, as others may do while a slow model runs.

    Args:
        name: as the store records it.
        at: what to do in which call, counted from 0.
        always: what to do in every call.
        letters: as :class:`LetterCounts` has them.
    """

    def __init__(
        self,
        name: str = "letter-counts",
        *,
        at: Mapping[int, Callable[[], object]] | None = None,
        always: Callable[[], object] | None = None,
        letters: str = "abcdefgh",
    ) -> None:
        super().__init__(letters, name)
        self.calls: list[list[str]] = []
        self._at = dict(at or {})
        self._always = always

    def do_next(self, what: Callable[[], object]) -> None:
        """Do this in the next call."""
        self._at[len(self.calls)] = what

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        number = len(self.calls)
        self.calls.append(list(texts))
        if number in self._at:
            self._at[number]()
        if self._always is not None:
            self._always()
        return super().__call__(texts)
