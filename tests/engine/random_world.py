"""Random stores of memories whose every ranked field varies, and what each channel finds in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracles import bm25, house
from tests.oracles.ieee import as_float32
from tests.oracles.mnemosyne import VERACITY, WEIBULL
from tests.oracles.omega_tables import KIND_WEIGHT

NOW = 1_750_000_000.0
DAY = 86_400.0
DIMENSIONS = 12
WORDS = tuple(f"w{number}" for number in range(24))
KINDS = ("note", "fact", "preference", "event", *sorted(set(KIND_WEIGHT) | set(WEIBULL)))
Fields = dict[str, Any]
Vector = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """Memories by id in order of insertion, as given to ``add_many``."""

    records: dict[str, Fields]

    def lexical(self, query: str, depth: int, k1: float, b: float) -> list[tuple[str, float]]:
        """Return (id, bm25), best first, of what is shown; the hidden stays in the statistics."""
        ids = list(self.records)
        documents = self.documents()
        shown = {row for row, id in enumerate(ids) if self.is_shown(id)}
        hits = bm25.rank(documents, query.split(), depth, k1=k1, b=b, allowed=shown)
        return [(ids[row], score) for row, score in hits]

    def documents(self) -> dict[int, list[str]]:
        """Return the words of each memory by its place."""
        return {
            row: [word.rstrip("?.") for word in one["text"].split()]
            for row, one in enumerate(self.records.values())
        }

    def possible(self, query: str) -> float:
        """Return the bm25 that no text exceeds; docs/systems/house.md H3."""
        documents, words = self.documents(), query.split()
        held = {word: sum(word in one for one in documents.values()) for word in words}
        return bm25.possible(len(documents), held, words)

    def with_pairs(
        self, share: float, query: str, scores: Mapping[str, float]
    ) -> tuple[dict[str, float], float]:
        """Return bm25, and what is possible, with the share of pairs; docs/systems/house.md H14."""
        documents, words = self.documents(), query.split()
        held = {word: sum(word in one for one in documents.values()) for word in words}
        idf = {word: bm25.IDF["lucene"](len(documents), df) for word, df in held.items() if df}
        weights = house.pair_weights(words, idf)
        rows = {id: row for row, id in enumerate(self.records)}
        paired = {
            id: score + share * house.pair_score(weights, [documents[rows[id]]])
            for id, score in scores.items()
        }
        return paired, self.possible(query) + share * sum(weights.values())

    def is_shown(self, id: str) -> bool:
        """Tell whether a memory can be recalled at all; docs/systems/fields.md, last lines."""
        return self.records[id].get("status") != "archived"

    def cosines(self, question: Vector) -> dict[str, float]:
        """Return the cosine of every shown memory that has an embedding."""
        found = {}
        for id, one in self.records.items():
            vector = one.get("embedding")
            if vector is not None and self.is_shown(id):
                vector = np.asarray(vector, np.float64)
                lengths = np.linalg.norm(vector) * np.linalg.norm(question)
                found[id] = float(vector @ question.astype(np.float64) / lengths)
        return found


def random_store(seed: int, size: int) -> Store:
    """Return a store of ``size`` memories, every choice following from ``seed``."""
    random = np.random.default_rng(seed)
    records: dict[str, Fields] = {}
    for row in range(size):
        if row and random.random() < 0.05:  # a tie: the same memory again
            again = records[f"m{random.integers(row)}"]
            records[f"m{row}"] = {**again, "id": f"m{row}"}
        else:
            records[f"m{row}"] = {"id": f"m{row}", **random_fields(random)}
    return Store(records)


def random_fields(random: np.random.Generator) -> Fields:
    """Return the fields of one memory; about half are left at their defaults."""
    created = NOW - DAY * float(random.choice([0.0, -3.0, *random.gamma(1, 120, 6)]))
    count = int(random.integers(0, 9))
    words = random.choice(WORDS, count, p=ZIPF)
    marks = random.choice(["", "?", "."], count, p=[0.7, 0.2, 0.1])
    sometimes: Fields = {
        "created_at": created,
        "updated_at": min(created + DAY * float(random.gamma(1, 30)), NOW + DAY),
        "last_accessed_at": min(created + DAY * float(random.gamma(1, 60)), NOW + DAY),
        "kind": str(random.choice(KINDS)),
        "category": str(random.choice(["episodic", "semantic", "procedural"])),
        "importance": unit(random),
        "certainty": unit(random),
        "impact": unit(random),
        "priority": int(random.integers(1, 6)),
        "veracity": str(random.choice(list(VERACITY))),
        "pinned": bool(random.random() < 0.3),
        "core": bool(random.random() < 0.3),
        "feedback": int(random.integers(-4, 13)),
        "access_count": int(random.choice([0, 1, 2, 3, 9, 10, 11, 1000, 2**32 - 1])),
        "session_spread": int(random.choice([1, 2, 3, 7, 8, 100])),
        "strength": unit(random),
        "depth": int(random.integers(1, 4)),
        "stability": as_float32(float(random.choice([0.0, 0.1, 0.85, 1.0, 4.0, random.gamma(1)]))),
        "consolidation_quality": as_float32(float(random.uniform(0, 4))),
        "status": str(random.choice(["staged", "consolidated", "archived"], p=[0.5, 0.4, 0.1])),
        "embedding": random.normal(size=DIMENSIONS).astype(np.float32).tolist(),
    }
    given = {name: value for name, value in sometimes.items() if random.random() < 0.6}
    said = [f"{word}{mark}" for word, mark in zip(words, marks, strict=True)]
    return {"text": " ".join(said), "created_at": created, **given}


def unit(random: np.random.Generator) -> float:
    """Return a float32 in [0, 1], often at an end."""
    return as_float32(float(random.choice([0.0, 1.0, 0.5, random.random(), random.random()])))


ZIPF = np.array([1 / (rank + 1) for rank in range(len(WORDS))])
ZIPF /= ZIPF.sum()


def random_question(seed: int) -> tuple[str, Vector]:
    """Return words and a vector to ask with."""
    random = np.random.default_rng([seed, 1])
    words = random.choice([*WORDS, "unheard"], int(random.integers(0, 5)))
    return " ".join(map(str, words)), random.normal(size=DIMENSIONS).astype(np.float32)
