"""The process that is killed: writes without end, says before each write what, and after it that.

Arguments: FILE SEED FIRST DURABILITY [EMBEDDER]
Prints JSON lines: an object for what will be written (id to its new state, null for deleted), then
"done" once the write has returned. While there is a file ``pause`` next to the store, nothing is written,
after "paused".
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
import time
from pathlib import Path

from tests.crash.subject import State, Subject


def say(value: object) -> None:
    """Print in one system call: a kill leaves a whole line or none."""
    os.write(1, json.dumps(value).encode() + b"\n")


def main() -> None:
    """Write until killed."""
    path, seed, first, durability, *embedder = sys.argv[1:]
    subject = Subject(Path(path), durability, *embedder)
    say("open")
    write(subject, Path(path).with_name("pause"), random.Random(int(seed)), int(first))


def rehearse(folder: Path) -> None:
    """Write a little, with an embedder."""
    subject = Subject(folder / "mind.db", "normal", "hashing")
    write(subject, folder / "pause", random.Random(1), 0, steps=80)
    for number in range(40):
        change_nothing_checked(subject, ["m0", "m1"], random.Random(number))
    subject.close()


def write(
    subject: Subject, pause: Path, rng: random.Random, number: int, steps: int | None = None
) -> None:
    """Write without end, or as many times.

    Args:
        subject: the store.
        pause: a file; nothing is written while it is there.
        rng: of the choices.
        number: of the first memory.
        steps: how many writes.
    """
    own: dict[str, State] = {}
    deleted: dict[str, State] = {}
    for _ in itertools.count() if steps is None else range(steps):
        if pause.exists():
            subject.flush()
            say("paused")
            while pause.exists():
                time.sleep(0.002)
        choice = rng.random()
        if choice < 0.55 or not own:
            ids = [f"m{number + i}" for i in range(1 if choice < 0.4 else rng.randrange(2, 60))]
            number += len(ids)
            texts = {id: f"memory {id} " + "and more of it " * rng.randrange(60) for id in ids}
            added: dict[str, State] = {id: (text, 0.5) for id, text in texts.items()}
            say(added)
            subject.add_many(texts) if len(ids) > 1 else subject.add(ids[0], texts[ids[0]])
            own |= added
        elif choice < 0.8:
            id = rng.choice(list(own))
            own[id] = (f"changed {id} {rng.random()}", round(rng.random(), 6))
            say({id: own[id]})
            subject.update(id, *own[id])
        elif choice < 0.87:
            id = rng.choice(list(own))
            state = own.pop(id)
            say({id: None})
            if choice < 0.84:
                subject.delete(id)
                deleted[id] = state
            else:
                subject.forget(id)
        elif choice < 0.89 and deleted:
            id = rng.choice(list(deleted))
            own[id] = deleted.pop(id)
            say({id: own[id]})
            subject.restore(id)
        else:
            say({})
            change_nothing_checked(subject, list(own), rng)
        say("done")


def change_nothing_checked(subject: Subject, own: list[str], rng: random.Random) -> None:
    """Write what leaves texts and importances alone, or open the store again."""
    match rng.randrange(8):
        case 0 | 1 | 2:
            subject.recall("memory changed more")
        case 3:
            subject.flush()
        case 4:
            subject.judge(rng.choice(own))
        case 5:
            subject.link(rng.choice(own), rng.choice(own))
        case 6:
            subject.supersede(rng.choice(own), rng.choice(own))
        case _:
            subject.reopen()
