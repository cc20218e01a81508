"""The events of a simulation, the truth of facts over time, and the judgement of results."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from oneiros.runtime.dataclasses import NamedTuple, dataclass, field
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
    """A search result."""

    id: str
    text: str
    """Text in the store after the search; irrelevant for memories about other facts."""
    is_made: bool
    """Whether the memory was made by a dream."""


class Outcome(NamedTuple):
    """The judgement of one question's results."""

    found: bool
    """Whether a result states the current value."""
    stale_at_rank_1: bool
    """Whether a stale memory of the fact is ranked above all current ones."""
    stale_in_top_k: bool
    """Whether any result is a stale memory of the fact."""


def judged(
    results: Sequence[Shown], current: Mapping[str, str], stale: Mapping[str, str]
) -> Outcome:
    """Judge the results of a question about one fact.

    A memory of a session states its text if the result still contains it completely: a stub states
    nothing. A memory made by a dream states every text that it contains completely; if the current
    value is among them, it counts as current.

    Args:
        results: best first.
        current: id -> text of memories that state the fact's current value.
        stale: id -> text of memories that state an earlier value or contradict the fact.
    """
    first_current = first_stale = len(results)
    for rank, shown in reversed(list(enumerate(results))):
        if _states(shown, current):
            first_current = rank
        elif _states(shown, stale):
            first_stale = rank
    is_stale = first_stale < len(results)
    return Outcome(
        found=first_current < len(results),
        stale_at_rank_1=is_stale and first_stale < first_current,
        stale_in_top_k=is_stale,
    )


def _states(shown: Shown, statements: Mapping[str, str]) -> bool:
    if shown.is_made:
        return any(text in shown.text for text in statements.values())
    return shown.id in statements and statements[shown.id] in shown.text


AFTERMATH_DAYS: Final = 90.0
"""Number of days before its next question in which a fact is relevant."""

RECENT_DAYS: Final = 30.0
"""Number of days after a question in which its fact stays relevant."""


class FactQuery(NamedTuple):
    """A question about a fact."""

    at: float
    """Days since the start."""
    fact: int
    phrase: int
    """Index of the wording among the fact's phrases."""


class Telling(NamedTuple):
    """A memory that is added."""

    record: Mapping[str, Any]
    """Fields for ``Engine.add``; the ``id`` reveals only the order."""
    fact: int | None
    """None if no question is about it."""
    version: int
    supersedes: tuple[str, ...]
    """Ids that the user marks as superseded by this memory."""


class Session(NamedTuple):
    """The questions of a session, then its memories."""

    name: str
    at: float
    """Days since the start."""
    asked: tuple[FactQuery, ...]
    ends: float
    """Time at which its memories are added, in days."""
    tellings: tuple[Telling, ...]


class Probe(NamedTuple):
    """A question that measures whether a fact is still found."""

    fact: int
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class World:
    """All events, and questions from after the end, which are not run."""

    days: float
    """Duration of the simulation."""
    sessions: Sequence[Session]
    """By time; those after ``days`` have only questions."""
    facts: Sequence[Fact]
    memory_count: int
    seed: int = 0
    """Seed of all random choices."""
    _queries: dict[int, list[FactQuery]] = field(init=False, repr=False, compare=False)
    _stated_at: dict[int, float] = field(init=False, repr=False, compare=False)
    """Day on which each fact was first stated."""

    def __post_init__(self) -> None:
        queries: dict[int, list[FactQuery]] = {}
        stated_at: dict[int, float] = {}
        for session in self.sessions:
            for query in session.asked:
                queries.setdefault(query.fact, []).append(query)
            for telling in session.tellings:
                if telling.fact is not None:
                    stated_at.setdefault(telling.fact, session.ends)
        for of_fact in queries.values():
            of_fact.sort()  # sessions overlap
        object.__setattr__(self, "_queries", queries)
        object.__setattr__(self, "_stated_at", stated_at)

    def still_relevant(self, at: float) -> list[Probe]:
        """Return a question for each fact that is still relevant at a time, in the facts' order.

        A fact is relevant at t if it was stated by t, and if a question about it is within
        (t - :data:`RECENT_DAYS`, t] or (t, t + :data:`AFTERMATH_DAYS`]. That depends only on the
        workload, not on an engine, and each fact counts once. The wording is that of the next
        question, or else of the last one.

        Args:
            at: days since the start.
        """
        probes = []
        for fact, queries in sorted(self._queries.items()):
            times = [query.at for query in queries]
            past = bisect_right(times, at)
            if self._stated_at.get(fact, math.inf) > at:
                continue
            is_recent = past > 0 and times[past - 1] > at - RECENT_DAYS
            is_coming = past < len(times) and times[past] <= at + AFTERMATH_DAYS
            if is_recent or is_coming:
                place = past if is_coming else past - 1
                probes.append(Probe(fact, self.facts[fact].phrases[queries[place].phrase]))
        return probes


@dataclass(slots=True)
class FactStanding:
    """The truth of each fact, given the memories added so far."""

    _memories: dict[int, list[tuple[int, str, str]]] = field(default_factory=dict)
    """Fact -> version, id and text of each memory about it."""

    def tell(self, telling: Telling) -> None:
        """Record an added memory."""
        if telling.fact is not None:
            memory = (telling.version, telling.record["id"], telling.record["text"])
            self._memories.setdefault(telling.fact, []).append(memory)

    def current(self, fact: int) -> dict[str, str]:
        """Return id -> text of the memories that state a fact's current value."""
        now = self._version(fact)
        return {id: text for version, id, text in self._memories.get(fact, ()) if version == now}

    def stale(self, fact: int) -> dict[str, str]:
        """Return id -> text of the memories that state an earlier value or contradict the fact."""
        now = self._version(fact)
        return {id: text for version, id, text in self._memories.get(fact, ()) if version != now}

    def _version(self, fact: int) -> int:
        return max((version for version, _, _ in self._memories.get(fact, ())), default=NEVER_TRUE)
