"""Kill -9 among three processes on one store: a writer, and two that follow it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from tests.crash import follower, harness
from tests.crash.harness import ROOT, State

__all__ = ["KINDS", "Report", "differences", "run"]

KINDS: Final = ("reads", "writes")
"""The form in which each follower opens the store: see :mod:`tests.crash.follower`."""
_DURABILITY: Final = "normal"
_PATIENCE: Final = 120.0  # seconds
_HERE: Final = Path(__file__).parent


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


class _Process:
    """A process that can be killed. What it prints goes to a file; a pipe would stop it."""

    def __init__(self, said: Path, name: str, arguments: Sequence[str]) -> None:
        places = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        self.said = said
        self._out: IO[bytes] = said.open("wb")
        self._errors = said.with_suffix(".errors")
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(_HERE / name), *arguments],
                stdin=subprocess.PIPE,
                stdout=self._out,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
            )

    def lines(self) -> list[Any]:
        """Return the whole lines that it has printed."""
        lines = self.said.read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def count(self) -> int:
        """Return the number of lines that it has printed."""
        return self.said.read_bytes().count(b"\n")

    def await_lines(self, count: int) -> None:
        """Wait until it has printed as many lines.

        Raises:
            RuntimeError: it ended, or takes too long.
        """
        end = time.monotonic() + _PATIENCE
        while self.count() < count:
            if self.process.poll() is not None or time.monotonic() > end:
                words = self._errors.read_text(errors="replace")[-1_000:]
                self.kill()
                msg = f"{self.said.name}: ended or silent, with {self.process.returncode}: {words}"
                raise RuntimeError(msg)
            time.sleep(0.002)

    def ask(self) -> dict[str, Any]:
        """Return the answers of a follower."""
        before = self.count()
        assert self.process.stdin is not None
        self.process.stdin.write(b"?\n")
        self.process.stdin.flush()
        self.await_lines(before + 1)
        found: dict[str, Any] = self.lines()[before]
        return found

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        self._out.close()


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

    def _new_writer(self) -> _Process:
        seed = str(self._rng.randrange(2**31))
        arguments = [str(self._path), seed, str(self._number), _DURABILITY, follower.EMBEDDER]
        process = _Process(self._said(), "kill_writer.py", arguments)
        process.await_lines(1)  # the store is there
        return process

    def _new_follower(self, kind: str) -> _Process:
        process = _Process(self._said(), "follower.py", [str(self._path), kind])
        process.await_lines(1)
        return process

    def turn(self) -> None:
        """Let all work for a while, kill one of the three, compare, and start it again."""
        self._writer.await_lines(self._writer.count() + self._rng.randrange(1, 30))
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
        if self._followers[victim].process.returncode is not None:
            self._followers[victim] = self._new_follower(victim)
        self._compare()
        self._pause.unlink()

    def _paused(self) -> None:
        self._pause.touch()
        end = time.monotonic() + _PATIENCE
        while not self._writer.said.read_bytes().endswith(b'"paused"\n'):
            if self._writer.process.poll() is not None or time.monotonic() > end:
                self._writer.await_lines(2**31)  # raises, with what it said
            time.sleep(0.002)

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
        asked = {kind: process.ask() for kind, process in self._followers.items()}
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
            if process.process.poll() is None:
                process.kill()


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
