"""A dreamer killed with -9 at random moments leaves the store as before the cycle, or as after it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash import dream_kills

KILLS = int(os.environ.get("ONEIROS_KILLS") or (20 if os.environ.get("CI") else 8))
"""``python -m tests.crash.dream_kills --kills 200`` runs more."""


def test_kill_9_leaves_no_half_of_a_cycle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = dream_kills.run(tmp_path, kills=KILLS, seed=7)
    with capsys.disabled():
        print(f"\n{report}")  # noqa: T201 - the figures are part of the result
    assert report.problems == []
    assert report.done > 0
    assert report.cut_off > 0
