"""Kill -9 amid dream cycles: ``python -m tests.campaigns kills_of_dreams --folder F``."""

from __future__ import annotations

import math
import random
import re
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

import oneiros
from oneiros.dream.lock import Begun
from tests.crash.forks import forks
from tests.engine.dream_stores import called

NOW = 1_750_000_000.0
DAY = 86_400.0
PROFILES = tuple(name for name in oneiros.profiles.names() if oneiros.profiles.get(name).phases)

_ADDED = re.compile(r"\b[0-9A-Z]{26}\+")  # ids of added memories begin with their cycle's
_UNSAID = {"sequence", "revision", "checksum"}  # which differ from store to store
_MEMORIES = "SELECT * FROM memory JOIN lifecycle USING (sequence) ORDER BY sequence"
_LINKS = """
SELECT one.id, other.id, link.kind, weight, link.created_at, co_retrieved_at FROM link
JOIN memory AS one ON one.sequence = first JOIN memory AS other ON other.sequence = second
WHERE weight > 0 ORDER BY first, second"""


@dataclass
class Report:
    """What the kills showed."""

    kills: int = 0
    done: int = 0
    """Cycles and undoings that had returned."""
    cut_off: int = 0
    """Kills in the midst of one."""
    kept: int = 0
    """Of these, those whose commit had come through."""
    told: int = 0
    """Of those that left nothing, those that ``interrupted_dream`` names."""
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.done} cycles and undoings done, {self.cut_off} cut off "
            f"({self.kept} of them there, {self.told} of the others told as interrupted), "
            f"{len(self.problems)} problems"
        )


def dreaming_mind(path: Path | str, profile: str) -> oneiros.Engine:
    """Return an engine on the store, as dreamer and harness use it."""
    return oneiros.Engine(path, profile=profile)


def add_memories(mind: oneiros.Engine, count: int, rng: random.Random) -> None:
    """Add memories that cycles change."""
    mind.add_many([_record(number, rng) for number in range(count)], now=NOW - 700.0 * DAY)


def step(mind: oneiros.Engine) -> None:
    """Undo the last cycle; where it was undone, or there is none, run the same one again."""
    last = mind.dreams(limit=1)
    if last and last[0].undoes is None:
        mind.undo_dream(last[0].id, now=NOW)
    else:
        mind.dream(NOW, **called(mind._scope.services.profile, summarise=" and ".join))


class Watched:
    """A store on which cycles are applied and undone in turns, looked at after each kill.

    So it may be in one of two states, and the number of its cycles says in which.

    Args:
        path: of the store, which is made.
        profile: whose cycles.
        rng: for its memories.
    """

    def __init__(self, path: Path, profile: str, rng: random.Random) -> None:
        self.path = path
        self.profile = profile
        self.report = Report()
        with dreaming_mind(path, profile) as mind:
            add_memories(mind, 300, rng)
        self.states = [contents(path), self._after_a_cycle()]
        if self.states[0] == self.states[1]:
            msg = "the cycle changes nothing"
            raise RuntimeError(msg)
        self._count = 0
        self._interrupted: Begun | None = None

    def _after_a_cycle(self) -> str:
        copy = self.path.with_name("copy.db")
        shutil.copy(self.path, copy)
        with dreaming_mind(copy, self.profile) as mind:
            step(mind)
            return contents(copy)

    def look(self, words: Sequence[str]) -> None:
        """Look at the store after a kill, and count what there is in the report.

        Args:
            words: what the dreamer said.
        """
        report = self.report
        done, is_cut_off = words.count("done"), list(words[-1:]) == ["begin"]
        report.kills, report.done = report.kills + 1, report.done + done
        report.cut_off += is_cut_off
        before, self._count = self._count + done, cycles(self.path)
        kept = self._count - before
        if kept not in ((0, 1) if is_cut_off else (0,)):
            report.problems.append(f"kill {report.kills}: {self._count} cycles, {before} were told")
        report.kept += kept
        with dreaming_mind(self.path, self.profile) as mind:
            report.problems += mind.check()
            if contents(self.path) != self.states[self._count % 2]:
                report.problems.append(f"kill {report.kills}: neither before nor after")
            begun = mind.interrupted_dream()
            if begun is not None and begun != self._interrupted:
                report.told += 1
                if not is_cut_off or kept:
                    report.problems.append(f"kill {report.kills}: none was interrupted")
            self._interrupted = begun


def run(folder: Path, *, kills: int, seed: int, profile: str = "reverie") -> Report:
    """Kill a dreamer again and again on one store, and look at the store after each kill.

    Args:
        folder: where the files are made.
        kills: how many; up to 20 more where none of them met a cycle, as on a busy machine.
        seed: of the store and of the moments.
        profile: whose cycles.
    """
    rng = random.Random(seed)
    watched = Watched(folder / "mind.db", profile, rng)
    report = watched.report
    while report.kills < kills or (not report.cut_off and report.kills < kills + 20):
        watched.look(_killed(watched.path, profile, rng))
    return report


def contents(path: Path) -> str:
    """Return every memory's and every link's fields; ids of added memories without their cycle's."""
    connection = apsw.Connection(str(path))
    try:
        cursor = connection.execute(_MEMORIES)
        names = [name for name, _ in cursor.getdescription()]
        kept = [place for place, name in enumerate(names) if name not in _UNSAID]
        memories = [[row[place] for place in kept] for row in cursor]
        return _ADDED.sub("+", f"{memories}\n{connection.execute(_LINKS).fetchall()}")
    finally:
        connection.close()


def cycles(path: Path) -> int:
    """Return how many cycles and undoings the store tells of."""
    connection = apsw.Connection(str(path))
    try:
        return int(connection.execute("SELECT count(*) FROM dream_cycle").get)
    finally:
        connection.close()


def _record(number: int, rng: random.Random) -> dict[str, object]:
    angle = number % 8 + rng.uniform(-0.1, 0.1)
    return {
        "id": f"m{number}",
        "text": f"story {rng.randrange(120)} " + "told at length " * 20,
        "kind": rng.choice(["note", "session", "code_chunk", "file_summary"]),
        "category": rng.choice(["episodic", "semantic"]),
        "session": f"s{number % 9}",
        "created_at": NOW - rng.uniform(0.0, 700.0) * DAY,
        "strength": rng.choice([0.03125, 0.25, 1.0]),
        "stability": rng.choice([0.125, 1.0]),
        "importance": rng.choice([0.0, 0.5]),
        "access_count": rng.randrange(4),
        "tier": rng.choice(["hot", "cold"]),
        "cold_since": rng.choice([None, NOW - 200.0 * DAY]),
        "embedding": [math.cos(angle), math.sin(angle)],
    }


def _killed(path: Path, profile: str, rng: random.Random) -> list[str]:
    """Start a dreamer, kill it after a while, return what it said."""
    dreamer = forks().start(
        "tests.crash.dreamer", [str(path), profile], path.with_name("said.jsonl")
    )
    dreamer.await_lines(rng.choice((1, 2, 2, 3, 4, 6)))  # "open", "begin", "done" and so on
    time.sleep(rng.uniform(0.0, 0.3))
    if dreamer.kill() != -signal.SIGKILL:
        raise dreamer.failure()
    return dreamer.lines()
