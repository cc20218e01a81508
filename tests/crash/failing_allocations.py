"""Every n-th allocation of the core fails, under each operation of an engine: its process.

Usage: failing_allocations.py FOLDER OPERATION FIRST STEP, under LD_PRELOAD of failing_allocations.cpp.
Prints the number of each allocation before it fails, and at the end a line of JSON: how many failed, and
what was wrong. ``tests.crash.allocations`` starts it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import oneiros
from oneiros.index import snapshot
from tests.crash import failing_calls
from tests.crash.failing_calls import Operation, opened

QUERIES: Final = (
    {"query": "letter about topic3"},
    {"query": "leter 7 last month", "deep_recall": True},
    {"query": '+letter "about topic2" let*', "syntax": "query"},
    {"query": "topic1", "where": oneiros.where(strength=(0.5, 1.0))},
)


def found(engine: oneiros.Engine) -> list[tuple[str, str]]:
    return [
        (result.id, result.score.hex())
        for arguments in QUERIES
        for result in engine.search(**arguments, k=5, reinforce=False).results  # type: ignore[arg-type]
    ]


def search(engine: oneiros.Engine, _folder: Path) -> object:
    return found(engine)


def explain(engine: oneiros.Engine, _folder: Path) -> object:
    response = engine.search("letter about topic3", k=3, explain=True, reinforce=False)
    said = [str(result.explanation) for result in response.results]
    return said, engine.why_not("letter about topic3", "m8").verdict


def use(engine: oneiros.Engine, _folder: Path) -> object:
    ids = engine.search("letter about topic3", k=3, session="s").ids
    engine.flush()
    return ids


def link(engine: oneiros.Engine, _folder: Path) -> object:
    engine.link("m3", "m4", 0.5)
    engine.link("m3", "m5", 0.5)
    return sorted(neighbour.id for neighbour in engine.neighbours("m3"))


def reopen(engine: oneiros.Engine, folder: Path) -> object:
    engine.close()
    with opened(folder / "mind.db") as again:
        return found(again)


def open_rows(_engine: oneiros.Engine, folder: Path) -> object:
    """Open a store without a snapshot."""
    with opened(folder / "mind.db") as again:
        return found(again)


OPERATIONS: Final[dict[str, Operation]] = {
    **failing_calls.OPERATIONS,
    "open": open_rows,
    "reopen": reopen,
    "search": search,
    "explain": explain,
    "use": use,
    "link": link,
}


class Sweep(failing_calls.Sweep):
    """All failing allocations of one operation."""

    operations: Mapping[str, Operation] = OPERATIONS
    allowed = (MemoryError,)

    def look(self, engine: oneiros.Engine, said: str) -> None:
        """Compare the engine with its store, unless it is closed."""
        try:
            self.problems += [f"{said}: {problem}" for problem in engine.check(deep=True)]
        except oneiros.EngineClosed:
            return


def main() -> None:
    folder, operation, first, step = sys.argv[1:]
    snapshot.FEWEST_ROWS = 1  # type: ignore[misc]
    sweep = Sweep(Path(folder), operation, "memory")
    at, count = int(first), 0
    while True:
        sys.stdout.write(f"{at}\n")
        sys.stdout.flush()
        if not sweep.fail(at):
            break
        count += 1
        at += int(step)
    sys.stdout.write(json.dumps({"failed": count, "problems": sweep.problems}) + "\n")


if __name__ == "__main__":
    main()
