"""A writer killed with -9 at random moments loses nothing that was acknowledged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash import harness
from tests.crash.subject import Subject

KILLS = int(os.environ.get("ONEIROS_KILLS") or (50 if os.environ.get("CI") else 20))
"""``python -m tests.campaigns kills`` runs more."""


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_kill_9_loses_nothing(
    tmp_path: Path, durability: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = harness.run(tmp_path, kills=max(1, KILLS // 2), seed=7, durability=durability)
    with capsys.disabled():
        print(f"\n{durability}: {report}")  # noqa: T201 - the figures are part of the result
    assert report.lost == []
    assert report.torn == []
    assert report.problems == []
    assert report.acknowledged > 0


def test_the_harness_sees_a_lost_and_a_torn_write(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "mind.db", "full")
    subject.add_many({"a": "x", "b": "x"})
    subject.close()
    report = harness.Report()
    expected = {"a": ("x", 0.5), "c": ("x", 0.5)}
    harness.verify(tmp_path / "mind.db", "full", expected, {"b": ("x", 0.5), "d": None}, report)
    assert report.lost == ["c"]
    assert len(report.torn) == 1
    assert not report.is_clean()
