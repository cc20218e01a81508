"""H12 again, in plain Python, from docs/systems/house.md."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from oneiros.conflicts import words

_LEADING = re.compile(r"[A-Za-z][A-Za-z0-9_ .]{0,20}: ")
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
    subject: tuple[str, ...]
    is_amount: bool
    value_leads: bool


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


def is_number(token: str) -> bool:
    return bool(re.search("[0-9]", token)) or token in words.NUMBERS


def is_label(name: str) -> bool:
    """Whether what stands before ": " is what a value is of ("Phone number"), no speaker or heading."""
    first, *others = name.split(" ")
    if not others:
        return first not in words.HEADINGS and lowered(first) in words.LABELS
    return [first, *others][-1] not in words.HEADINGS and any(
        re.match("[a-z]", word) and word not in words.PARTICLES for word in others
    )


def stated(
    tokens: list[str],
    label_count: int,
    content: list[bool],
    values: list[bool],
    numbers: list[bool],
) -> tuple[tuple[str, ...], bool, bool]:
    """Return what a text states a value of, whether only an amount counts, and if the value leads.

    Args:
        tokens: the words.
        label_count: the number of those of a label.
        content: whether each is content and no name.
        values: whether each is a number, a date or a name.
        numbers: whether each is a number.
    """
    states = (
        place
        for place, token in enumerate(tokens)
        if place and token in words.STATES | words.AMOUNTS
    )
    verb = next(states, 0)
    end = label_count or (verb + 1 if verb else 0)
    is_amount = not label_count and end > 0 and tokens[verb] in words.AMOUNTS
    after = tokens[end] if end < len(tokens) else ""
    is_counted = (
        end < len(tokens)
        and numbers[end]
        and any(values[place] and not numbers[place] for place in range(end))
    )
    if not end or not (label_count or is_amount or is_counted or any(content[:end])):
        return (), False, False
    if not label_count and (numbers[0] or after in ("to", "with") or after.endswith("ing")):
        return (), False, False  # one of many, or it is done, or to be done, not so
    subject = [stem(token) for token in tokens[:end] if token not in words.ARTICLES]
    if not label_count and after in words.PREPOSITIONS:
        subject.append(stem(after))
    places = [place for place in range(end, len(tokens)) if values[place]]
    before = range(end, places[0]) if places else range(0)
    leads = bool(places) and sum(content[place] for place in before) <= 1
    if is_amount and any(tokens[place] in words.PREPOSITIONS for place in before):
        leads = False  # "has a meeting at 3pm" is no amount
    return (*subject, ":" if label_count else ""), is_amount, leads


@functools.lru_cache(maxsize=4096)  # a text is compared with many
def statement(text: str) -> Statement:
    found = _LEADING.match(text)
    label_count = 0
    if found and is_label(found[0][:-2]):
        label_count, found = len(_WORD.findall(found[0])), None
    elif found and not re.match("[A-Z]", text):
        found = None
    body = text[found.end() :] if found else text
    whole = _WORD.findall(body)
    tokens = [lowered(word) for word in whole]
    numbers, dates, names, content = set(), set(), set(), set()
    are_content, are_values, are_numbers = [], [], []
    for word, token in zip(whole, tokens, strict=True):
        is_value = True
        if token in words.DATES:
            dates.add(stem(token))
        elif is_number(token):
            numbers.add(stem(token))
        elif (
            re.match("[A-Z]", word)
            and token not in words.STOP_WORDS
            and not (label_count and not are_values)
        ):
            names.add(stem(token))
        else:
            is_value = False
        is_content = (
            len(token.encode()) > 1
            and token not in words.STOP_WORDS
            and token not in words.CUE_WORDS
        )
        if is_content:
            content.add(stem(token))
        are_values.append(is_value)
        are_content.append(is_content and not is_value)
        are_numbers.append(is_value and token not in words.DATES and is_number(token))
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
        *stated(tokens, label_count, are_content, are_values, are_numbers),
    )


MOST_WORDS = 40
MOST_REWORDED = 2


def differ(older: Statement, newer: Statement) -> tuple[bool, bool, bool]:
    """Return whether each has a number, a date and a name that the other lacks."""
    kinds = (
        (older.numbers, newer.numbers),
        (older.dates, newer.dates),
        (older.names, newer.names),
    )
    number, date, name = (bool(one - newer.stems and two - older.stems) for one, two in kinds)
    return number, date, name


def have_one_subject(older: Statement, newer: Statement) -> bool:
    """Whether both state of one thing, and the newer one does not only add to the older."""
    return bool(older.subject) and older.subject == newer.subject and not newer.adds


def is_restated(older: Statement, newer: Statement) -> bool:
    """Whether both state a value of one thing, in the same words but for a number, date or name."""
    number, date, name = differ(older, newer)
    values = (one.numbers | one.dates | one.names for one in (older, newer))
    plain = [one.content - value for one, value in zip((older, newer), values, strict=True)]
    return bool(
        have_one_subject(older, newer)
        and older.value_leads
        and newer.value_leads
        and plain[0]
        and plain[0] == plain[1]
        and (number or (not older.is_amount and (date or name)))
        and (older.names == newer.names or not (number or date))
    )


def is_reworded(older: Statement, newer: Statement) -> bool:
    """Whether both state of one thing, in one or two words of their own, no number, date or name."""
    shared = older.content & newer.content
    own = (len(older.content - shared), len(newer.content - shared))
    return bool(
        have_one_subject(older, newer)
        and not older.is_amount
        and not any(differ(older, newer))
        and len(shared - older.names) >= 2
        and 1 <= min(own) <= max(own) <= MOST_REWORDED
    )


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
        or (is_of_a_series(older, newer) and not is_restated(older, newer))
        or (older.speaker and newer.speaker and older.speaker != newer.speaker)
    ):
        return None
    shared = older.content & newer.content
    number, date, name = map(float, differ(older, newer))
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
        "restated": float(is_restated(older, newer)),
        "reworded": float(is_reworded(older, newer)),
    }


def confidence(older: str, newer: str, weights: Mapping[str, float], constant: float) -> float:
    found = features(statement(older), statement(newer))
    if found is None:
        return 0.0
    total = constant + sum(weights[name] * value for name, value in found.items())
    return 1.0 / (1.0 + math.exp(-total))
