"""Followers of a store answer as an engine that opens it now, whichever process is killed."""

from __future__ import annotations

from pathlib import Path

import oneiros
from tests.crash import follower, follower_kills

KILLS = 2
"""``python -m tests.campaigns followers`` runs more."""


def test_followers_answer_as_a_fresh_engine(tmp_path: Path) -> None:
    report = follower_kills.run(tmp_path, kills=KILLS, seed=3)
    assert report.problems == []
    assert report.kills == KILLS
    assert report.compared >= 2 * (KILLS + 1)
    assert report.acknowledged > 0


def test_a_follower_that_lags_or_keeps_a_wrong_copy_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="reverie", embedder=follower.EMBEDDER) as writer:
        writer.add("memory m1 of the harbour", id="m1")
        follows = follower.Follower(path, read_only=True)
        before = follows.answer()
        writer.add("memory m2 of the harbour", id="m2")
        writer.forget("m1")
        with follower.opened(path, read_only=True) as fresh:
            expected = follower.answers(fresh)
        assert follower_kills.differences(expected, follows.answer()) == []
        late = follower_kills.differences(expected, before)
        assert {problem.split(":")[0] for problem in late} == {"memories", "found"}
        follows._copy["m2"] = "memory of another"
        follows._copy["m3"] = "memory of nothing"
        (problem,) = follower_kills.differences(expected, follows.answer())
        assert problem.startswith("unlike the copy: ['m2', 'm3']")
