"""A long mixed load on one store, and what grows under it.

    python -m bench.soak FOLDER --hours 1

Adds, searches, updates, verdicts, links, deletions and erasures follow each other, at a constant number of
live memories. The clock of the engine is virtual: each step takes 30 seconds of it, and each hour of it ends
with a dream cycle. ``--hours`` is real time. Every 1,000 steps a line of figures goes to
``FOLDER/figures.jsonl``, with which a later run in the same folder goes on. The summary compares the last
tenth with the first one after the warm-up. A line also has the parts of the memory: what the allocator has in
use and what it keeps free, SQLite's share, the number of Python's blocks, the rows of erased memories.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np

import oneiros

SEED: Final = 5
_LIVE: Final = 1_000  # memories
_SECONDS_OF_STEP: Final = 30.0
_STEPS_OF_HOUR: Final = 120
_START: Final = 1_780_000_000.0
_WARM_UP: Final = 0.2  # of the lines
_WORDS: Final = [f"word{number}" for number in range(3_000)]


class Soak:
    """One run, which goes on where the last one in its folder ended.

    Args:
        folder: of the store and the figures.
        live: the number of live memories.
        steps_of_line: steps between two lines of figures.
    """

    def __init__(self, folder: Path, *, live: int = _LIVE, steps_of_line: int = 1_000) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "soak.db"
        self.figures = folder / "figures.jsonl"
        self.lines: list[dict[str, Any]] = []
        if self.figures.exists():
            self.lines = [json.loads(line) for line in self.figures.read_text().splitlines()]
        self.step = self.lines[-1]["step"] if self.lines else 0
        self._run = self.lines[-1].get("run", 0) + 1 if self.lines else 0
        self._live = live
        self._steps_of_line = steps_of_line
        self._random = random.Random(SEED + self.step)
        self._searches: list[float] = []
        self.engine = oneiros.Engine(
            self.path, embedder="hashing", clock=self.now, durability="normal"
        )

    def now(self) -> float:
        """Return the virtual time, in seconds UTC."""
        return _START + self.step * _SECONDS_OF_STEP

    def run(self, seconds: float) -> None:
        """Work for a time, at least until the next line."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.step % self._steps_of_line:
            self._take_step()
        self.engine.close()

    def _take_step(self) -> None:
        self.step += 1
        engine, choose = self.engine, self._random
        engine.add(
            self._text(),
            kind=choose.choice(("note", "fact", "lesson")),
            session=f"s{self.step // 50}",
        )
        started = time.perf_counter()
        found = engine.search(self._text(4), k=5, session=f"s{self.step // 50}")
        self._searches.append(time.perf_counter() - started)
        ids = found.ids
        if ids:
            engine.feedback(choose.choice(ids), choose.choice(("helpful", "outdated")))
            engine.update(choose.choice(ids), text=self._text())
        if len(ids) > 1:
            engine.link(ids[0], ids[1])
        live = engine.list(limit=3)
        excess = engine.count() - self._live
        for memory in live[: max(0, excess)]:
            if self.step % 10 == 0:
                engine.forget(memory.id)
            else:
                engine.delete(memory.id)
        if self.step % _STEPS_OF_HOUR == 0:
            engine.dream()
            engine.purge(older_than_days=0.5)
        if self.step % self._steps_of_line == 0:
            self._note()

    def _text(self, words: int = 12) -> str:
        return " ".join(self._random.choices(_WORDS, k=words))

    def _note(self) -> None:
        self.engine.flush()
        tables = bytes_of_tables(self.path)
        line = {
            "step": self.step,
            "live": self.engine.count(),
            "file_bytes": sum(tables.values()),
            "memory_bytes": _resident_bytes(),
            **memory_parts(),
            "empty_rows": self._empty_rows(),
            "descriptors": sum(1 for _ in Path("/proc/self/fd").iterdir()),
            "threads": sum(1 for _ in Path("/proc/self/task").iterdir()),
            "p99_ms": float(np.percentile(self._searches, 99)) * 1e3,
            "seconds": time.time(),
            "run": self._run,
            "tables": tables,
        }
        self._searches.clear()
        self.lines.append(line)
        with self.figures.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _empty_rows(self) -> int:
        lifecycle = self.engine._scope.services.read_model.lifecycle
        return len(lifecycle.ids) - len(lifecycle.row_of)


def bytes_of_tables(path: Path) -> dict[str, int]:
    """Return the bytes in use of each table with its indexes, the greatest first."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute("SELECT name, tbl_name FROM sqlite_schema")
        found = {str(table): 0 for _, table in rows}
        names = dict(connection.execute("SELECT name, tbl_name FROM sqlite_schema"))
        for name, size in connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = 1"):
            table = str(names.get(name, name))
            found[table] = found.get(table, 0) + int(size)
    finally:
        connection.close()
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


class _Allocator(ctypes.Structure):
    """glibc's ``struct mallinfo2``."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def memory_parts() -> dict[str, int]:
    """Return what the process's memory is made of, in bytes and blocks; without glibc less of it."""
    parts = {"sqlite_bytes": apsw.memory_used(), "python_blocks": sys.getallocatedblocks()}
    try:
        read = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return parts
    read.restype = _Allocator
    found = read()
    parts["allocator_in_use_bytes"] = found.uordblks + found.hblkhd
    parts["allocator_free_bytes"] = found.fordblks
    return parts


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what grew between the first and the last tenth after the warm-up."""
    lines = lines[int(len(lines) * _WARM_UP) :]
    tenth = max(1, len(lines) // 10)
    first, last = lines[:tenth], lines[-tenth:]

    def mean(part: list[dict[str, Any]], name: str) -> float:
        return float(np.mean([line[name] for line in part]))

    names = ("live", "file_bytes", "memory_bytes", "descriptors", "threads", "p99_ms")
    steps = max(1.0, mean(last, "step") - mean(first, "step"))
    elapsed = _elapsed(lines)
    seconds = max(1.0, float(np.mean(elapsed[-tenth:]) - np.mean(elapsed[:tenth])))
    grew = mean(last, "memory_bytes") - mean(first, "memory_bytes")
    return {
        "steps": int(lines[-1]["step"]),
        "hours_between_the_tenths": round(seconds / 3_600, 2),
        **{name: [round(mean(part, name), 2) for part in (first, last)] for name in names},
        "memory_bytes_of_1000_steps": round(grew * 1_000 / steps),
        "memory_mib_of_an_hour": round(grew / 2**20 * 3_600 / seconds, 1),
        "tables_grew": {
            name: last[-1]["tables"][name] - size for name, size in first[0]["tables"].items()
        },
    }


def _elapsed(lines: list[dict[str, Any]]) -> list[float]:
    """Return the seconds of work from the first line to each, without pauses between runs."""
    steps = (
        later["seconds"] - line["seconds"] if later.get("run") == line.get("run") else 0.0
        for line, later in itertools.pairwise(lines)
    )
    return list(itertools.accumulate(steps, initial=0.0))


def main(arguments: list[str]) -> None:
    """Run the load and print the summary."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--live", type=int, default=_LIVE)
    given = parser.parse_args(arguments)
    soak = Soak(given.folder, live=given.live)
    soak.run(given.hours * 3_600)
    sys.stdout.write(json.dumps(summary(soak.lines), indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
