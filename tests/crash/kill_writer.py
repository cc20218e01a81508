"""The process that is killed: writes without end, says before each write what, and after it that.

Usage: kill_writer.py FILE SEED FIRST DURABILITY
Prints JSON lines: an object for what will be written (id to its new state, null for deleted), then
"done" once the write has returned.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

from tests.crash.subject import State, Subject


def say(value: object) -> None:
    """Print in one system call: a kill leaves a whole line or none."""
    os.write(1, json.dumps(value).encode() + b"\n")


def main() -> None:
    """Write until killed."""
    path, seed, first, durability = sys.argv[1:]
    rng = random.Random(int(seed))
    number = int(first)
    subject = Subject(Path(path), durability)
    say("open")
    own: list[str] = []
    while True:
        choice = rng.random()
        if choice < 0.55 or not own:
            ids = [f"m{number + i}" for i in range(1 if choice < 0.4 else rng.randrange(2, 60))]
            number += len(ids)
            texts = {id: f"memory {id} " + "and more of it " * rng.randrange(60) for id in ids}
            say({id: (text, 0.5) for id, text in texts.items()})
            subject.add_many(texts) if len(ids) > 1 else subject.add(ids[0], texts[ids[0]])
            own += ids
        elif choice < 0.8:
            id = rng.choice(own)
            state: State = (f"changed {id} {rng.random()}", round(rng.random(), 6))
            say({id: state})
            subject.update(id, *state)
        elif choice < 0.9:
            id = own.pop(rng.randrange(len(own)))
            say({id: None})
            subject.delete(id) if choice < 0.87 else subject.forget(id)
        elif choice < 0.97:
            say({})
            subject.recall("memory changed more")
        else:
            say({})
            subject.flush()
        say("done")


if __name__ == "__main__":
    main()
