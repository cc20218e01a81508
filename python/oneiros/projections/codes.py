"""Numbers for the words of a field, as a column holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Codes"]


class Codes:
    """Numbers for words, in order of appearance; 0 is "none".

    Args:
        field: named where there are too many.
        limit: words there may be.
    """

    def __init__(self, field: str, limit: int) -> None:
        self._code_of: dict[str | None, int] = {None: 0}
        self._field = field
        self._limit = limit
        self._stored: Callable[[], Sequence[str]] | None = None
        self._stored_words: Sequence[str] = ("",)

    def take_over(self, words: Callable[[], Sequence[str]]) -> None:
        """Hold the words that the codes of a snapshot stand for, read when first needed.

        REQUIRES: no word was given a code. One thread at a time asks for codes or words then.
        """
        self._stored = words

    def read(self) -> None:
        """Read the words of the snapshot, unless that was done."""
        if self._stored is not None:
            self._stored_words = ("", *self._stored())
            self._code_of.update(
                (word, code) for code, word in enumerate(self._stored_words) if code
            )
            self._stored = None

    def stored_word(self, code: int) -> str | None:
        """Return the word that a code of the snapshot stands for."""
        self.read()
        return self._stored_words[code] if code else None

    def __call__(self, word: str | None) -> int:
        self.read()
        code = self._code_of.get(word)
        if code is None:
            self.require([word])
            code = self._code_of[word] = len(self._code_of)
        return code

    def of(self, words: Sequence[str | None]) -> list[int]:
        """Return the codes of many words."""
        self.read()
        known = list(map(self._code_of.get, words))
        if None in known:
            return [self(word) for word in words]
        return known  # type: ignore[return-value]

    def require(self, words: Iterable[object]) -> None:
        """Raise ValueError if the words, None left out, would be too many."""
        self.read()
        fresh = {word for word in words if word is not None and word not in self._code_of}
        if len(self._code_of) + len(fresh) > self._limit + 1:
            msg = (
                f"{self._field}: at most {self._limit} distinct ones, got {min(map(str, fresh))!r} "
                f"beyond {len(self._code_of) - 1}"
            )
            raise ValueError(msg)

    def __len__(self) -> int:
        return len(self._code_of)

    def words(self) -> tuple[str, ...]:
        """The words by code; the word of 0 is empty."""
        self.read()
        # In one step: another thread may be adding words.
        return ("", *tuple(self._code_of)[1:])  # type: ignore[arg-type]
