"""Filters on metadata beside the same filter on a field.

    python -m bench.bench_filters FOLDER [--count N] [--width D] [--rounds R]

The first run makes FOLDER/filters-N.db: N memories with short texts and vectors. One memory in a
hundred has the topic "t7", and the same word in its metadata, so that both filters match the same
memories. Printed are the first use of each kind of comparison after opening, a use after a write, and
searches by words and by words and a vector with both filters, in turns; the ids are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import oneiros
from oneiros.benchmark.conditions import conditions, load

CHUNK, TOPICS, NOW = 20_000, 100, 1_770_000_000.0
WORDS = [f"word{number}" for number in range(5_000)]
FIRST = datetime(2025, 1, 1, tzinfo=UTC)
meta = oneiros.meta


def records(count: int, width: int) -> Iterator[dict[str, Any]]:
    """Yield memories."""
    random = np.random.default_rng(0)
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        vectors = random.standard_normal((size, width), np.float32)
        words = np.minimum(random.zipf(1.3, (size, 10)), len(WORDS)) - 1
        topics = random.integers(0, TOPICS, size).tolist()
        scores = random.random(size).tolist()
        for place in range(size):
            number, topic = start + place, topics[place]
            yield {
                "id": f"m{number}",
                "text": " ".join(WORDS[word] for word in words[place]),
                "topic": f"t{topic}",
                "embedding": vectors[place],
                "metadata": {
                    "topic": f"t{topic}",
                    "share": topic,
                    "score": scores[place],
                    "sku": f"AB-{number:07}",
                    "due": (FIRST + timedelta(minutes=number)).isoformat(),
                    "labels": [f"t{topic}", f"even{number % 2}"],
                    "customer": {"plan": {"name": f"t{topic}"}},
                },
            }


def make(path: Path, count: int, width: int) -> None:
    """Make a store, and close it."""
    began = time.perf_counter()
    with oneiros.Engine(path, vector_index="flat", durability="normal") as engine:
        chunk: list[dict[str, Any]] = []
        for record in records(count, width):
            chunk.append(record)
            if len(chunk) == CHUNK:
                engine.add_many(chunk, now=NOW)
                chunk = []
        engine.add_many(chunk, now=NOW)
    say("made and closed", f"{time.perf_counter() - began:.0f} s")


def say(name: str, figure: str) -> None:
    """Print one figure."""
    sys.stdout.write(f"{name:<58} {figure}\n")
    sys.stdout.flush()


def milliseconds(call: Callable[[], object]) -> float:
    """Return what one call takes."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def comparisons(count: int) -> dict[str, oneiros.Where]:
    """Return one filter of each kind that matches about one memory in a hundred."""
    day = FIRST + timedelta(minutes=count // 2)
    return {
        "native field": oneiros.where(topic="t7"),
        "equal": meta("topic") == "t7",
        "equal, three levels": meta("customer.plan.name") == "t7",
        "in": meta("share").in_([7]),
        "range, 100 values": meta("share").between(7, 7),
        "range, all values differ": meta("score").between(0.07, 0.08),
        "range, half of all": meta("score") >= 0.5,
        "range of times": meta("due").between(day, day + timedelta(minutes=count // 100)),
        "contains": meta("labels").contains("t7"),
        "prefix": meta("sku").prefix(f"AB-{count // 200:07}"[:-2]),
        "exists": meta("sku").exists(),
        "not": ~(meta("topic") == "t7"),
    }


def measure(engine: oneiros.Engine, rounds: int, width: int) -> None:
    """Print the figures of an opened store."""
    count = len(engine)
    filters = comparisons(count)
    engine.search(WORDS[50], k=10, reinforce=False)
    for name, condition in filters.items():
        first = milliseconds(lambda condition=condition: engine.count(condition))
        again = [milliseconds(lambda c=condition: engine.count(c)) for _ in range(rounds)]
        wrote: list[float] = []
        for turn in range(10):
            engine.add(f"one more {turn}", metadata={"topic": "t1", "score": turn / 10, "sku": "C"})
            engine.count(oneiros.where(kind="note"))
            wrote.append(milliseconds(lambda c=condition: engine.count(c)))
        say(
            f"{name} ({engine.count(condition):,} memories)",
            f"first {first:8.2f} ms   again {statistics.median(again):7.3f} ms   "
            f"after an add {statistics.median(wrote):7.3f} ms",
        )
    random = np.random.default_rng(1)
    pairs = {
        "topic": (filters["native field"], filters["equal"]),
        "range": (filters["native field"], filters["range, 100 values"]),
    }
    for kind in ("words", "words and vector"):
        for name, sides in pairs.items():
            spent: tuple[list[float], list[float]] = ([], [])
            for turn in range(rounds * 4):
                query = " ".join(WORDS[word] for word in random.integers(0, 300, 3))
                vector = random.standard_normal(width) if kind != "words" else None
                found: dict[int, list[str]] = {}
                for side in (0, 1) if turn % 2 else (1, 0):
                    began = time.perf_counter()
                    response = engine.search(
                        query, embedding=vector, k=10, where=sides[side], reinforce=False
                    )
                    found[side] = response.ids
                    spent[side].append((time.perf_counter() - began) * 1000)
                assert found[0] == found[1]
            field, metadata = (statistics.median(times) for times in spent)
            say(
                f"search by {kind}, metadata ({name}) beside field",
                f"{metadata:.3f} ms / {field:.3f} ms = {metadata / field:.2f}",
            )
    for name in ("native field", "equal", "range, all values differ"):
        times = []
        for turn in range(rounds):
            engine.add(f"still more {turn}", metadata={"topic": "t1", "score": turn / rounds})
            engine.count(oneiros.where(kind="note"))
            times.append(
                milliseconds(
                    lambda name=name: engine.search(
                        WORDS[40], k=10, where=filters[name], reinforce=False
                    )
                )
            )
        say(f"search by words after an add, {name}", f"{statistics.median(times):.3f} ms")


def main() -> None:
    """Make the store if it is missing, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=50)
    given = parser.parse_args()
    sys.stdout.write(json.dumps(conditions(("numpy", "pyroaring"))) + "\n")
    path = given.folder / f"filters-{given.count}.db"
    if not path.exists():
        make(path, given.count, given.width)
    began = time.perf_counter()
    with oneiros.Engine(path, vector_index="flat", durability="normal") as engine:
        say("opened", f"{(time.perf_counter() - began) * 1000:.1f} ms")
        measure(engine, given.rounds, given.width)
    say("load at the end", load())


if __name__ == "__main__":
    main()
