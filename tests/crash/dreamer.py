"""The process that is killed while it dreams: applies one cycle and undoes it, without end.

Arguments: FILE PROFILE
Prints lines of JSON: "open", then "begin" before each cycle or undoing and "done" after it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from tests.crash.dream_kills import PROFILES, add_memories, dreaming_mind, step


def say(word: str) -> None:
    """Print in one system call: a kill leaves a whole line or none."""
    os.write(1, f'"{word}"\n'.encode())


def main() -> None:
    """Dream until killed."""
    mind = dreaming_mind(sys.argv[1], sys.argv[2])
    say("open")
    while True:
        say("begin")
        step(mind)
        say("done")


def rehearse(folder: Path) -> None:
    """Apply a cycle of each profile and undo it."""
    for profile in PROFILES:
        with dreaming_mind(folder / f"{profile}.db", profile) as mind:
            add_memories(mind, 30, random.Random(1))
            step(mind)
            step(mind)
