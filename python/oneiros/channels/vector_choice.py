"""Which vectors a search may look at, and an exact search of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits
from oneiros.channels.inner_products import Matrix, Positions, nearest, scores_at

__all__ = ["Choice", "Found", "are_chosen", "bit_count", "bits_at", "positions_in"]

# Above this share of all vectors, looking each one up in the bits beats listing the chosen ones.
LISTED_SHARE: Final = 0.25

MARGIN: Final = 16  # results that a batch fetches beyond k: see vector_batch.py


class Found(NamedTuple):
    """What a batch of queries found in one part of the index."""

    scores: Matrix
    """Shape (m, w)."""
    positions: Positions
    """Shape (m, w)."""
    bound: npt.NDArray[np.float32]
    """No vector left out scores more, shape (m,); infinite: unknown, search alone."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Vectors to search exactly."""

    vectors: Matrix
    """Shape (n, d), the chosen and others."""
    start: int
    """Position of the first."""
    subset: Bits | Positions | None
    """Which are chosen, in the form that is cheapest to search; None: all."""
    available: int
    """How many are chosen."""

    @classmethod
    def of(cls, vectors: Matrix, start: int, bits: Bits | None) -> Choice:
        """Return the choice of the vectors whose bit is set; None: all."""
        if bits is None:
            return cls(vectors, start, None, len(vectors))
        available = bit_count(bits)
        is_listed = available <= LISTED_SHARE * len(vectors)
        return cls(vectors, start, positions_in(bits) if is_listed else bits, available)

    def best(self, query: Matrix, k: int) -> tuple[npt.NDArray[np.float32], Positions]:
        """Return scores and positions of the best ``k``, and all that tie with the last of them.

        FAISS keeps arbitrary ones among equals, so it is asked on until the last it gives is below
        the k-th.
        """
        wanted = min(k, self.available)
        if wanted == 0:
            return np.empty(0, np.float32), np.empty(0, np.int64)
        take = min(wanted + 1, self.available)
        while True:
            scores, positions = nearest(query, self.vectors, take, self.subset)
            if take == self.available or scores[0, -1] < scores[0, wanted - 1]:
                return scores[0], positions[0] + self.start
            take = min(4 * take, self.available)

    def best_of_many(self, queries: Matrix, k: int) -> Found:
        """Return the best ``k`` of each query and some more, scored as single searches score."""
        take = min(k + MARGIN, self.available)
        bound = np.full(len(queries), -np.inf, np.float32)
        if take == 0:
            nothing = np.empty((len(queries), 0), np.float32)
            return Found(nothing, nothing.astype(np.int64), bound)
        scores, positions = nearest(queries, self.vectors, take, self.subset)
        if take < self.available:
            bound = scores[:, -1].copy()
        exact = scores_at(queries, self.vectors, positions)
        return Found(exact, positions + self.start, bound)


def are_chosen(positions: Positions, count: int, chosen: Bits | None) -> npt.NDArray[np.bool_]:
    """Check what FAISS returned, -1 for nothing: it once ignored a selector."""
    is_valid = (positions >= 0) & (positions < count)
    if chosen is None:
        return is_valid
    return is_valid & bits_at(chosen, np.where(is_valid, positions, 0))


def bits_at(bits: Bits, positions: Positions) -> npt.NDArray[np.bool_]:
    """Return the bits at some positions, in their shape."""
    at: npt.NDArray[np.uint8] = bits[positions >> 3] >> (positions & 7).astype(np.uint8)
    return (at & 1).astype(np.bool_)


def bit_count(bits: Bits) -> int:
    """Return how many bits are set."""
    whole = len(bits) // 8 * 8  # eight bytes at a time where the array can be read so
    if bits.ctypes.data % 8:
        whole = 0
    words = np.bitwise_count(bits[:whole].view(np.uint64)).sum(dtype=np.int64)
    return int(words) + int(np.bitwise_count(bits[whole:]).sum(dtype=np.int64))


def positions_in(bits: Bits) -> Positions:
    """Return the numbers of the set bits, ascending."""
    return np.flatnonzero(np.unpackbits(bits, bitorder="little").view(np.bool_))
