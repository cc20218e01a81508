"""A plain model of a store under the profile "reverie": dicts, exhaustive scoring, no index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from tests.oracles import bm25, reverie

NOW = 1_750_000_000.0
DAY = 86_400.0
DEPTH = 100  # R1, R2: the top 100 of each channel
WORDS = ("ant", "bee", "cat", "dog", "elk")
PROJECTS = (None, "red", "blue")
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
    is_archived: bool = False
    is_deleted: bool = False


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

    def rankings(
        self,
        query: str,
        embedding: tuple[float, ...] | None,
        keep: Callable[[Known], bool] = lambda _: True,
    ) -> list[list[str]]:
        """Return R1 and R2: the ids each channel finds, best first; filters apply before."""
        ids = list(self.known)
        rows = {row: self.known[id] for row, id in enumerate(ids)}
        live = {row: one for row, one in rows.items() if not one.is_deleted}
        seen = {row for row, one in live.items() if not one.is_archived and keep(one)}
        documents = {row: one.text.split() for row, one in live.items()}
        words = bm25.rank(documents, query.split(), DEPTH, allowed=seen)
        found = [[ids[row] for row, _ in words]]
        if embedding is not None:
            near = [
                (-round(cosine(embedding, vector), 9), row)
                for row in seen
                if (vector := live[row].embedding) is not None
            ]
            found.append([ids[row] for _, row in sorted(near)[:DEPTH]])
        return found

    def search(
        self,
        query: str,
        k: int,
        now: float,
        embedding: tuple[float, ...] | None = None,
        keep: Callable[[Known], bool] = lambda _: True,
        *,
        lifecycle: bool = True,
    ) -> list[reverie.Ranked]:
        """Return R1 to R9 over everything that is kept."""
        lives = {id: one.life for id, one in self.known.items()}
        rankings = self.rankings(query, embedding, keep)
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
        is_archived=fields.get("status") == "archived",
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
        "status": st.sampled_from(["staged", "consolidated", "archived"]),
    },
)
changes: st.SearchStrategy[Fields] = st.fixed_dictionaries({}, optional=changeable).filter(bool)
