"""Kill -9 at random moments, against the state that was acknowledged."""

from __future__ import annotations

import random
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.forks import forks
from tests.crash.subject import State, Subject

Change = dict[str, State | None]


@dataclass
class Report:
    """What the kills showed."""

    kills: int = 0
    acknowledged: int = 0
    """Writes that had returned."""
    in_doubt: int = 0
    """Writes that were cut off."""
    in_doubt_kept: int = 0
    """Of these, those that are there (whole)."""
    before_open: int = 0
    """Kills while the store was still being opened."""
    memories: int = 0
    """In the largest file."""
    slowest_open_seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def is_clean(self) -> bool:
        """Return whether nothing was lost, torn or damaged."""
        return not (self.lost or self.torn or self.problems)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills ({self.before_open} while opening), "
            f"{self.acknowledged} acknowledged writes, {len(self.lost)} lost, "
            f"{len(self.torn)} torn, {len(self.problems)} problems; "
            f"{self.in_doubt} cut off ({self.in_doubt_kept} of them there); "
            f"{self.memories} memories in the largest file, slowest open "
            f"{self.slowest_open_seconds * 1000:.0f} ms"
        )


def run(
    folder: Path,
    *,
    kills: int,
    seed: int,
    durability: str,
    kills_a_file: int = 50,
) -> Report:
    """Kill a writer again and again on one file, and check the file after each kill.

    Args:
        folder: where the files are made.
        kills: how many.
        seed: of the writers' choices and of the moments.
        durability: "full" or "normal".
        kills_a_file: after so many the next file is begun: each check reads the whole file, which
            grows with every writer, so one file for all kills would take ever longer.
    """
    rng = random.Random(seed)
    report = Report()
    for start in range(0, kills, kills_a_file):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "mind.db"
            _kill_on_one_file(path, min(kills_a_file, kills - start), durability, rng, report)
    return report


def _kill_on_one_file(
    path: Path, kills: int, durability: str, rng: random.Random, report: Report
) -> None:
    expected: dict[str, State] = {}
    number = 0
    for _ in range(kills):
        lines = _killed(path, rng.randrange(2**31), number, durability, rng)
        pending = replay(lines, expected, report)
        number += sum(len(line) for line in lines if isinstance(line, dict))
        verify(path, durability, expected, pending, report)
        report.kills += 1
        report.memories = max(report.memories, len(expected))


def _killed(path: Path, seed: int, first: int, durability: str, rng: random.Random) -> list[object]:
    """Start a writer, kill it after a while, return what it said."""
    arguments = [str(path), str(seed), str(first), durability]
    writer = forks().start("tests.crash.kill_writer", arguments, path.with_name("said.jsonl"))
    if rng.random() < 0.15:
        time.sleep(rng.uniform(0.0, 0.1))  # somewhere in the opening, or just after it
    else:
        writer.await_lines(rng.randrange(1, 40))
        time.sleep(rng.uniform(0.0, 0.05))
    if writer.kill() != -signal.SIGKILL:
        raise writer.failure()
    return writer.lines()


def replay(lines: list[object], expected: dict[str, State], report: Report) -> Change:
    """Bring the expected state to the last acknowledgement; return the write that was cut off."""
    report.before_open += not lines
    pending: Change = {}
    for line in lines:
        if isinstance(line, dict):
            pending = {id: None if state is None else tuple(state) for id, state in line.items()}
        elif line == "done":
            apply(pending, expected)
            report.acknowledged += 1
            pending = {}
    report.in_doubt += bool(pending)
    return pending


def apply(change: Change, state: dict[str, State]) -> None:
    for id, value in change.items():
        if value is None:
            state.pop(id, None)
        else:
            state[id] = value


def verify(
    path: Path,
    durability: str,
    expected: dict[str, State],
    pending: Change,
    report: Report,
    embedder: str | None = None,
) -> None:
    """Compare the file with what is expected, and take over the write in doubt if it is there."""
    start = time.perf_counter()
    subject = Subject(path, durability, embedder)
    report.slowest_open_seconds = max(report.slowest_open_seconds, time.perf_counter() - start)
    try:
        report.problems += subject.problems()
        found = subject.states()
    finally:
        subject.close()
    with_pending = dict(expected)
    apply(pending, with_pending)
    if found == with_pending and pending:
        report.in_doubt_kept += 1
        apply(pending, expected)
        return
    report.lost += _differences(expected, found, set(pending))
    if found != expected:
        report.torn.append(f"kill {report.kills}: {sorted(pending)[:5]}")
        expected.clear()
        expected.update(found)  # go on from what is there


def _differences(
    expected: dict[str, State], found: dict[str, State], doubtful: set[str]
) -> Iterator[str]:
    """Yield the ids whose acknowledged state is not there."""
    for id in expected.keys() | found.keys():
        if id not in doubtful and expected.get(id) != found.get(id):
            yield id
