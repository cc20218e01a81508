"""Erasing many memories at once, and one: the transaction, and the removal of traces behind it.

    python -m bench.erasing FOLDER [--count N] [--erased N] [--rounds R]

Each round makes a store of ``count`` memories with vectors, opens it from its snapshot, and erases
``erased`` of them by ``forget_many``, then as many by ``forget(where=)``, then one by its id. Removing
traces is the checkpoint, and zeroing the unused bytes of pages. FOLDER must be on the disk to be
measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

import oneiros
from bench.writing import texts
from oneiros.benchmark.conditions import conditions

NOW, WIDTH = 1_750_000_000.0, 384
FORMS = ("forget_many", "forget(where=)", "forget(id)")


def milliseconds(action: Callable[[], object]) -> tuple[float, float]:
    """Return how long an action takes, and the processor time of it."""
    began, used = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - began) * 1e3, (time.process_time() - used) * 1e3


def measure(path: Path, count: int, erased: int) -> dict[str, list[float]]:
    """Return for each form: all of it, its processor time, and removing traces."""
    said = texts(count)
    vectors = np.random.default_rng(7).standard_normal((count, WIDTH), np.float32)
    step = count // erased
    users = {0: "ada", 1: "bob"}
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        engine.add_many(
            {"id": f"m{n}", "text": text, "embedding": vector, "user": users.get(n % step)}
            for n, (text, vector) in enumerate(zip(said, vectors, strict=True))
        )
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        engine.search("w5 w6", reinforce=False)
        sync = engine._scope.services.sync
        traces: list[float] = []
        remove = sync.remove_traces

        def timed(**options: bool) -> None:
            traces.append(milliseconds(partial(remove, **options))[0])

        sync.remove_traces = timed  # type: ignore[method-assign]
        ids = [f"m{n}" for n in range(0, count, step)]
        actions = (
            partial(engine.forget_many, ids),
            partial(engine.forget, where=oneiros.where(user="bob")),
            partial(engine.forget, "m2"),
        )
        figures = {
            form: [*milliseconds(action), traces[-1]]
            for form, action in zip(FORMS, actions, strict=True)
        }
        assert engine.count() == count - 2 * len(ids) - 1
        assert engine.check() == []
    return figures


def main() -> None:
    """Print the figures and their conditions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, value in {"count": 20_000, "erased": 1_000, "rounds": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    for name, condition in conditions(("apsw", "numpy")).items():
        sys.stdout.write(f"{name}: {condition}\n")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        rounds = [
            measure(Path(name) / f"{number}.db", given.count, given.erased)
            for number in range(given.rounds)
        ]
    for form in FORMS:
        whole, used, traces = (median(of[form][place] for of in rounds) for place in range(3))
        least = min(of[form][0] - of[form][2] for of in rounds)
        sys.stdout.write(
            f"{form} of {1 if 'id' in form else given.erased} in {given.count}: {whole:.0f} ms, of them "
            f"{traces:.0f} for traces; without them {whole - traces:.0f}, at the least {least:.0f}; "
            f"processor time {used:.0f}\n"
        )


if __name__ == "__main__":
    main()
