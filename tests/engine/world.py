"""A plain model of a store under the profile "reverie": dicts, exhaustive scoring, no index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from tests.oracles import bm25, reverie

NOW = 1_750_000_000.0
DAY = 86_400.0
DEPTH = 100  # R1, R2: the top 100 of each channel
WORDS = ("ant", "bee", "cat", "dog", "elk")
PROJECTS = (None, "red", "blue")
STATUSES = ("staged", "consolidated", "archived")
SHOWN = STATUSES[:2]  # docs/systems/fields.md: archived is hidden unless `status=` asks
KINDS = ("note", "fact", "decision")

_drawn = np.random.default_rng(3).normal(size=(11, 4)).astype(np.float32)
# The same direction twice (times a power of two, so that normalising gives the same bits): a tie.
VECTORS = tuple(tuple(map(float, row)) for row in (*_drawn[:8], 2 * _drawn[0], 0.25 * _drawn[1]))
QUESTIONS = tuple(tuple(map(float, row)) for row in _drawn[8:])

Fields = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the model keeps of a memory."""

    text: str
    life: reverie.Life
    embedding: tuple[float, ...] | None = None
    labels: Mapping[str, object] = field(default_factory=dict)
    status: str = "staged"
    is_deleted: bool = False


def anything(_: Known) -> bool:
    """Keep whatever it is."""
    return True


def cosine(left: tuple[float, ...], right: tuple[float, ...]) -> float:
    """Cosine by definition; docs/systems/reverie.md R2."""
    dot = math.fsum(a * b for a, b in zip(left, right, strict=True))
    return dot / (math.hypot(*left) * math.hypot(*right))


def gaps_are_wide() -> bool:
    """Tell whether no two directions are so close that float32 could swap them."""
    for question in QUESTIONS:
        found = sorted(cosine(question, vector) for vector in VECTORS)
        steps = [b - a for a, b in itertools.pairwise(found)]
        if any(1e-9 < step < 1e-4 for step in steps):
            return False
    return True


class World:
    """Memories by id in order of insertion, and the exhaustive search over them."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}

    def live(self) -> dict[str, Known]:
        """Return what is not deleted."""
        return {id: one for id, one in self.known.items() if not one.is_deleted}

    def channels(
        self,
        query: str,
        embedding: tuple[float, ...] | None,
        keep: Callable[[Known], bool] = anything,
        statuses: Collection[str] = SHOWN,
    ) -> list[list[tuple[str, float]]]:
        """Return R1 and R2: what each channel finds with its score, best first.

        What is hidden or filtered takes no place, but stays in the statistics; the deleted is gone.
        """
        ids = list(self.known)
        live = {row: self.known[id] for row, id in enumerate(ids) if not self.known[id].is_deleted}
        seen = {row for row, one in live.items() if one.status in statuses and keep(one)}
        documents = {row: one.text.split() for row, one in live.items()}
        words = bm25.rank(documents, query.split(), DEPTH, allowed=seen)
        found = [[(ids[row], score) for row, score in words]]
        if embedding is not None:
            near = [
                (-round(cosine(embedding, vector), 9), row)
                for row in seen
                if (vector := live[row].embedding) is not None
            ]
            found.append([(ids[row], -score) for score, row in sorted(near)[:DEPTH]])
        return found

    def search(
        self,
        query: str,
        k: int,
        now: float,
        embedding: tuple[float, ...] | None = None,
        keep: Callable[[Known], bool] = anything,
        statuses: Collection[str] = SHOWN,
        *,
        lifecycle: bool = True,
    ) -> list[reverie.Ranked]:
        """Return R1 to R9 over everything that is kept."""
        lives = {id: one.life for id, one in self.known.items()}
        found = self.channels(query, embedding, keep, statuses)
        rankings = [[id for id, _ in channel] for channel in found]
        return reverie.rank(lives, rankings, now, k, lifecycle=lifecycle)

    def reinforce(self, ids: list[str], now: float, session: str | None) -> None:
        """Apply R20 to what a search returned."""
        for id in ids:
            one = self.known[id]
            life = reverie.reinforce(one.life, now, session)
            self.known[id] = replace(one, life=life)


def known(fields: Mapping[str, object], now: float) -> Known:
    """Return what the model keeps of a record given to ``add`` at ``now``; docs/systems/fields.md."""
    created = float(fields.get("created_at", now))  # type: ignore[arg-type]
    session = fields.get("session")
    sessions = frozenset() if session is None else frozenset({str(session)})
    names = ("updated_at", "last_accessed_at", "strength", "depth", "stability", "access_count")
    life = {name: fields[name] for name in names if name in fields}
    return Known(
        text=str(fields["text"]),
        life=reverie.Life(created_at=created, sessions=sessions, **life),  # type: ignore[arg-type]
        embedding=fields.get("embedding"),  # type: ignore[arg-type]
        labels={name: fields.get(name) for name in ("kind", "project", "importance")},
        status=str(fields.get("status", "staged")),
    )


texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
queries = st.lists(st.sampled_from((*WORDS, "unheard")), max_size=4).map(" ".join)
ages = st.one_of(st.sampled_from([0.0, -2.0, 30.0, 3.65e8]), st.floats(-10, 1000, width=32))
times = ages.map(lambda age: NOW - age * DAY)
unit = st.floats(0, 1, width=32, allow_subnormal=False)
changeable = {
    "text": texts,
    "embedding": st.sampled_from(VECTORS),
    "strength": unit,
    "depth": st.integers(1, 3),
    "stability": st.floats(0, 20, width=32, allow_subnormal=False),
    "importance": unit,
    "project": st.sampled_from(PROJECTS[1:]),
    "kind": st.sampled_from(KINDS),
}
records: st.SearchStrategy[Fields] = st.fixed_dictionaries(
    {"text": texts, "kind": st.sampled_from(KINDS)},
    optional={
        **{name: values for name, values in changeable.items() if name not in {"text", "kind"}},
        "created_at": times,
        "updated_at": times,
        "last_accessed_at": times,
        "access_count": st.sampled_from([0, 1, 2**32 - 1]),
        "session": st.sampled_from(["s1", "s2"]),
        "status": st.sampled_from(STATUSES),
    },
)
changes: st.SearchStrategy[Fields] = st.fixed_dictionaries({}, optional=changeable).filter(bool)
