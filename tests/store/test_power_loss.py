"""A loss of power: what was not synced is dropped, reordered or torn; what was acknowledged stays.

The shim notes every write, truncation, sync and deletion; states that a disk may hold after a loss
of power are made from that, and opened.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from oneiros.model.memory import Memory
from oneiros.store import Store
from tests.folders import IN_MEMORY
from tests.store.faulty_vfs import Event, registered

NOW = 1_780_000_000.0
STATES = 100_000 if os.environ.get("ONEIROS_LONG") else 500
SECTOR = 512
State = dict[str, float]


def memory(name: str) -> Memory:
    return Memory.from_record({"id": name, "text": f"the text of {name} " * 30}, now=NOW)


class Recording:
    """A workload with its log, and the state after each of its commits."""

    def __init__(self, path: Path, durability: str) -> None:
        self.log: list[Event] = []
        self.states: list[State] = [{}]
        with registered(log=self.log) as vfs:
            self.store = Store(path, vfs=vfs, durability=durability)
            self._go()
            self.store.close()

    def _go(self) -> None:
        for number in range(12):
            self._add(*(f"m{number}-{i}" for i in range(1 + 7 * (number % 3 == 2))))
            self._update(f"m{number}-0", 0.1)
            if number % 4 == 3:
                self._erase(f"m{number - 1}-0")
                self.store.checkpoint()
                self.log.append(Event("synced all", ""))

    def _acknowledge(self, state: State) -> None:
        self.states.append(state)
        self.log.append(Event("ack", "", len(self.states) - 1))

    def _add(self, *names: str) -> None:
        with self.store.write() as transaction:
            transaction.insert_many([memory(name) for name in names])
        self._acknowledge(self.states[-1] | dict.fromkeys(names, 0.5))

    def _update(self, name: str, importance: float) -> None:
        with self.store.write() as transaction:
            transaction.update(name, {"importance": importance})
        self._acknowledge(self.states[-1] | {name: importance})

    def _erase(self, name: str) -> None:
        with self.store.write() as transaction:
            transaction.erase(name)
        self._acknowledge({k: v for k, v in self.states[-1].items() if k != name})


class Pending(NamedTuple):
    """Something that was told to the disk and not synced."""

    event: Event
    acknowledged: int
    """Number of the last commit that was acknowledged before it."""


class Disk:
    """What the disk holds for sure, and what may or may not have reached it."""

    def __init__(self) -> None:
        self.sure: dict[str, bytearray] = {}
        self.open: dict[str, list[Pending]] = {}
        self.promised = 0
        """Number of the last commit that must survive."""
        self.last = 0
        """Number of the last commit that was acknowledged."""

    def take(self, event: Event, durability: str) -> None:
        if event.kind == "sync":
            content = self.sure.setdefault(event.path, bytearray())
            for pending in self.open.pop(event.path, []):
                apply(pending.event, content)
        elif event.kind == "delete":  # SQLite syncs the folder where it matters
            self.sure.pop(event.path, None)
            self.open.pop(event.path, None)
        elif event.kind in {"write", "truncate"}:
            self.open.setdefault(event.path, []).append(Pending(event, self.last))
        elif event.kind == "ack":
            self.last = event.offset
        if durability == "full" or event.kind == "synced all":
            self.promised = self.last

    def after_power_loss(self, rng: random.Random) -> tuple[dict[str, bytes], int]:
        """Return files as they may be found, any part of what was not synced, in any order.

        With them the number of the last commit that must be in them: what was promised, and, as far
        as all writes of the log came through whole and in their order, what was not.
        """
        files = {path: bytearray(content) for path, content in self.sure.items()}
        share = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        torn_share = rng.choice([0.0, 0.03, 0.3])
        least = self.last
        for path, pending in self.open.items():
            made = [
                torn(one.event, rng, torn_share) if rng.random() < share else None
                for one in pending
            ]
            if path.endswith("-wal"):
                damaged = (
                    one.acknowledged
                    for one, found in zip(pending, made, strict=True)
                    if found != one.event
                )
                least = min(least, next(damaged, self.last))
            kept = [event for event in made if event is not None]
            if rng.random() < 0.5:
                rng.shuffle(kept)
                least = 0
            for event in kept:
                apply(event, files.setdefault(path, bytearray()))
        return {path: bytes(content) for path, content in files.items()}, max(least, self.promised)


def apply(event: Event, content: bytearray) -> None:
    if event.kind == "truncate":
        del content[event.offset :]
        return
    if len(content) < event.offset:
        content.extend(bytes(event.offset - len(content)))
    content[event.offset : event.offset + len(event.data)] = event.data


def torn(event: Event, rng: random.Random, share: float) -> Event:
    """Cut a write at a sector's end, now and then."""
    if event.kind == "truncate" or len(event.data) <= SECTOR or rng.random() >= share:
        return event
    sectors = rng.randrange(1, -(-len(event.data) // SECTOR))
    return Event("write", event.path, event.offset, event.data[: sectors * SECTOR])


def found_in(files: dict[str, bytes]) -> State:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        for path, content in files.items():
            if not path.endswith("-shm"):
                (Path(folder) / Path(path).name).write_bytes(content)
        with Store(Path(folder) / "mind.db") as store:
            assert store.quick_check() == []
            return {row.id: row.importance for part in store.changes(0) for row in part}


class Survived(NamedTuple):
    """The contents of the states of a recording."""

    commits: set[int]
    """The last commits that were found in them."""
    every: int
    """States of the recording."""
    beyond: int
    """States whose log had more than was promised."""


def lose_power(path: Path, durability: str, *, states: int, seed: int) -> Survived:
    """Open states that a disk may hold after a loss of power, and check each."""
    recording = Recording(path, durability)
    rng = random.Random(seed)
    moments = sorted(rng.randrange(len(recording.log) + 1) for _ in range(states))
    disk, place, survivors, beyond = Disk(), 0, set(), 0
    for number, moment in enumerate(moments):
        for event in recording.log[place:moment]:
            disk.take(event, durability)
        place = moment
        files, least = disk.after_power_loss(rng)
        state = found_in(files)
        commits = [n for n, known in enumerate(recording.states) if known == state]
        assert commits, f"state {number}: no prefix of the commits"
        assert commits[-1] >= disk.promised, f"state {number}: an acknowledged commit is gone"
        assert commits[-1] >= least, f"state {number}: a commit is gone that the log has whole"
        survivors.add(commits[-1])
        beyond += least > disk.promised
    return Survived(survivors, len(recording.states), beyond)


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_a_loss_of_power_leaves_a_prefix_with_every_promised_commit(
    tmp_path: Path, durability: str
) -> None:
    survived = lose_power(tmp_path / "mind.db", durability, states=STATES, seed=20)
    few = survived.every if durability == "full" else survived.every // 2
    assert len(survived.commits) >= few, "too few states"
    assert survived.beyond > 0 or durability == "full", (
        "no log came through beyond what was promised"
    )
