"""A script from templates: facts told, changed, repeated and contradicted between much chatter."""

from __future__ import annotations

import heapq
from itertools import product
from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import dataclass, field
from oneiros.simulation.script import NEVER_TRUE, Fact, Line, Phrase, Script
from oneiros.simulation.templates import (
    ADJECTIVES,
    CHATTER,
    CORRECTION,
    DOUBT,
    KINDS,
    NOUNS,
    PEOPLE,
)

if TYPE_CHECKING:
    from random import Random

    from oneiros.simulation.workload import Workload

__all__ = ["invent"]

_FACTS_OF_A_SUBJECT: Final = 8
_CORRECTED_AFTER: Final = (10, 60)
"""Lines between a contradiction and its correction."""


@dataclass(slots=True)
class _Told:
    """A fact as it stands."""

    kind: str
    subject: str
    what: str
    values: list[str]
    """The values told, the last one holds."""
    denied: list[str] = field(default_factory=list)
    """Values of contradictions."""
    last_text: str = ""


@dataclass(slots=True)
class _Author:
    """Writes one line after the other."""

    workload: Workload
    random: Random
    subjects: list[str]
    facts: list[_Told] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    corrections: list[tuple[int, int]] = field(default_factory=list)
    """Line and fact of those that are due, as a heap."""
    taken: set[tuple[str, str, str]] = field(default_factory=set)

    def write(self) -> None:
        """Write the next line."""
        if self.corrections and self.corrections[0][0] <= len(self.lines):
            self._correct(heapq.heappop(self.corrections)[1])
            return
        asked = self.workload
        chance = self.random.random() - asked.chatter
        if chance < 0.0 or (chance < asked.changes and not self.facts):
            self._chat()
        elif chance < asked.revisions:
            self._revise(self.random.randrange(len(self.facts)))
        elif chance < asked.revisions + asked.repeats:
            self._repeat(self.random.randrange(len(self.facts)))
        elif chance < asked.changes:
            self._contradict(self.random.randrange(len(self.facts)))
        else:
            self._tell()

    def _tell(self) -> None:
        kinds = list(KINDS)
        while True:
            kind = self.random.choices(kinds, [one.share for one in KINDS.values()])[0]
            subject = self.random.choice(self.subjects)
            what = self.random.choice(KINDS[kind].whats)
            if (kind, subject, what) not in self.taken:
                break
        self.taken.add((kind, subject, what))
        value = self.random.choice(KINDS[kind].values)
        self.facts.append(_Told(kind, subject, what, [value]))
        self._say(len(self.facts) - 1, self._filled(KINDS[kind].told, self.facts[-1], value), 0)

    def _revise(self, number: int) -> None:
        fact = self.facts[number]
        value = self._another(fact)
        fact.values.append(value)
        text = self._filled(self.random.choice(KINDS[fact.kind].changed), fact, value)
        self._say(number, text, len(fact.values) - 1)

    def _repeat(self, number: int) -> None:
        fact = self.facts[number]
        self._say(number, fact.last_text, len(fact.values) - 1)

    def _contradict(self, number: int) -> None:
        fact = self.facts[number]
        doubt = DOUBT.format(person=self.random.choice(PEOPLE))
        fact.denied.append(self._another(fact))
        text = doubt + self._filled(KINDS[fact.kind].told, fact, fact.denied[-1])
        due = len(self.lines) + self.random.randint(*_CORRECTED_AFTER)
        heapq.heappush(self.corrections, (due, number))
        self._say(number, text, NEVER_TRUE)

    def _correct(self, number: int) -> None:
        fact = self.facts[number]
        text = CORRECTION + self._filled(KINDS[fact.kind].told, fact, fact.values[-1])
        self._say(number, text, len(fact.values) - 1)

    def _chat(self) -> None:
        kind, _, text = self.random.choices(CHATTER, [weight for _, weight, _ in CHATTER])[0]
        subject = self.random.choice(self.subjects)
        person = self.random.choice(PEOPLE)
        filled = text.format(subject=subject, person=person, number=self.random.randint(2, 90))
        self.lines.append(Line({"text": filled, "kind": kind, "topic": subject}))

    def _say(self, number: int, text: str, version: int) -> None:
        fact = self.facts[number]
        if version != NEVER_TRUE:
            fact.last_text = text
        record = {"text": text, "kind": fact.kind, "topic": fact.subject}
        self.lines.append(Line(record, number, version))

    def _another(self, fact: _Told) -> str:
        """Return a value that was not said of the fact; where all were, one that does not hold."""
        said = {*fact.values, *fact.denied}
        values = KINDS[fact.kind].values
        others = [value for value in values if value not in said]
        return self.random.choice(others or [value for value in values if value != fact.values[-1]])

    def _filled(self, text: str, fact: _Told, value: str) -> str:
        return text.format(subject=fact.subject, what=fact.what, value=value)


def invent(workload: Workload, random: Random) -> Script:
    """Return a script of ``workload.memories`` lines in the shares that the workload says.

    Subjects are as many as give each some eight facts, so that a question has neighbours with the
    same subject, and with the same words about other subjects. A line's record holds text, kind and
    topic (the subject): nothing in it tells what will be asked about.

    Args:
        workload: how many lines, and the share of each sort.
        random: what chance decides.
    """
    expected = workload.memories * (1.0 - workload.chatter)
    subjects = _subjects(max(4, round(expected / _FACTS_OF_A_SUBJECT)), random)
    author = _Author(workload, random, subjects)
    for _ in range(workload.memories):
        author.write()
    return Script(author.lines, [_fact(told) for told in author.facts])


def _subjects(count: int, random: Random) -> list[str]:
    """Return so many names; numbered from the second time round."""
    names = [f"{adjective} {noun}" for adjective, noun in product(ADJECTIVES, NOUNS)]
    random.shuffle(names)
    rounds, rest = divmod(count, len(names))
    numbered = [f"{name} {turn}" for turn in range(2, rounds + 2) for name in names]
    return [*names, *numbered][:count] if rounds else names[:rest]


def _fact(told: _Told) -> Fact:
    asked = KINDS[told.kind].asked
    texts = (text.format(subject=told.subject, what=told.what) for text in asked)
    return Fact(told.kind, tuple(Phrase(text) for text in texts))
