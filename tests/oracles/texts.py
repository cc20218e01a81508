"""What the rules that look into texts say, by definition: docs/systems/omega.md O1, O3, O18, O26."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

MARKS = "*#`~[]()>|_"  # O26
SUFFIXES = (  # O18, in the order they are tried
    *("ation", "tion", "ment", "ing", "ness", "ity", "ous", "ive", "able"),
    *("ed", "er", "es", "ly", "al", "s"),
)


def normal(text: str) -> str:
    """Return NFKC, lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def bare(text: str) -> str:
    """Return the text without capitals and accents, as the index folds words. H7."""
    spelt = normal(text).translate({ord("ß"): "ss", ord("ı"): "i", ord("đ"): "d"})  # noqa: RUF001
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", spelt)
        if not unicodedata.combining(character)
    )


def canonical(text: str) -> str:
    """Return the canonical form of O26, step by step."""
    wide = unicodedata.normalize("NFKC", text)
    bare = "".join(" " if character in MARKS else character for character in wide)
    single = ""
    for character in bare:
        if not character.isspace():
            single += character
        elif not single.endswith(" "):
            single += " "
    return single.removeprefix(" ").removesuffix(" ").lower()


def words_apart(query: str) -> list[str]:
    """Return what white space separates, of three characters or more, each time it stands there. O3."""
    return [word for word in query.split() if len(word.lower()) > 2][:1024]


def spaced(query: str) -> str:
    """Return the query with blanks for letters of scripts without spaces, and of Hangul. H7."""
    unspaced = ("CJK ", "HIRAGANA ", "KATAKANA", "HANGUL ", "THAI ", "LAO ", "KHMER ", "MYANMAR ")
    names = (unicodedata.name(character, "") for character in normal(query))
    return "".join(
        " " if name.startswith(unspaced) else character
        for character, name in zip(normal(query), names, strict=True)
    )


def words(query: str) -> list[str]:
    """Return the different runs of letters, digits and underscores, three or more, in order. H7."""
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


def share(wanted: Sequence[str], held: str) -> float:
    """Return the share of words found as a part."""
    return sum(word in held for word in wanted) / len(wanted) if wanted else 0.0


def word_ratio(query: str, text: str) -> float:
    """O3: over the content."""
    return share([normal(word) for word in words_apart(query)], normal(text))


def is_found(word: str, held: str, suffixes: Sequence[str] = SUFFIXES) -> bool:
    """O18: as it is, else without the first ending that leaves three characters, cut once."""
    if word in held:
        return True
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: len(word) - len(suffix)] in held
    return False


def overlap(query: str, text: str, tags: Iterable[str] = ()) -> float:
    """O18: over content and tags; a word that is nothing but marks is a part of every text."""
    forms = [canonical(word) for word in words_apart(query)]
    held = canonical(" ".join([text, *tags]))
    return sum(is_found(word, held) for word in forms) / len(forms) if forms else 0.0


def trigrams(text: str, characters: int = 200) -> set[str]:
    """Return the runs of three of the canonical form of the first characters."""
    start = canonical(text[:characters])
    return {start[place : place + 3] for place in range(len(start) - 2)}


def jaccard(one: str, other: str, characters: int = 200) -> float:
    """O1: 0 where one has no trigram."""
    left, right = trigrams(one, characters), trigrams(other, characters)
    return len(left & right) / len(left | right) if left and right else 0.0


def begins_alike(one: str, other: str, characters: int = 150) -> bool:
    """O26: the same first characters of the canonical form; an empty one is like no other."""
    start = canonical(one)[:characters]
    return start != "" and start == canonical(other)[:characters]
