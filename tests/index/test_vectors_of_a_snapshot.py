"""Vectors in a snapshot: what was saved is mapped, and what changes later leaves the file alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oneiros import _core
from oneiros.conflicts.model import reader
from oneiros.errors import SnapshotDamaged
from oneiros.lexical.options import MadeWith
from tests.vector_index.vectors import clustered

WIDTH = 40  # padded to 64 in the core
ROWS = np.array([0, 1, 2, 63, 64, 511, 512, 5_000, 5_001, 70_000], np.uint32)
ROW_END = 100_000
VECTORS = clustered(len(ROWS), WIDTH, 0)


def column() -> _core.VectorColumn:
    made = _core.VectorColumn(dimension=WIDTH)
    made.write(rows=ROWS, vectors=VECTORS)
    return made


def saved(path: Path, vectors: _core.VectorColumn | None, graph: bytes = b"") -> None:
    index = MadeWith(analyzer="simple", variant="lucene", k1=1.2, b=0.75, delta=0.0).new_index()
    _core.save_store_snapshot(
        index=index,
        columns=_core.Columns(),
        ids=[],
        statements=_core.StatementColumn(reader=reader()),
        parts=[b"part"],
        vectors=vectors,
        vector_graph=graph,
        path=str(path),
        identity="it",
        revision=3,
    )


def opened(path: Path) -> _core.StoreSnapshot:
    return _core.StoreSnapshot(path=str(path), identity="it", own_stamp="")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "snapshot"


def test_what_was_saved_is_there_again_to_the_bit(path: Path) -> None:
    made = column()
    made.remove(rows=ROWS[2:3])
    saved(path, made, b"the graph")
    held = opened(path)
    assert held.has_vectors
    assert bytes(memoryview(held.vector_graph())) == b"the graph"
    again = held.vectors(row_end=ROW_END)
    assert len(again) == len(made) == len(ROWS) - 1
    assert again.dimension == WIDTH
    np.testing.assert_array_equal(again.rows(), made.rows())
    every = np.arange(6_000, dtype=np.uint32)
    np.testing.assert_array_equal(again.reconstruct(rows=every), made.reconstruct(rows=every))
    for query in VECTORS:
        got, want = again.nearest(query=query, k=20), made.nearest(query=query, k=20)
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(got[1], want[1])
    assert again.resident_bytes == made.resident_bytes


def test_changes_leave_the_file_and_what_else_was_mapped_alone(path: Path) -> None:
    saved(path, column())
    before = path.read_bytes()
    first, second = opened(path).vectors(row_end=ROW_END), opened(path).vectors(row_end=ROW_END)
    first.write(rows=np.arange(3, dtype=np.uint32), vectors=-VECTORS[:3])
    first.write(rows=np.array([900, 90_000], np.uint32), vectors=VECTORS[:2])
    first.remove(rows=ROWS[5:])
    assert len(first) == 7
    np.testing.assert_array_equal(first.reconstruct(rows=[1, 900]), [-VECTORS[1], VECTORS[0]])
    np.testing.assert_array_equal(second.reconstruct(rows=ROWS), VECTORS)
    assert path.read_bytes() == before
    saved(path, first)
    again = opened(path).vectors(row_end=ROW_END)
    np.testing.assert_array_equal(again.rows(), first.rows())
    np.testing.assert_array_equal(second.reconstruct(rows=ROWS), VECTORS)  # of the former file


def test_a_vector_of_a_row_that_the_snapshot_has_not_is_refused(path: Path) -> None:
    saved(path, column())
    last = int(ROWS[-1])
    assert len(opened(path).vectors(row_end=last + 1)) == len(ROWS)
    for row_end in (last, 1, 0):
        with pytest.raises(SnapshotDamaged, match="a vector of no row"):
            opened(path).vectors(row_end=row_end)


def test_a_snapshot_may_have_none(path: Path) -> None:
    saved(path, None)
    assert not opened(path).has_vectors
    with pytest.raises(SnapshotDamaged, match="a section is missing"):
        opened(path).vectors(row_end=ROW_END)
    saved(path, _core.VectorColumn(dimension=WIDTH))
    assert len(opened(path).vectors(row_end=ROW_END)) == 0


def test_damage_of_vectors_or_graph_is_found_when_they_are_taken_and_no_sooner(path: Path) -> None:
    saved(path, column(), b"the graph of these vectors")
    sound = path.read_bytes()
    for part, taken in ((VECTORS[3].tobytes(), "vectors"), (b"the graph of", "vector_graph")):
        damaged = bytearray(sound)
        damaged[sound.index(part) + 9] ^= 4
        path.write_bytes(damaged)
        held = opened(path)
        other = {"vectors": "vector_graph", "vector_graph": "vectors"}[taken]
        arguments = {"vectors": {"row_end": ROW_END}, "vector_graph": {}}
        getattr(held, other)(**arguments[other])
        with pytest.raises(SnapshotDamaged, match="checksum"):
            getattr(held, taken)(**arguments[taken])


@pytest.mark.parametrize("seed", range(40))
def test_no_bytes_do_harm(path: Path, seed: int) -> None:
    saved(path, column(), b"graph")
    data, random = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for at in random.integers(0, len(data), 3):
        data[at] ^= int(random.integers(1, 256))
    path.write_bytes(data[: int(random.choice([len(data), random.integers(1, len(data))]))])
    try:
        again = opened(path).vectors(row_end=ROW_END)
    except SnapshotDamaged:
        return
    np.testing.assert_array_equal(again.reconstruct(rows=ROWS), VECTORS)
