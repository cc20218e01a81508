"""H12 again, in plain Python, from docs/systems/house.md."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from oneiros.conflicts import words

_SPEAKER = re.compile(r"[A-Z][A-Za-z0-9_ .]{0,20}: ")
_ALNUM = r"[A-Za-z0-9\u0080-\U0010ffff]"
_WORD = re.compile(rf"{_ALNUM}+(?:[.,:/\-]{_ALNUM}+)*")


class Statement(NamedTuple):
    speaker: str
    tokens: list[str]
    content: set[str]
    stems: set[str]
    numbers: set[str]
    dates: set[str]
    names: set[str]
    first: tuple[str, bool]
    second: str
    cue: float
    adds: bool
    past: bool
    kin: bool
    denies: bool
    asks: bool
    topics: set[int]


def lowered(word: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in word)


def stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word.encode()) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def has(tokens: list[str], phrases: object) -> bool:
    line = " " + " ".join(tokens) + " "
    return any(f" {phrase} " in line for phrase in phrases)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=4096)  # a text is compared with many
def statement(text: str) -> Statement:
    found = _SPEAKER.match(text)
    body = text[found.end() :] if found else text
    whole = _WORD.findall(body)
    tokens = [lowered(word) for word in whole]
    numbers, dates, names, content = set(), set(), set(), set()
    for word, token in zip(whole, tokens, strict=True):
        if token in words.DATES:
            dates.add(stem(token))
        elif re.search("[0-9]", token) or token in words.NUMBERS:
            numbers.add(stem(token))
        elif re.match("[A-Z]", word) and token not in words.STOP_WORDS:
            names.add(stem(token))
        if (
            len(token.encode()) > 1
            and token not in words.STOP_WORDS
            and token not in words.CUE_WORDS
        ):
            content.add(stem(token))
    stems = {stem(token) for token in tokens}
    first = (stem(tokens[0]), stem(tokens[0]) in names) if tokens else ("", False)
    return Statement(
        found[0][:-2] if found else "",
        tokens,
        content,
        stems,
        numbers,
        dates,
        names,
        first,
        stem(tokens[1]) if len(tokens) > 1 else "",
        sum(strength for strength, phrases in words.CUES if has(tokens, phrases)),
        has(tokens, words.ADDITIONS),
        has(tokens, words.PAST),
        has(tokens, words.RELATIVES),
        has(tokens, words.DENIALS),
        body.rstrip(" \t\n\r").endswith(tuple("?？؟⁇⁈⁉")),  # noqa: RUF001
        {
            number
            for number, topic in enumerate(words.TOPICS)
            if stems & {stem(word) for word in topic.split()}
        },
    )


MOST_WORDS = 40


def is_of_a_series(older: Statement, newer: Statement) -> bool:
    return (
        newer.cue == 0
        and older.numbers != newer.numbers
        and older.content - older.numbers == newer.content - newer.numbers
    )


def is_asked_for(query: str, older: str, newer: str) -> bool:
    """Whether a query names a number or date of the older that the newer does not have.

    Of a newer one without a cue, any word of content.
    """
    asked, one, other = statement(query), statement(older), statement(newer)
    if len(asked.tokens) >= MOST_WORDS:
        return False
    named = one.numbers | one.dates | (set() if other.cue else one.content)
    return bool(named & asked.stems - other.stems)


def features(older: Statement, newer: Statement) -> dict[str, float] | None:
    """Return the features of a pair; None if it is no conflict whatever they are."""
    if (
        not older.tokens
        or not newer.tokens
        or max(len(older.tokens), len(newer.tokens)) >= MOST_WORDS
        or older.asks
        or newer.asks
        or older.stems == newer.stems
        or is_of_a_series(older, newer)
        or (older.speaker and newer.speaker and older.speaker != newer.speaker)
    ):
        return None
    shared = older.content & newer.content
    number = float(bool(older.numbers - newer.stems and newer.numbers - older.stems))
    date = float(bool(older.dates - newer.stems and newer.dates - older.stems))
    name = float(bool(older.names - newer.stems and newer.names - older.stems))
    values = older.numbers | older.dates | older.names
    cue = min(newer.cue, 4.0) / 4.0
    topic = min(len(older.topics & newer.topics), 2) / 2.0
    return {
        "shared": min(len(shared), 4) / 4.0,
        "none_shared": float(not shared),
        "share_of_older": len(shared) / max(len(older.content), 1),
        "share_of_newer": len(shared) / max(len(newer.content), 1),
        "only_older": min(len(older.content - shared), 10) / 10.0,
        "only_newer": min(len(newer.content - shared), 10) / 10.0,
        "length": min(len(older.tokens), 40) / 40.0,
        "number": number,
        "name": name,
        "named": float(bool(values & newer.stems)),
        "cue": cue,
        "cue_of_older": min(older.cue, 4.0) / 4.0,
        "addition": float(newer.adds),
        "past": float(newer.past),
        "past_of_older": float(older.past),
        "relative": float(older.kin != newer.kin),
        "denial": float(older.denies != newer.denies),
        "topic": topic,
        "no_topic": float(topic == 0.0),
        "topic_and_cue": topic * cue,
        "topic_and_value": topic * max(number, date, name),
        "other_subject": float(
            older.first[1]
            and newer.first[1]
            and older.first[0] != newer.first[0]
            and older.second == newer.second
        ),
    }


def confidence(older: str, newer: str, weights: Mapping[str, float], constant: float) -> float:
    found = features(statement(older), statement(newer))
    if found is None:
        return 0.0
    total = constant + sum(weights[name] * value for name, value in found.items())
    return 1.0 / (1.0 + math.exp(-total))
