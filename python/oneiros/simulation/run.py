"""Running a world on an engine with the virtual clock: add, search, dream, measure."""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from oneiros.clock import VirtualClock
from oneiros.engine import Engine
from oneiros.model.validation import require_number
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.simulation.figures import (
    ARCHIVED,
    DEFAULT_KIND,
    TAKING_FIELDS,
    Course,
    DayFigures,
    Takings,
    is_archived,
)
from oneiros.simulation.world import FactStanding, Shown, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.models.embedders import Embedder
    from oneiros.scoring.profile import Profile
    from oneiros.simulation.figures import Forgotten
    from oneiros.simulation.world import Outcome, Probe, Session, World

__all__ = ["BEGINNING", "DEPTH", "SHORTEST_DAYS", "HashedGrams", "simulate", "step_count"]


_WORD_WEIGHT: Final = 2.0
"""Weight of a word relative to one of its trigrams."""


class HashedGrams:
    """An embedder that hashes words and trigrams, by CRC-32, to signed units of a vector.

    Deterministic on every machine. Texts are similar if they share words or parts of words. Stands
    in for a model, but does not capture meaning.

    Args:
        dimension: dimension of the vectors, >= 1; default: that of the demo's vectors.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._known: dict[str, tuple[list[int], list[float]]] = {}

    @property
    def name(self) -> str:
        """The name recorded in the store."""
        return f"hashed-grams-{self._dimension}"

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector per text, shape (n, dimension), not normalised."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                places, values = self._known.get(word) or self._hashed(word)
                np.add.at(vector, places, values)
        return vectors

    def _hashed(self, word: str) -> tuple[list[int], list[float]]:
        """Return a word's positions in the vector and their values."""
        bare = word.strip(".,:;!?'\"")
        edged = f"^{bare}$"
        grams = [edged[first : first + 3] for first in range(len(edged) - 2)]
        hashes = [(crc32(bare.encode()), _WORD_WEIGHT)]
        hashes += [(crc32(b"\0" + gram.encode()), 1.0) for gram in grams]
        places = [number // 2 % self._dimension for number, _ in hashes]
        values = [weight if number % 2 else -weight for number, weight in hashes]
        self._known[word] = (places, values)
        return places, values


if TYPE_CHECKING:
    Advance = Callable[[int], None]


BEGINNING: Final = 1_735_689_600.0
"""Start of a simulation: 2025-01-01T00:00:00Z."""

DEPTH: Final = 10
"""Number of results checked per probe."""

_SESSION_DEPTH: Final = 5
"""Number of results that a session requests and uses."""

SHORTEST_DAYS: Final = 0.01
"""Minimum number of days between two cycles."""

_DAY: Final = 86_400.0
_MONTH_DAYS: Final = 365.0 / 12.0


def simulate(
    world: World,
    profile: Profile | str = "oneiros",
    *,
    dream_every_days: float | None = 1.0,
    embedder: Embedder | None = None,
    advance: Advance | None = None,
) -> Course:
    """Run a world under one profile and measure it every month.

    All times are those of the virtual clock, from :data:`BEGINNING` on; only the latencies of
    searches and cycles are real. Searches of sessions count as accesses (five results each).
    Measurements do not: they leave no trace.

    Args:
        world: the events.
        profile: a name or a ``Profile``; determines ranking and dreams.
        dream_every_days: days between two cycles, >= 0.01; None: no cycles.
        embedder: for memories and questions without a vector; None: :class:`HashedGrams`.
        advance: called with 1 after each of :func:`step_count` steps.

    Returns:
        The course; identical for identical arguments, except for latencies.

    Raises:
        ValueError, TypeError: an invalid argument.
    """
    steps = _steps(world, dream_every_days)
    clock = VirtualClock(BEGINNING)
    chosen = HashedGrams() if embedder is None else embedder
    with Engine(
        ":memory:", profile=profile, embedder=chosen, clock=clock, vector_index="flat"
    ) as engine:
        life = _Life(engine, clock, world, chosen)
        for at, step in steps:
            life.live_until(at)
            if step == "dream":
                life.dream()
            elif step == "measure":
                life.measure()
            else:
                life.sit(world.sessions[int(step)])
            if advance is not None:
                advance(1)
        return Course(
            profile=engine.stats()["profile"],
            seed=world.seed,
            is_dreaming=dream_every_days is not None,
            dreams=life.dreams,
            dream_seconds=life.dream_seconds,
            checkpoints=tuple(life.checkpoints),
            forgotten=life.forgotten(),
        )


def step_count(world: World, dream_every_days: float | None) -> int:
    """Return the number of steps for which :func:`simulate` calls ``advance``."""
    return len(_steps(world, dream_every_days))


def _steps(world: World, dream_every_days: float | None) -> list[tuple[float, str]]:
    """Return pairs of time in days and step: a session's index, "dream" or "measure"."""
    steps = [
        (session.at, 0, str(place))
        for place, session in enumerate(world.sessions)
        if session.at < world.days
    ]
    if dream_every_days is not None:
        require_number("dream_every_days", dream_every_days, low=SHORTEST_DAYS)
        count = int(world.days / dream_every_days)
        steps += [(turn * dream_every_days, 1, "dream") for turn in range(1, count + 1)]
    months = max(1, round(world.days / _MONTH_DAYS))
    steps += [(world.days * turn / months, 2, "measure") for turn in range(1, months + 1)]
    return [(at, step) for at, _, step in sorted(steps, key=lambda each: each[:2])]


@dataclass(slots=True)
class _Life:
    """An engine, with the facts that are true at the same time."""

    engine: Engine
    clock: VirtualClock
    world: World
    embedder: Embedder
    standing: FactStanding = field(default_factory=FactStanding)
    kinds: dict[str, str] = field(default_factory=dict)
    """Memory id -> kind, for all memories of sessions."""
    made: list[str] = field(default_factory=list)
    """Ids of memories made by dreams."""
    takings: Takings = field(default_factory=Takings)
    dreams: int = 0
    dream_seconds: float = 0.0
    checkpoints: list[DayFigures] = field(default_factory=list)

    def live_until(self, day: float) -> None:
        """Move the clock forward to a day; never back, since sessions may overlap."""
        self.clock.advance(max(0.0, BEGINNING + day * _DAY - self.clock()))

    def sit(self, session: Session) -> None:
        """Run a session's queries, then add its memories."""
        for query in session.asked:
            self.live_until(query.at)
            phrase = self.world.facts[query.fact].phrases[query.phrase]
            self.engine.search(
                phrase.text, _SESSION_DEPTH, session=session.name, embedding=phrase.vector
            )
        if not session.tellings:
            return
        self.live_until(session.ends)
        records = [{**telling.record, "session": session.name} for telling in session.tellings]
        self.engine.add_many(records)
        for telling in session.tellings:
            self.kinds[telling.record["id"]] = telling.record.get("kind", DEFAULT_KIND)
            self.standing.tell(telling)
            for old in telling.supersedes:
                self._supersede(old, telling.record["id"])

    def _supersede(self, old: str, new: str) -> None:
        """Mark a memory as superseded, unless a dream deleted it."""
        if self.engine.get_many([old])[0] is not None:
            self.engine.supersede(old, new)

    def dream(self) -> None:
        """Run one cycle."""
        started = perf_counter()
        plan = self.engine.dream(dry_run=True)
        plan.apply()
        self.dream_seconds += perf_counter() - started
        self.dreams += 1
        self.takings.note(plan.changes(TAKING_FIELDS))
        self.made += [change.id for change in plan.changes(["memory"])]

    def forgotten(self) -> Sequence[Forgotten]:
        """Return the memories that are currently removed, by kind."""
        return self.takings.by_kind(self.kinds, self.engine.get_many(list(self.kinds)))

    def measure(self) -> None:
        """Search for every fact that is still relevant, and append a checkpoint."""
        day = (self.clock() - BEGINNING) / _DAY
        probes = self.world.still_relevant(day)
        probed = [self._probed(probe) for probe in probes]
        outcomes = [outcome for outcome, _ in probed]
        milliseconds = [1e3 * seconds for _, seconds in probed] or [0.0]
        live, archived = len(self.engine), self.engine.count(ARCHIVED)
        made = [memory for memory in self.engine.get_many(self.made) if memory is not None]
        self.checkpoints.append(
            DayFigures(
                day=day,
                memories=len(self.kinds),
                active=live - archived,
                archived=archived - sum(map(is_archived, made)),
                deleted=len(self.kinds) - (live - len(made)),
                added=len(self.made),
                questions=len(probes),
                found=_share([outcome.found for outcome in outcomes]),
                stale_at_rank_1=_share([outcome.stale_at_rank_1 for outcome in outcomes]),
                stale_in_top_k=_share([outcome.stale_in_top_k for outcome in outcomes]),
                p50_ms=float(np.percentile(milliseconds, 50.0)),
                p99_ms=float(np.percentile(milliseconds, 99.0)),
            )
        )

    def _probed(self, probe: Probe) -> tuple[Outcome, float]:
        """Return the outcome of a search that leaves no trace, and its processor seconds."""
        phrase = probe.phrase
        started = thread_time()
        response = self.engine.search(
            phrase.text, DEPTH, embedding=phrase.vector, now=self.clock(), reinforce=False
        )
        seconds = thread_time() - started
        current, stale = self.standing.current(probe.fact), self.standing.stale(probe.fact)
        shown = []
        for hit in response.results:
            is_made = hit.id not in self.kinds
            # Reading a text from the store is slow: do it only where the judgement needs it.
            is_read = is_made or hit.id in current or hit.id in stale
            shown.append(Shown(hit.id, hit.memory.text if is_read else "", is_made))
        return judged(shown, current, stale), seconds


def _share(claims: Sequence[bool]) -> float:
    """Return the share of true values; 0 if there are none."""
    return sum(claims) / len(claims) if claims else 0.0
