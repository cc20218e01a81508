"""What the rules that look into texts say, by definition: docs/systems/omega.md O1, O3, O18, O26."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

SUFFIXES = ("ing", "ed", "es", "s", "ly")  # O18


def normal(text: str) -> str:
    """Return NFKC, lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def words(query: str) -> list[str]:
    """Return the different words of more than two characters, in order."""
    found: list[str] = []
    word = ""
    for character in [*normal(query), " "]:
        if character.isalnum() or character == "_":
            word += character
            continue
        if len(word) > 2 and word not in found:
            found.append(word)
        word = ""
    return found


def cut(word: str) -> str:
    """Return the word without the longest ending of O18 that leaves three characters."""
    fitting = [end for end in SUFFIXES if word.endswith(end) and len(word) >= len(end) + 3]
    return word[: len(word) - max(map(len, fitting))] if fitting else word


def share(wanted: Sequence[str], held: str) -> float:
    """Return the share of words found as a part."""
    return sum(word in held for word in wanted) / len(wanted) if wanted else 0.0


def word_ratio(query: str, text: str) -> float:
    """O3: over the content."""
    return share(words(query), normal(text))


def overlap(query: str, text: str, tags: Iterable[str] = ()) -> float:
    """O18: over content and tags, endings cut."""
    stems = list(dict.fromkeys(map(cut, words(query))))
    return share(stems, "\0".join([normal(text), *map(normal, tags)]))


def trigrams(text: str, characters: int = 200) -> set[str]:
    """Return the runs of three among the first characters."""
    start = normal(text)[:characters]
    return {start[place : place + 3] for place in range(len(start) - 2)}


def jaccard(one: str, other: str) -> float:
    """O1: 0 where one has no trigram."""
    left, right = trigrams(one), trigrams(other)
    return len(left & right) / len(left | right) if left and right else 0.0


def begins_alike(one: str, other: str, characters: int = 150) -> bool:
    """O26: the same first normalised characters; an empty text is like no other."""
    start = normal(one)[:characters]
    return start != "" and start == normal(other)[:characters]
