"""Kill -9 among three processes on one store: a writer, and two that follow it."""

from __future__ import annotations

import json
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.crash import follower, harness
from tests.crash.forks import Child, forks
from tests.crash.harness import State

__all__ = ["KINDS", "Report", "differences", "run"]

KINDS: Final = ("reads", "writes")
"""The form in which each follower opens the store: see :mod:`tests.crash.follower`."""
_DURABILITY: Final = "normal"


@dataclass
class Report:
    """The results of the kills."""

    kills: int = 0
    of_followers: int = 0
    """Kills of a process that follows, among them."""
    compared: int = 0
    """Answers of a follower that were compared with those of a fresh engine."""
    acknowledged: int = 0
    """Writes that had returned."""
    problems: list[str] = field(default_factory=list)


class _Store:
    """A store with its three processes."""

    def __init__(self, path: Path, rng: random.Random, report: Report) -> None:
        self._path = path
        self._rng = rng
        self._report = report
        self._pause = path.with_name("pause")
        self._expected: dict[str, State] = {}
        self._harness = harness.Report()
        self._number = 0
        self._started = 0
        self._writer = self._new_writer()
        self._followers = {kind: self._new_follower(kind) for kind in KINDS}

    def _said(self) -> Path:
        self._started += 1
        return self._path.with_name(f"said{self._started}.jsonl")

    def _new_writer(self) -> Child:
        seed = str(self._rng.randrange(2**31))
        arguments = [str(self._path), seed, str(self._number), _DURABILITY, follower.EMBEDDER]
        process = forks().start("tests.crash.kill_writer", arguments, self._said())
        process.await_lines(1)  # the store is there
        return process

    def _new_follower(self, kind: str) -> Child:
        process = forks().start("tests.crash.follower", [str(self._path), kind], self._said())
        process.await_lines(1)
        return process

    def turn(self) -> None:
        """Let all work for a while, kill one of the three, compare, and start it again."""
        self._writer.await_lines(self._writer.count() + self._rng.randrange(1, 100))
        time.sleep(self._rng.uniform(0.0, 0.05))
        victim = self._rng.choice(("writer", *KINDS))
        self._report.kills += 1
        if victim == "writer":
            self._kill_writer()
            return
        self._report.of_followers += 1
        self._followers[victim].kill()
        if self._rng.random() < 0.5:  # it follows from before the pause, or opens in it
            self._followers[victim] = self._new_follower(victim)
        self._paused()
        if self._followers[victim].exit_code is not None:
            self._followers[victim] = self._new_follower(victim)
        self._compare()
        self._pause.unlink()

    def _paused(self) -> None:
        self._pause.touch()
        self._writer.await_last("paused")

    def _kill_writer(self) -> None:
        self._writer.kill()
        if self._rng.random() < 0.5:  # before anything else touches the log
            self._compare()
        lines = self._writer.lines()
        pending = harness.replay(lines, self._expected, self._harness)
        self._number += sum(len(line) for line in lines if isinstance(line, dict))
        harness.verify(
            self._path, _DURABILITY, self._expected, pending, self._harness, follower.EMBEDDER
        )
        self._compare()
        self._writer = self._new_writer()

    def _compare(self) -> None:
        """Compare each follower with an engine that opens the store now."""
        asked = {kind: _asked(process) for kind, process in self._followers.items()}
        with follower.opened(self._path, read_only=True) as fresh:
            expected = json.loads(json.dumps(follower.answers(fresh)))
        for kind, found in asked.items():
            self._report.compared += 1
            self._report.problems += [
                f"kill {self._report.kills}, the one that {kind}: {problem}"
                for problem in differences(expected, found)
            ]

    def end(self) -> None:
        """Compare once more, kill all, and count."""
        self._paused()
        self._compare()
        for process in (self._writer, *self._followers.values()):
            process.kill()
        harness.replay(self._writer.lines(), self._expected, self._harness)
        harness.verify(
            self._path, _DURABILITY, self._expected, {}, self._harness, follower.EMBEDDER
        )
        found = self._harness
        self._report.acknowledged += found.acknowledged
        self._report.problems += [*found.lost, *found.torn, *found.problems]

    def kill_all(self) -> None:
        for process in (self._writer, *self._followers.values()):
            process.kill()


def _asked(process: Child) -> dict[str, Any]:
    before = process.count()
    process.ask(b"?\n")
    process.await_lines(before + 1)
    found: dict[str, Any] = process.lines()[before]
    return found


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return what a follower answers unlike a fresh engine."""
    return [
        f"{name}: {str(found.get(name))[:150]}, expected {str(value)[:150]}"
        for name, value in expected.items()
        if found.get(name) != value
    ]


def run(folder: Path, *, kills: int, seed: int, kills_a_store: int = 5) -> Report:
    """Kill a writer and its followers in turn, at random moments under load.

    After each kill, and at the end, each follower's answers and the copy that it keeps by the feed of
    changes are compared with those of an engine that opens the store then. Nothing writes meanwhile.

    Args:
        folder: where the stores are made.
        kills: how many.
        seed: of the writers' choices and of the moments.
        kills_a_store: after so many the next store is begun.
    """
    rng = random.Random(seed)
    report = Report()
    for start in range(0, kills, kills_a_store):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            store = _Store(Path(place) / "mind.db", rng, report)
            try:
                for _ in range(min(kills_a_store, kills - start)):
                    store.turn()
                store.end()
            finally:
                store.kill_all()
    return report
