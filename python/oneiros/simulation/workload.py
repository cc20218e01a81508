"""Parameters of a simulation; generates its sessions and their queries."""

from __future__ import annotations

import heapq
import math
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from oneiros.runtime.dataclasses import dataclass, fields
from oneiros.simulation.invented import invent
from oneiros.simulation.script import NEVER_TRUE
from oneiros.simulation.world import AFTERMATH_DAYS, FactQuery, Session, Telling, World

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from oneiros.simulation.script import Line, Script

__all__ = ["Demand", "Workload"]


SPELL_DAYS: Final = 7.0
"""Half-life in days of the attention to a topic after it comes up."""

_WARM_UP: Final = 20.0 * SPELL_DAYS
"""Days before the start from which topics come up, so that the start is like any other time."""

_FAINTEST: Final = 1e-300
"""Added to each weight, so that facts can be drawn however old all of them are."""


class Demand:
    """Draws the facts that questions are about.

    With probability ``workload.recent``, a recent fact, with weight
    2^(-age / ``workload.recent_days``); else a fact of interest, with weight

    rank^(-``workload.zipf``) x exp(-rate x age) x attention to its topic.

    The age is that of the last statement of the fact, in days; the rank is random. The rate is
    the fact's own: the sum of a share of its topic and a share of the fact itself, each drawn from
    a gamma distribution, so that the rate has the shape ``workload.interest_tail`` and the mean of
    exp(-rate x age) over all facts is (1 + age / ``workload.interest_days``)^(-interest_tail). A
    topic comes up at random times, ``workload.return_days`` apart on average, and attention to it
    fades with a half-life of :data:`SPELL_DAYS` after each; its mean over time is 1. Nothing
    depends on what a fact says.

    Source: docs/simulation.md.

    Args:
        topics: topic of each fact; None: its own.
        workload: shares, exponents and days.
        random: random generator.
    """

    def __init__(self, topics: Sequence[str | None], workload: Workload, random: Random) -> None:
        self._workload = workload
        self._random = random
        ranks = list(range(1, len(topics) + 1))
        random.shuffle(ranks)
        self.ranks = np.array(ranks, np.float64)
        """Shape (facts,); 1 is the most popular."""
        own = [(place if topic is None else topic) for place, topic in enumerate(topics)]
        numbers = {topic: number for number, topic in enumerate(dict.fromkeys(own))}
        self._topics = np.array([numbers[topic] for topic in own], np.intp)
        of_topics = np.array([self._rate() for _ in numbers], np.float64)
        of_facts = np.array([self._rate() for _ in topics], np.float64)
        self.rates = of_topics[self._topics] + of_facts
        """Shape (facts,), per day: how fast interest in a fact fades."""
        self._attention = _Attention(len(numbers), workload.return_days, random)
        self._stated_at = np.full(len(topics), math.inf)

    def _rate(self) -> float:
        """Draw one of the two shares of a fact's rate, per day."""
        workload = self._workload
        # Gamma variables of one scale add up to a gamma variable with the sum of their shapes.
        return self._random.gammavariate(workload.interest_tail / 2.0, 1.0 / workload.interest_days)

    def tell(self, fact: int, at: float) -> None:
        """Record that a fact was stated at a time, in days."""
        self._stated_at[fact] = at

    def ask(self, at: float, count: int) -> list[int]:
        """Draw the facts of ``count`` questions at a time, in days; empty if no fact was stated.

        Args:
            at: not before the time of an earlier call.
            count: number of questions.
        """
        age = at - self._stated_at
        is_stated = age >= 0.0
        if not count or not is_stated.any():
            return []
        age = np.where(is_stated, age, 0.0)
        recent = 2.0 ** (-age / self._workload.recent_days)
        interest = self.ranks**-self._workload.zipf * np.exp(-self.rates * age)
        interest *= self._attention.at(at)[self._topics]
        sums = [
            np.cumsum(np.where(is_stated, weights + _FAINTEST, 0.0))
            for weights in (interest, recent)
        ]
        return [
            self._drawn(sums[self._random.random() < self._workload.recent]) for _ in range(count)
        ]

    def _drawn(self, sums: npt.NDArray[np.float64]) -> int:
        """Draw an index with probability proportional to its increment of the cumulative sums."""
        return int(np.searchsorted(sums, self._random.random() * sums[-1], side="right"))


class _Attention:
    """Attention to topics over time: each comes up as a Poisson process, and fades again.

    Args:
        count: number of topics.
        return_days: mean time between two times at which a topic comes up.
        random: random generator.
    """

    def __init__(self, count: int, return_days: float, random: Random) -> None:
        self._random = random
        self._rate = 1.0 / return_days
        self._scale = return_days * math.log(2.0) / SPELL_DAYS
        """Attention at the moment at which a topic comes up; its mean over time is then 1."""
        self._values = np.zeros(count)
        self._now = -_WARM_UP
        self._next = [(self._now + random.expovariate(self._rate), topic) for topic in range(count)]
        heapq.heapify(self._next)

    def at(self, day: float) -> npt.NDArray[np.float64]:
        """Return the attention to each topic on a day, which is not before that of the last call."""
        self._values *= 2.0 ** ((self._now - day) / SPELL_DAYS)
        self._now = day
        while self._next and self._next[0][0] <= day:
            at, topic = self._next[0]
            self._values[topic] += self._scale * 2.0 ** ((at - day) / SPELL_DAYS)
            heapq.heapreplace(self._next, (at + self._random.expovariate(self._rate), topic))
        return self._values


_BETWEEN: Final = 60.0 / 86_400.0
"""Days between two questions of a session, and before its memories."""

_SHARES: Final = ("chatter", "revisions", "repeats", "contradictions", "recent", "marked")
_DAYS: Final = ("recent_days", "interest_days", "return_days")
_ABOVE_ZERO: Final = ("session_size", "interest_tail")
_NOT_BELOW_ZERO: Final = ("questions", "zipf")
_LONGEST: Final = 36_525.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Parameters of a simulation.

    Sessions arrive as a Poisson process, as many as are needed for all memories. Each has some
    questions about earlier memories, then adds 1 plus a Poisson number of memories. ``memories``,
    ``chatter``, ``revisions``, ``repeats`` and ``contradictions`` shape a generated script; a given
    one is used unchanged.
    """

    days: float = 365.0
    """Virtual days, >= 1."""
    memories: int = 5_000
    """Number of memories, >= 1."""
    seed: int = 0
    """Seed of all random choices, >= 0; the same seed gives the same world."""
    chatter: float = 0.55
    """Share of memories without questions about them."""
    revisions: float = 0.08
    """Share of memories that give a fact another value."""
    repeats: float = 0.06
    """Share of memories that repeat a fact's last statement word for word."""
    contradictions: float = 0.02
    """Share of memories that wrongly contradict a fact; each is corrected some sessions later."""
    marked: float = 0.5
    """Share of revisions and corrections for which ``supersede`` is called."""
    session_size: float = 5.0
    """Mean number of memories per session, > 0; at least 1."""
    questions: float = 3.0
    """Mean number of questions per session, >= 0."""
    recent: float = 0.4
    """Share of questions about recent facts; the others are about facts of interest."""
    recent_days: float = 3.0
    """Half-life in days of the chance of a question about a recent fact, > 0."""
    zipf: float = 1.0
    """Exponent of popularity, >= 0: questions about the fact of rank r have weight r^-zipf."""
    interest_days: float = 75.0
    """Scale in days, > 0, of how interest in facts fades: the mean over all facts is
    (1 + age / interest_days)^-interest_tail, though each fact fades by its own rate."""
    interest_tail: float = 1.0
    """Exponent of the same, > 0: the lower, the longer facts stay of interest."""
    return_days: float = 60.0
    """Mean time in days, > 0, until a topic comes up again."""

    def __post_init__(self) -> None:
        for parameter in fields(self):
            _require_number(parameter.name, getattr(self, parameter.name))
        if self.chatter + self.changes > 1.0:
            total = self.chatter + self.changes
            msg = f"chatter: at most 1 with revisions, repeats and contradictions, got {total:g}"
            raise ValueError(msg)

    @property
    def changes(self) -> float:
        """Share of memories about a fact that was stated before."""
        return self.revisions + self.repeats + self.contradictions

    def world(self, script: Script | None = None) -> World:
        """Return the sessions within ``days``, and the questions of the days after them.

        Args:
            script: the memories; None: a generated script.
        """
        if script is None:
            script = invent(self, Random(self.seed))
        return _Narrator(self, script).world()


def _stream(workload: Workload, purpose: str) -> Random:
    """Return a random generator for one purpose.

    With a generator each, the wording of a script has no influence on the times of its questions.
    """
    return Random(f"{workload.seed} {purpose}")


class _Narrator:
    """Assigns times and questions to a script."""

    def __init__(self, workload: Workload, script: Script) -> None:
        self._workload = workload
        self._script = script
        self._random = _stream(workload, "times")
        self._wording = _stream(workload, "wording")
        topics = [fact.topic for fact in script.facts]
        self._demand = Demand(topics, workload, _stream(workload, "demand"))
        self._standing: dict[int, list[tuple[str, int]]] = {}
        """Fact -> id and version of its memories that are not marked as superseded."""

    def world(self) -> World:
        lines, days = len(self._script.lines), self._workload.days
        sizes = self._sizes(lines)
        arrivals = sorted(self._random.uniform(0.0, days) for _ in sizes)
        sessions: list[Session] = []
        first = 0
        for at, size in zip(arrivals, sizes, strict=True):
            sessions.append(self._session(len(sessions), at, range(first, first + size)))
            first += size
        for at in self._aftermath(len(sizes) / days):
            sessions.append(self._session(len(sessions), at, range(0)))
        return World(days, tuple(sessions), self._script.facts, lines, self._workload.seed)

    def _sizes(self, count: int) -> list[int]:
        """Return the number of memories of each session, summing to ``count``."""
        sizes: list[int] = []
        while count:
            sizes.append(min(count, 1 + self._poisson(self._workload.session_size - 1.0)))
            count -= sizes[-1]
        return sizes

    def _aftermath(self, rate: float) -> Iterator[float]:
        """Yield start times of sessions after the simulated days, at ``rate`` per day."""
        at = self._workload.days
        while (at := at + self._random.expovariate(rate)) < self._workload.days + AFTERMATH_DAYS:
            yield at

    def _session(self, number: int, at: float, places: range) -> Session:
        count = self._poisson(self._workload.questions)
        facts = self._script.facts
        queries = tuple(
            FactQuery(
                at + _BETWEEN * place, fact, self._wording.randrange(len(facts[fact].phrases))
            )
            for place, fact in enumerate(self._demand.ask(at, count))
        )
        ends = at + _BETWEEN * (len(queries) + 1)
        tellings = tuple(self._telling(ends, place) for place in places)
        return Session(f"session-{number:06}", at, queries, ends, tellings)

    def _telling(self, at: float, place: int) -> Telling:
        line = self._script.lines[place]
        id = f"m{place:07}"
        record = {**line.record, "id": id}
        if line.fact is None:
            return Telling(record, None, 0, ())
        self._demand.tell(line.fact, at)
        replaced = self._replaced(line)
        self._standing.setdefault(line.fact, []).append((id, line.version))
        return Telling(record, line.fact, line.version, replaced)

    def _replaced(self, line: Line) -> tuple[str, ...]:
        """Return the ids to mark as superseded: all that the line makes stale, or none."""
        assert line.fact is not None
        if line.version == NEVER_TRUE:
            return ()
        standing = self._standing.get(line.fact, [])
        stale = [each for each in standing if each[1] != line.version]
        if not stale or self._random.random() >= self._workload.marked:
            return ()
        self._standing[line.fact] = [each for each in standing if each not in stale]
        return tuple(id for id, _ in stale)

    def _poisson(self, mean: float) -> int:
        """Draw from a Poisson distribution by Knuth's method; 0 if the mean is not positive."""
        product, count, bound = self._random.random(), 0, math.exp(-max(mean, 0.0))
        while product > bound:
            product *= self._random.random()
            count += 1
        return count


def _require_number(name: str, value: object) -> None:
    is_whole = name in ("memories", "seed")
    kinds = (int,) if is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        msg = f"{name}: expected {'int' if is_whole else 'number'}, got {value!r}"
        raise TypeError(msg)
    low, high, is_open = _range(name)
    if not (low < value if is_open else low <= value) or not value <= high:
        msg = f"{name}: must be {'>' if is_open else '>='} {low:g} and <= {high:g}, got {value!r}"
        raise ValueError(msg)


def _range(name: str) -> tuple[float, float, bool]:
    """Return the bounds of a parameter, and whether the lower one is excluded."""
    if name in _SHARES:
        return 0.0, 1.0, False
    if name in _DAYS:
        return 0.0, _LONGEST, True
    if name in _ABOVE_ZERO:
        return 0.0, 100.0, True
    if name in _NOT_BELOW_ZERO:
        return 0.0, 100.0, False
    if name == "days":
        return 1.0, _LONGEST, False
    return (1.0, 1e6, False) if name == "memories" else (0.0, 2.0**63, False)
