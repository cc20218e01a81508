"""A dreamer killed with -9 at random moments leaves the store as before the cycle, or as after it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.crash import dream_kills
from tests.crash.dream_kills import Watched, cycles, dreaming_mind, step

KILLS = int(os.environ.get("ONEIROS_KILLS") or (5 if os.environ.get("CI") else 2))
"""A profile; ``python -m tests.campaigns kills_of_dreams`` runs more."""

PROFILES = ("oneiros", "reverie", "cognitive", "omega")


@pytest.mark.parametrize("profile", PROFILES)
def test_kill_9_leaves_no_half_of_a_cycle(
    tmp_path: Path, profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = dream_kills.run(tmp_path, kills=KILLS, seed=7, profile=profile)
    with capsys.disabled():
        print(f"\n{profile}: {report}")  # noqa: T201 - the figures are part of the result
    assert report.problems == []
    assert report.done + report.told + report.kept > 0  # few kills may not show all three
    assert report.cut_off > 0


@pytest.fixture(params=["reverie", "cognitive"])
def watched(tmp_path: Path, request: pytest.FixtureRequest) -> Watched:
    return Watched(tmp_path / "mind.db", request.param, random.Random(3))


def dreamt(watched: Watched) -> None:
    with dreaming_mind(watched.path, watched.profile) as mind:
        step(mind)


def half_of_it(watched: Watched) -> None:
    """Write every other memory's part of a cycle by hand."""
    before = watched.path.with_name("before.db")
    shutil.copy(watched.path, before)
    dreamt(watched)
    with closing(apsw.Connection(str(watched.path))) as connection, connection:
        connection.execute("ATTACH ? AS old", (str(before),))
        connection.execute("""
REPLACE INTO main.lifecycle SELECT * FROM old.lifecycle AS was
WHERE sequence % 2 AND revision != (
  SELECT revision FROM main.lifecycle AS after WHERE after.sequence = was.sequence)""")
        assert connection.changes() > 10


def half_without_history(watched: Watched) -> None:
    half_of_it(watched)
    all_but_the_history(watched)


def all_but_the_history(watched: Watched) -> None:
    if not cycles(watched.path):
        dreamt(watched)
    with closing(apsw.Connection(str(watched.path))) as connection:
        connection.execute("DELETE FROM dream_cycle")


def the_history_alone(watched: Watched) -> None:
    with closing(apsw.Connection(str(watched.path))) as connection:
        connection.execute(
            "INSERT INTO dream_cycle (id, revision, dreamed_at, report) VALUES ('torn', 9, 0.0, '{}')"
        )


@pytest.mark.parametrize(
    "tear", [half_of_it, half_without_history, all_but_the_history, the_history_alone]
)
def test_the_harness_sees_a_torn_cycle(watched: Watched, tear: Callable[[Watched], None]) -> None:
    tear(watched)
    watched.look(["open", "begin"])
    assert "kill 1: neither before nor after" in watched.report.problems


def test_the_harness_passes_a_cycle_cut_off_before_its_commit_or_after(watched: Watched) -> None:
    watched.look(["open", "begin"])
    dreamt(watched)
    watched.look(["open", "begin"])
    dreamt(watched)
    watched.look(["open", "begin", "done", "begin"])
    assert watched.report.problems == []
    assert (watched.report.kept, watched.report.done) == (1, 1)


def test_the_harness_sees_a_cycle_that_nobody_ran_and_one_that_is_gone(watched: Watched) -> None:
    dreamt(watched)
    watched.look(["open"])
    watched.look(["open", "begin", "done"])
    assert watched.report.problems == [
        "kill 1: 1 cycles, 0 were told",
        "kill 2: 1 cycles, 2 were told",
    ]
