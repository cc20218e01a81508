"""Kill the actors of shards under load: ``python -m tests.ray.kills --kills 1000`` .

Writers add, change and delete memories of their users, a mover moves these users from shard to shard, and
a reader searches all shards without patience, while one actor after the other gets SIGKILL. Afterwards the
stores are compared with what was acknowledged.
"""

from __future__ import annotations

import argparse
import copy
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray

import oneiros
from oneiros.ray import ShardedEngine, ShardUnavailable
from oneiros.ray.shard import store_file

__all__ = ["KillReport", "pid_of", "run", "user_in"]

SHARDS = 3
_QUERY = "lighthouse"
_ANCHORS = (
    "The lighthouse keeps watch over the bay",
    "Greta painted a lighthouse in oil",
    "Tickets for the lighthouse cost four crowns",
)
"""One for each shard, unlike the others."""
_PAUSES = (0.05, 0.6)  # seconds before a kill: at once each time, an actor would get nothing done
_BETWEEN_MOVES = (0.0, 0.5)  # seconds
_REST = 120.0  # most seconds, after the last kill, until an answer is whole


@dataclass
class KillReport:
    """The results of a run of kills."""

    kills: int = 0
    seconds: float = 0.0
    acknowledged: int = 0
    """Writes whose call returned."""
    unknown: int = 0
    """Writes whose call said that they may have happened."""
    whole: int = 0
    """Searches over all shards that found all that they should."""
    marked: int = 0
    """Such searches that named the shards they lack."""
    refused: int = 0
    """Such searches that raised, as no shard was left."""
    moves: int = 0
    """Scopes that were moved."""
    problems: list[str] = field(default_factory=list)
    """Acknowledged writes that are lost, additions made twice, scopes in two shards, and answers
    without their mark."""

    def __str__(self) -> str:
        return (
            f"{self.kills} kills in {self.seconds:.0f} s: {self.acknowledged} acknowledged writes and "
            f"{self.unknown} unknown ones, {self.moves} moves of scopes, {self.whole} whole answers, "
            f"{self.marked} marked, {self.refused} refused; {len(self.problems)} problems"
        )


class _Worker(threading.Thread):
    """Does something again and again until it is over, and notes what fails."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.failure: Exception | None = None
        self.is_over = threading.Event()

    def step(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        try:
            while not self.is_over.is_set():
                self.step()
        except Exception as error:  # noqa: BLE001 - the report has it
            self.failure = error


class _Writer(_Worker):
    """Adds, changes and deletes memories of one user, and notes what was acknowledged."""

    def __init__(self, engine: ShardedEngine, user: str) -> None:
        super().__init__()
        self.engine = engine
        self.user = user
        self.texts: dict[str, str | None] = {}
        """Id -> the text that was acknowledged last; None: deleted."""
        self.unknown: set[str] = set()
        """Ids whose last write may have happened."""
        self.added = 0
        self.acknowledged = 0
        self._drawn = random.Random(user)

    def step(self) -> None:
        text = f"{self.user} writes number {self.added}"
        id = self.engine.add(text, user=self.user)
        self.added += 1
        self.acknowledged += 1
        self.texts[id] = text
        choice = self._drawn.random()
        if choice < 0.3:
            changed = f"{text}, changed"
            self._write(id, changed, lambda: self.engine.update(id, user=self.user, text=changed))
        elif choice < 0.5:
            self._write(id, None, lambda: self.engine.delete(id, user=self.user))
        elif choice < 0.6:
            self.engine.search("writes number", user=self.user)

    def _write(self, id: str, text: str | None, write: Callable[[], Any]) -> None:
        try:
            write()
        except ShardUnavailable as error:
            if not error.may_have_happened:
                raise
            self.unknown.add(id)
        else:
            self.acknowledged += 1
            self.texts[id] = text

    def problems(self) -> list[str]:
        """Compare the memories of the user with what was acknowledged."""
        scope = self.engine.scope(user=self.user)
        kept = {memory.id: memory.text for memory in scope.list(limit=10_000_000)}
        found = []
        for id, text in self.texts.items():
            allowed = {text}
            if id in self.unknown:
                allowed |= {f"{text}, changed", None}
            if kept.pop(id, None) not in allowed:
                found.append(f"{id}: is not {text!r}")
        anchors = [id for id, text in kept.items() if text in _ANCHORS]
        return found + [f"{id}: added twice" for id in kept.keys() - set(anchors)]


class _Mover(_Worker):
    """Moves users from shard to shard, one after the other."""

    def __init__(self, engine: ShardedEngine, users: list[str], report: KillReport) -> None:
        super().__init__()
        self.engine = engine
        self.users = users
        self.report = report
        self._log = [(user, {engine.scope(user=user).shard}) for user in users]
        """The shards of a user from some moment on: two while a move lasts."""
        self._drawn = random.Random(len(users))

    def step(self) -> None:
        user = self._drawn.choice(self.users)
        source = self.engine.scope(user=user).shard
        target = self._drawn.choice([shard for shard in range(SHARDS) if shard != source])
        self._log.append((user, {source, target}))
        self.engine.move(user, target)
        self._log.append((user, {target}))
        self.report.moves += 1
        time.sleep(self._drawn.uniform(*_BETWEEN_MOVES))

    def now(self) -> int:
        """Return a moment for :meth:`shards_since`."""
        return len(self._log)

    def shards_since(self, moment: int) -> dict[str, set[int]]:
        """Return in which shards each user's memories have been since a moment."""
        shards = dict(self._log[:moment])
        for user, own in self._log[moment:]:
            shards[user] = shards[user] | own
        return shards


class _Reader(_Worker):
    """Searches all shards without patience; every answer must be whole or marked."""

    def __init__(
        self, engine: ShardedEngine, anchors: dict[str, str], mover: _Mover, report: KillReport
    ) -> None:
        super().__init__()
        self.engine = copy.copy(engine)
        self.engine.actors = copy.copy(engine.actors)
        self.engine.actors._patience = 0.0
        self.anchors = anchors
        """The user of each memory that is to be found."""
        self.mover = mover
        self.report = report

    def step(self) -> None:
        began = self.mover.now()
        try:
            response = self.engine.search(_QUERY, 5, reinforce=False, allow_partial=True)
        except ShardUnavailable:
            self.report.refused += 1
            time.sleep(0.05)
            return
        missing = dict(getattr(response, "missing", {}))
        shards = self.mover.shards_since(began)
        expected = {id for id, user in self.anchors.items() if not shards[user] & missing.keys()}
        found = self.anchors.keys() & set(response.ids)
        if not found >= expected or (missing and response.abstained):
            self.report.problems.append(f"answer {response.ids} with {missing} has no mark")
        elif missing:
            self.report.marked += 1
        else:
            self.report.whole += 1


def pid_of(engine: ShardedEngine, shard: int) -> int:
    """Return the process of a shard, once it runs."""
    engine.actors.step(shard, "memory_count")  # waits until it is back
    actor = engine.actors._actors[shard]
    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())))


def user_in(engine: ShardedEngine, shard: int) -> str:
    """Return a user whose memories lie in a shard."""
    names = (f"user {number}" for number in range(1_000))
    return next(name for name in names if engine.layout.shard_of(name) == shard)


def run(
    folder: Path, *, kills: int, seconds: float, seed: int = 7, tell: Callable[[KillReport], None]
) -> KillReport:
    """Kill actors under load.

    Args:
        folder: an empty folder for the stores.
        kills: most kills.
        seconds: most seconds, for the kills alone.
        seed: of the pauses between them.
        tell: is called with the report after every 25 kills.

    Returns:
        The report. Ctrl-C ends the kills early.
    """
    drawn, report, began = random.Random(seed), KillReport(), time.monotonic()
    with ShardedEngine(folder, shards=SHARDS, patience_seconds=300, embedder="hashing") as engine:
        users = [user_in(engine, shard) for shard in range(SHARDS)]
        anchors = {
            engine.add(text, user=user): user for user, text in zip(users, _ANCHORS, strict=True)
        }
        writers = [_Writer(engine, user) for user in users]
        mover = _Mover(engine, users, report)
        workers: list[_Worker] = [*writers, mover, _Reader(engine, anchors, mover, report)]
        for worker in workers:
            worker.start()
        with suppress(KeyboardInterrupt):
            while report.kills < kills and time.monotonic() - began < seconds:
                process = pid_of(engine, report.kills % SHARDS)
                time.sleep(drawn.uniform(*_PAUSES))
                os.kill(process, signal.SIGKILL)
                report.kills += 1
                report.seconds = time.monotonic() - began
                if report.kills % 25 == 0:
                    report.acknowledged = sum(writer.acknowledged for writer in writers)
                    report.unknown = sum(len(writer.unknown) for writer in writers)
                    tell(report)
        mover.is_over.set()
        mover.join(400)
        whole, ends = report.whole, time.monotonic() + _REST
        while report.whole == whole and time.monotonic() < ends:  # answers are whole again
            time.sleep(0.1)
        for worker in workers:
            worker.is_over.set()
        for worker in workers:
            worker.join(400)
            if worker.is_alive() or worker.failure is not None:
                report.problems.append(f"{type(worker).__name__}: {worker.failure or 'hangs'}")
        report.acknowledged = sum(writer.acknowledged for writer in writers)
        report.unknown = sum(len(writer.unknown) for writer in writers)
        for writer in writers:
            report.problems += writer.problems()
    shard_of: dict[str, int] = {}
    for shard in range(SHARDS):
        with oneiros.Engine(store_file(folder, shard), embedder="hashing") as alone:
            report.problems += [f"shard {shard}: {what}" for what in alone.check(deep=True)]
            for user in users:
                if alone.scope(user=user).count():
                    other = shard_of.setdefault(user, shard)
                    if other != shard:
                        report.problems.append(f"{user}: in the shards {other} and {shard}")
    return report


def main() -> int:
    """Run the kills and print the figures; exit 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end by then")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        report = run(
            Path(folder),
            kills=given.kills,
            seconds=given.seconds,
            seed=given.seed,
            tell=_tell,
        )
    ray.shutdown()
    sys.stdout.write(f"{report}\n")
    for problem in report.problems[:100]:
        sys.stdout.write(f"  {problem}\n")
    return 1 if report.problems or not report.acknowledged else 0


def _tell(report: KillReport) -> None:
    sys.stderr.write(f"{report}\n")


if __name__ == "__main__":
    sys.exit(main())
