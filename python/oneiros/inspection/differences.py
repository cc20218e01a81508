"""Differences between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final

from oneiros.runtime.dataclasses import NamedTuple

__all__ = ["MOST_WORDS", "TextPiece", "differences"]

MOST_WORDS: Final = 1_000
"""Words between the first and the last difference; more are one removal and one addition."""

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_CHARACTERS: Final = 20_000


class TextPiece(NamedTuple):
    """A part of a text, and what became of it."""

    change: str
    """"same", "removed" or "added"."""
    text: str


def differences(before: str, after: str) -> list[TextPiece]:
    """Return the pieces that make up two texts, in order.

    The pieces that are not added make up ``before``, those that are not removed ``after``. Takes
    time that is bounded, whatever the texts: long passages are compared as a whole.

    Args:
        before: the former text.
        after: the text that replaced it.

    >>> from oneiros.inspection.differences import differences
    >>> for piece in differences("Deploys on Tuesdays", "Deploys on Fridays"):
    ...     print(piece.change, repr(piece.text))
    same 'Deploys on '
    removed 'Tuesdays'
    added 'Fridays'
    """
    if max(len(before), len(after)) > _MOST_CHARACTERS:
        old, new = [before], [after]
    else:
        old, new = _WORDS.findall(before), _WORDS.findall(after)
    start = sum(1 for _ in takewhile(_is_same, zip(old, new, strict=False)))
    longest = min(len(old), len(new)) - start
    backwards = zip(reversed(old), reversed(new), strict=False)
    same_end = min(longest, sum(1 for _ in takewhile(_is_same, backwards)))
    middle = old[start : len(old) - same_end], new[start : len(new) - same_end]
    pieces = [TextPiece("same", "".join(old[:start])), *_of_middle(*middle)]
    pieces.append(TextPiece("same", "".join(old[len(old) - same_end :])))
    return [piece for piece in pieces if piece.text]


def _is_same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _of_middle(old: list[str], new: list[str]) -> list[TextPiece]:
    if max(len(old), len(new)) > MOST_WORDS:
        return [TextPiece("removed", "".join(old)), TextPiece("added", "".join(new))]
    pieces = []
    for change, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if change == "equal":
            pieces.append(TextPiece("same", "".join(old[a:b])))
        else:
            pieces += TextPiece("removed", "".join(old[a:b])), TextPiece("added", "".join(new[c:d]))
    return pieces
