"""Generations in object stores: complete or absent, checked, restored to a point in time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.ray import (
    Generation,
    ShardedEngine,
    ShardUnavailable,
    back_up,
    list_generations,
    open_replica,
    restore,
)
from oneiros.ray.copies import ShardCopy, upload
from oneiros.ray.generations import write_manifest
from oneiros.ray.shard import store_file
from tests.ray.test_kills import kill
from tests.ray.test_sharded import USERS, clock

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
fsspec = pytest.importorskip("fsspec", reason="needs fsspec: nox -s ray")
pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture(scope="module")
def shared(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardedEngine]:
    assert cluster is None
    with ShardedEngine(tmp_path_factory.mktemp("shared"), shards=2, clock=clock) as engine:
        engine.add_many([{"text": "tea", "user": user, "id": f"tea {user}"} for user in USERS])
        yield engine


def texts(engine: ShardedEngine) -> dict[str, list[str]]:
    return {user: sorted(m.text for m in engine.scope(user=user).list()) for user in USERS}


def test_a_generation_is_a_point_in_time(shared: ShardedEngine, tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'backups'}"
    before = texts(shared)
    first = back_up(shared, url)
    between = time.time()
    shared.add("milk", user="ada", id="milk")
    after = texts(shared)
    second = back_up(shared, url, at_once=2)
    assert list_generations(url) == [first, second]
    assert first.began_at <= first.finished_at <= between <= second.began_at
    assert [copy.shard for copy in first.copies] == [0, 1]
    assert not list(Path(shared.folder).glob(".*.part"))
    for options, expected, generation in (
        ({"at": between}, before, first),
        ({"generation": first.id}, before, first),
        ({"at": second.finished_at}, after, second),
        ({}, after, second),
    ):
        folder = tmp_path / f"restored {sorted(options)} {generation.id}"
        assert restore(url, folder, **options) == generation
        with ShardedEngine(folder, shards=2, clock=clock) as engine:
            assert texts(engine) == expected
            engine.add("sugar", user="ada")  # it is a store like any other
    shared.forget("milk", user="ada")


def test_a_generation_without_a_manifest_does_not_exist(
    shared: ShardedEngine, tmp_path: Path
) -> None:
    url = str(tmp_path / "backups")
    whole = back_up(shared, url)
    cut = back_up(shared, url)
    manifest = tmp_path / "backups" / cut.id / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-10])
    assert list_generations(url) == [whole]
    manifest.unlink()
    assert list_generations(url) == [whole]
    assert restore(url, tmp_path / "restored") == whole
    with pytest.raises(ValueError, match=f"no complete generation '{cut.id}'"):
        restore(url, tmp_path / "other", generation=cut.id)
    with pytest.raises(ValueError, match="no complete generation finished by 5"):
        restore(url, tmp_path / "other", at=5)
    with pytest.raises(ValueError, match="generation= or at=, not both"):
        restore(url, tmp_path / "other", at=5, generation=whole.id)
    with pytest.raises(ValueError, match="no complete generation"):
        restore(str(tmp_path / "nothing"), tmp_path / "other")
    newer = tmp_path / "backups" / whole.id / "manifest.json"
    newer.write_text(json.dumps({**json.loads(newer.read_text()), "format": 2}))
    with pytest.raises(
        oneiros.StoreCorrupt, match=rf"{whole.id}.manifest\.json: of another version"
    ):
        list_generations(url)
    for damaged in ("[]", "null", '{"format": 1}', '{"format": 1, "copies": [{}]}'):
        newer.write_text(damaged)
        with pytest.raises(oneiros.StoreCorrupt, match=rf"{whole.id}.manifest\.json: not the man"):
            list_generations(url)


@pytest.mark.parametrize("damage", ["a bit", "cut", "missing"])
def test_a_damaged_copy_is_not_restored(shared: ShardedEngine, tmp_path: Path, damage: str) -> None:
    url = str(tmp_path / "backups")
    generation = back_up(shared, url)
    path = tmp_path / "backups" / generation.id / "shard-00001.db"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data if damage == "a bit" else data[:-1])
    if damage == "missing":
        path.unlink()
    with pytest.raises(oneiros.StoreCorrupt, match=r"shard-00001\.db: (differs|missing)"):
        restore(url, tmp_path / "restored")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["backups"]


def test_a_lost_shard_comes_back(tmp_path: Path) -> None:
    url, folder = str(tmp_path / "backups"), tmp_path / "stores"
    with ShardedEngine(folder, shards=2, clock=clock) as engine:
        engine.add_many([{"text": "tea", "user": user} for user in USERS])
        expected = texts(engine)
        back_up(engine, url)
    lost = store_file(folder, 1)
    with pytest.raises(ValueError, match=r"move shard-00001\.db, shard-00001\.json"):
        restore(url, folder, shards=[1])
    lost.unlink()
    with pytest.raises(ValueError, match=r"move shard-00001\.json elsewhere"):
        restore(url, folder, shards=[1])
    for path in folder.glob("shard-00001*"):
        path.unlink()
    with pytest.raises(ValueError, match="exists; name a new one"):
        restore(url, folder)
    with pytest.raises(ValueError, match="shards: the generation has 2, from 0, got 2"):
        restore(url, folder, shards=[2])
    restore(url, folder, shards=[1])
    with ShardedEngine(folder, shards=2, clock=clock) as engine:
        assert texts(engine) == expected


def test_a_replica_reads_a_generation(shared: ShardedEngine, tmp_path: Path) -> None:
    url, folder = str(tmp_path / "backups"), tmp_path / "replicas"
    generation = back_up(shared, url)
    shared.add("later", user="bob", id="later")
    for _ in range(2):  # the second time from the copy
        with open_replica(url, folder, clock=clock) as replica:
            assert replica.search("tea", user="bob").ids == ["tea bob"]
            assert replica.scope(user="bob").count() == 1
            with pytest.raises(oneiros.EngineReadOnly):
                replica.add("milk", user="bob")
            with pytest.raises(oneiros.EngineReadOnly):
                replica.dream()
    assert [path.name for path in folder.iterdir()] == [generation.id]
    shared.forget("later", user="bob")


def test_a_copy_survives_a_killed_actor(tmp_path: Path) -> None:
    url = str(tmp_path / "backups")
    with ShardedEngine(tmp_path / "stores", shards=1, clock=clock) as engine:
        engine.add("tea", user="ada", id="tea")
        kill(engine, 0)
        back_up(engine, url)
        ray.kill(engine.actors._actors[0], no_restart=True)
        with pytest.raises(ShardUnavailable):
            back_up(engine, url)
    assert len(list_generations(url)) == 1


def test_a_file_system_in_memory_will_do(tmp_path: Path) -> None:
    """Each process has a memory of its own, so the copies are made in this one."""
    with oneiros.Engine(tmp_path / "shard.db", clock=clock) as engine:
        engine.add("tea", user="ada", id="tea")
        engine.backup(tmp_path / "copy.db")
    url = "memory://backups"
    try:
        copy = upload(tmp_path / "copy.db", "shard-00000.db", 0, f"{url}/G1", {}, 1.0)
        assert list_generations(url) == []
        generation = Generation(
            id="G1",
            began_at=1.0,
            finished_at=2.0,
            shards=1,
            key="user",
            copies=(ShardCopy(**copy),),
        )
        write_manifest(generation, url, {})
        assert restore(url, tmp_path / "restored") == generation
    finally:
        fsspec.filesystem("memory").rm("/backups", recursive=True)
    with oneiros.Engine(store_file(tmp_path / "restored", 0), clock=clock) as engine:
        assert engine.get("tea").text == "tea"


@pytest.fixture
def bucket() -> Iterator[tuple[str, dict[str, Any]]]:
    """A bucket of an S3 server on this machine."""
    pytest.importorskip("s3fs", reason="needs s3fs: nox -s ray")
    server_module = pytest.importorskip("moto.server", reason="needs moto: nox -s ray")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    try:
        fsspec.filesystem("s3", **options).mkdir("bucket")
        yield "s3://bucket/backups", options
    finally:
        server.stop()


def test_an_object_store_keeps_generations(
    shared: ShardedEngine, tmp_path: Path, bucket: tuple[str, dict[str, Any]]
) -> None:
    url, options = bucket
    expected = texts(shared)
    generation = back_up(shared, url, storage_options=options)
    assert list_generations(url, storage_options=options) == [generation]
    assert restore(url, tmp_path / "restored", storage_options=options) == generation
    with ShardedEngine(tmp_path / "restored", shards=2, clock=clock) as engine:
        assert texts(engine) == expected
