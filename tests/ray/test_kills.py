"""Actors killed under load: no acknowledged write is lost, and no addition is repeated.

``ONEIROS_LONG=1`` kills two hundred times.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.ray import ShardedEngine, ShardedReport, ShardUnavailable
from oneiros.ray.shard import store_file
from tests.frozen.answers import plain_values
from tests.ray.test_sharded import NOW, USERS, clock, one_engine, records_of_users

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
pytestmark = pytest.mark.usefixtures("cluster")

IS_LONG = os.environ.get("ONEIROS_LONG") == "1"
KILLS = 200 if IS_LONG else 6
SHARDS = 2


def pid_of(engine: ShardedEngine, shard: int) -> int:
    """Return the process of a shard, once it runs."""
    engine.scope(user=user_in(engine, shard)).count()  # waits until it is back
    actor = engine.actors._actors[shard]
    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())))


def user_in(engine: ShardedEngine, shard: int) -> str:
    return next(user for user in USERS if engine.layout.shard_of(user) == shard)


def kill(engine: ShardedEngine, shard: int) -> None:
    os.kill(pid_of(engine, shard), signal.SIGKILL)


class Writer(threading.Thread):
    """Adds, updates and deletes memories of one user until told to stop, and notes what was done."""

    def __init__(self, engine: ShardedEngine, user: str) -> None:
        super().__init__()
        self.engine = engine
        self.user = user
        self.texts: dict[str, str | None] = {}
        """Id -> the text that was acknowledged last; None: deleted."""
        self.unknown: set[str] = set()
        """Ids whose last write may have happened."""
        self.added = 0
        self.failure: Exception | None = None
        self.is_over = threading.Event()

    def run(self) -> None:
        drawn = random.Random(self.user)
        try:
            while not self.is_over.is_set():
                text = f"{self.user} writes number {self.added}"
                id = self.engine.add(text, user=self.user)
                self.added += 1
                self.texts[id] = text
                choice = drawn.random()
                if choice < 0.3:
                    self.change(
                        id,
                        f"{text}, changed",
                        lambda id=id, text=text: self.engine.update(
                            id, user=self.user, text=f"{text}, changed"
                        ),
                    )
                elif choice < 0.5:
                    self.change(id, None, lambda id=id: self.engine.delete(id, user=self.user))
                elif choice < 0.6:
                    self.engine.search("writes number", user=self.user)
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.failure = error

    def change(self, id: str, text: str | None, write: Callable[[], Any]) -> None:
        try:
            write()
        except ShardUnavailable as error:
            if not error.may_have_happened:
                raise
            self.unknown.add(id)
        else:
            self.texts[id] = text


def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    drawn = random.Random(7)
    with ShardedEngine(tmp_path, shards=SHARDS, patience_seconds=120) as engine:
        writers = [Writer(engine, user_in(engine, shard)) for shard in range(SHARDS)]
        for writer in writers:
            writer.start()
        for number in range(KILLS):
            process = pid_of(engine, number % SHARDS)
            time.sleep(
                drawn.uniform(0.05, 0.6)
            )  # killed at once each time, it would get nothing done
            os.kill(process, signal.SIGKILL)
        for writer in writers:
            writer.is_over.set()
        for writer in writers:
            writer.join(240)
            assert not writer.is_alive()
            assert writer.failure is None, writer.failure
        for writer in writers:
            check(engine, writer)
    for shard in range(SHARDS):
        with oneiros.Engine(store_file(tmp_path, shard)) as alone:
            assert alone.check(deep=True) == []


def check(engine: ShardedEngine, writer: Writer) -> None:
    """Compare the memories of a user with what was acknowledged."""
    scope = engine.scope(user=writer.user)
    assert writer.added > KILLS
    deleted = [id for id, text in writer.texts.items() if text is None]
    kept = {memory.id: memory.text for memory in scope.list(limit=1_000_000)}
    for id, text in writer.texts.items():
        if id not in writer.unknown:
            assert kept.get(id) == text, id
        elif id in kept:
            assert kept[id] in (text, f"{text}, changed")
    assert kept.keys() <= writer.texts.keys()  # an addition that was repeated made no second memory
    assert len(kept) <= writer.added - len(deleted)


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
        for number in range(KILLS):
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
