"""A world run on an engine: memories added, queried, dreamt about and measured, on the virtual clock."""

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
    DEFAULT_KIND,
    SET_ASIDE,
    TAKING_FIELDS,
    Course,
    DayFigures,
    Takings,
    is_set_aside,
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
"""What a word counts beside one of its trigrams."""


class HashedGrams:
    """Adds up a signed unit for each word and each trigram of a text, where its CRC-32 says.

    The same text has the same vector everywhere and always; texts are near where they share words,
    or parts of words. Stands in for a model, of whose sense for meaning it has nothing.

    Args:
        dimension: of the vectors, >= 1; the default is that of the demo's.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._known: dict[str, tuple[list[int], list[float]]] = {}

    @property
    def name(self) -> str:
        """What the store records."""
        return f"hashed-grams-{self._dimension}"

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector a text, shape (n, dimension), not of unit length."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                places, values = self._known.get(word) or self._hashed(word)
                np.add.at(vector, places, values)
        return vectors

    def _hashed(self, word: str) -> tuple[list[int], list[float]]:
        """Return where a word counts, and how much."""
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
"""When a simulated life begins: 2025-01-01T00:00:00Z."""

DEPTH: Final = 10
"""Results looked at by a probe."""

_ASKED_DEPTH: Final = 5
"""Results that a session asks for, and uses."""

SHORTEST_DAYS: Final = 0.01
"""Between two cycles."""

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
    """Run a world under one profile, and measure it month by month.

    All times are the virtual clock's, from :data:`BEGINNING` on; the machine's is looked at for what
    searches and cycles take alone. What sessions ask counts as use (five results each); what is measured does not:
    probes see what they see, and leave no trace.

    Args:
        world: what happens.
        profile: ranks, and dreams, by name or as a ``Profile``.
        dream_every_days: days between two cycles, >= 0.01; None: never.
        embedder: of memories and questions without a vector; None: :class:`HashedGrams`.
        advance: called with 1 after each of :func:`step_count` steps.

    Returns:
        The same for the same arguments, latencies apart.

    Raises:
        ValueError, TypeError: an argument breaks its rule.
    """
    steps = _steps(world, dream_every_days)
    clock = VirtualClock(BEGINNING)
    chosen = HashedGrams() if embedder is None else embedder
    with Engine(
        ":memory:", profile=profile, embedder=chosen, clock=clock, vector_index="flat"
    ) as mind:
        life = _Life(mind, clock, world, chosen)
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
            profile=mind.stats()["profile"],
            seed=world.seed,
            is_dreaming=dream_every_days is not None,
            dreams=life.dreams,
            dream_seconds=life.dream_seconds,
            checkpoints=tuple(life.checkpoints),
            forgotten=life.forgotten(),
        )


def step_count(world: World, dream_every_days: float | None) -> int:
    """Return how often :func:`simulate` says that it advanced."""
    return len(_steps(world, dream_every_days))


def _steps(world: World, dream_every_days: float | None) -> list[tuple[float, str]]:
    """Return what happens by its time in days: a session's place, "dream", then "measure"."""
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
    return [(at, step) for at, _, step in sorted(steps, key=lambda one: one[:2])]


@dataclass(slots=True)
class _Life:
    """An engine, and what is true beside it."""

    mind: Engine
    clock: VirtualClock
    world: World
    embedder: Embedder
    standing: FactStanding = field(default_factory=FactStanding)
    told: dict[str, str] = field(default_factory=dict)
    """The kind of each memory told, by id."""
    made: list[str] = field(default_factory=list)
    """The ids of what dreams made."""
    takings: Takings = field(default_factory=Takings)
    dreams: int = 0
    dream_seconds: float = 0.0
    checkpoints: list[DayFigures] = field(default_factory=list)

    def live_until(self, day: float) -> None:
        """Move the clock to a day, and never back: what overlaps comes one after the other."""
        self.clock.advance(max(0.0, BEGINNING + day * _DAY - self.clock()))

    def sit(self, session: Session) -> None:
        """Ask what a session asks, then tell what it tells."""
        for asked in session.asked:
            self.live_until(asked.at)
            phrase = self.world.facts[asked.fact].phrases[asked.phrase]
            self.mind.search(
                phrase.text, _ASKED_DEPTH, session=session.name, embedding=phrase.vector
            )
        if not session.tellings:
            return
        self.live_until(session.ends)
        records = [{**one.record, "session": session.name} for one in session.tellings]
        self.mind.add_many(records)
        for telling in session.tellings:
            self.told[telling.record["id"]] = telling.record.get("kind", DEFAULT_KIND)
            self.standing.tell(telling)
            for old in telling.supersedes:
                self._supersede(old, telling.record["id"])

    def _supersede(self, old: str, new: str) -> None:
        """Mark a memory as superseded, unless a dream took it away: who looks for it finds none."""
        if self.mind.get_many([old])[0] is not None:
            self.mind.supersede(old, new)

    def dream(self) -> None:
        """Run one cycle."""
        started = perf_counter()
        plan = self.mind.dream(dry_run=True)
        plan.apply()
        self.dream_seconds += perf_counter() - started
        self.dreams += 1
        self.takings.note(plan.changes(TAKING_FIELDS))
        self.made += [change.id for change in plan.changes(["memory"])]

    def forgotten(self) -> Sequence[Forgotten]:
        """Return what is away now, kind by kind."""
        return self.takings.by_kind(self.told, self.mind.get_many(list(self.told)))

    def measure(self) -> None:
        """Ask about every fact that is still relevant, and note how things stand."""
        day = (self.clock() - BEGINNING) / _DAY
        probes = self.world.still_relevant(day)
        asked = [self._probed(probe) for probe in probes]
        outcomes = [outcome for outcome, _ in asked]
        milliseconds = [1e3 * seconds for _, seconds in asked] or [0.0]
        live, set_aside = len(self.mind), self.mind.count(SET_ASIDE)
        made = [one for one in self.mind.get_many(self.made) if one is not None]
        self.checkpoints.append(
            DayFigures(
                day=day,
                told=len(self.told),
                active=live - set_aside,
                set_aside=set_aside - sum(map(is_set_aside, made)),
                deleted=len(self.told) - (live - len(made)),
                added=len(self.made),
                questions=len(probes),
                found=_share([one.found for one in outcomes]),
                misled=_share([one.misled for one in outcomes]),
                untrue=_share([one.untrue for one in outcomes]),
                p50_ms=float(np.percentile(milliseconds, 50.0)),
                p99_ms=float(np.percentile(milliseconds, 99.0)),
            )
        )

    def _probed(self, probe: Probe) -> tuple[Outcome, float]:
        """Return what came of a question that leaves no trace, and the seconds that it took."""
        phrase = probe.phrase
        started = thread_time()
        response = self.mind.search(
            phrase.text, DEPTH, embedding=phrase.vector, now=self.clock(), reinforce=False
        )
        seconds = thread_time() - started
        current, untrue = self.standing.current(probe.fact), self.standing.untrue(probe.fact)
        shown = []
        for one in response.results:
            is_made = one.id not in self.told
            # A text is read from the store: only where it can tell something.
            is_read = is_made or one.id in current or one.id in untrue
            shown.append(Shown(one.id, one.memory.text if is_read else "", is_made))
        return judged(shown, current, untrue), seconds


def _share(claims: Sequence[bool]) -> float:
    """Return the share of claims that hold; 0 of none."""
    return sum(claims) / len(claims) if claims else 0.0
