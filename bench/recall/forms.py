"""The measured forms: the engine under its profiles, strengthening or not, and two glued pipelines."""

from __future__ import annotations

import itertools
import math
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numpy as np

import oneiros
from bench.recall.memories import DAY, NOW, Memories, Vectors
from oneiros.scoring.factors import FlooredDecay, KindWeight, Priority
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.profiles import get

__all__ = [
    "DEPTH",
    "PLAIN",
    "STORE",
    "Form",
    "Ours",
    "SqliteAndPython",
    "TantivyFaissAndPython",
    "opened",
]

STORE = "mind.db"
DEPTH, K, RRF_K = 100, 10, 30.0
CHUNK = 20_000
WORD = re.compile(r"[a-z0-9]+")
KIND_WEIGHTS = {"decision": 1.5, "fact": 1.2}
PLAIN = oneiros.Profile(
    name="plain",
    fusion=ReciprocalRankFusion(k=RRF_K),
    factors=(KindWeight(), Priority(base=0.7, step=0.08), FlooredDecay()),
    reinforcement=None,
)
"""Words and vectors to the depth of 100, reciprocal ranks, a decay and two multipliers."""


class Form(ABC):
    """A pipeline that answers a question."""

    name: str
    most_queries = 1_000

    @abstractmethod
    def ask(self, query: str, vector: Vectors) -> Sequence[Any]:
        """Return what is found, best first."""

    def nearest(self, vector: Vectors) -> Sequence[int] | None:  # noqa: ARG002 (others read it)
        """Return the numbers of the nearest by vector that it goes by; None: the exact ones."""
        return None


class Ours(Form):
    """The engine under one profile."""

    def __init__(self, mind: oneiros.Engine, profile: str, *, reinforces: bool) -> None:
        self.name = f"oneiros, {profile}{', reinforcing' if reinforces else ''}"
        asked = PLAIN if profile == PLAIN.name else get(profile)
        self.profile = asked.replace(cache=None)  # each question is searched for
        self._mind, self._reinforces = mind, reinforces
        self._sessions = map("asking {}".format, itertools.count())
        self.stage_ms: dict[str, float] = defaultdict(float)

    def ask(self, query: str, vector: Vectors) -> Sequence[Any]:
        response = self._mind.search(
            query,
            K,
            embedding=vector,
            session=next(self._sessions),
            profile=self.profile,
            reinforce=self._reinforces,
        )
        for stage in response.trace.stages:
            self.stage_ms[stage.name] += stage.duration_ms
        return response.ids

    def nearest(self, vector: Vectors) -> Sequence[int]:
        index = self._mind._scope.services.read_model.indexes.vectors
        assert index is not None
        found: list[int] = index.search(vector, DEPTH).rows.tolist()
        return found

    def shares(self) -> dict[str, float]:
        """Return each stage's share of the time of all of them."""
        whole = sum(self.stage_ms.values())
        return {name: ms / whole for name, ms in self.stage_ms.items()} if whole else {}


def opened(memories: Memories, kept: Path, folder: Path) -> oneiros.Engine:
    """Return a copy of the memories' store in a folder, its vectors under a graph.

    The store is made the first time and then kept as it is. Minutes for a million: a graph is no
    part of what is kept.
    """
    made = kept / f"mind-{memories.count}"
    if not made.exists():
        make(memories, made)
    copytree(made, folder)
    mind = oneiros.Engine(folder / STORE, clock=lambda: NOW)
    mind.search("opened", embedding=memories.query_vectors[0], reinforce=False)
    vectors = mind._scope.services.read_model.indexes.vectors
    assert vectors is not None
    vectors.settle()
    return mind


def make(memories: Memories, folder: Path) -> None:
    """Make the memories' store, or nothing."""
    making = folder.with_suffix(".making")
    rmtree(making, ignore_errors=True)
    making.mkdir()
    with oneiros.Engine(making / STORE, clock=lambda: NOW) as mind:
        for chunk in batched(memories.records(), CHUNK):
            mind.add_many(chunk)
        mind.link_many(memories.links())
    making.rename(folder)


def batched(records: Iterable[dict[str, Any]], count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the records in lists of at most ``count``."""
    left = iter(records)
    while chunk := list(itertools.islice(left, count)):
        yield chunk


class _Glued(Form):
    """Ranks fused and multiplied in plain Python, as is usual."""

    def _ranked(
        self, lists: Iterable[Sequence[int]], meta: dict[int, tuple[Any, ...]]
    ) -> list[int]:
        fused: dict[int, float] = defaultdict(float)
        for found in lists:
            for rank, id in enumerate(found, 1):
                fused[id] += 1 / (RRF_K + rank)
        scored = []
        for id, score in fused.items():
            kind, importance, created, accesses = meta[id]
            age = max(0.0, (NOW - created) / DAY)
            decay, used = 1 + 0.3 * math.exp(-age / 30), 1 + 0.05 * math.log1p(accesses)
            weight = KIND_WEIGHTS.get(kind, 1.0) * (0.5 + importance)
            scored.append((score * decay * weight * used, id))
        scored.sort(reverse=True)
        return [id for _, id in scored[:K]]


class SqliteAndPython(_Glued):
    """SQLite FTS5, sqlite-vec, and Python after them: what most build."""

    name = "SQLite FTS5 + sqlite-vec + Python"

    def __init__(self, memories: Memories, folder: Path) -> None:
        import apsw  # noqa: PLC0415 (a rival that is absent is left out)
        import sqlite_vec  # noqa: PLC0415

        path = folder / f"sqlite-{memories.count}.db"
        is_new = not path.exists()
        making = path.with_suffix(".making")
        making.unlink(missing_ok=True)
        self._db = apsw.Connection(str(making if is_new else path))
        self._db.enable_load_extension(True)
        self._db.load_extension(sqlite_vec.loadable_path())
        self._db.execute("PRAGMA cache_size=-2500000; PRAGMA mmap_size=4000000000")
        if is_new:
            self._build(memories)
            making.rename(path)
        if memories.count > 500_000:
            self.most_queries = 20

    def _build(self, memories: Memories) -> None:
        dimension = memories.vectors.shape[1]
        self._db.execute(
            "CREATE TABLE m(id INTEGER PRIMARY KEY, body TEXT, kind TEXT, importance REAL,"
            " created REAL, hits INT);"
            "CREATE VIRTUAL TABLE f USING fts5(body, content='m', content_rowid='id');"
            f"CREATE VIRTUAL TABLE v USING vec0(e float[{dimension}])"
        )
        with self._db:
            rows = enumerate(memories.records())
            self._db.executemany(
                "INSERT INTO m VALUES(?,?,?,?,?,?)",
                ((n, one["text"], *_meta(one)) for n, one in rows),
            )
            self._db.execute("INSERT INTO f(rowid, body) SELECT id, body FROM m")
            self._db.executemany(
                "INSERT INTO v(rowid, e) VALUES(?,?)",
                ((n, vector.tobytes()) for n, vector in enumerate(memories.vectors)),
            )
        self._db.execute("INSERT INTO f(f) VALUES('optimize')")

    def ask(self, query: str, vector: Vectors) -> Sequence[Any]:
        words = " OR ".join(f'"{word}"' for word in WORD.findall(query.lower()))
        by_words = self._db.execute(
            f"SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT {DEPTH}", (words,)
        )
        by_vector = self._db.execute(
            f"SELECT rowid FROM v WHERE e MATCH ? AND k = {DEPTH} ORDER BY distance",
            (vector.tobytes(),),
        )
        lists = [[row[0] for row in found] for found in (by_words, by_vector)]
        ids = list(dict.fromkeys(lists[0] + lists[1]))
        marks = ",".join("?" * len(ids))
        sql = f"SELECT id, kind, importance, created, hits FROM m WHERE id IN ({marks})"
        return self._ranked(lists, {row[0]: row[1:] for row in self._db.execute(sql, ids)})


class TantivyFaissAndPython(_Glued):
    """Fast parts of their own, tantivy and FAISS's HNSW, and the same Python after them."""

    name = "tantivy + FAISS HNSW + Python"

    def __init__(self, memories: Memories, folder: Path) -> None:
        import faiss  # noqa: PLC0415

        from bench.peers.engines.tantivy_index import Tantivy  # noqa: PLC0415

        words = folder / f"tantivy-{memories.count}"
        words.mkdir(exist_ok=True)
        self._words = Tantivy()
        for left in words.iterdir():
            left.unlink()
        self._words.build([_plain(text) for text in memories.texts], words)
        kept = folder / f"hnsw-{memories.count}.faiss"
        if not kept.exists():
            graph = faiss.IndexHNSWFlat(memories.vectors.shape[1], 16, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = 100
            graph.add(memories.vectors)
            faiss.write_index(graph, str(kept))
        self._graph = faiss.read_index(str(kept))
        self._graph.hnsw.efSearch = 128
        faiss.omp_set_num_threads(1)
        self._meta = {n: _meta(one) for n, one in enumerate(memories.records())}

    def ask(self, query: str, vector: Vectors) -> Sequence[Any]:
        by_words = np.asarray(self._words.search(_plain(query), DEPTH)).tolist()
        return self._ranked([by_words, self.nearest(vector)], self._meta)

    def nearest(self, vector: Vectors) -> Sequence[int]:
        found: list[int] = self._graph.search(vector[None], DEPTH)[1][0].tolist()
        return found


def _plain(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _meta(record: dict[str, Any]) -> tuple[str, float, float, int]:
    return (
        record["kind"],
        record["importance"],
        record["created_at"],
        record["access_count"],
    )
