"""The process that is killed while it dreams: applies one cycle and undoes it, without end.

Usage: dreamer.py FILE PROFILE
Prints lines: "open", then "begin" before each cycle or undoing and "done" after it.
"""

from __future__ import annotations

import os
import sys

from tests.crash.dream_kills import dreaming_mind, step


def say(word: str) -> None:
    """Print in one system call: a kill leaves a whole line or none."""
    os.write(1, word.encode() + b"\n")


def main() -> None:
    """Dream until killed."""
    mind = dreaming_mind(sys.argv[1], sys.argv[2])
    say("open")
    while True:
        say("begin")
        step(mind)
        say("done")


if __name__ == "__main__":
    main()
