"""Reading results: ten memories by id, whole or their texts, beside one SQLite IN over the same file.

Each benchmark's ``extra_info`` has p50 and p99 in microseconds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import oneiros

ROWS, DIMENSION, NOW, TEN = 100_000, 384, 1_750_000_000.0, 10
_rng = random.Random(7)
WORDS = [f"w{number}" for number in range(5_000)]
WEIGHTS = [1 / (rank + 1) for rank in range(len(WORDS))]
QUERIES = [" ".join(_rng.choices(WORDS[20:], WEIGHTS[20:], k=3)) for _ in range(64)]
IDS = [[f"m{number}" for number in _rng.sample(range(ROWS), TEN)] for _ in range(200)]

# Every column of which a memory is made; bookkeeping (checksums, digests, revisions) is ours alone.
_OWN = """
id, text, title, embedding, kind, category, topic, project, session, tags, metadata, created_at,
updated_at, learned_at, event_at, valid_from, valid_until, ttl, importance, certainty, impact,
priority, veracity, pinned, revision_count, superseded_by, deleted_at"""
_STATES = """
last_accessed_at, feedback, access_count, duplicate_count, session_spread, sessions, strength, depth,
stability, consolidation_quality, importance_tag, status, core, canonical_layer, at_floor_since,
cold_since, tier"""
_PLACES = ", ".join("?" * TEN)
WHOLE = f"""
SELECT {_OWN}, {_STATES} FROM memory JOIN lifecycle USING (sequence) WHERE id IN ({_PLACES})"""
TEXTS = f"SELECT id, text FROM memory WHERE id IN ({_PLACES})"


def _records() -> Iterator[dict[str, Any]]:
    vectors = np.random.default_rng(7).normal(size=(ROWS, DIMENSION)).astype(np.float32)
    for number, vector in enumerate(vectors):
        yield {
            "id": f"m{number}",
            "text": " ".join(_rng.choices(WORDS, WEIGHTS, k=30)),
            "embedding": vector,
            "project": f"p{number % 10}",
            "session": f"s{number % 500}",
            "tags": ["a", "b"],
            "metadata": {"number": number},
            "event_at": NOW - number,
        }


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "mind.db"
    with oneiros.Engine(path, analyzer="simple", clock=lambda: NOW) as engine:
        engine.add_many(_records())
    return path


@pytest.fixture(scope="module")
def mind(path: Path) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(path, analyzer="simple", clock=lambda: NOW) as engine:
        yield engine


@pytest.fixture(scope="module")
def rival(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    yield connection
    connection.close()


def _note_percentiles(benchmark: BenchmarkFixture) -> None:
    taken = benchmark.stats.stats.sorted_data if benchmark.stats else []
    for percent in (50, 99) if taken else ():
        seconds = taken[min(len(taken) * percent // 100, len(taken) - 1)]
        benchmark.extra_info[f"p{percent}_us"] = round(seconds * 1e6, 1)


@pytest.mark.benchmark(group="ten memories by id of 100k")
@pytest.mark.parametrize("form", ["oneiros", "sqlite IN"])
def test_ten_memories(
    benchmark: BenchmarkFixture, form: str, mind: oneiros.Engine, rival: apsw.Connection
) -> None:
    forms: dict[str, Callable[[list[str]], list[Any]]] = {
        "oneiros": mind.get_many,
        "sqlite IN": lambda ids: list(rival.execute(WHOLE, ids)),
    }
    read, groups = forms[form], itertools.cycle(IDS)
    found = benchmark.pedantic(
        read, setup=lambda: ((next(groups),), {}), rounds=4_000, warmup_rounds=200
    )
    assert len({memory.id if form == "oneiros" else memory[0] for memory in found}) == TEN
    _note_percentiles(benchmark)


@pytest.mark.benchmark(group="the results of a search, read")
@pytest.mark.parametrize("form", ["memories", "texts", "sqlite IN, whole", "sqlite IN, texts"])
def test_results(
    benchmark: BenchmarkFixture, form: str, mind: oneiros.Engine, rival: apsw.Connection
) -> None:
    queries = itertools.cycle(QUERIES)
    forms: dict[str, Callable[[oneiros.SearchResponse], list[Any]]] = {
        "memories": lambda response: [result.memory for result in response],
        "texts": lambda response: response.texts,
        "sqlite IN, whole": lambda response: list(rival.execute(WHOLE, response.ids)),
        "sqlite IN, texts": lambda response: list(rival.execute(TEXTS, response.ids)),
    }

    def asked() -> tuple[tuple[oneiros.SearchResponse], dict[str, Any]]:
        return (mind.search(next(queries), k=TEN, reinforce=False),), {}

    found = benchmark.pedantic(forms[form], setup=asked, rounds=2_000, warmup_rounds=64)
    assert len(found) == TEN
    assert None not in found
    _note_percentiles(benchmark)
