"""Conversations in which facts change, made from the templates by a seed."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from bench.facts.templates import CHATTER, KINDS, Kind

__all__ = ["HALVES", "Line", "Question", "World", "made"]

HALVES = ("develop", "held out")
_PEOPLE = ("Marta", "Joel", "Aisha", "Piotr", "Carmen", "Declan")
_OTHERS = ("Bo", "Ingrid", "Luca", "Femke", "Oskar", "Tilda")
_SLOTS = ("I", "i", "my", "me", "s", "es", "am", "have", "do", "Do")
_START = 1.75e9
_DAY = 86_400.0


class Line(NamedTuple):
    """One memory."""

    id: str
    text: str
    created_at: float
    session: str
    fact: int | None
    """The fact it states; None: chatter or a look-alike."""
    version: int


class Question(NamedTuple):
    """A question about the current value of a fact."""

    text: str
    fact: int
    old: tuple[str, ...]
    new: tuple[str, ...]


class World(NamedTuple):
    """One conversation."""

    lines: tuple[Line, ...]
    questions: tuple[Question, ...]
    now: float


def _words(person: str, style: str) -> dict[str, str]:
    if style == "third":
        own = (person, person, f"{person}'s", person, "s", "es", "is", "has", "does", "Does")
        return dict(zip(_SLOTS, own, strict=True))
    own = ("I", "I", "my", "me", "", "", "am", "have", "do", "Do")
    return dict(zip(_SLOTS, own, strict=True))


def _asked(person: str, style: str) -> dict[str, str]:
    words = _words(person, style)
    return _words(person, "third") if style == "speaker" else words


def _filled(template: str, words: dict[str, str], **values: str) -> str:
    text = re.sub(r"\{(\w+)\}", lambda found: {**words, **values}[found[1]], template)
    return text[0].upper() + text[1:]


def made(half: str, seed: int, *, changes: bool = True, restated: bool = False) -> World:
    """Return a conversation with the kinds of one half.

    Each fact is stated, changed once or twice in other words, and asked for at the end, among
    chatter and texts about the same things that change nothing. A third of the conversations are in
    the first person, a third name the speaker of each line, a third are notes about somebody.

    Args:
        half: one of :data:`HALVES`.
        seed: of the conversation.
        changes: False: each fact is stated once, at a random time, and stays.
        restated: a change is stated as the fact was at first, with the other value, as programs
            that extract facts write them: "My phone number is 555 0177."
    """
    random = Random(f"{half} {seed}")
    kinds = [kind for place, kind in enumerate(KINDS) if place % 2 == HALVES.index(half)]
    style = ("first", "speaker", "third")[seed % 3]
    person = random.choice(_PEOPLE)
    words = _words(person, style)
    prefix = f"{person}: " if style == "speaker" else ""
    said: list[tuple[float, str, int | None, int]] = []
    asked: list[tuple[str, int]] = []
    for fact, (kind, thing) in enumerate(
        (each, thing) for each in kinds for thing in _things(each, random)
    ):
        times = sorted(random.uniform(0, 280) for _ in range(3))
        values = random.sample(kind.values, min(3, len(kind.values)))
        count = 2 if len(kind.values) == 2 or random.random() < 0.5 else 3
        if not changes:
            count = 1
            random.shuffle(times)
        for version in range(count):
            templates = kind.changes if version and not restated else kind.statements
            old = values[version - 1] if version else ""
            text = _filled(random.choice(templates), words, v=values[version], old=old, x=thing)
            said.append((times[version], text, fact, version))
        if random.random() < 0.2 and changes:  # the first statement again, soon after
            text = _filled(random.choice(kind.statements), words, v=values[0], x=thing)
            said.append((times[0] + 0.3 * (times[1] - times[0]), text, fact, 0))
        for template in kind.distractors:
            text = _filled(template, words, x=thing)
            said.append((random.uniform(0, 290), text, None, 0))
        if "{I}" in "".join(kind.statements) and random.random() < 0.5:  # somebody else's
            other = _words(random.choice(_OTHERS), "third")
            value = random.choice(kind.values)
            text = _filled(random.choice(kind.statements), other, v=value, x=thing)
            said.append((random.uniform(0, 290), text, None, 0))
        question = _filled(random.choice(kind.questions), _asked(person, style), x=thing)
        asked.append((question, fact))
    for _ in range(3 * len(said)):
        text = _filled(random.choice(CHATTER), words, o=random.choice(_OTHERS))
        said.append((random.uniform(0, 290), text, None, 0))
    said.sort(key=lambda line: line[0])
    lines = tuple(
        Line(f"m{place}", prefix + text, _START + day * _DAY, f"s{int(day // 3)}", fact, version)
        for place, (day, text, fact, version) in enumerate(said)
    )
    return World(
        lines, tuple(_question(text, fact, lines) for text, fact in asked), _START + 300 * _DAY
    )


def _things(kind: Kind, random: Random) -> list[str]:
    return random.sample(kind.things, 2) if len(kind.things) > 1 else [*kind.things]


def _question(text: str, fact: int, lines: tuple[Line, ...]) -> Question:
    mine = [line for line in lines if line.fact == fact]
    last = max(line.version for line in mine)
    return Question(
        text,
        fact,
        tuple(line.id for line in mine if line.version < last),
        tuple(line.id for line in mine if line.version == last),
    )
