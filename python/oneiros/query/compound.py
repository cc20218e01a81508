"""The parts of a compound question. Source: docs/systems/omega.md O10."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oneiros.ranking.understanding import Understanding

__all__ = ["parts_of"]


def parts_of(query: str, understanding: Understanding) -> list[str]:
    """Return the parts of a question, in order; of a question that is not compound, itself alone.

    A question is split at its conjunctions ("and also"). Without any it is split at its commas, if
    each part begins with a clause mark ("what ..., when ..."). Parts that are too short are dropped.
    """
    text = query.strip()
    if understanding.most_parts == 1 or _stays_whole(text, understanding):
        return [query]
    pieces = [text]
    if understanding.conjunctions:
        border = _border(understanding.conjunctions, understanding.not_before)
        pieces = border.split(text)
    if len(pieces) == 1 and understanding.clause_marks:
        pieces = _clauses(text, understanding.clause_marks)
    parts = [_trimmed(piece, understanding.trailing_marks) for piece in pieces]
    parts = [
        part
        for part in parts
        if len(part) >= understanding.least_characters
        and len(part.split()) >= understanding.least_words
    ]
    return parts[: understanding.most_parts] if len(parts) > 1 else [query]


def _stays_whole(text: str, understanding: Understanding) -> bool:
    return len(text) < understanding.least_question_characters or any(
        text.count(quote) >= understanding.least_quotes for quote in understanding.quotes
    )


def _clauses(text: str, clause_marks: tuple[str, ...]) -> list[str]:
    """Return what stands between commas, if each begins with a clause mark; else the whole."""
    begins = _beginning(clause_marks).match
    clauses = [clause for clause in map(str.strip, text.split(",")) if clause]
    return clauses if all(map(begins, clauses)) else [text]


def _trimmed(piece: str, marks: tuple[str, ...]) -> str:
    """Return a piece without blanks at its ends and marks at its end."""
    end = len(piece)
    while end and (piece[end - 1] in marks or piece[end - 1].isspace()):
        end -= 1
    return piece[:end].lstrip()


@lru_cache(maxsize=64)
def _border(conjunctions: tuple[str, ...], not_before: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a conjunction between blanks, a comma before it or not.

    It never goes back into blanks that it has read, and starts at most twice in each run of them.
    """
    held = rf"(?!(?:{_any_of(not_before)})(?![\w'\u2019-]))" if not_before else ""
    pattern = rf"(?:,|(?<!\s))\s++(?:{_any_of(conjunctions)})\s++{held}"
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=64)
def _beginning(clause_marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{_any_of(clause_marks)})(?!\w)", re.IGNORECASE)


def _any_of(phrases: Iterable[str]) -> str:
    """The pattern of one of the phrases, tried in their order."""
    return "|".join(r"\s++".join(map(re.escape, phrase.split())) for phrase in phrases)
