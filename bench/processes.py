"""Several processes that search one store at the same time, beside one alone.

    python -m bench.processes FOLDER [--count N] [--seconds S] [--pause SECONDS]

The store has N texts of made-up words. Each process asks for three words at random and reads the texts of
ten results, again and again, with a pause after each search. Printed are, for one process alone, two
that both reinforce what they find, and one that reinforces beside one that does not: the percentiles of
each, and how many searches it made in a second.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import oneiros
from oneiros.benchmark.conditions import conditions, load

WORDS = [f"w{number}" for number in range(3_000)]
FIRST = 50  # searches that are not measured
ROUNDS = {"alone": (True,), "two": (True, True), "two, one only reads": (True, False)}


def texts(count: int) -> list[str]:
    """Return texts of twelve words."""
    chosen = random.Random(7)
    return [" ".join(chosen.choices(WORDS, k=12)) for _ in range(count)]


def search(path: str, *, reinforce: bool, seconds: float, pause: float) -> str:
    """Search for some time; return what was measured, in a line."""
    chosen = random.Random(os.getpid())
    times: list[float] = []
    with oneiros.Engine(path) as engine:
        for _ in range(FIRST):
            engine.search(" ".join(chosen.choices(WORDS, k=3)), reinforce=reinforce)
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            query = " ".join(chosen.choices(WORDS, k=3))
            start = time.perf_counter()
            _ = engine.search(query, reinforce=reinforce).texts
            times.append(time.perf_counter() - start)
            time.sleep(pause)
    times.sort()
    p50, p99, longest = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.99, 1 - 1e-9))
    mean = sum(times) / len(times) * 1e3
    return (
        f"{'reinforcing' if reinforce else 'only reading'}: {len(times) / seconds:.0f} searches a second, "
        f"p50 {p50:.2f} ms, mean {mean:.2f}, p99 {p99:.2f}, longest {longest:.1f}"
    )


def measure(path: str, name: str, *, seconds: float, pause: float) -> None:
    """Print what processes measured that searched at the same time."""
    forms = ROUNDS[name]
    with multiprocessing.get_context("spawn").Pool(len(forms)) as pool:
        pending = [
            pool.apply_async(
                search, (path,), {"reinforce": form, "seconds": seconds, "pause": pause}
            )
            for form in forms
        ]
        for line in (one.get() for one in pending):
            sys.stdout.write(f"{name}: {line}\n")


def main() -> None:
    """Make a store and measure each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    for name, value in {"seconds": 6.0, "pause": 0.0}.items():
        parser.add_argument(f"--{name}", type=float, default=value)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, condition in conditions(("apsw",)).items():
        sys.stdout.write(f"{name}: {condition}\n")
    sys.stdout.write(f"{given.count} memories, pause {given.pause:g} s\n")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = str(Path(folder) / "mind.db")
        with oneiros.Engine(path) as engine:
            engine.add_many({"text": text} for text in texts(given.count))
        for name in ROUNDS:
            measure(path, name, seconds=given.seconds, pause=given.pause)
    sys.stdout.write(f"load at the end: {load()}\n")


if __name__ == "__main__":
    main()
