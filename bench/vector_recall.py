"""The share of the nearest vectors that searches by a graph find, before and after it is measured.

    python -m bench.vector_recall [--data FOLDER] [--count N] [--width D] [--only NAME,...]

Collections with MiniLM vectors, each with its own questions, all of their texts together, and made
vectors: without structure, clustered, and nine tenths near-duplicates. *Before* is the narrowest walk
over vectors of 16 bits, *after* what the index takes by its own measurement. ``exact`` in place of a
breadth: all vectors are compared. Times are medians over the queries, of their best of three.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oneiros.benchmark.conditions import conditions, load
from oneiros.vector_index import index as indexes
from oneiros.vector_index import snapshot as snapshots
from oneiros.vector_index.index import Built, VectorIndex
from oneiros.vector_index.sealed import seal
from oneiros.vector_index.snapshot import VectorSnapshot

Array = np.ndarray[Any, Any]

DEPTHS = (10, 100)
ROUNDS = 3
MOST_QUERIES = 200
A_CLUSTER, SPREAD = 50, 0.6
STACK = ("numpy", "faiss-cpu")


class Vectors(NamedTuple):
    """Vectors and queries of unit length."""

    stored: Array
    queries: Array


def unit(matrix: Array) -> Array:
    """Return the rows with unit length."""
    wide = matrix.astype(np.float64)
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)


def collection(folder: Path) -> Vectors:
    """Return the vectors of a collection's texts and questions."""
    texts, questions = (
        unit(np.load(folder / f"all-MiniLM-L6-v2.{part}.f16.npy")) for part in ("corpus", "queries")
    )
    return Vectors(texts, questions[:MOST_QUERIES])


def together(folders: list[Path]) -> Vectors:
    """Return the vectors of all collections' texts, and some questions of each."""
    parts = [collection(folder) for folder in folders]
    queries = [part.queries[: MOST_QUERIES // len(parts) + 1] for part in parts]
    return Vectors(np.concatenate([part.stored for part in parts]), np.concatenate(queries))


def uniform(count: int, width: int) -> Vectors:
    """Return vectors without structure."""
    drawn = unit(np.random.default_rng(1).standard_normal((count + MOST_QUERIES, width)))
    return Vectors(drawn[:count], drawn[count:])


def clustered(count: int, width: int) -> Vectors:
    """Return vectors in clusters of fifty."""
    random = np.random.default_rng(2)
    centres = random.standard_normal((count // A_CLUSTER, width))
    places = random.integers(0, len(centres), count + MOST_QUERIES)
    drawn = unit(centres[places] + SPREAD * random.standard_normal((len(places), width)))
    return Vectors(drawn[:count], drawn[count:])


def repeated(count: int, width: int, groups: int, noise: float) -> Vectors:
    """Return a tenth of clustered vectors, and near-duplicates of the first ``groups`` of them."""
    random = np.random.default_rng(3)
    texts = clustered(count // 10, width)
    places = random.integers(0, groups, count - len(texts.stored) + MOST_QUERIES // 2)
    step = noise / np.sqrt(width) * random.standard_normal((len(places), width))
    near = unit(texts.stored[places] + step)
    copies = count - len(texts.stored)
    stored = np.concatenate((texts.stored, near[:copies]))
    queries = np.concatenate((texts.queries[: MOST_QUERIES // 2], near[copies:]))
    return Vectors(random.permutation(stored), queries)


class Figures(NamedTuple):
    """Breadth, recall and time of searches for one number of results."""

    breadth: int
    recall: float
    micros: float


def searched(now: VectorSnapshot, k: int, queries: Array) -> Figures:
    """Return what searches of a snapshot find, beside exact ones."""
    shares, times = [], np.empty((ROUNDS, len(queries)))
    for turn in range(ROUNDS):
        for place, query in enumerate(queries):
            began = time.perf_counter()
            ranked = now.search(query, k, None)
            times[turn, place] = time.perf_counter() - began
            if not turn:
                exact = now.column.nearest(query=query, k=k)[1]
                found = np.count_nonzero(ranked.scores >= exact[-1]) / len(exact)
                shares.append(min(1.0, found))
    walked = now.walk(queries[0], k, None)
    breadth = 0 if walked is None else walked.breadth
    return Figures(breadth, float(np.mean(shares)), float(np.median(times.min(axis=0))) * 1e6)


def built(vectors: Array) -> tuple[VectorIndex, float, float]:
    """Return an index with its graph, the seconds of the build, and those of the measurement."""
    spent = 0.0
    measured = {name: getattr(indexes, name) for name in ("calibrated", "needs_full_precision")}

    def timed(name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal spent
            began = time.thread_time()
            try:
                return measured[name](*arguments)
            finally:
                spent += time.thread_time() - began

        return call

    index = VectorIndex(vectors.shape[1], "hnsw")
    total = [0.0]
    build = indexes.build

    def whole(*arguments: Any) -> Any:
        began = time.thread_time()
        try:
            return build(*arguments)
        finally:
            total[0] += time.thread_time() - began

    for name in measured:
        setattr(indexes, name, timed(name))
    indexes.build = whole
    try:
        index.add(np.arange(len(vectors)), vectors)
        index.settle()
    finally:
        for name, function in measured.items():
            setattr(indexes, name, function)
        indexes.build = build
    return index, total[0], spent


def narrow(index: VectorIndex) -> VectorSnapshot:
    """Return the index's vectors in a graph of rounded ones, which was never measured."""
    now = index.lasting
    assert now is not None
    assert now.sealed is not None
    rows, live = now.column.rows(allowed=now.under), np.ones(len(now.sealed), np.bool_)
    sealed = now.sealed
    if not sealed.graph.is_rounded:
        made = seal(now.column, None, None, rows, lambda: False)
        assert made is not None
        sealed = made[0]
    bare = indexes.replace(sealed, calibration=None)
    return indexes.VectorState(now.column).with_graph(Built(bare, live))


def rows(names: dict[str, Callable[[], Vectors]]) -> Iterator[list[str]]:
    """Yield the rows of the table."""
    for name, make in names.items():
        vectors = make()
        index, build_seconds, measuring_seconds = built(vectors.stored)
        now = index.lasting
        assert now is not None
        before = narrow(index)
        exact = VectorSnapshot(now.column)
        shown = [name, f"{len(vectors.stored):,}", str(index.measured()["bits"])]
        for k in DEPTHS:
            snapshots.MORE_ENDS = 0
            was = searched(before, k, vectors.queries)
            snapshots.MORE_ENDS = 10
            after = searched(now, k, vectors.queries)
            flat = searched(exact, k, vectors.queries)
            for figures in (was, after):
                shown.append(f"{figures.breadth or 'exact'}")
                shown.append(f"{figures.recall:.3f}")
                shown.append(f"{figures.micros:.0f}")
            shown.append(f"{flat.micros:.0f}")
        share = measuring_seconds / build_seconds
        yield [*shown, f"{build_seconds:.1f}", f"{measuring_seconds:.2f} ({share:.0%})"]
        index.close()


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.vector_recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = Path(os.environ.get("ONEIROS_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="the folder of the collections")
    parser.add_argument("--count", type=int, default=20_000, help="of the made vectors")
    parser.add_argument("--width", type=int, default=384, help="of the made vectors")
    parser.add_argument("--only", default="", help="names of rows, with commas between")
    given = parser.parse_args(arguments)
    count, width = given.count, given.width
    folders = sorted(path.parent for path in given.data.glob("*/all-MiniLM-L6-v2.corpus.f16.npy"))
    names: dict[str, Callable[[], Vectors]] = {
        folder.name: lambda folder=folder: collection(folder)  # type: ignore[misc]
        for folder in folders
    }
    names |= {
        "all texts": lambda: together(folders),
        "uniform": lambda: uniform(count, width),
        "clustered": lambda: clustered(count, width),
        "nine of each text": lambda: repeated(count, width, count // 10, 0.01),
        "of a hundred texts": lambda: repeated(count, width, 100, 0.01),
        "of one text": lambda: repeated(count, width, 1, 0.01),
    }
    if not folders:
        del names["all texts"]
    for name in chosen if (chosen := [name for name in given.only.split(",") if name]) else ():
        if name not in names:
            parser.error(f"argument --only: must be of {', '.join(names)}, got {name!r}")
    names = {name: make for name, make in names.items() if not chosen or name in chosen}
    write = sys.stdout.write
    for name, value in conditions(STACK).items():
        write(f"{name}: {value}\n")
    depth = "breadth | recall | µs"
    head = " | ".join(f"{depth} (k {k}, before) | {depth} (after) | exact, µs" for k in DEPTHS)
    write(f"| vectors | count | bits | {head} | build, s | measuring, s |\n")
    write("| --- " * (5 + 7 * len(DEPTHS)) + "|\n")
    for row in rows(names):
        write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()
    write(f"load after: {load()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
