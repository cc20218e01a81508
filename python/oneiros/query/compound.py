"""The parts of a compound question. Source: docs/systems/omega.md O10."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from oneiros.query.words import spaced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oneiros.ranking.understanding import Understanding

__all__ = ["parts_of"]

_AROUND = " \t\r\n,;"


def parts_of(query: str, understanding: Understanding) -> list[str]:
    """Return the parts of a question, in order; of a question that is not compound, itself alone.

    It is parted at each conjunction ("and also") and at each comma or semicolon that a clause mark
    follows ("..., where did ..."). A part that is too short stays with the one before it, the first
    with the one after it; beyond ``most_parts`` the rest is one part.
    """
    if understanding.most_parts == 1 or not (
        understanding.conjunctions or understanding.clause_marks
    ):
        return [query]
    border = _border(understanding.conjunctions, understanding.clause_marks)
    starts = [0]
    ends: list[int] = []
    for found in border.finditer(query):
        if len(starts) == understanding.most_parts:
            break
        last = query[starts[-1] : found.start()]
        if _is_long_enough(last, understanding) and _is_long_enough(
            query[found.end() :], understanding
        ):
            ends.append(found.start())
            starts.append(found.end())
    ends.append(len(query))
    parts = [query[start:end].strip(_AROUND) for start, end in zip(starts, ends, strict=True)]
    return parts if len(parts) > 1 else [query]


def _is_long_enough(part: str, understanding: Understanding) -> bool:
    part = part.strip(_AROUND)
    return (
        len(part) >= understanding.least_characters
        and spaced(part).count(" ") > understanding.least_words
    )


@lru_cache(maxsize=64)
def _border(conjunctions: tuple[str, ...], clause_marks: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of what parts a question; it never goes back over what it has read."""
    patterns = []
    if conjunctions:
        patterns.append(rf"(?<!\w)(?:{_any_of(conjunctions)})(?!\w)")
    if clause_marks:
        patterns.append(rf"[,;]\s++(?=(?:{_any_of(clause_marks)})(?!\w))")
    return re.compile("|".join(patterns), re.IGNORECASE)


def _any_of(phrases: Iterable[str]) -> str:
    longest_first = sorted(phrases, key=len, reverse=True)
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s{1,8}") for phrase in longest_first)
