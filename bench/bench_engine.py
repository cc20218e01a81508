"""The engine end to end: add one durably, import many, search; beside SQLite FTS5 and a plain commit."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import oneiros

ROWS, DIMENSION, NOW = 10_000, 384, 1_750_000_000.0
_rng = random.Random(7)
WORDS = [f"w{number}" for number in range(5_000)]
WEIGHTS = [1 / (rank + 1) for rank in range(len(WORDS))]
TEXTS = [" ".join(_rng.choices(WORDS, WEIGHTS, k=12)) for _ in range(ROWS)]
QUERIES = [" ".join(_rng.choices(WORDS[20:], WEIGHTS[20:], k=3)) for _ in range(64)]
VECTORS = np.random.default_rng(7).normal(size=(ROWS, DIMENSION)).astype(np.float32)
RECORDS = [{"id": f"m{n}", "text": text, "embedding": VECTORS[n]} for n, text in enumerate(TEXTS)]


class Fts5:
    """SQLite's own full-text search, as durable as the engine."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE VIRTUAL TABLE memory USING fts5(text)")

    def add(self, text: str) -> None:
        self._connection.execute("INSERT INTO memory (text) VALUES (?)", (text,))

    def add_many(self, texts: list[str]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT INTO memory (text) VALUES (?)", [(text,) for text in texts]
            )

    def search(self, query: str) -> list[int]:
        words = " OR ".join(query.split())
        sql = "SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT 10"
        return [row[0] for row in self._connection.execute(sql, (words,))]


class PlainTable(Fts5):
    """One INSERT and its commit, without any index: what durability alone costs."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE memory (text)")


@pytest.fixture(scope="module")
def mind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[oneiros.Engine]:
    path = tmp_path_factory.mktemp("engine") / "mind.db"
    with oneiros.Engine(path, analyzer="simple", clock=lambda: NOW) as engine:
        engine.add_many(RECORDS)
        if engine._scope.services.read_model.indexes.vectors is not None:
            engine._scope.services.read_model.indexes.vectors.settle()
        yield engine


@pytest.fixture(scope="module")
def fts5(tmp_path_factory: pytest.TempPathFactory) -> Fts5:
    rival = Fts5(tmp_path_factory.mktemp("fts5") / "rival.db")
    rival.add_many(TEXTS)
    return rival


@pytest.mark.benchmark(group="add one to 10k, durable")
@pytest.mark.parametrize("form", ["oneiros", "sqlite fts5", "sqlite commit"])
def test_add_one(
    benchmark: BenchmarkFixture, form: str, mind: oneiros.Engine, fts5: Fts5, tmp_path: Path
) -> None:
    plain = PlainTable(tmp_path / "plain.db")
    add: Callable[[str], object] = {
        "oneiros": mind.add,
        "sqlite fts5": fts5.add,
        "sqlite commit": plain.add,
    }[form]
    texts = itertools.cycle(TEXTS)
    benchmark(lambda: add(next(texts)))


@pytest.mark.benchmark(group="import 10k in one transaction")
@pytest.mark.parametrize("form", ["oneiros", "lexical index alone", "sqlite fts5"])
def test_import(benchmark: BenchmarkFixture, form: str, tmp_path: Path) -> None:
    names = itertools.count()
    records = [{"id": f"m{n}", "text": text} for n, text in enumerate(TEXTS)]

    def ours() -> int:
        with oneiros.Engine(tmp_path / f"{next(names)}.db", analyzer="simple") as engine:
            return len(engine.add_many(records).ids)

    def theirs() -> int:
        Fts5(tmp_path / f"{next(names)}.db").add_many(TEXTS)
        return ROWS

    def index_alone() -> int:
        index = oneiros.LexicalIndex(analyzer="simple")
        index.add_many([f"m{n}" for n in range(ROWS)], TEXTS)
        return len(index)

    forms = {"oneiros": ours, "lexical index alone": index_alone, "sqlite fts5": theirs}
    assert benchmark.pedantic(forms[form], rounds=3) == ROWS


@pytest.mark.benchmark(group="search 10k by words, top 10")
@pytest.mark.parametrize("form", ["oneiros", "oneiros, reinforcing", "sqlite fts5"])
def test_search_by_words(
    benchmark: BenchmarkFixture, form: str, mind: oneiros.Engine, fts5: Fts5
) -> None:
    forms: dict[str, Callable[[str], object]] = {
        "oneiros": lambda query: mind.search(query, reinforce=False).ids,
        "oneiros, reinforcing": lambda query: mind.search(query).ids,
        "sqlite fts5": fts5.search,
    }
    queries = itertools.cycle(QUERIES)
    assert benchmark(lambda: forms[form](next(queries)))


@pytest.mark.benchmark(group="search 10k by words and vectors, top 10")
@pytest.mark.parametrize("form", ["plain", "explained", "filtered", "batch of 64", "why_not"])
def test_search_hybrid(benchmark: BenchmarkFixture, form: str, mind: oneiros.Engine) -> None:
    numbers = itertools.cycle(range(64))
    half = oneiros.where(created_at=(0, NOW + 1))

    def one(**options: object) -> object:
        n = next(numbers)
        return mind.search(QUERIES[n], embedding=VECTORS[n], reinforce=False, **options)

    forms: dict[str, Callable[[], object]] = {
        "plain": one,
        "explained": lambda: one(explain=True),
        "filtered": lambda: one(where=half),
        "batch of 64": lambda: mind.search_many(
            QUERIES, embeddings=VECTORS[:64], reinforce=False, threads=2
        ),
        "why_not": lambda: mind.why_not(QUERIES[0], "m9999", embedding=VECTORS[0]),
    }
    assert benchmark(forms[form])
