"""Ctrl-C every few milliseconds while an engine is used: ``python -m tests.crash.interrupts``.

The engine must stay what its store is: no call may fail but by KeyboardInterrupt, the notes of that must
be true, and in the end the engine must give the same answers as one that opens the store again. Each call
is made once before the storm: the interpreter's first import of a module is not safe from interrupts.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import oneiros
from oneiros.clock import VirtualClock
from tests.engine.embedders import LetterCounts

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay")
DAY = 86_400.0


class Storm:
    """One engine, its store, and what must be true of both."""

    def __init__(self, path: Path | str, seed: int, profile: str, *, has_vectors: bool) -> None:
        self.has_vectors = has_vectors
        self.random = random.Random(seed)
        self.clock = VirtualClock(1.7e9)
        self.path = path
        self.profile = profile
        self.engine = self.opened()
        self.there: dict[str, bool] = {}
        """By id, what the last write of it has said: stored or not. Unknown ones are left out."""
        self.calls: Counter[str] = Counter()
        self.problems: list[str] = []
        self.number = 0

    def opened(self) -> oneiros.Engine:
        return oneiros.Engine(
            self.path,
            profile=self.profile,
            embedder=LetterCounts() if self.has_vectors else None,
            clock=self.clock,
            durability="normal",
        )

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(2, 6)))

    def any_id(self) -> str:
        known = [id for id, is_there in self.there.items() if is_there]
        return self.random.choice(known) if known else "m0"

    def actions(self) -> dict[str, Callable[[], Any]]:
        """Return the calls, each after how often it is made and its name."""
        return {
            "8 add": self.add,
            "4 add_many": self.add_many,
            "3 update": lambda: self.engine.update(self.any_id(), text=self.text()),
            "2 forget": self.forget,
            "2 feedback": lambda: self.engine.feedback(self.any_id(), "helpful"),
            "2 link": lambda: self.engine.link(self.any_id(), self.any_id()),
            "1 pin": lambda: self.engine.pin(self.any_id()),
            "9 search": lambda: self.engine.search(self.text(), session=f"s{self.number % 5}"),
            "2 texts": lambda: [one.memory.text for one in self.engine.search(self.text())],
            "2 get": lambda: self.engine.get(self.any_id()),
            "1 list": lambda: self.engine.list(limit=5),
            "1 rescore": self.engine.rescore,
            "1 flush": self.engine.flush,
            "1 check": self.engine.check,
            "1 dream": self.dream,
        }

    def step(self) -> None:
        """Make one call; an interrupt of it is noted, anything else is a problem."""
        actions = self.actions()
        weights = [int(name.partition(" ")[0]) for name in actions]
        (call,) = self.random.choices(list(actions.values()), weights)
        try:
            call()
        except KeyboardInterrupt:
            self.calls["interrupted"] += 1
        except (oneiros.UnknownMemory, ValueError):
            pass  # forgotten meanwhile, or a memory linked with itself
        self.calls["all"] += 1

    def writing(self, ids: list[str], write: Callable[[], Any], *, adds: bool) -> None:
        """Make a write and hold what an interrupt's note says against the store, later."""
        try:
            write()
            said = True
        except KeyboardInterrupt as interrupt:
            for id in ids:
                self.there.pop(id, None)
            notes = getattr(interrupt, "__notes__", [])
            if not notes or "goes on" in notes[0]:
                raise  # the outcome is not known
            self.calls[notes[0]] += 1
            said = "committed" in notes[0]
            if not said and not adds:
                said, adds = True, True  # what was to be erased is still there
            for id in ids:
                self.there[id] = said == adds
            raise
        for id in ids:
            self.there[id] = said == adds

    def add(self) -> None:
        self.number += 1
        id = f"m{self.number}"
        kind = self.random.choice(("note", "session", "fact"))
        self.writing(
            [id], lambda: self.engine.add(self.text(), id=id, kind=kind, tags=["t"]), adds=True
        )

    def add_many(self) -> None:
        self.number += 50
        ids = [f"m{self.number}-{n}" for n in range(self.random.randint(1, 40))]
        records = [{"id": id, "text": self.text(), "session": "s"} for id in ids]
        self.writing(ids, lambda: self.engine.add_many(records), adds=True)

    def forget(self) -> None:
        id = self.any_id()
        if self.there.get(id):
            self.writing([id], lambda: self.engine.forget(id), adds=False)

    def dream(self) -> None:
        self.clock.advance(DAY / 4)
        report = self.engine.dream()
        if self.random.random() < 0.5:
            self.engine.undo_dream(report.id)

    def verify(self) -> None:
        """Hold the engine to its store, and both to what the calls reported."""
        engine = self.engine
        self.problems += [f"check: {problem}" for problem in engine.check()]
        for id, is_there in self.there.items():
            if (engine.get_many([id])[0] is not None) != is_there:
                self.problems.append(f"{id}: reported as {'stored' if is_there else 'not stored'}")
        mine = self.answers(engine)
        engine.close()
        if self.path == ":memory:":
            return
        for left in Path(self.path).parent.glob(f"{Path(self.path).name}*index*"):
            left.unlink()  # the read model is to be built from the store alone
        with self.opened() as again:
            if self.answers(again) != mine:
                self.problems.append("answers differ from those of an engine made anew")
            self.problems += [f"reopened: {problem}" for problem in again.check()]

    def answers(self, engine: oneiros.Engine) -> list[Any]:
        engine.flush()
        found: list[Any] = []
        for one in WORDS:
            response = engine.search(one, 50, reinforce=False)
            found.append([(result.id, result.score, result.memory.text) for result in response])
        found.append([memory.id for memory in engine.list(limit=100_000)])
        found.append(
            [(m.id, m.access_count, m.stability, m.strength) for m in engine.list(limit=100_000)]
        )
        found.append(sorted(map(repr, engine.links())))
        found.append(engine.rescore().scores.tolist())
        return found


def run(
    seconds: float,
    seed: int,
    *,
    path: Path | str,
    profile: str = "oneiros",
    has_vectors: bool = True,
    most: int = sys.maxsize,
) -> Storm:
    """Use an engine under a storm of interrupts and verify it.

    Args:
        seconds: how long the storm lasts at most.
        seed: of the calls.
        path: of the store; ":memory:" for none.
        profile: of the engine.
        has_vectors: the engine embeds texts; else a memory that is added is stored at once.
        most: the storm is over when so many calls were interrupted.
    """
    storm = Storm(path, seed, profile, has_vectors=has_vectors)
    storm.add_many()
    for call in storm.actions().values():
        with contextlib.suppress(oneiros.UnknownMemory, ValueError):
            call()
    has_begun, is_over = threading.Event(), threading.Event()
    pauses = random.Random(seed + 1)

    def pester() -> None:
        has_begun.wait()  # so that no interrupt meets the start of this very thread
        while not is_over.wait(pauses.uniform(0.0005, 0.006)):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=pester)
    end = time.monotonic() + seconds
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    while not is_over.is_set():
        try:
            has_begun.set()
            while time.monotonic() < end and storm.calls["interrupted"] < most:
                storm.step()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            is_over.set()
        except KeyboardInterrupt:  # between two steps
            continue
    thread.join()
    signal.signal(signal.SIGINT, before)
    storm.verify()
    return storm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="calls to interrupt")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--profile", default="oneiros")
    parser.add_argument("--memory", action="store_true", help="a store in memory")
    parser.add_argument("--words", action="store_true", help="without vectors")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oneiros-interrupts-") as folder:
        path: Path | str = ":memory:" if given.memory else Path(folder) / "agent.db"
        storm = run(
            given.seconds,
            given.seed,
            path=path,
            profile=given.profile,
            has_vectors=not given.words,
            most=given.most,
        )
    calls = storm.calls
    lines = [
        *storm.problems,
        f"{calls['all']} calls, {calls['interrupted']} interrupted, {len(storm.problems)} problems",
        *(f"  {count} times {what!r}" for what, count in sorted(calls.items()) if " " in what),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if storm.problems else 0


if __name__ == "__main__":
    sys.exit(main())
