"""Let every allocation of the core fail in turn, under each operation of an engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.crash.failing_allocations import OPERATIONS
from tests.crash.system_calls import Sweep

__all__ = ["SWEEPS", "compiled", "run"]

_HERE: Final = Path(__file__).parent
_MOST_CRASHES: Final = 20
_SECONDS: Final = 3_600
SWEEPS: Final = tuple(OPERATIONS)
"""The operations."""


def compiled(folder: Path) -> Path:
    """Compile what stands before the C and C++ libraries.

    Raises:
        FileNotFoundError: there is no C++ compiler.
    """
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        msg = "c++: none is on the PATH"
        raise FileNotFoundError(msg)
    library = folder / "failing_allocations.so"
    source = _HERE / "failing_allocations.cpp"
    flags = ("-std=c++20", "-shared", "-fPIC", "-O1", "-o", str(library))
    subprocess.run([compiler, *flags, str(source)], check=True)
    return library


def run(folder: Path, library: Path, operation: str, *, first: int = 1, step: int = 1) -> Sweep:
    """Let every allocation of an operation fail, each on a copy of the same store, until there is none.

    A process that dies is a problem; the next one goes on behind the allocation that ended it.

    Args:
        folder: an empty one.
        library: of :func:`compiled`.
        operation: a key of ``OPERATIONS``.
        first: the first allocation that fails.
        step: from one allocation to the next.
    """
    failed, problems = 0, []
    for number in range(_MOST_CRASHES):
        work = folder / f"process{number}"
        work.mkdir()
        made = _process(work, library, operation, first, step)
        *started, last = made.stdout.splitlines() or [""]
        if made.returncode == 0:
            found = json.loads(last)
            return Sweep(failed + found["failed"], problems + found["problems"])
        said = made.stderr.strip()[-1_000:]
        ended = f"{operation}: exit code {made.returncode}"
        if not last.isdecimal():
            return Sweep(failed, [*problems, f"{ended}: {said}"])
        problems.append(f"{ended} at allocation {last}: {said}")
        failed += len(started) + 1
        first = int(last) + step
        shutil.rmtree(work)
    return Sweep(failed, problems)


def _process(
    folder: Path, library: Path, operation: str, first: int, step: int
) -> subprocess.CompletedProcess[str]:
    places = [str(_HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(places)}
    program = str(_HERE / "failing_allocations.py")
    return subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-X", "faulthandler", program),
            *(str(folder), operation, str(first), str(step)),
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
