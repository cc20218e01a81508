"""Scopes moved between actors, while other clients read and write them."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from oneiros import SearchResponse
from oneiros.ray import ScopeBusy, ShardedEngine, back_up, restore
from oneiros.ray.moves import interrupted
from oneiros.ray.shard_scopes import Move
from tests.frozen.answers import plain_values

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
from tests.ray.test_sharded import NOW, USERS, clock, one_engine, records_of_users

pytestmark = pytest.mark.usefixtures("cluster")

QUERY = "note on tea 3"


def pid_of(engine: ShardedEngine, shard: int) -> int:
    engine.actors.places()  # waits until it is back
    actor = engine.actors._actors[shard]
    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())))


def records() -> list[dict[str, Any]]:
    """Return memories whose results have no equal scores: a move changes the order of those."""
    words = ["cup", "pot", "bag", "leaf", "shop", "farm", "ship", "box"]
    return [
        {**record, "text": f"{record['text']} {' '.join(words[: number % 8] * (1 + number // 8))}"}
        for number, record in enumerate(records_of_users(60))
    ]


def scores_in(response: SearchResponse) -> list[tuple[str, float]]:
    return [(result.memory.id, result.score) for result in response.results]


def filled(folder: Path, **options: Any) -> ShardedEngine:
    engine = ShardedEngine(folder, shards=3, clock=clock, embedder="hashing", **options)
    for number, record in enumerate(records()):
        engine.add_many([record], now=NOW - 1_000 + number)
    return engine


def test_answers_are_the_same_before_during_and_after(tmp_path: Path) -> None:
    """Answers of the scope, by key and by id, and of all shards are those of one engine."""
    failures: list[BaseException] = []
    counts = {"scope": 0, "all": 0, "ids": 0}
    is_over = threading.Event()
    with one_engine(records()) as whole, filled(tmp_path, patience_seconds=60) as engine:
        ids = [record["id"] for record in records() if record["user"] == "ada"]
        options: dict[str, Any] = {"reinforce": False, "explain": True}
        expected = plain_values(engine.search(QUERY, 7, user="ada", **options))
        of_all = scores_in(whole.search(QUERY, 7, **options))

        def read(kind: str) -> None:
            scope = engine.scope(user="ada")
            try:
                while not is_over.is_set():
                    if kind == "scope":
                        assert plain_values(scope.search(QUERY, 7, **options)) == expected
                        assert scope.count() == len(ids)
                    elif kind == "all":
                        assert scores_in(engine.search(QUERY, 7, **options)) == of_all
                    else:
                        id, other = ids[counts[kind] % 4], ids[4]
                        assert engine.get(id).user == "ada"
                        assert not engine.unlink(id, other)  # a write that changes nothing
                    counts[kind] += 1
            except BaseException as error:  # noqa: BLE001 - the test raises it
                failures.append(error)

        threads = [threading.Thread(target=read, args=(kind,)) for kind in counts]
        for thread in threads:
            thread.start()
        home = engine.scope(user="ada").shard
        for number in range(1, 7):
            time.sleep(0.2)
            moved = engine.move("ada", (home + number) % 3)
            assert moved.memories == len(ids)
            assert engine.scope(user="ada").shard == moved.target
        is_over.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert min(counts.values()) > 0, counts
        assert engine.stats()["memories"] == 60


def test_writers_of_a_moving_scope_lose_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, patience_seconds=60) as engine:
        added: list[str] = []
        is_over = threading.Event()

        def write() -> None:
            while not is_over.is_set():
                number = len(added)
                pair = [
                    {"id": f"w{number} {user}", "text": f"water {number}", "user": user}
                    for user in ("ada", "bob")
                ]
                engine.add_many(pair)
                engine.update(f"w{number} ada", user="ada", text=f"wine {number}")
                added.append(f"w{number} ada")

        writer = threading.Thread(target=write)
        writer.start()
        home = engine.scope(user="ada").shard
        for number in range(1, 5):
            time.sleep(0.2)
            engine.move("ada", (home + number) % 3)
        is_over.set()
        writer.join()
        found = engine.scope(user="ada").get_many(added)
        assert [memory and memory.text for memory in found] == [
            f"wine {number}" for number in range(len(added))
        ]
        assert len(added) > 4
        assert engine.stats()["memories"] == 60 + 2 * len(added)


def test_actors_killed_in_a_move(tmp_path: Path) -> None:
    """The move goes on when they are back."""
    with filled(tmp_path, patience_seconds=120) as engine:
        expected = plain_values(engine.search(QUERY, 7, user="ada", reinforce=False))
        home = engine.scope(user="ada").shard
        for number, victim in enumerate((home, (home + 1) % 3, home, (home + 1) % 3)):
            process = pid_of(engine, victim)
            killer = threading.Timer(0.01 * number, os.kill, (process, signal.SIGKILL))
            killer.start()
            target = (home + 1 - number % 2) % 3
            if engine.scope(user="ada").shard != target:
                engine.move("ada", target)
            killer.join()
            assert engine.scope(user="ada").shard == target
            assert plain_values(engine.search(QUERY, 7, user="ada", reinforce=False)) == expected
            assert engine.stats()["memories"] == 60


def test_opening_ends_a_move_and_knows_what_was_moved(tmp_path: Path) -> None:
    with filled(tmp_path / "stores") as engine:
        home = engine.scope(user="ada").shard
        target, third = (home + 1) % 3, (home + 2) % 3
        expected = engine.search(QUERY, 7, user="ada", reinforce=False).ids
        engine.move("ada", target)
        engine.actors.step(target, "leave", Move("7ZZZ", "ada", target, third, engine.actors.salt))
        assert len(interrupted(engine.actors.places())) == 1
        assert engine.get("r0", user="ada").text  # reads go on
    with filled_again(tmp_path / "stores") as engine:
        assert engine.scope(user="ada").shard == target
        assert interrupted(engine.actors.places()) == []
        engine.pin("r0", user="ada")
        engine.pin("r0", user="ada", pinned=False)
        generation = back_up(engine, str(tmp_path / "backups"))
        stale = engine.actors
        stale._moved.clear()  # as another client that has not learned of it
        assert engine.search("tea", user="ada", reinforce=False).ids
        assert engine.scope(user="ada").shard == target
        with pytest.raises(ValueError, match=f"lie in shard {target} already"):
            engine.move("ada", target)
        with pytest.raises(ValueError, match="to: "):
            engine.move("ada", 3)
    assert restore(str(tmp_path / "backups"), tmp_path / "restored") == generation
    with filled_again(tmp_path / "restored") as engine:
        assert engine.scope(user="ada").shard == target
        found = engine.search(QUERY, 7, user="ada", reinforce=False)
        assert found.ids == expected


def test_a_second_store_of_the_same_folder_prevents_moves(tmp_path: Path) -> None:
    with filled(tmp_path) as engine, filled_again(tmp_path):
        home = engine.scope(user="ada").shard
        with pytest.raises(ScopeBusy, match="open in another process"):
            engine.move("ada", (home + 1) % 3)
        assert engine.scope(user="ada").shard == home


def test_a_drained_shard_gives_its_scopes_away(tmp_path: Path) -> None:
    with filled(tmp_path) as engine:
        shard = engine.scope(user="ada").shard
        names = [f"new {number}" for number in range(60)]
        new = [name for name in names if engine.layout.shard_of(name) == shard][:3]
        before = {user: engine.scope(user=user).count() for user in USERS}
        moved = engine.drain(shard)
        assert "ada" in {each.value for each in moved}
        assert {user: engine.scope(user=user).count() for user in USERS} == before
        assert engine.stats()["shards"][shard]["memories"] == 0
        assert engine.search("tea", user=new[0]).ids == []
        engine.add_many([{"text": "tea", "user": user, "id": user} for user in new])
        assert all(engine.scope(user=user).shard != shard for user in new)
        assert [engine.get(user).user for user in new] == new
        assert engine.drain(shard) == []
    with filled_again(tmp_path) as engine:
        assert [engine.get(user, user=user).user for user in new] == new
        engine.reopen(shard)
        back = next(n for n in names if n not in new and engine.layout.shard_of(n) == shard)
        engine.add("tea", user=back)
        assert engine.scope(user=back).shard == shard
        with pytest.raises(ValueError, match="shard: "):
            engine.drain(3)


def filled_again(folder: Path) -> ShardedEngine:
    return ShardedEngine(folder, shards=3, clock=clock, embedder="hashing")
