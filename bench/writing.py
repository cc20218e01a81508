"""Writing beside what it is made of: one `add` and a bare commit, an import and the lexical index alone.

    python -m bench.writing FOLDER [--adds N] [--count N] [--rounds R]

Forms take turns in one process. The bare commit is an INSERT of a text into a table of its own, in a
file of its own with the same `synchronous`. The index alone is `LexicalIndex.add_many` of the same
texts. Pages are those that an `add` appends to the log. A memory that was added comes into the read model
after `add` has returned, before the next search: that is measured apart, and is part of many in a row. FOLDER must be on the disk to be measured: with
`durability="full"` most of a commit is its flush, whose cost differs tenfold between machines.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import apsw
import numpy as np

import oneiros
from oneiros.benchmark.conditions import conditions, load

INSERT = "INSERT INTO memory (text) VALUES (?)"
NOW, WIDTH = 1_750_000_000.0, 384
_rng = random.Random(7)
WORDS = [f"w{number}" for number in range(5_000)]
WEIGHTS = [1 / (rank + 1) for rank in range(len(WORDS))]


def texts(count: int) -> list[str]:
    """Return short texts, which differ."""
    return [" ".join(_rng.choices(WORDS, WEIGHTS, k=12)) + f" n{n}" for n in range(count)]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def plain(path: Path, durability: str) -> apsw.Connection:
    """Return a connection to a table of one text column, as durable as the engine."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {durability}")
    connection.execute("CREATE TABLE memory (sequence INTEGER PRIMARY KEY, text TEXT)")
    return connection


def measure_add(folder: Path, durability: str, held: int, adds: int) -> None:
    """Print the cost of one `add` to a store, beside a bare commit."""
    path = folder / f"{durability}-{held}.db"
    with oneiros.Engine(path, durability=durability, clock=lambda: NOW) as engine:
        before = texts(held)
        engine.add_many([{"text": text} for text in before], links=False)
        bare = plain(folder / f"bare-{durability}-{held}.db", durability)
        with bare:
            bare.executemany(INSERT, [(text,) for text in before])
        writer = engine._scope.services.store._writer.connection
        for connection in (writer, bare):  # no turn pays for a checkpoint
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        engine._scope.services.store.checkpoint()
        ours, theirs, behind = [], [], []
        take_up = engine._scope.services.sync.apply_own
        for number, text in enumerate(texts(adds)):
            own = f"{text} {number}"
            ours.append(seconds(partial(engine.add, own)))
            behind.append(seconds(take_up))  # so that it counts for no other add
            theirs.append(seconds(partial(bare.execute, INSERT, (own,))))
        in_row = [f"row {text}" for text in texts(adds)]

        def add_all() -> None:
            for text in in_row:
                engine.add(text)
            take_up()

        def execute_all() -> None:
            for text in in_row:
                bare.execute(INSERT, (text,))

        row = [seconds(action) / adds * 1e6 for action in (add_all, execute_all)]
        adds *= 2
        pages = (path.with_name(f"{path.name}-wal").stat().st_size - 32) / 4_120 / adds
        bare.close()
    high = [sorted(times)[int(0.99 * len(times))] * 1e6 for times in (ours, theirs)]
    middle = [median(times) * 1e6 for times in (ours, theirs, behind)]
    sys.stdout.write(
        f"add to {held}, {durability}: p50 {middle[0]:.0f} us beside {middle[1]:.0f} of a bare commit "
        f"({middle[0] / middle[1]:.2f}x), p99 {high[0]:.0f} beside {high[1]:.0f}, "
        f"{pages:.1f} pages; in the read model {middle[2]:.0f} us later where a search asks at once; "
        f"many in a row {row[0]:.0f} us each beside {row[1]:.0f} ({row[0] / row[1]:.2f}x)\n"
    )


def measure_import(folder: Path, count: int, rounds: int, *, has_vectors: bool) -> None:
    """Print the cost of an import into an empty store, beside the lexical index alone."""
    said = texts(count)
    ids = [f"m{number}" for number in range(count)]
    records: list[dict[str, object]] = [
        {"id": id, "text": text} for id, text in zip(ids, said, strict=True)
    ]
    if has_vectors:
        vectors = np.random.default_rng(7).standard_normal((count, WIDTH), np.float32)
        for record, vector in zip(records, vectors, strict=True):
            record["embedding"] = vector
    ours, theirs = [], []
    for number in range(rounds):
        index = oneiros.LexicalIndex()
        theirs.append(seconds(partial(index.add_many, ids, said)))
        path = folder / f"import-{has_vectors}-{number}.db"
        with oneiros.Engine(path, clock=lambda: NOW) as engine:
            ours.append(seconds(partial(engine.add_many, records)))
    name = f"{WIDTH} wide vectors" if has_vectors else "words alone"
    sys.stdout.write(
        f"import of {count}, {name}: {count / median(ours):,.0f} memories a second beside "
        f"{count / median(theirs):,.0f} of the index alone ({median(theirs) / median(ours):.2f}x; "
        f"best of each {min(theirs) / min(ours):.2f}x)\n"
    )


def main() -> None:
    """Print the figures and their conditions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, value in {"adds": 600, "count": 100_000, "rounds": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    for name, condition in conditions(("apsw", "numpy")).items():
        sys.stdout.write(f"{name}: {condition}\n")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        for durability in ("full", "normal"):
            for held in (100, 20_000):
                measure_add(folder, durability, held, given.adds)
        for has_vectors in (False, True):
            measure_import(folder, given.count, given.rounds, has_vectors=has_vectors)
    sys.stdout.write(f"load at the end: {load()}\n")


if __name__ == "__main__":
    main()
