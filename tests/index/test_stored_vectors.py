"""A graph as a part of a snapshot: what was put is taken, and no bytes do harm."""

from __future__ import annotations

import dataclasses
import functools
import random

import numpy as np
import pytest

from oneiros import _core
from oneiros.errors import SnapshotDamaged
from oneiros.index.stored_vectors import graph_of, graph_part
from oneiros.vector_index.hnsw_snapshot import KeptGraph
from oneiros.vector_index.index import VectorIndex
from oneiros.vector_index.snapshot import VectorSnapshot
from tests.vector_index.vectors import clustered

pytest.importorskip("faiss", reason="graphs need FAISS: pip install 'oneiros[faiss]'")

ROWS, WIDTH = 700, 4
VECTORS = clustered(ROWS, WIDTH, 0)
VECTORS[600:] = VECTORS[:100]


@functools.cache
def sealed(*, dead: bool) -> VectorSnapshot:
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(ROWS), VECTORS)
    assert index.settle(60)
    if dead:
        index.remove(np.arange(0, ROWS, 9))
    index.close()
    assert index.lasting is not None
    return index.lasting


def flattened(kept: KeptGraph) -> list[object]:
    values = dataclasses.astuple(kept)
    links, others = values[1], (*values[:1], *values[2:])
    return [
        value.tolist() if isinstance(value, np.ndarray) else value for value in (*links, *others)
    ]


def same(kept: KeptGraph) -> KeptGraph:
    return kept


def as_part(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def test_a_graph_that_was_put_is_taken() -> None:
    for dead in (False, True):
        now = sealed(dead=dead)
        kept = graph_of(as_part(graph_part(KeptGraph.of(now))), ROWS)
        assert flattened(kept) == flattened(KeptGraph.of(now))
        assert (kept.live is not None) == dead


def test_a_damaged_part_is_refused_or_makes_a_graph() -> None:
    sound, chosen, refused = graph_part(KeptGraph.of(sealed(dead=True))), random.Random(2), 0
    rows = np.flatnonzero(np.arange(ROWS) % 9).astype(np.uint32)
    for _ in range(300):
        part = bytearray(sound)
        # The lengths and the few numbers at the beginning are most of what there is to get wrong.
        reach = chosen.choice([64, len(part)])
        for _ in range(chosen.randint(1, 3)):
            part[chosen.randrange(reach)] = chosen.randrange(256)
        cut = chosen.choice([len(part), len(part), chosen.randrange(len(part))])
        try:
            kept = graph_of(as_part(bytes(part[:cut])), ROWS)
        except (SnapshotDamaged, ValueError):
            refused += 1
            continue
        assert kept.dimension == WIDTH
        column = _core.VectorColumn(dimension=WIDTH)
        column.write(rows=rows, vectors=VECTORS[rows])
        index = VectorIndex.over(column, "hnsw", functools.partial(same, kept), is_trusted=False)
        assert index.settle(60)
        found, scores = index.search(VECTORS[4], 20)
        np.testing.assert_allclose(scores, VECTORS[found] @ VECTORS[4], atol=2e-6)
        index.close()
    assert 100 < refused < 290


def test_a_part_cut_short_anywhere_is_refused() -> None:
    sound = graph_part(KeptGraph.of(sealed(dead=False)))
    for cut in range(0, len(sound), 997):
        with pytest.raises((SnapshotDamaged, ValueError)):
            graph_of(as_part(sound[:cut]), ROWS)
