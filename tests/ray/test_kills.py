"""Actors killed under load: no acknowledged write is lost, and no addition is repeated.

``ONEIROS_LONG=1`` kills a thousand times under load; ``python -m tests.ray.kills`` prints figures.
"""

from __future__ import annotations

import math
import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from oneiros.ray import ShardedEngine, ShardedReport, ShardUnavailable
from tests.frozen.answers import plain_values
from tests.ray.test_sharded import NOW, clock, one_engine, records_of_users

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
from tests.ray.kills import pid_of, run, user_in

pytestmark = pytest.mark.usefixtures("cluster")

IS_LONG = os.environ.get("ONEIROS_LONG") == "1"
KILLS = 1_000 if IS_LONG else 6
ROUNDS = 200 if IS_LONG else 6
"""Kills of a search over all shards, one at a time."""


def kill(engine: ShardedEngine, shard: int) -> None:
    os.kill(pid_of(engine, shard), signal.SIGKILL)


def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    """Nor does a search over all shards give an answer that lacks a shard without saying so."""
    report = run(tmp_path, kills=KILLS, seconds=math.inf, tell=lambda _: None)
    assert report.problems == []
    assert report.kills == KILLS
    assert report.acknowledged > KILLS
    assert report.whole > 0


def test_a_write_that_may_have_happened_says_so(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=1, clock=clock) as engine:
        engine.add("tea", user="ada", id="tea")
        os.kill(pid_of(engine, 0), signal.SIGSTOP)
        stopped = engine.actors._actors[0]
        threading.Timer(0.5, lambda: ray.kill(stopped, no_restart=False)).start()
        with pytest.raises(ShardUnavailable, match="update may or may not have happened") as caught:
            engine.update("tea", user="ada", text="green tea")
        assert (caught.value.shard, caught.value.may_have_happened) == (0, True)
        assert engine.get("tea", user="ada").text in ("tea", "green tea")


def test_reads_and_additions_wait_for_the_shard(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=1, clock=clock) as engine:
        engine.add("tea", user="ada", id="tea")
        kill(engine, 0)
        assert engine.search("tea", user="ada").ids == ["tea"]
        kill(engine, 0)
        assert engine.add("milk", user="ada", id="milk") == "milk"
        assert engine.stats()["memories"] == 2


@pytest.mark.parametrize("patience", [120, 0])
def test_a_search_over_all_shards_is_whole_or_marked(tmp_path: Path, patience: float) -> None:
    """Shards die between and within its rounds. It waits for them, or names those it lacks."""
    records = records_of_users(40)
    shard_of = {record["id"]: record["user"] for record in records}
    options: dict[str, Any] = {"reinforce": False, "allow_partial": patience == 0}
    marked = 0
    with (
        one_engine(records) as whole,
        ShardedEngine(
            tmp_path, shards=2, clock=clock, embedder="hashing", patience_seconds=120
        ) as engine,
    ):
        for number, record in enumerate(records):
            engine.add_many([record], now=NOW - 1_000 + number)
        expected = plain_values(whole.search("note on tea 3", reinforce=False))
        assert plain_values(engine.search("note on tea 3", **options)) == expected
        for number in range(ROUNDS):
            victim = number % 2 if patience else 1  # without patience, one shard must be left
            process = pid_of(engine, victim)
            engine.actors._patience = patience
            killer = threading.Timer(random.uniform(0, 0.1), os.kill, (process, signal.SIGKILL))
            killer.start()
            found = []
            while killer.is_alive() or not found:
                found.append(engine.search("note on tea 3", **options))
            for response in found:
                if response.missing:
                    marked += 1
                    assert options["allow_partial"]
                    assert list(response.missing) == [victim]
                    assert len(response) > 0
                    users = {shard_of[id] for id in response.ids}
                    assert {engine.layout.shard_of(user) for user in users} == {1 - victim}
                else:
                    assert plain_values(response) == expected
            killer.join()
            engine.actors._patience = 120
    assert patience == 0 or marked == 0


def test_a_missing_shard_raises_or_is_marked(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2, clock=clock, patience_seconds=1) as engine:
        here, gone = user_in(engine, 0), user_in(engine, 1)
        engine.add_many([{"text": "tea", "user": user, "id": user} for user in (here, gone)])
        ray.kill(engine.actors._actors[1], no_restart=True)
        assert engine.search("tea", user=here).ids == [here]
        for call in (
            lambda: engine.search("tea", user=gone),
            lambda: engine.get(gone, user=gone),
            lambda: engine.add("milk", user=gone),
            lambda: engine.search_each("tea", [here, gone]),
            engine.stats,
            engine.dream,
        ):
            with pytest.raises(ShardUnavailable, match="shard 1 does not respond") as caught:
                call()
            assert caught.value.shard == 1
        found = engine.search_each("tea", [here, gone], allow_partial=True)
        assert (list(found), list(found.missing), found.is_partial) == ([here], [gone], True)
        stats = engine.stats(allow_partial=True)
        assert (stats["memories"], list(stats["missing"])) == (1, [1])
        report = engine.dream(allow_partial=True)
        assert (list(report.reports), list(report.missing), report.is_partial) == ([0], [1], True)
        assert "no response from shards [1]" in str(report)
        with pytest.raises(ShardUnavailable):
            engine.undo_dream({**report.ids, 1: "01M8E08DMQATMR9BTJSAW8Y4A3"})
        engine.undo_dream(report)


class Killing:
    """A judge that ends the process that asks it, in the shard that has two memories."""

    def __call__(self, older: str, newer: str) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError(older, newer)


def test_a_shard_that_dies_in_a_cycle_leaves_the_report_of_the_others(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2, profile="cognitive", clock=clock) as engine:
        steady, doomed = user_in(engine, 0), user_in(engine, 1)
        engine.add("tea", user=steady)
        for text in ("The office is in Oslo", "The office is in Rome"):
            engine.add(text, user=doomed, embedding=[1.0, 0.0])
        with pytest.raises(ShardUnavailable) as caught:
            engine.dream(judge=Killing())
        error = caught.value
        assert (error.shard, error.may_have_happened) == (1, True)
        report = error.report
        assert isinstance(report, ShardedReport)
        assert (list(report.reports), list(report.missing)) == ([0], [1])
        assert engine.scope(user=doomed).count() == 2
        assert engine.undo_dream(report).missing == {}
