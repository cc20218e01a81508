"""What a question says, plainly: docs/systems/omega.md O9, O10, O19. No pattern, character by character.

The lists of words are read from the profile (docs/systems/README.md); all else is stated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

HEX = set("0123456789abcdefABCDEF")


def words_of(text: str) -> list[str]:
    """Return runs of letters and digits, lower case; an apostrophe between two belongs to them."""
    text = text.replace("\u2019", "'").lower()
    words, word = [], ""
    for place, character in enumerate(text):
        following = text[place + 1 : place + 2]
        joins = character == "'" and word != "" and following.isalnum()
        if character.isalnum() or joins:
            word += character
        elif word:
            words.append(word)
            word = ""
    return [*words, word] if word else words


def holds(text: str, phrases: Iterable[str]) -> bool:
    """Tell whether the words of one of the phrases follow one another in the text."""
    words = words_of(text)
    for phrase in phrases:
        wanted = phrase.split()
        for start in range(len(words)):
            if words[start : start + len(wanted)] == wanted:
                return True
    return False


def has_long_hex(text: str) -> bool:
    """Tell whether a word of letters and digits is eight or more hexadecimal digits."""
    word = ""
    for character in [*text, " "]:
        if character.isalnum():
            word += character
            continue
        if len(word) >= 8 and set(word) <= HEX:
            return True
        word = ""
    return False


def has_inner_sign(text: str) -> bool:
    """Tell of snake_case, CamelCase, backticks and URLs' marks."""
    if "`" in text or "://" in text:
        return True
    for place, character in enumerate(text[1:], start=1):
        before = text[place - 1]
        if "a" <= before <= "z" and "A" <= character <= "Z":
            return True
        if character == "_" and before.isalnum() and text[place:].lstrip("_")[:1].isalnum():
            return True
    return False


def product(*rows: Sequence[float]) -> list[float]:
    """Return the weights of hint and intent together. O8, O9."""
    found = [1.0] * 5
    for row in rows:
        found = [mine * theirs for mine, theirs in zip(found, row, strict=True)]
    return found


def merged(parts: Sequence[dict[str, float]], gain: float = 1.15) -> dict[str, float]:
    """Return the best score over the parts, x 1.15 for each further part that finds it. O10."""
    found: dict[str, list[float]] = {}
    for scores in parts:
        for item, score in scores.items():
            found.setdefault(item, []).append(score)
    return {item: max(scores) * gain ** (len(scores) - 1) for item, scores in found.items()}
