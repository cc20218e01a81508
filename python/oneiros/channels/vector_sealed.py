"""The vectors under a graph, equal ones once.

Equal vectors starve an HNSW graph: they fill each other's links, and with a tenth of all equal,
a twentieth of the others could no longer be reached. Memories do repeat ("ok", "thanks"), so of
equal vectors the graph holds one, the head; the others are its twins, which share its score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits
from oneiros.channels.inner_products import Graph, Matrix, Positions
from oneiros.channels.vector_choice import Choice, Found, are_chosen, bits_at

__all__ = ["Hashes", "Sealed", "hashes_of", "seal"]

# Candidates kept while walking the graph, per result wanted and at least. The nearer half of them
# is nearly complete: under a filter the results must come out of that half, so some more are kept.
BREADTH_PER_RESULT: Final = 2
BREADTH_PER_CHOSEN_RESULT: Final = 3
LEAST_BREADTH: Final = 96

# What a candidate of a walk costs, in vectors scored one by one: its links' vectors, and the steps
# between, which weigh the more the narrower the vectors are. Measured at 384 wide: 13 while all
# vectors lie in the cache, 4 when they come from memory (20,000 out of 100,000: one by one 7.4 ms,
# a walk of 1,000 candidates 1.4 ms).
SCORED_PER_CANDIDATE: Final = 8
STEPS_PER_CANDIDATE: Final = 2_000  # components
SCORED_FROM_MEMORY: Final = 4
CACHE_BYTES: Final = 16 * 2**20

WIDENING: Final = 4  # the next breadth where too few of the candidates may be returned

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A graph, and the twins of its vectors. Positions: the graph's, then the twins."""

    graph: Graph
    heads: Positions
    """The position in the graph of each twin's equal, ascending, shape (t,)."""
    hashes: Hashes
    """Of the graph's vectors."""

    def __len__(self) -> int:
        return len(self.graph) + len(self.heads)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.graph.nbytes + self.heads.nbytes + self.hashes.nbytes

    def nodes_at(self, positions: Positions) -> Positions:
        """Return the position in the graph of each position's vector."""
        if len(self.heads) == 0:
            return positions
        nodes = positions.copy()
        is_twin = positions >= len(self.graph)
        nodes[is_twin] = self.heads[positions[is_twin] - len(self.graph)]
        return nodes

    def best(
        self, query: Matrix, k: int, chosen: Bits | None
    ) -> tuple[npt.NDArray[np.float32], Positions]:
        """Return scores and positions of about the best ``k`` for one query; maybe more than ``k``.

        Exact where that is as fast as the graph, or where the graph finds too few.

        Args:
            query: shape (1, d).
            k: >= 1.
            chosen: packed bits of the positions that may be returned, None for all.
        """
        nodes = self._chosen_nodes(chosen)
        choice = Choice.of(self.graph.vectors, 0, nodes)
        wanted, breadth = min(k, choice.available), self._breadth(k, choice)
        walked = 0
        while self._is_worth(breadth, choice, walked):
            scores, positions, is_good = self._walk(query, wanted, breadth, nodes)
            if is_good is None:
                return self._with_twins(scores[0], positions[0], chosen)
            if np.count_nonzero(is_good) >= wanted:
                return self._with_twins(scores[is_good], positions[is_good], chosen)
            walked += breadth
            breadth *= WIDENING
        return self._with_twins(*choice.best(query, k), chosen)

    def best_of_many(self, queries: Matrix, k: int, chosen: Bits | None) -> Found:
        """Return about the best ``k`` for each query; a query that meets a twin is left unknown."""
        nodes = self._chosen_nodes(chosen)
        choice = Choice.of(self.graph.vectors, 0, nodes)
        wanted, breadth = min(k, choice.available), self._breadth(k, choice)
        if self._is_worth(breadth, choice):
            scores, positions, is_good = self._walk(queries, wanted, breadth, nodes)
            result = Found(scores, positions, np.full(len(queries), -np.inf, np.float32))
            if is_good is not None:
                scores[~is_good] = -np.inf
                positions[~is_good] = 0
                result.bound[np.count_nonzero(is_good, axis=1) < wanted] = np.inf
        else:
            result = choice.best_of_many(queries, k)
        if len(self.heads):
            meets_twin = np.isin(result.positions, self.heads).any(axis=1)
            result.bound[meets_twin] = np.inf
        return result

    def _breadth(self, k: int, choice: Choice) -> int:
        """Return how broadly to walk for ``k`` of the chosen vectors, were they spread evenly."""
        if choice.subset is None:
            return max(LEAST_BREADTH, BREADTH_PER_RESULT * k)
        breadth = max(LEAST_BREADTH, BREADTH_PER_CHOSEN_RESULT * k)
        return breadth * len(self.graph) // max(choice.available, 1)

    def _is_worth(self, breadth: int, choice: Choice, walked: int = 0) -> bool:
        """Tell whether a walk is cheaper than looking at every chosen vector.

        After walks in vain it must be much cheaper: what filters out the nearest goes on to.
        """
        vectors = choice.vectors
        scored: float = SCORED_FROM_MEMORY
        if vectors.nbytes <= CACHE_BYTES:
            scored = SCORED_PER_CANDIDATE + STEPS_PER_CANDIDATE / vectors.shape[1]
        return (walked + breadth) * scored * (4 if walked else 1) < choice.available

    def _walk(
        self, queries: Matrix, wanted: int, breadth: int, nodes: Bits | None
    ) -> tuple[Matrix, Positions, npt.NDArray[np.bool_] | None]:
        """Return what a walk finds that is reliable, and which of it may be returned; None: all.

        FAISS could be handed the choice, but then ends its walk as soon as it holds enough, near
        or far: with the query's own neighbourhood left out, it found one of the nearest ten. Where
        enough of *all* the nearest may be returned, they are the nearest that may.
        """
        count = wanted if nodes is None else breadth // 2
        scores, positions = self.graph.nearest(queries, count, breadth)
        if nodes is None and (positions[:, -1] >= 0).all():  # what was not found stands at the end
            return scores, positions, None
        return scores, positions, are_chosen(positions, len(self.graph), nodes)

    def _chosen_nodes(self, chosen: Bits | None) -> Bits | None:
        """Return packed bits of the graph's vectors that stand for a chosen position."""
        if chosen is None or len(self.heads) == 0:
            return chosen
        flags = np.unpackbits(chosen, count=len(self), bitorder="little")
        nodes, twins = flags[: len(self.graph)], flags[len(self.graph) :]
        nodes[self.heads[twins.view(np.bool_)]] = 1
        return np.packbits(nodes, bitorder="little")

    def _with_twins(
        self, scores: npt.NDArray[np.float32], nodes: Positions, chosen: Bits | None
    ) -> tuple[npt.NDArray[np.float32], Positions]:
        """Return what was found in the graph and its twins, those that are chosen."""
        if len(self.heads) == 0:
            return scores, nodes
        first = np.searchsorted(self.heads, nodes, "left")
        counts = np.searchsorted(self.heads, nodes, "right") - first
        # Twins first[i], first[i] + 1, ... of each node i, one after the other.
        starts = np.cumsum(counts) - counts
        twins = np.repeat(first - starts, counts) + np.arange(counts.sum())
        scores = np.concatenate((scores, np.repeat(scores, counts)))
        positions = np.concatenate((nodes, twins + len(self.graph)))
        if chosen is None:
            return scores, positions
        is_chosen = bits_at(chosen, positions)
        return scores[is_chosen], positions[is_chosen]


def seal(
    former: Sealed | None, vectors: Matrix, is_stopped: Callable[[], bool]
) -> tuple[Sealed, Positions] | None:
    """Return a new part of ``former``'s vectors and these, or None if stopped before the end.

    Args:
        former: stays as it is.
        vectors: shape (n, d).
        is_stopped: asked many times a second.

    Returns:
        The part, and the order of its positions: numbers below ``len(former)`` are ``former``'s
        positions, those from there on stand for ``vectors``.
    """
    known = 0 if former is None else len(former.graph)
    hashes = hashes_of(vectors)
    every_hash = hashes if former is None else np.concatenate((former.hashes, hashes))
    _, firsts, groups = np.unique(every_hash, return_index=True, return_inverse=True)
    head = firsts[groups[known:]]  # in the graph, or from `known` on among the vectors
    is_twin = head < known + np.arange(len(vectors))
    at = np.flatnonzero(is_twin)
    equals = vectors[np.maximum(head[at] - known, 0)]
    if former is not None:
        is_old = head[at] < known
        equals[is_old] = former.graph.vectors[head[at][is_old]]
    is_twin[at] = (equals.view(np.uint32) == vectors[at].view(np.uint32)).all(axis=1)
    distinct = np.flatnonzero(~is_twin)
    graph = Graph.grown(None if former is None else former.graph, vectors, distinct, is_stopped)
    if graph is None:
        return None
    graph, nodes = graph.laid_out()
    hashes = every_hash[np.concatenate((np.arange(known), known + distinct))][nodes]
    lies_at = np.empty_like(nodes)
    lies_at[nodes] = np.arange(len(nodes))
    node_of = np.concatenate((np.arange(known), known + np.cumsum(~is_twin) - 1))
    twins = np.flatnonzero(is_twin)
    heads, length = node_of[head[twins]], known
    twin_order = twins + known
    if former is not None:
        length = len(former)
        heads = np.concatenate((former.heads, heads))
        twin_order = np.concatenate((np.arange(known, length), twins + length))
    heads = lies_at[heads]
    by_head = np.argsort(heads, kind="stable")
    node_order = np.concatenate((np.arange(known), distinct + length))[nodes]
    order = np.concatenate((node_order, twin_order[by_head]))
    return Sealed(graph, heads[by_head], hashes), order


def hashes_of(vectors: Matrix) -> Hashes:
    """Return 64 bits that are equal for equal vectors, and hardly ever for others."""
    odd = np.random.default_rng(0).integers(0, 2**63, vectors.shape[1], np.uint64) * 2 + 1
    found = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), 4_096):
        block = np.ascontiguousarray(vectors[start : start + 4_096]).view(np.uint32)
        # The high half goes in too: a product alone keeps the low bits of like numbers alike.
        mixed = block * odd
        found[start : start + 4_096] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1)
    return found
