"""Every n-th call of the system fails, or ends the process, under each operation of an engine.

Usage: failing_calls.py FOLDER OPERATION FAILURE FIRST STEP VARIETY, under LD_PRELOAD of failing_calls.c.
Prints a line of JSON: how many calls failed, and what was wrong. ``tests.crash.system_calls`` starts it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import oneiros
from oneiros.index import snapshot

NOW: Final = 1_750_000_000.0
DAY: Final = 86_400.0
COUNT: Final = 30
FAILURES: Final = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EINTR": errno.EINTR, "short": 0}
KILLS: Final = {"killed before": -1, "killed after": -2}
"""The process is killed at a call that changes a file."""
NEW: Final = [{"id": f"new{number}", "text": f"new text {number} " * 40} for number in range(8)]
Records = dict[str, dict[str, Any]]


def opened(path: Path) -> oneiros.Engine:
    return oneiros.Engine(path, profile="reverie", embedder="hashing", clock=lambda: NOW + DAY)


def base(path: Path, variety: int = 0) -> None:
    """Make the store that each operation begins with; its last cycle can be undone.

    Args:
        path: of the store.
        variety: stores of another one have longer texts, and so lie otherwise on their pages.
    """
    with opened(path) as engine:
        engine.add_many(
            [
                {
                    "id": f"m{number}",
                    "text": f"letter {number} about topic{number % 5} " * (20 + variety * 7),
                    "created_at": NOW - number * 20 * DAY,
                    "strength": (number % 9 + 1) / 9,
                }
                for number in range(COUNT)
            ],
            now=NOW,
        )
        engine.dream(NOW + DAY)


def add(engine: oneiros.Engine, _folder: Path) -> None:
    engine.add_many(NEW)


def change(engine: oneiros.Engine, _folder: Path) -> None:
    engine.update("m1", text="changed", importance=0.9)


def forget(engine: oneiros.Engine, _folder: Path) -> None:
    engine.forget("m2")


def export(engine: oneiros.Engine, folder: Path) -> None:
    engine.export(folder / "out.jsonl")


def backup(engine: oneiros.Engine, folder: Path) -> None:
    engine.backup(folder / "copy.db")


def import_rows(engine: oneiros.Engine, folder: Path) -> None:
    with (folder.parent / "rows.jsonl").open() as file:
        engine.add_many([json.loads(line) for line in file])


def rescore(engine: oneiros.Engine, _folder: Path) -> None:
    found = engine.rescore()
    assert len(found) == COUNT


def dream(engine: oneiros.Engine, _folder: Path) -> None:
    engine.dream(NOW + 30 * DAY)


def undo(engine: oneiros.Engine, _folder: Path) -> None:
    engine.undo_dream(engine.dreams(limit=1)[0].id)


def close(engine: oneiros.Engine, _folder: Path) -> None:
    """Write the snapshot of the read model."""
    engine.close()


Operation = Callable[[oneiros.Engine, Path], object]
OPERATIONS: Final[dict[str, Operation]] = {
    "add": add,
    "change": change,
    "forget": forget,
    "export": export,
    "backup": backup,
    "import": import_rows,
    "rescore": rescore,
    "dream": dream,
    "undo": undo,
    "snapshot": close,
}


def records(path: Path, problems: list[str], said: str) -> Records:
    with opened(path) as engine:
        problems += [f"{said}: {problem}" for problem in engine.check(deep=True)]
        return {memory.id: memory.to_record() for memory in engine.list(limit=1_000)}


class Sweep:
    """All failing calls of one operation."""

    operations: Mapping[str, Operation] = OPERATIONS
    allowed: tuple[type[Exception], ...] = (oneiros.OneirosError, OSError)
    """Errors that an operation may raise when a call fails; all are documented."""

    def __init__(self, folder: Path, operation: str, failure: str, variety: int = 0) -> None:
        self.folder, self.name, self.failure = folder, operation, failure
        self.calls = ctypes.CDLL(None)
        self.calls.arm_failing_call.argtypes = [ctypes.c_long, ctypes.c_int]
        self.problems: list[str] = []
        base(folder / "base.db", variety)
        rows = "".join(f"{json.dumps(one)}\n" for one in NEW)
        (folder / "rows.jsonl").write_text(rows)
        self.before = records(folder / "base.db", self.problems, "before")
        self.after = self._sound()

    def _sound(self) -> Records:
        work = self._begun("sound")
        with opened(work / "mind.db") as engine:
            self.answer = self.operations[self.name](engine, work)
        self.files = {path.name for path in work.iterdir()}
        after = records(work / "mind.db", self.problems, "sound")
        shutil.rmtree(work)
        return after

    def _begun(self, name: str) -> Path:
        work = self.folder / name
        work.mkdir()
        shutil.copy(self.folder / "base.db", work / "mind.db")
        return work

    def fail(self, at: int) -> bool:
        """Let the call numbered ``at`` fail; return whether there was one."""
        work = self._begun(f"at{at}")
        said = f"{self.name}, {self.failure} at call {at}"
        engine = opened(work / "mind.db")
        is_done = False
        self.calls.arm_failing_call(at, FAILURES.get(self.failure, 0))
        try:
            answer = self.operations[self.name](engine, work)
            is_done = True
        except self.allowed:
            pass
        except Exception as error:  # noqa: BLE001 - no other may be raised
            self.problems.append(f"{said}: {type(error).__name__}: {error}")
        finally:
            self.calls.disarm_failing_call()
        has_failed = bool(self.calls.has_failed())
        if is_done and answer != self.answer:
            self.problems.append(f"{said}: another answer: {answer}")
        self.look(engine, said)
        with suppress(oneiros.OneirosError, OSError):
            engine.close()
        self._judge(work, said, is_done=is_done, has_failed=has_failed)
        shutil.rmtree(work)
        return has_failed

    def may_be_left(self, name: str) -> bool:  # noqa: ARG002 - nothing may
        """Return whether a file of the name may be there afterwards, that is not otherwise."""
        return False

    def look(self, engine: oneiros.Engine, said: str) -> None:
        """Look at the engine after the operation."""

    def _judge(self, work: Path, said: str, *, is_done: bool, has_failed: bool) -> None:
        if not is_done and not has_failed:
            self.problems.append(f"{said}: an error without a fault")
        found = records(work / "mind.db", self.problems, said)
        allowed = [self.after] if is_done else [self.before, self.after]
        if self.name in {"dream", "undo"}:  # a cycle's id is in what it adds
            is_sound = any(found.keys() == one.keys() for one in allowed)
        else:
            is_sound = found in allowed
        if not is_sound:
            self.problems.append(f"{said}: neither as before nor as after, done: {is_done}")
        extra = {path.name for path in work.iterdir()} - self.files - {"mind.db-snapshot"}
        if extra := {name for name in extra if not self.may_be_left(name)}:
            self.problems.append(f"{said}: left {sorted(extra)}")
        if is_done and self.name == "backup":
            copied = records(work / "copy.db", self.problems, f"{said}: copy")
            if copied != self.before:
                self.problems.append(f"{said}: the copy differs")
        if is_done and self.name == "export":
            lines = (work / "out.jsonl").read_text().splitlines()
            if {json.loads(line)["id"] for line in lines} != self.before.keys():
                self.problems.append(f"{said}: the export differs")


class KillSweep(Sweep):
    """All calls of one operation that change a file: a process of its own is killed at each."""

    def fail(self, at: int) -> bool:
        """Kill a process at the call numbered ``at``; return whether there was one."""
        work = self._begun(f"at{at}")
        child = os.fork()
        if child == 0:
            self._operate(at, work)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = f"{self.name}, {self.failure} call {at}"
        is_killed = code == -signal.SIGKILL
        if code and not is_killed:
            self.problems.append(f"{said}: exit code {code}")
        self._judge(work, said, is_done=not is_killed, has_failed=is_killed)
        shutil.rmtree(work)
        return is_killed

    def may_be_left(self, name: str) -> bool:
        """Return whether it is the draft of an export or a backup, which the next one removes."""
        return name.startswith(".") and ".part" in name

    def _operate(self, at: int, work: Path) -> NoReturn:
        """Do the operation, and end the process without closing anything."""
        try:
            engine = opened(work / "mind.db")
            self.calls.arm_failing_call(at, KILLS[self.failure])
            answer = self.operations[self.name](engine, work)
            self.calls.disarm_failing_call()
            os._exit(answer != self.answer)
        finally:
            os._exit(2)


def main() -> None:
    folder, operation, failure, first, step, variety = sys.argv[1:]
    snapshot.FEWEST_ROWS = 1  # type: ignore[misc]
    kind = KillSweep if failure in KILLS else Sweep
    sweep = kind(Path(folder), operation, failure, int(variety))
    at, count = int(first), 0
    while sweep.fail(at):
        count += 1
        at += int(step)
    sys.stdout.write(json.dumps({"failed": count, "problems": sweep.problems}) + "\n")


if __name__ == "__main__":
    main()
