"""The memories that are searched: real texts with vectors, times, kinds, sessions and links."""

from __future__ import annotations

import itertools
import json
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NOW", "Memories", "Vectors"]

SEED = 20_260_711
NOW = 1_770_000_000.0
DAY = 86_400.0
SPAN_DAYS = 400.0
A_SESSION = 20
MOST_ACCESSES = 12
KINDS = (
    "fact",
    "decision",
    "lesson_learned",
    "error_pattern",
    "user_preference",
    "task_completion",
)
CATEGORIES = ("episodic", "semantic", "procedural")
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Memories:
    """The first ``count`` texts of a corpus, and questions; what is made of them is kept."""

    count: int
    corpus: Path
    """Lines of JSON, each with a "text"; ``queries.jsonl`` beside it."""

    embedding: Path
    """Folder of ``static_embed.py`` and its table."""

    kept: Path
    """Folder for vectors."""

    @cached_property
    def texts(self) -> list[str]:
        found = list(_texts(self.corpus, self.count))
        if len(found) < self.count:
            msg = f"count: {self.corpus} holds {len(found)} texts, asked for {self.count}"
            raise ValueError(msg)
        return found

    @cached_property
    def queries(self) -> list[str]:
        return list(_texts(self.corpus.with_name("queries.jsonl"), 1_000))

    @cached_property
    def vectors(self) -> Vectors:
        kept = self.kept / f"vectors-{self.count}.npy"
        if not kept.exists():
            np.save(kept, self._embedded(self.texts))
        loaded: Vectors = np.load(kept)
        return loaded

    @cached_property
    def query_vectors(self) -> Vectors:
        return self._embedded(self.queries)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield what a store is given: spread over a year, a third recalled since, in sessions."""
        random = np.random.default_rng(SEED)
        created = NOW - np.sort(random.random(self.count))[::-1] * SPAN_DAYS * DAY
        since = created + (NOW - created) * random.random(self.count)
        accesses = random.integers(0, MOST_ACCESSES, self.count)
        kinds, categories = (random.integers(0, len(x), self.count) for x in (KINDS, CATEGORIES))
        importance = random.random(self.count)
        for n, (text, vector) in enumerate(zip(self.texts, self.vectors, strict=True)):
            used = accesses[n] > MOST_ACCESSES * 2 // 3
            yield {
                "id": f"m{n}",
                "text": text,
                "embedding": vector if vector.any() else None,
                "kind": KINDS[kinds[n]],
                "category": CATEGORIES[categories[n]],
                "importance": float(importance[n]),
                "session": f"s{n // A_SESSION}",
                "created_at": float(created[n]),
                "last_accessed_at": float(since[n]) if used else None,
                "access_count": int(accesses[n]) if used else 0,
            }

    def links(self) -> Iterator[tuple[str, str, float]]:
        """Yield a link a memory: one end drawn by rank^-0.6, the other evenly; weights in (0, 1]."""
        random = np.random.default_rng(SEED + 1)
        share = np.arange(1, self.count + 1) ** -0.6
        busy = random.permutation(self.count)[
            random.choice(self.count, self.count, p=share / share.sum())
        ]
        other = random.integers(0, self.count, self.count)
        weights = 1 - random.random(self.count)
        for a, b, weight in zip(busy.tolist(), other.tolist(), weights.tolist(), strict=True):
            if a != b:
                yield f"m{a}", f"m{b}", weight

    def _embedded(self, texts: list[str]) -> Vectors:
        embed = runpy.run_path(str(self.embedding / "static_embed.py"))["StaticEmbedder"]
        vectors: Vectors = np.asarray(embed(str(self.embedding))(texts), np.float32)
        return vectors


def _texts(path: Path, limit: int) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, limit):
            yield json.loads(line)["text"]
