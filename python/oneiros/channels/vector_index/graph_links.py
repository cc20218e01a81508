"""The links of an HNSW graph as plain arrays: taken out of FAISS, looked at, put back.

FAISS follows a link without looking where it leads, so nothing gets back in that was not looked at.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from oneiros.runtime.dataclasses import dataclass

__all__ = ["LINKS", "Links"]

LINKS: Final = 16  # HNSW's M: links a vector and level (twice that on the lowest)
MOST_LEVELS: Final = 8  # so many FAISS draws from, for this M: the next is rarer than one in 10^9


@dataclass(frozen=True, slots=True)
class Links:
    """Which vectors are linked with which."""

    levels: npt.NDArray[np.uint8]
    """On how many levels each vector lies, from the lowest up, shape (n,)."""
    neighbours: npt.NDArray[np.int32]
    """Of each vector, level by level, to whom it is linked; -1 where a level has links left."""
    entry: int
    """Where every walk begins: a vector that lies on the highest level."""
    laid_out_count: int
    """How many vectors there were when they were last ordered by their links; 0: never."""

    @classmethod
    def of(cls, faiss: Any, index: Any, laid_out_count: int) -> Links:
        """Return the links of an index."""
        hnsw = index.hnsw
        neighbours = faiss.vector_to_array(hnsw.neighbors)
        levels = faiss.vector_to_array(hnsw.levels).astype(np.uint8)
        return cls(levels, neighbours, int(hnsw.entry_point), laid_out_count)

    def require_sense(self) -> None:
        """Raise ValueError unless every walk along the links, and every new link, stays inside."""
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
        """Link the vectors of an index. REQUIRES: the links make sense, and there are none yet."""
        hnsw = index.hnsw
        faiss.copy_array_to_vector(self.levels.astype(np.int32), hnsw.levels)
        faiss.copy_array_to_vector(self._starts().astype(np.uint64), hnsw.offsets)
        faiss.copy_array_to_vector(self.neighbours, hnsw.neighbors)
        hnsw.entry_point, hnsw.max_level = self.entry, int(self.levels.max()) - 1
        # Where it stood is not known; from the first seed, each growth would draw the same levels.
        hnsw.rng = faiss.RandomGenerator(len(self.levels))
        index.ntotal = len(self.levels)

    def lowest_of(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the links of vectors on the lowest level, shape (n, 2 LINKS)."""
        at = self._starts()[nodes][:, None] + np.arange(2 * LINKS)
        lowest: npt.NDArray[np.int32] = self.neighbours[at]
        return lowest

    def _starts(self) -> npt.NDArray[np.int64]:
        """Return where the links of each vector begin, and the end, shape (n + 1,)."""
        starts = np.zeros(len(self.levels) + 1, np.int64)
        np.cumsum((self.levels.astype(np.int64) + 1) * LINKS, out=starts[1:])
        return starts

    def _require_levels(self, starts: npt.NDArray[np.int64], top: int) -> None:
        """Above the lowest level, links lead to vectors that have that level."""
        for level in range(1, top):
            members = np.flatnonzero(self.levels > level)
            first = starts[members] + (level + 1) * LINKS
            linked = self.neighbours[first[:, None] + np.arange(LINKS)]
            is_inside = self.levels[linked[linked >= 0]] > level
            _require(is_inside.all(), "a link leads to a vector that is not on its level")

    def _require_ends(self, starts: npt.NDArray[np.int64]) -> None:
        """After the first -1 of a level only such follow: FAISS looks at the last one alone."""
        is_link = self.neighbours >= 0
        after_gap = np.flatnonzero(is_link[1:] & ~is_link[:-1]) + 1
        of = np.searchsorted(starts, after_gap, side="right") - 1
        within = after_gap - starts[of]
        is_start = (within % LINKS == 0) & (within != LINKS)  # the lowest level has two widths
        _require(is_start.all(), "a link follows where there are none")


def _require(holds: object, fault: str) -> None:
    if not holds:
        msg = f"graph: {fault}"
        raise ValueError(msg)
