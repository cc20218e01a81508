"""A simulated life as it happens, what is true in it, and answers judged by that."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.runtime.dataclasses import dataclass, field
from oneiros.simulation.script import NEVER_TRUE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oneiros.simulation.script import Fact, Phrase

__all__ = [
    "AFTERMATH_DAYS",
    "RECENT_DAYS",
    "FactQuery",
    "FactStanding",
    "Outcome",
    "Probe",
    "Session",
    "Shown",
    "Telling",
    "World",
    "judged",
]


class Shown(NamedTuple):
    """A result."""

    id: str
    text: str
    """As the store holds it after the search; of a memory that was told and is none of the fact's, any."""
    is_made: bool
    """Whether a dream made the memory."""


class Outcome(NamedTuple):
    """What came of one question."""

    found: bool
    """Whether a memory that states what holds now is among the results."""
    misled: bool
    """Whether an untrue memory of the fact stands above all of those."""
    untrue: bool
    """Whether an untrue one is among the results at all."""


def judged(
    results: Sequence[Shown], current: Mapping[str, str], untrue: Mapping[str, str]
) -> Outcome:
    """Judge the results of a question about one fact.

    A memory that was told states its own text, as long as that stands in it whole: a stub states
    nothing. One that a dream made states every text that stands in it whole; if what holds now is
    among them, that is what it states.

    Args:
        results: the best first.
        current: memories that state the fact's value as it is now, id to the text told.
        untrue: those that state an earlier one, or contradict it.
    """
    first_current = first_untrue = len(results)
    for rank, shown in reversed(list(enumerate(results))):
        if _states(shown, current):
            first_current = rank
        elif _states(shown, untrue):
            first_untrue = rank
    is_untrue = first_untrue < len(results)
    return Outcome(
        found=first_current < len(results),
        misled=is_untrue and first_untrue < first_current,
        untrue=is_untrue,
    )


def _states(shown: Shown, statements: Mapping[str, str]) -> bool:
    if shown.is_made:
        return any(text in shown.text for text in statements.values())
    return shown.id in statements and statements[shown.id] in shown.text


AFTERMATH_DAYS: Final = 90.0
"""How far the future reaches in which a fact that will be asked about is still relevant."""

RECENT_DAYS: Final = 30.0
"""How long a fact that was asked about stays relevant."""


class FactQuery(NamedTuple):
    """A question about a fact."""

    at: float
    """Days since the beginning."""
    fact: int
    phrase: int
    """The place of its words among the fact's."""


class Telling(NamedTuple):
    """A memory that is added."""

    record: Mapping[str, Any]
    """As ``Engine.add`` takes it; its ``id`` tells nothing but the order."""
    fact: int | None
    """None: nobody asks about it."""
    version: int
    supersedes: tuple[str, ...]
    """The ids of which the user says that this one takes their place."""


class Session(NamedTuple):
    """Questions, then memories, of one session."""

    name: str
    at: float
    """Days since the beginning."""
    asked: tuple[FactQuery, ...]
    ends: float
    """When its memories are told, in days."""
    tellings: tuple[Telling, ...]


class Probe(NamedTuple):
    """A question by which it is measured whether a fact is still found."""

    fact: int
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class World:
    """All that happens, with an aftermath of questions that nobody runs."""

    days: float
    """How long it runs."""
    sessions: Sequence[Session]
    """By time; those after ``days`` only ask."""
    facts: Sequence[Fact]
    memory_count: int
    seed: int = 0
    """Of what chance decided."""
    _asked: dict[int, list[FactQuery]] = field(init=False, repr=False, compare=False)
    _told_at: dict[int, float] = field(init=False, repr=False, compare=False)
    """When each fact was told first, in days."""

    def __post_init__(self) -> None:
        asked: dict[int, list[FactQuery]] = {}
        told_at: dict[int, float] = {}
        for session in self.sessions:
            for question in session.asked:
                asked.setdefault(question.fact, []).append(question)
            for telling in session.tellings:
                if telling.fact is not None:
                    told_at.setdefault(telling.fact, session.ends)
        for questions in asked.values():
            questions.sort()  # sessions overlap
        object.__setattr__(self, "_asked", asked)
        object.__setattr__(self, "_told_at", told_at)

    def still_relevant(self, at: float) -> list[Probe]:
        """Return a question for each fact that is still relevant at a time, in the facts' order.

        A fact is still relevant at t, if it is asked about within (t - :data:`RECENT_DAYS`, t] or
        within (t, t + :data:`AFTERMATH_DAYS`], and was told by t. The workload's questions decide
        that alone, before anything is run; no engine has part in it, and each fact counts once,
        however often it is asked about. The question is put as it will be put next, or else as it
        was put last.

        Args:
            at: days since the beginning.
        """
        probes = []
        for fact, asked in sorted(self._asked.items()):
            times = [one.at for one in asked]
            past = bisect_right(times, at)
            if self._told_at.get(fact, math.inf) > at:
                continue
            is_recent = past > 0 and times[past - 1] > at - RECENT_DAYS
            is_coming = past < len(times) and times[past] <= at + AFTERMATH_DAYS
            if is_recent or is_coming:
                place = past if is_coming else past - 1
                probes.append(Probe(fact, self.facts[fact].phrases[asked[place].phrase]))
        return probes


@dataclass(slots=True)
class FactStanding:
    """What is true of each fact by what was told so far."""

    _told: dict[int, list[tuple[int, str, str]]] = field(default_factory=dict)
    """Of each fact version, id and text of what was told."""

    def tell(self, telling: Telling) -> None:
        """Note a memory that was told."""
        if telling.fact is not None:
            held = (telling.version, telling.record["id"], telling.record["text"])
            self._told.setdefault(telling.fact, []).append(held)

    def current(self, fact: int) -> dict[str, str]:
        """Return the memories that state a fact's value as it is now, id to text; none: never told."""
        now = self._version(fact)
        return {id: text for version, id, text in self._told.get(fact, ()) if version == now}

    def untrue(self, fact: int) -> dict[str, str]:
        """Return those that state an earlier value of it, or contradict it, id to text."""
        now = self._version(fact)
        return {id: text for version, id, text in self._told.get(fact, ()) if version != now}

    def _version(self, fact: int) -> int:
        return max((version for version, _, _ in self._told.get(fact, ())), default=NEVER_TRUE)
