"""Links of an HNSW graph as plain arrays: copied out of FAISS, checked, put back.

FAISS follows links without bounds checks, so links are checked before they are put back.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from oneiros.runtime.dataclasses import dataclass

__all__ = ["LINKS", "Links"]

LINKS: Final = 16  # HNSW's M: links per vector and level (twice that on the lowest)
MOST_LEVELS: Final = 8  # FAISS's limit for this M: one more level is rarer than one in 10^9


@dataclass(frozen=True, slots=True)
class Links:
    """The links between vectors."""

    levels: npt.NDArray[np.uint8]
    """Number of levels of each vector, counted from the lowest, shape (n,)."""
    neighbours: npt.NDArray[np.int32]
    """Targets of the links of each vector, level by level; -1 for an unused link."""
    entry: int
    """The vector where every walk begins; it is on the highest level."""
    laid_out_count: int
    """Number of vectors when they were last ordered by their links; 0: never."""

    @classmethod
    def of(cls, faiss: Any, index: Any, laid_out_count: int) -> Links:
        """Return the links of an index."""
        hnsw = index.hnsw
        neighbours = faiss.vector_to_array(hnsw.neighbors)
        levels = faiss.vector_to_array(hnsw.levels).astype(np.uint8)
        return cls(levels, neighbours, int(hnsw.entry_point), laid_out_count)

    def require_sense(self) -> None:
        """Raise ValueError unless walks along the links and new links stay within the graph."""
        count = len(self.levels)
        _require(count > 0, "no vector has links")
        top = int(self.levels.max())
        _require(int(self.levels.min()) >= 1 and top <= MOST_LEVELS, "no such level")
        _require(0 <= self.entry < count, "walks begin outside")
        _require(self.levels[self.entry] == top, "walks begin below the highest level")
        starts = self._starts()
        _require(len(self.neighbours) == starts[-1], "another number of links")
        lowest, highest = int(self.neighbours.min()), int(self.neighbours.max())
        _require(lowest >= -1 and highest < count, "a link leads outside")
        self._require_levels(starts, top)
        self._require_ends(starts)

    def put_into(self, faiss: Any, index: Any) -> None:
        """Set the links of an index. REQUIRES: the links were checked, and the index has none."""
        hnsw = index.hnsw
        faiss.copy_array_to_vector(self.levels.astype(np.int32), hnsw.levels)
        faiss.copy_array_to_vector(self._starts().astype(np.uint64), hnsw.offsets)
        faiss.copy_array_to_vector(self.neighbours, hnsw.neighbors)
        hnsw.entry_point, hnsw.max_level = self.entry, int(self.levels.max()) - 1
        # Its former state is unknown. With the first seed, each growth would draw the same levels.
        hnsw.rng = faiss.RandomGenerator(len(self.levels))
        index.ntotal = len(self.levels)

    def lowest_of(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the links of vectors on the lowest level, shape (n, 2 LINKS)."""
        at = self._starts()[nodes][:, None] + np.arange(2 * LINKS)
        lowest: npt.NDArray[np.int32] = self.neighbours[at]
        return lowest

    def _starts(self) -> npt.NDArray[np.int64]:
        """Return the start of each vector's links, and the end, shape (n + 1,)."""
        starts = np.zeros(len(self.levels) + 1, np.int64)
        np.cumsum((self.levels.astype(np.int64) + 1) * LINKS, out=starts[1:])
        return starts

    def _require_levels(self, starts: npt.NDArray[np.int64], top: int) -> None:
        """Check that links above the lowest level lead to vectors that have that level."""
        for level in range(1, top):
            members = np.flatnonzero(self.levels > level)
            first = starts[members] + (level + 1) * LINKS
            linked = self.neighbours[first[:, None] + np.arange(LINKS)]
            is_inside = self.levels[linked[linked >= 0]] > level
            _require(is_inside.all(), "a link leads to a vector that is not on its level")

    def _require_ends(self, starts: npt.NDArray[np.int64]) -> None:
        """Check that no link follows a -1 in its level: FAISS only looks at the last one."""
        is_link = self.neighbours >= 0
        after_gap = np.flatnonzero(is_link[1:] & ~is_link[:-1]) + 1
        vectors = np.searchsorted(starts, after_gap, side="right") - 1
        within = after_gap - starts[vectors]
        is_start = (within % LINKS == 0) & (within != LINKS)  # the lowest level has two widths
        _require(is_start.all(), "a link follows where there are none")


def _require(holds: object, fault: str) -> None:
    if not holds:
        msg = f"graph: {fault}"
        raise ValueError(msg)
