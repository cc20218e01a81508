"""The house's index against itself and the store: an unsealed tail, filters, durability, imports."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from bench.peers.corpora import SEED, Corpus
from bench.peers.measure import percentiles
from oneiros import Engine, LexicalIndex
from oneiros.benchmark.rivals.rival import K1, B

__all__ = ["filters", "in_own_process", "store", "tail"]

TAIL = 0.01
SELECTIVITIES = (1 / 2, 1 / 10, 1 / 100, 1 / 256, 1 / 1_000, 1 / 10_000)
WHERE_QUERIES = 50
COMMITS = 500
NOW = 1_770_000_000.0
Row = dict[str, Any]


def in_own_process(measure: Callable[..., list[Row]], *arguments: Any) -> list[Row]:
    """Return what a measurement of this file returns, taken in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *arguments).result()


def tail(corpus: Corpus, rounds: int) -> list[Row]:
    """Search a sealed index, and one whose last hundredth came text by text and is not sealed."""
    texts, queries = corpus.texts(), corpus.queries()
    sealed, growing = _index(texts), _index(texts[: len(texts) - int(len(texts) * TAIL)])
    for id in range(len(growing), len(texts)):
        growing.add(id, texts[id])
    forms = {"sealed": sealed, "1 % unsealed": growing}
    best = _interleaved([partial(_search, index) for index in forms.values()], queries, rounds)
    for query in queries[:20]:
        same = np.array_equal(sealed.search(query).scores, growing.search(query).scores)
        if not same:
            msg = f"{query!r}: the tail changes the answer"
            raise AssertionError(msg)
    return [
        {
            "corpus": corpus.name,
            "form": name,
            "segments": index._core.segment_count,
            **percentiles(spent, 1e-6, "top10"),
        }
        for (name, index), spent in zip(forms.items(), best, strict=True)
    ]


def filters(corpus: Corpus, rounds: int) -> list[Row]:
    """Search among shares of the texts, drawn at random.

    By the core's set of rows, which is how an engine's filters reach it: the same set again and
    again, another one each time, and one that a text was just added to. And by ``where=``, which
    makes that set from ids for each search.
    """
    texts, queries = corpus.texts(), corpus.queries()
    index = _index(texts)
    rng = np.random.default_rng(SEED)
    sets = [rng.permutation(len(texts))[: max(1, int(len(texts) * s))] for s in SELECTIVITIES]
    rows = [None, *(index._allowed(ids) for ids in sets)]
    searches = [partial(_search_rows, index, allowed) for allowed in rows]
    best = _interleaved(searches, queries, rounds)
    measured = [{"corpus": corpus.name, "share": 1.0, **percentiles(best[0], 1e-6, "top10")}]
    for share, ids, spent in zip(SELECTIVITIES, sets, best[1:], strict=True):
        for query in queries[:20]:
            if not np.isin(index.search(query, where=ids).ids, ids).all():
                msg = f"{query!r}: found what the filter leaves out"
                raise AssertionError(msg)
        drawn = [_drawn(len(texts), share, rng) for _ in queries]
        new = list(itertools.starmap(partial(_timed, index), zip(queries, drawn, strict=True)))
        where = _interleaved([partial(_search, index, where=ids)], queries[:WHERE_QUERIES], 1)
        measured.append(
            {
                "corpus": corpus.name,
                "share": share,
                **percentiles(spent, 1e-6, "top10"),
                **percentiles(new, 1e-6, "new"),
                "where_p50": float(np.median(where[0])) / 1e-6,
            }
        )
    for row, share in zip(measured[1:], SELECTIVITIES, strict=True):
        row.update(percentiles(_written_to(index, queries, share, rng), 1e-6, "written"))
    return measured


def _written_to(
    index: LexicalIndex, queries: list[str], share: float, rng: np.random.Generator
) -> list[float]:
    """Add a text to a set of rows before each search of it; return the seconds of the searches."""
    spent = []
    rows = _drawn(len(index), share, rng)
    for number, query in enumerate(queries):
        row = len(index)
        index.add(row, f"a text that was added to {share} as number {number}")
        rows = np.append(rows, np.zeros(row // 8 + 1 - len(rows), np.uint8))
        rows[row // 8] |= 1 << row % 8
        spent.append(_timed(index, query, rows))
    return spent


def _drawn(count: int, share: float, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    return np.packbits(rng.random(count) < share, bitorder="little")


def _timed(index: LexicalIndex, query: str, rows: npt.NDArray[np.uint8]) -> float:
    started = perf_counter()
    _search_rows(index, rows, query)
    return perf_counter() - started


def store(corpus: Corpus) -> list[Row]:
    """Add through the durable store beside a bare SQLite commit; import beside the index alone."""
    texts = corpus.texts()
    started = perf_counter()
    index = _index(texts)
    alone = len(texts) / (perf_counter() - started)
    del index
    return [_stored(texts, durability, alone) for durability in ("full", "normal")]


def _stored(texts: list[str], durability: str, alone: float) -> Row:
    records = [{"text": text} for text in texts]
    with tempfile.TemporaryDirectory(prefix="oneiros-peers-") as name:
        table = apsw.Connection(str(Path(name) / "bare.db"))
        table.execute("PRAGMA journal_mode = WAL")
        table.execute(f"PRAGMA synchronous = {durability}")
        table.execute("CREATE TABLE memory (text)")
        insert = "INSERT INTO memory (text) VALUES (?)"
        with table:
            table.executemany(insert, [(text,) for text in texts])
        path = Path(name) / "mind.db"
        with Engine(path, durability=durability, analyzer="simple", clock=lambda: NOW) as mind:
            started = perf_counter()
            mind.add_many(records)
            imported = len(texts) / (perf_counter() - started)
            # Texts of an import are known; fresh ones are what an agent adds.
            fresh = [f"{text} fresh{number}" for number, text in enumerate(texts[:COMMITS])]
            added, committed = _in_turn(
                [mind.add, lambda text: table.execute(insert, (text,))], fresh
            )
        table.close()
    return {
        "durability": durability,
        **percentiles(added, 1e-6, "add"),
        **percentiles(committed, 1e-6, "commit"),
        "import_rate": imported,
        "index_rate": alone,
    }


def _index(texts: list[str]) -> LexicalIndex:
    index = LexicalIndex(k1=K1, b=B, analyzer="simple")
    index.add_many(range(len(texts)), texts)
    index.seal()
    return index


def _search(index: LexicalIndex, query: str, where: Any = None) -> object:
    return index.search(query, k=10, where=where)


def _search_rows(index: LexicalIndex, allowed: Any, query: str) -> object:
    return index._core.search(query=query, k=10, allowed=allowed)


def _interleaved(
    searches: Sequence[Callable[[str], object]], queries: list[str], rounds: int
) -> list[list[float]]:
    """Return, for each form of search, each query's best seconds over the rounds."""
    for search, query in itertools.product(searches, queries[:20]):
        search(query)
    taken = [_in_turn(searches, queries) for _ in range(rounds)]
    return [np.min(spent, axis=0).tolist() for spent in zip(*taken, strict=True)]


def _in_turn(calls: Sequence[Callable[[str], object]], texts: list[str]) -> list[list[float]]:
    """Return the seconds of each call, made turn by turn for each text."""
    taken: list[list[float]] = [[] for _ in calls]
    for text in texts:
        for call, spent in zip(calls, taken, strict=True):
            started = perf_counter()
            call(text)
            spent.append(perf_counter() - started)
    return taken
