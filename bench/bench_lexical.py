"""Words in, texts out: the lexical index beside bm25s and SQLite FTS5.

Texts are drawn from a Zipf-like vocabulary with a fixed seed; ONEIROS_SPEED_CORPUS names a folder
with corpus.jsonl and queries.jsonl to take real ones instead. Every rival sees the same words: no
stop words, no stems. ONEIROS_BENCH_TEXTS sets how many texts (50,000).
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import bm25s
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from oneiros import LexicalIndex

COUNT = int(os.environ.get("ONEIROS_BENCH_TEXTS", "50000"))
QUERY_COUNT = 200
FTS5_FACTOR = 1.2 + 1  # SQLite keeps the constant k1 + 1 of the formula
WORD = re.compile(r"\w+")


def zipf_texts(count: int, length: int, *, skip: int, seed: int) -> list[str]:
    """Draw words by 1 / (rank + 3) from 100,000, leaving out the `skip` most frequent."""
    ranks = np.arange(skip, 100_000)
    weights = 1.0 / (ranks + 3)
    random = np.random.default_rng(seed)
    words = random.choice(ranks, size=count * length, p=weights / weights.sum())
    return [" ".join(f"w{word}" for word in row) for row in words.reshape(count, length).tolist()]


def plain_words(text: str) -> str:
    return " ".join(word for word in WORD.findall(text.lower()) if word.isascii() and len(word) > 1)


def real_texts(name: str, count: int) -> list[str]:
    with (Path(os.environ["ONEIROS_SPEED_CORPUS"]) / name).open(encoding="utf-8") as lines:
        return [plain_words(json.loads(line)["text"]) for line in itertools.islice(lines, count)]


if os.environ.get("ONEIROS_SPEED_CORPUS"):
    TEXTS = real_texts("corpus.jsonl", COUNT)
    QUERIES = real_texts("queries.jsonl", QUERY_COUNT)
else:
    TEXTS = zipf_texts(COUNT, 29, skip=0, seed=7)
    QUERIES = [
        text
        for length in range(2, 7)
        for text in zipf_texts(QUERY_COUNT // 5, length, skip=50, seed=length)
    ]
FRESH = zipf_texts(5_000, 29, skip=0, seed=11)


class Oneiros:
    """The core's exhaustive top-k, one query after the other."""

    def __init__(self, texts: Sequence[str], variant: str = "lucene") -> None:
        self.index = LexicalIndex(variant=variant, analyzer="simple")
        self.index.add_many(range(len(texts)), texts)

    def search(self, query: str, k: int) -> np.ndarray:
        return self.index.search(query, k=k).scores

    def add(self, id: int, text: str) -> None:
        self.index.add(id, text)

    def delete(self, id: int) -> None:
        self.index.delete(id)


class Bm25s:
    """Scores computed ahead; any change is a rebuild."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.build()

    def build(self) -> None:
        self.retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        tokens = bm25s.tokenize(self.texts, stopwords=None, show_progress=False)
        self.retriever.index(tokens, show_progress=False)

    def search(self, query: str, k: int) -> np.ndarray:
        tokens = bm25s.tokenize(query, stopwords=None, show_progress=False, return_ids=False)
        return self.retriever.retrieve(tokens, k=k, show_progress=False).scores[0]

    def add(self, _: int, text: str) -> None:
        self.texts.append(text)
        self.build()


class Fts5:
    """SQLite's own index, in memory; every change is a transaction."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.database = apsw.Connection(":memory:")
        self.database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='ascii')")
        with self.database:
            self.database.executemany(
                "INSERT INTO texts(rowid, text) VALUES (?, ?)", enumerate(texts)
            )

    def search(self, query: str, k: int) -> np.ndarray:
        words = " OR ".join(f'"{word}"' for word in query.split())
        rows = self.database.execute(
            "SELECT -rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, k)
        )
        return np.array([score for (score,) in rows])

    def add(self, id: int, text: str) -> None:
        self.database.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (id, text))

    def delete(self, id: int) -> None:
        self.database.execute("DELETE FROM texts WHERE rowid = ?", (id,))


ENGINES: dict[str, Callable[[Sequence[str]], Oneiros | Bm25s | Fts5]] = {
    "oneiros": Oneiros,
    "bm25s": Bm25s,
    "fts5": Fts5,
}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Oneiros | Bm25s | Fts5:
    return ENGINES[request.param](TEXTS)


@pytest.fixture(scope="module")
def judges() -> dict[str, Oneiros]:
    return {variant: Oneiros(TEXTS, variant) for variant in ("lucene", "robertson")}


def check(name: object, got: list[np.ndarray], judges: dict[str, Oneiros], k: int) -> None:
    """The scores of `got` are those of the published formula, up to the rival's precision."""
    for query, scores in zip(QUERIES, got, strict=True):
        if isinstance(name, Fts5):
            # FTS5 raises an idf below 1e-6, and counts no repeats within a query.
            asked = " ".join(dict.fromkeys(query.split()))
            want = judges["robertson"].search(asked, k) * FTS5_FACTOR
            if (want < FTS5_FACTOR).any():
                continue
        else:
            want = judges["lucene"].search(query, k)
        found = scores[scores > 0]  # bm25s fills up with texts that match nothing
        np.testing.assert_allclose(found, want[: len(found)], rtol=1e-4)
        assert len(found) == len(want)


@pytest.mark.parametrize("k", [10, 100])
def test_search(
    benchmark: BenchmarkFixture, engine: Oneiros, judges: dict[str, Oneiros], k: int
) -> None:
    benchmark.group = f"search top {k}, {QUERY_COUNT} queries over {COUNT:,} texts"
    rounds = 1 if isinstance(engine, Fts5) else 5
    got = benchmark.pedantic(
        lambda: [engine.search(query, k) for query in QUERIES],
        rounds=rounds,
        warmup_rounds=min(1, rounds - 1),
    )
    check(engine, got, judges, k)


@pytest.mark.parametrize("threads", [1, 2])
def test_search_many(benchmark: BenchmarkFixture, judges: dict[str, Oneiros], threads: int) -> None:
    benchmark.group = f"search_many top 10, {QUERY_COUNT} queries over {COUNT:,} texts"
    index = judges["lucene"].index
    found = benchmark(index.search_many, QUERIES, k=10, threads=threads)
    for query, hits in zip(QUERIES, found, strict=True):
        np.testing.assert_array_equal(hits.scores, index.search(query, k=10).scores)


@pytest.mark.parametrize("name", ENGINES)
def test_bulk_add(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark.group = f"bulk add, {COUNT:,} texts"
    engine = benchmark.pedantic(ENGINES[name], (TEXTS,), rounds=2)
    words = TEXTS[COUNT // 2]
    assert engine.search(words, 1)[0] > engine.search(words, 2)[1] - 1e-9


@pytest.mark.parametrize("name", ENGINES)
def test_add_one_and_find_it(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark.group = f"add one and find it, {COUNT:,} texts"
    engine = ENGINES[name](TEXTS)
    numbers = itertools.count()

    def add_and_find() -> int:
        number = next(numbers)
        engine.add(COUNT + number, f"{FRESH[number % len(FRESH)]} fresh{number}")
        return int((engine.search(f"fresh{number}", 1) > 0).sum())

    rounds = 2 if name == "bm25s" else 1000
    assert benchmark.pedantic(add_and_find, rounds=rounds) == 1


@pytest.mark.parametrize("name", ["oneiros", "fts5"])
def test_add_one(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark.group = f"add one, {COUNT:,} texts"
    engine = ENGINES[name](TEXTS)
    numbers = itertools.count()

    def add() -> int:
        number = next(numbers)
        engine.add(COUNT + number, FRESH[number % len(FRESH)])
        return number

    last = benchmark.pedantic(add, rounds=2000)
    assert engine.search(FRESH[last % len(FRESH)], 1)[0] > 0


@pytest.mark.parametrize("name", ["oneiros", "fts5"])
def test_delete_one(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark.group = f"delete one, {COUNT:,} texts"
    engine = ENGINES[name]([*TEXTS, *(f"mark{number}" for number in range(2000))])
    numbers = itertools.count(COUNT)
    benchmark.pedantic(lambda: engine.delete(next(numbers)), rounds=2000)
    assert all(len(engine.search(f"mark{number}", 1)) == 0 for number in range(0, 2000, 100))
