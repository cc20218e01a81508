"""A store with vectors, reopened: with the graph that its snapshot holds, and without.

    python -m bench.reopen FOLDER [--count N] [--width D] [--breadth B] [--rounds R]

The first run makes FOLDER/N.db: short texts, clustered random vectors, fifty to a cluster, and a graph
over them (B below HNSW's usual 100 builds one that finds less in a fraction of the time, and opens the
same). Each opening is a process of its own, which ends at once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import oneiros
from oneiros.vector_index import hnsw

CHUNK, A_CLUSTER, NOISE = 20_000, 50, 0.6


def records(count: int, width: int) -> Iterator[dict[str, Any]]:
    """Yield memories with vectors."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((count // A_CLUSTER, width), np.float32)
    for start in range(0, count, CHUNK):
        places = random.integers(0, len(centres), min(CHUNK, count - start))
        vectors = centres[places] + NOISE * random.standard_normal((len(places), width), np.float32)
        for number, vector in enumerate(vectors, start):
            yield {"id": f"m{number}", "text": f"memory number {number}", "embedding": vector}


def make(path: Path, count: int, width: int, breadth: int) -> None:
    """Make a store, and close it when its graph is ready."""
    hnsw.EF_BUILD = breadth
    with oneiros.Engine(path) as mind:
        mind.add_many(records(count, width))
        vectors = mind._scope.services.read_model.indexes.vectors
        assert vectors is not None
        began = time.perf_counter()
        vectors.settle()
        sys.stdout.write(f"graph built in {time.perf_counter() - began:.0f} s\n")


def opened(path: Path, kind: Any, width: int) -> dict[str, Any]:
    """Return what opening took in this process, the first answer by a vector, and the graph."""
    began, used = time.perf_counter(), time.process_time()
    mind = oneiros.Engine(path, vector_index=kind)
    figures: dict[str, Any] = {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - used,
    }
    query = np.random.default_rng(1).standard_normal(width)
    began = time.perf_counter()
    vectors = mind._scope.services.read_model.indexes.vectors
    assert vectors is not None
    vectors.search(query, 10)
    figures["first_answer_ms"] = (time.perf_counter() - began) * 1000
    began, used = time.perf_counter(), time.process_time()
    vectors.settle()
    figures["graph_seconds"] = time.perf_counter() - began
    figures["graph_processor"] = time.process_time() - used
    assert vectors.has_graph == (kind != "flat")
    began = time.perf_counter()
    rows, _ = vectors.search(query, 10)
    figures["answer_ms"] = (time.perf_counter() - began) * 1000
    figures["megabytes"] = vectors.resident_bytes / 1e6
    return figures | {"rows": rows.tolist()}


def main() -> None:
    """Make the store if it is missing, open it again and again, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, value in {"count": 100_000, "width": 256, "breadth": 100, "rounds": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--opens", help=argparse.SUPPRESS)  # this process does that, and no more
    given = parser.parse_args()
    path = given.folder / f"{given.count}.db"
    if given.opens:
        sys.stdout.write(json.dumps(opened(path, given.opens, given.width)))
        return
    if not path.exists():
        make(path, given.count, given.width, given.breadth)
    for number in range(given.rounds):
        for kind in ("auto", "flat"):
            command = [sys.executable, "-m", "bench.reopen", *sys.argv[1:], "--opens", kind]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            sys.stdout.write(f"{number} {kind}: {done.stdout}\n")


if __name__ == "__main__":
    main()
