"""A short storm of interrupts; ``python -m tests.crash.interrupts`` is the long one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--memory", "--profile", "reverie"),
        ("--profile", "cognitive", "--seed", "3"),
        ("--words",),
        ("--words", "--memory", "--seed", "5"),
    ],
    ids=["default", "memory", "cognitive", "words", "words in memory"],
)
def test_no_interrupt_parts_an_engine_from_its_store(given: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "tests.crash.interrupts", "--most", "200", *given]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, check=False, cwd=root, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) calls, (\d+) interrupted, 0 problems", done.stdout)
    assert found, done.stdout
    assert int(found[2]) >= 50
