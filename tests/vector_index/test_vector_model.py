"""VectorIndex as a state machine, held against a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from oneiros.vector_index.index import VectorIndex
from tests.vector_index.vectors import assert_is_top, bits_of, clustered, plain_cosines

WIDTH = 6
POOL = clustered(500, WIDTH, 0)
ROWS = st.lists(st.integers(0, 400), max_size=40, unique=True)


class VectorModel(RuleBasedStateMachine):
    @initialize(kind=st.sampled_from(["flat", "hnsw"]), first=st.integers(0, 380))
    def start(self, kind: str, first: int) -> None:
        self.index = VectorIndex(WIDTH, kind)  # type: ignore[arg-type]
        self.held: dict[int, np.ndarray] = {}
        self.add(list(range(first)), 0)

    @rule(rows=ROWS, seed=st.integers(0, 1000))
    def add(self, rows: list[int], seed: int) -> None:
        picked = POOL[np.random.default_rng(seed).integers(0, len(POOL), len(rows))]
        self.index.add(rows, picked)
        self.held.update(zip(rows, picked, strict=True))

    @rule(rows=ROWS)
    def remove(self, rows: list[int]) -> None:
        assert self.index.remove(rows) == len([row for row in rows if row in self.held])
        for row in rows:
            self.held.pop(row, None)

    @rule()
    def settle(self) -> None:
        assert self.index.settle(60)

    @rule(
        pick=st.integers(0, len(POOL) - 1),
        k=st.integers(0, 450),
        rows=st.none() | ROWS,
        size=st.integers(401, 500),
    )
    def search(self, pick: int, k: int, rows: list[int] | None, size: int) -> None:
        allowed = None if rows is None else bits_of(rows, size)
        seen = {r: v for r, v in self.held.items() if rows is None or r in rows}
        found = self.index.search(POOL[pick], k, allowed)
        assert_is_top(*found, plain_cosines(seen, POOL[pick]), k)
        (batch,) = self.index.search_many(POOL[pick][None], k, allowed)
        np.testing.assert_array_equal(batch.rows, found.rows)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "index"):
            return
        assert len(self.index) == len(self.held)
        rows = np.arange(402)
        want = np.array([self.held.get(row, np.zeros(WIDTH, np.float32)) for row in rows])
        np.testing.assert_array_equal(self.index.reconstruct(rows), want)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()


VectorModel.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestVectorModel = VectorModel.TestCase
