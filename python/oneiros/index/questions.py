"""The questions for which memories got verdicts. Source: docs/systems/house.md H19."""

from __future__ import annotations

import re
import struct
import unicodedata
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.model.fields import VERDICTS
from oneiros.runtime.hashing import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from oneiros.store import Reading

__all__ = ["VerdictQuestions", "encoded", "word_hashes"]

_WORDS: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 256
_WORDS_FORM: Final = b"\x02"


def word_hashes(text: str) -> list[int]:
    """Return 32-bit hashes of a question's words, ascending, each once.

    Words are runs of letters, digits and underscores in NFKC without case; the first 256 different
    ones count.
    """
    words = _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())
    distinct = list(dict.fromkeys(words))[:_MOST_WORDS]
    return sorted(
        {
            int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little")
            for word in distinct
        }
    )


def encoded(text: str, vector: npt.NDArray[np.float32] | None) -> bytes | None:
    """Return the stored form of a question: its vector, or without one its words.

    Returns:
        None for a question without a vector and without words.
    """
    if vector is not None:
        return _core.encode_question(vector=vector)
    hashes = word_hashes(text)
    return _WORDS_FORM + struct.pack(f"<{len(hashes)}I", *hashes) if hashes else None


class VerdictQuestions:
    """The verdicts that were given for a question, in memory.

    One writer at a time (the engine's thread); many readers.
    """

    def __init__(self) -> None:
        self.verdicts = _core.QuestionVerdicts()
        """By the memory's number; searches read it, so it is replaced as a whole."""
        self._state = (0, 0)

    def follow(self, reading: Reading, *, are_dropped: bool) -> None:
        """Read what was given or forgotten since.

        Args:
            reading: of the store.
            are_dropped: the store dropped questions, so that all are read again.
        """
        state = reading.verdict_state()
        if state == self._state and not are_dropped:
            return
        last, erased = self._state
        is_more = state[1] == erased and state[0] >= last and not are_dropped
        verdicts = self.verdicts if is_more else _core.QuestionVerdicts()
        self.add(reading.questions_after(last if is_more else 0), verdicts)
        self.verdicts, self._state = verdicts, state

    def add(
        self,
        rows: Iterable[tuple[int, str, bytes]],
        verdicts: _core.QuestionVerdicts | None = None,
    ) -> None:
        """Replace the verdicts of memories.

        Args:
            rows: (number of the memory, verdict, stored form of the question), all those of a memory
                together.
            verdicts: takes them; None: those of this object.
        """
        of: dict[int, list[tuple[float, bytes]]] = {}
        for sequence, verdict, question in rows:
            of.setdefault(sequence, []).append((float(VERDICTS[verdict]), question))
        into = self.verdicts if verdicts is None else verdicts
        for sequence, given in of.items():
            into.set(sequence=sequence, verdicts=given)
