"""What a question says, plainly: docs/systems/omega.md O9, O10, O19. No pattern, character by character.

The lists of words are read from the profile (docs/systems/README.md); all else is stated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from string import ascii_letters
from typing import Protocol

HEX = set("0123456789abcdef")
LETTERS = set(ascii_letters)
OPENING = "\"'([{<\u201c\u2018"
"""What may stand before the first character of a path."""


class Lists(Protocol):
    """The lists of O9, O10 and O19, as a profile has them."""

    @property
    def keyword_signs(self) -> Sequence[str]: ...
    @property
    def factual(self) -> Sequence[str]: ...
    @property
    def conceptual(self) -> Sequence[str]: ...
    @property
    def preference(self) -> Sequence[str]: ...
    @property
    def conjunctions(self) -> Sequence[str]: ...
    @property
    def not_before(self) -> Sequence[str]: ...
    @property
    def clause_marks(self) -> Sequence[str]: ...


# -- words -------------------------------------------------------------------------------------------


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


def in_name(character: str) -> bool:
    """Tell of letters, digits and underscores."""
    return character.isalnum() or character == "_"


def name_before(text: str, place: int) -> str:
    """Return the letters, digits and underscores that end at a place."""
    start = place
    while start > 0 and in_name(text[start - 1]):
        start -= 1
    return text[start:place]


def name_after(text: str, place: int) -> str:
    """Return the letters, digits and underscores that begin at a place."""
    end = place
    while end < len(text) and in_name(text[end]):
        end += 1
    return text[place:end]


def names_of(text: str) -> list[str]:
    """Return all runs of letters, digits and underscores, as they are written."""
    starts = [place for place in range(len(text)) if not name_before(text, place)]
    return [name for name in (name_after(text, start) for start in starts) if name]


# -- O9 ----------------------------------------------------------------------------------------------


def has_path(text: str) -> bool:
    """Tell of a slash before a letter that begins its word, or stands in a word of two slashes."""
    for word in text.split():
        skipped = len(word) - len(word.lstrip(OPENING))
        for place, character in enumerate(word):
            if character == "/" and word[place + 1 : place + 2].isalpha():
                before = word[skipped:place]
                is_drive = len(before) == 2 and before[0] in LETTERS and before[1] == ":"
                if before in ("", ".", "..", "~") or is_drive or word.count("/") >= 2:
                    return True
    return False


def is_quoted(text: str) -> bool:
    """Tell whether the whole text stands in double quotes."""
    whole = text.strip()
    return len(whole) > 2 and whole.startswith('"') and whole.endswith('"')


def is_camel_case(name: str) -> bool:
    """Tell whether a name begins with a capital and has one right after a small letter."""
    humps = (one.islower() and other.isupper() for one, other in pairwise(name))
    return name[0].isupper() and any(humps)


def is_snake_case(name: str) -> bool:
    """Tell of small letters and underscores, a letter first, an underscore before the end."""
    is_plain = all(character == "_" or character.islower() for character in name)
    return is_plain and name[0] != "_" and "_" in name[:-1]


def is_hex(name: str) -> bool:
    """Tell of eight or more hexadecimal digits in small letters."""
    return len(name) >= 8 and set(name) <= HEX


def has_memory_id(text: str) -> bool:
    """Tell of "mem-" and a hexadecimal name, with no letter or digit before it."""
    return any(
        text[place : place + 4] == "mem-"
        and not name_before(text, place)
        and is_hex(name_after(text, place + 4))
        for place in range(len(text))
    )


def has_version(text: str) -> bool:
    """Tell of digits, a dot and digits that no letter touches but a leading "v"."""
    return any(
        character == "."
        and name_before(text, place).removeprefix("v").isdecimal()
        and name_after(text, place + 1).isdecimal()
        for place, character in enumerate(text)
    )


SIGNS: dict[str, Callable[[str], bool]] = {
    "code": lambda text: "`" in text,
    "path": has_path,
    "quoted": is_quoted,
    "camel_case": lambda text: any(map(is_camel_case, names_of(text))),
    "snake_case": lambda text: any(map(is_snake_case, names_of(text))),
    "memory_id": has_memory_id,
    "version": has_version,
    "url": lambda text: "http://" in text or "https://" in text,
    "hex": lambda text: any(map(is_hex, names_of(text))),
}
"""The table of signs, each by the name that a profile gives it."""


def intent_of(text: str, lists: Lists) -> str | None:
    """Return the first that fits: navigational, factual, conceptual."""
    if any(SIGNS[sign](text) for sign in lists.keyword_signs):
        return "navigational"
    if holds(text, lists.factual):
        return "factual"
    return "conceptual" if holds(text, lists.conceptual) else None


def product(*rows: Sequence[float]) -> list[float]:
    """Return the weights of hint and intent together. O8, O9."""
    found = [1.0] * 5
    for row in rows:
        found = [mine * theirs for mine, theirs in zip(found, row, strict=True)]
    return found


# -- O10 ---------------------------------------------------------------------------------------------


def after_blanks(text: str, place: int) -> int:
    """Return the first place from there on that is no blank."""
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def end_of_phrase(text: str, place: int, phrase: str) -> int | None:
    """Return where the word after a phrase begins, None where the phrase does not stand there."""
    for word in phrase.split():
        end = place + len(word)
        if text[place:end].lower() != word or not text[end : end + 1].isspace():
            return None
        place = after_blanks(text, end)
    return place


def is_held(text: str, place: int, not_before: Sequence[str]) -> bool:
    """Tell whether the word there is one that a conjunction does not split before."""
    end = place
    while end < len(text) and (in_name(text[end]) or text[end] in "'\u2019-"):
        end += 1
    return text[place:end].lower() in not_before


def conjunction_at(text: str, place: int, lists: Lists) -> int | None:
    """Return where the next part begins, None where no conjunction splits at this place."""
    is_comma = text[place] == ","
    blank = place + is_comma
    begins = is_comma or place == 0 or not text[place - 1].isspace()
    if not begins or not text[blank : blank + 1].isspace():
        return None
    for phrase in lists.conjunctions:
        end = end_of_phrase(text, after_blanks(text, blank), phrase)
        if end is not None and not is_held(text, end, lists.not_before):
            return end
    return None


def at_conjunctions(text: str, lists: Lists) -> list[str]:
    """Return what stands between the conjunctions."""
    parts, start, place = [], 0, 0
    while place < len(text):
        following = conjunction_at(text, place, lists)
        if following is None:
            place += 1
        else:
            parts.append(text[start:place])
            start = place = following
    return [*parts, text[start:]]


def at_commas(text: str, lists: Lists) -> list[str]:
    """Return what stands between the commas, if each begins a clause; else the whole."""
    clauses = [clause.strip() for clause in text.split(",") if clause.strip()]
    first_words = [name_after(clause, 0).lower() for clause in clauses]
    return clauses if all(word in lists.clause_marks for word in first_words) else [text]


def trimmed(part: str) -> str:
    """Return a part without blanks around it and marks at its end."""
    part = part.strip()
    while part and (part[-1] in "?.,;!" or part[-1].isspace()):
        part = part[:-1]
    return part


def parts_of(text: str, lists: Lists) -> list[str]:
    """Return the parts of a compound question; of another, itself."""
    whole = text.strip()
    if len(whole) < 25 or whole.count('"') >= 2 or whole.count("'") >= 2:
        return [text]
    parts = at_conjunctions(whole, lists)
    if len(parts) == 1:
        parts = at_commas(whole, lists)
    parts = [part for part in map(trimmed, parts) if len(part) >= 12 and len(part.split()) >= 2]
    return parts[:4] if len(parts) >= 2 else [text]
