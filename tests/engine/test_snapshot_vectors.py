"""The graph over a store's vectors comes back from its snapshot: the same answers, nothing built."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.index import snapshot, stored_vectors
from oneiros.index.stored_vectors import graph_part
from oneiros.store.rows import encoded_embedding
from oneiros.vector_index import hnsw
from oneiros.vector_index import snapshot as vector_snapshot
from oneiros.vector_index.hnsw_snapshot import KeptGraph
from oneiros.vector_index.index import VectorIndex
from oneiros.vector_index.sealed import hashes_of
from tests.vector_index.vectors import clustered

COUNT, WIDTH = 900, 16
VECTORS = clustered(2 * COUNT, WIDTH, 0)
VECTORS[300:340] = VECTORS[0]  # twins
QUERIES = clustered(20, WIDTH, 1)
FILTERS = [None, oneiros.where(kind="fact"), ~oneiros.where(kind="fact"), oneiros.where(topic="7")]
Answers = list[list[tuple[str, float]]]


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)


@pytest.fixture(autouse=True)
def _walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through the graph, though looking at so few vectors one by one would be faster."""
    monkeypatch.setattr(vector_snapshot, "SCANNED_PER_CANDIDATE", 0.05)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store whose graph has twins, dead vectors, and fresh ones beside it."""
    path = tmp_path / "mind.db"
    with opened(path) as mind:
        mind.add_many(record(number) for number in range(COUNT))
        graph(mind)
        mind.add_many(record(number) for number in range(COUNT, COUNT + 40))
        for number in range(0, COUNT, 31):
            mind.delete(f"m{number}")
        for number in range(1, COUNT, 31):
            mind.update(f"m{number}", embedding=VECTORS[COUNT + 200 + number // 31])
    return path


def opened(path: Path, **options: Any) -> oneiros.Engine:
    return oneiros.Engine(path, **{"vector_index": "hnsw", **options})


def record(number: int) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "text": f"text {number}",
        "kind": ["fact", "plan"][number % 2],
        "topic": str(number % 40),
        "embedding": VECTORS[number],
    }


@contextmanager
def unsaved() -> Iterator[None]:
    """Let no engine write its snapshot when it is closed inside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot.SnapshotFile, "save", lambda *_: None)
        yield


def vectors_of(mind: oneiros.Engine) -> VectorIndex:
    vectors = mind._scope.services.read_model.indexes.vectors
    assert vectors is not None
    return vectors


def graph(mind: oneiros.Engine) -> VectorIndex:
    vectors = vectors_of(mind)
    assert vectors.settle(60)
    assert vectors.has_graph
    return vectors


def came_back(mind: oneiros.Engine) -> bool:
    """Whether the graph that was kept is there again, and nobody builds one."""
    vectors = vectors_of(mind)
    assert vectors.settle(60)
    return vectors.has_graph and vectors._kept is not None


def fresh_count(mind: oneiros.Engine) -> int:
    lasting = vectors_of(mind).lasting
    assert lasting is not None
    return lasting.fresh_count


def under_the_graph(mind: oneiros.Engine) -> np.ndarray:
    sealed = vectors_of(mind)._state.now.sealed
    assert sealed is not None
    return sealed.graph.rounded(np.arange(len(sealed.graph)))


def answers(mind: oneiros.Engine) -> Answers:
    return [
        [
            (result.memory.id, result.score)
            for result in mind.search(
                "text", k=10, embedding=query, where=where, now=2e9, reinforce=False
            ).results
        ]
        for query in QUERIES
        for where in FILTERS
    ]


def anew(path: Path) -> Answers:
    """What an engine without graph or snapshot answers."""
    copy = path.with_name("anew.db")
    shutil.copy(path, copy)
    if (log := path.with_name(path.name + "-wal")).exists():
        shutil.copy(log, copy.with_name(copy.name + "-wal"))
    with opened(copy, vector_index="flat") as mind:
        found = answers(mind)
    for left in copy.parent.glob("anew.db*"):
        left.unlink()
    return found


def shared(one: Answers, other: Answers) -> float:
    pairs = zip(one, other, strict=True)
    return float(np.mean([len(set(a) & set(b)) / max(len(b), 1) for a, b in pairs]))


def beside(path: Path) -> Path:
    return path.with_name(path.name + "-snapshot")


def test_a_store_answers_as_before_it_was_closed_and_builds_nothing(path: Path) -> None:
    with opened(path) as mind:
        assert came_back(mind)
        assert fresh_count(mind) == 40 + 29 + 3  # new, replaced, and what was left of eights
        want = answers(mind)
        assert shared(want, anew(path)) > 0.98
        kept = beside(path).stat().st_ino
    assert beside(path).stat().st_ino == kept  # nothing new to write
    with opened(path) as mind:
        assert came_back(mind)
        assert answers(mind) == want
        mind.add_many(record(number) for number in range(COUNT + 40, COUNT + 60))
        want = answers(mind)
        assert mind.check() == []
    assert beside(path).stat().st_ino != kept
    shutil.copy(beside(path), path.with_name("moved"))
    shutil.move(path.with_name("moved"), beside(path))  # the same bytes, but who knows whose
    with opened(path) as mind:
        assert came_back(mind)
        assert answers(mind) == want
        assert mind.check() == []


def test_a_graph_built_since_is_written_though_no_memory_changed(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with opened(path, vector_index="flat") as mind:
        mind.add_many(record(number) for number in range(COUNT))
    with opened(path) as mind:
        want = answers(mind)
        graph(mind)
    with opened(path) as mind:
        assert came_back(mind)
        assert shared(answers(mind), want) > 0.98


def test_what_changed_since_is_found_and_the_rest_is_not_built_again(
    path: Path,
) -> None:
    with opened(path) as mind, unsaved():
        beginning = fresh_count(mind)
        for number in range(3, 60, 3):
            mind.update(f"m{number}", topic="other", importance=0.9)  # the same vectors
        for number in range(2, 30, 3):
            mind.update(f"m{number}", embedding=VECTORS[COUNT + 400 + number])
        mind.delete("m400")
        mind.restore("m31")
        mind.add_many(record(number) for number in range(COUNT + 40, COUNT + 60))
        want = answers(mind)
        mind.close()
    with opened(path) as mind:
        assert came_back(mind)
        assert fresh_count(mind) == beginning + len(range(2, 30, 3)) + 1 + 20
        assert shared(answers(mind), want) > 0.98
        assert shared(answers(mind), anew(path)) > 0.98
        assert mind.check() == []


def test_what_was_deleted_since_is_walked_over_as_before(path: Path) -> None:
    with opened(path) as mind, unsaved():
        for number in range(2, 600, 5):
            if number % 31 > 1:  # neither deleted already nor fresh
                mind.delete(f"m{number}")
        mind.update("m33", importance=0.9)
        want, walked = answers(mind), under_the_graph(mind)
        mind.close()
    with opened(path) as mind:
        assert came_back(mind)
        assert fresh_count(mind) == 72
        assert answers(mind) == want
        np.testing.assert_array_equal(under_the_graph(mind), walked)
        mind.restore("m7")
        assert mind.search("text", embedding=VECTORS[7], reinforce=False).results[0].id == "m7"


def test_what_another_process_left_when_it_was_killed(path: Path) -> None:
    program = f"""
    import os, signal, numpy, oneiros
    mind = oneiros.Engine({str(path)!r}, vector_index="hnsw")
    mind.delete("m3")
    mind.update("m4", embedding=numpy.eye({WIDTH}, dtype=numpy.float32)[2])
    os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert done.returncode == -signal.SIGKILL
    with opened(path) as mind:
        assert came_back(mind)
        assert shared(answers(mind), anew(path)) > 0.98
        axis = np.eye(WIDTH, dtype=np.float32)[2]
        assert vectors_of(mind).search(axis, 1).scores[0] == pytest.approx(1)
        found = mind.search("text", embedding=VECTORS[3], k=10, reinforce=False).results
        assert "m3" not in [result.memory.id for result in found]


def test_a_damaged_vector_of_the_store_costs_the_graph_nothing(path: Path) -> None:
    with opened(path) as mind, unsaved():
        mind.delete("m7")
        want = answers(mind)
        mind.close()
    damage(path, "m7")
    with opened(path) as mind:
        graph(mind)
        assert shared(answers(mind), want) > 0.98
    damage(path, "m8")
    with opened(path) as mind:
        assert mind.stats()["damaged"] == 1  # m7 was deleted since the snapshot: its row is read
        assert shared(answers(mind), want) > 0.98
        with pytest.raises(oneiros.StoreCorrupt, match="memory 'm8'"):
            mind.get("m8")
        assert mind.stats()["damaged"] == 2


def damage(path: Path, memory_id: str) -> None:
    """Flip a bit of a vector in the store."""
    with sqlite3.connect(path) as store:
        (blob,) = store.execute("SELECT embedding FROM memory WHERE id = ?", [memory_id]).fetchone()
        store.execute(
            "UPDATE memory SET embedding = ? WHERE id = ?",
            [blob[:20] + bytes([blob[20] ^ 1]) + blob[21:], memory_id],
        )
    store.close()


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
@pytest.mark.parametrize("width", [WIDTH, WIDTH // 2])
def test_where_all_vectors_were_replaced_the_graph_is_not_used(path: Path, width: int) -> None:
    def other(texts: list[str]) -> np.ndarray:
        numbers = [int(text.split()[-1]) for text in texts]
        return -VECTORS[numbers][:, :width]

    with opened(path) as mind, unsaved():
        mind.reembed(other)
        mind.close()
    with opened(path) as mind, opened(path, vector_index="flat") as flat:
        for query in QUERIES[:, :width]:
            rows, scores = graph(mind).search(query, 10)
            want = vectors_of(flat).search(query, 10)
            assert len(set(rows.tolist()) & set(want.rows.tolist())) >= 8
            np.testing.assert_array_equal(scores, vectors_of(flat).cosines(query, rows))


def test_a_flat_index_takes_no_graph(path: Path) -> None:
    with opened(path, vector_index="flat") as mind:
        assert not vectors_of(mind).has_graph
        assert answers(mind) == anew(path)
    with opened(path) as mind:
        assert came_back(mind)


def test_a_build_that_a_close_cut_off_leaves_the_former_graph(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held_up(_task: object, _now: object, _rows: object, is_stopped: Callable[[], bool]) -> None:
        while not is_stopped():
            time.sleep(0.01)

    monkeypatch.setattr("oneiros.vector_index.index.build", held_up)
    monkeypatch.setattr("oneiros.vector_index.index.FEWEST_FRESH", 200)
    with opened(path) as mind:
        before = fresh_count(mind)
        mind.add_many(record(number) for number in range(COUNT + 40, COUNT + 240))
        assert not vectors_of(mind).settle(0)
        want = answers(mind)
    with opened(path) as mind:
        assert fresh_count(mind) == before + 200
        assert answers(mind) == want


def rounded(vector: np.ndarray) -> np.ndarray:
    """As a graph has it."""
    graph = hnsw.Graph.grown(None, WIDTH, [vector[None]], lambda: False)
    assert graph is not None
    return graph.rounded(np.zeros(1, np.int64))[0]


def test_of_vectors_that_were_forgotten_no_byte_is_left(path: Path) -> None:
    secret, replaced = VECTORS[COUNT + 500].copy(), VECTORS[7].copy()
    with opened(path) as mind:
        mind.update("m7", embedding=secret)
        mind.add_many([record(COUNT + 50)])
    hashes = hashes_of(np.stack([secret, replaced]))
    held = beside(path).read_bytes()
    assert rounded(replaced).tobytes() in held  # it is walked over
    assert hashes[1].tobytes() in held
    with opened(path) as mind:
        mind.forget("m7")
        assert not beside(path).exists()
        graph(mind)
    with opened(path) as mind:
        graph(mind)
    held = beside(path).read_bytes()
    for vector in (secret, replaced, rounded(secret), rounded(replaced)):
        for left in (held, path.read_bytes()):
            assert vector.tobytes() not in left
            assert encoded_embedding(vector) not in left
    assert not any(found.tobytes() in held for found in hashes)
    with opened(path) as mind:
        assert came_back(mind)


def test_damaged_vectors_of_the_snapshot_are_read_from_the_store(path: Path) -> None:
    with opened(path) as mind:
        want = answers(mind)
    data = bytearray(beside(path).read_bytes())
    data[data.index(VECTORS[8].tobytes()) + 5] ^= 1
    beside(path).write_bytes(data)
    with opened(path) as mind:
        assert mind.search("text 8", reinforce=False).ids
        assert mind._scope.services.read_model.row_sets.attributes.stored is not None
        graph(mind)
        assert vectors_of(mind)._kept is None
        assert shared(answers(mind), want) > 0.98
        assert mind.check() == []


def test_a_damaged_graph_is_built_anew(path: Path) -> None:
    with opened(path) as mind:
        want = answers(mind)
        lasting = vectors_of(mind).lasting
        assert lasting is not None
        links = KeptGraph.of(lasting).links.neighbours.tobytes()
    data = bytearray(beside(path).read_bytes())
    data[data.index(links) + 100] ^= 1
    beside(path).write_bytes(data)
    with opened(path) as mind:
        assert not came_back(mind)
        assert vectors_of(mind).has_graph
        assert shared(answers(mind), want) > 0.98


def test_a_graph_that_makes_no_sense_is_not_used_whatever_its_checksum(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nonsense(kept: KeptGraph) -> bytes:
        part, links = graph_part(kept), kept.links.neighbours
        assert part.count(links.tobytes()) == 1
        return part.replace(links.tobytes(), (links + 1).tobytes())

    with opened(path) as mind, monkeypatch.context() as patch:
        patch.setattr(stored_vectors, "graph_part", nonsense)
        mind.add_many(record(number) for number in range(COUNT + 40, COUNT + 60))
        want = answers(mind)
        mind.close()
    with opened(path) as mind:
        assert (
            mind._scope.services.read_model.row_sets.attributes.stored is not None
        )  # the rest is used
        assert not came_back(mind)
        graph(mind)
        assert shared(answers(mind), want) > 0.98
        assert mind.check() == []
    with opened(path) as mind:
        assert came_back(mind)
