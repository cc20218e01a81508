"""Let every call of the system fail or be the last in turn, under each operation of an engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from tests.crash.failing_calls import FAILURES, KILLS, OPERATIONS

__all__ = ["KILL_POINTS", "SWEEPS", "Sweep", "compiled", "run"]

_HERE: Final = Path(__file__).parent
SWEEPS: Final = tuple((name, failure) for name in OPERATIONS for failure in FAILURES)
"""Each operation with each way to fail."""
KILL_POINTS: Final = tuple((name, kill) for name in OPERATIONS for kill in KILLS)
"""Each operation, killed before and after each call that changes a file."""


class Sweep(NamedTuple):
    """The results of one operation with one way to fail."""

    failed: int
    """Calls that failed, each in a run of its own."""
    problems: list[str]


def compiled(folder: Path) -> Path:
    """Compile what stands before the C library.

    Raises:
        FileNotFoundError: there is no C compiler.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        msg = "cc: none is on the PATH"
        raise FileNotFoundError(msg)
    library = folder / "failing_calls.so"
    source = _HERE / "failing_calls.c"
    flags = ("-shared", "-fPIC", "-O1", "-o", str(library))
    subprocess.run([compiler, *flags, str(source), "-ldl"], check=True)
    return library


def run(
    folder: Path,
    library: Path,
    operation: str,
    failure: str,
    *,
    first: int = 1,
    step: int = 1,
    variety: int = 0,
) -> Sweep:
    """Let every call of an operation fail, each on a copy of the same store, until there is none.

    Args:
        folder: an empty one.
        library: of :func:`compiled`.
        operation: a key of ``OPERATIONS``.
        failure: a key of ``FAILURES`` or of ``KILLS``.
        first: the first call that fails.
        step: from one call to the next.
        variety: of the store.
    """
    places = [str(_HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(places)}
    made = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", str(_HERE / "failing_calls.py"), str(folder)),
            *(operation, failure, str(first), str(step), str(variety)),
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        said = made.stderr.strip()[-1_000:]
        return Sweep(0, [f"{operation}, {failure}: exit code {made.returncode}: {said}"])
    found = json.loads(made.stdout.splitlines()[-1])
    return Sweep(found["failed"], found["problems"])
