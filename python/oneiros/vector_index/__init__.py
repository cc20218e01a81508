"""Vector search by cosine: exact for few vectors, by an HNSW graph for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from oneiros._lazy import door, np
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.vector_index import hnsw as hnsw
    from oneiros.vector_index import index as index
else:  # the first loads FAISS's module, both load NumPy
    __getattr__ = door(__name__, ("hnsw", "index"))

__all__ = ["DEFAULT_RECALL", "BitArray", "Bits", "Kind", "RankedList", "Rows", "Scores", "Walked"]

Kind: TypeAlias = Literal["auto", "flat", "hnsw"]
"""Kind of vector search: exact, by an HNSW graph, or chosen by the number of vectors."""

DEFAULT_RECALL: Final = 0.98
"""The share of the exact nearest vectors that searches by a graph should find."""

Rows: TypeAlias = "npt.NDArray[np.uint32]"
Scores: TypeAlias = "npt.NDArray[np.float64]"

Bits: TypeAlias = "bytes | npt.NDArray[np.uint8]"
"""Rows that may be returned as packed bits, little-endian: bit r % 8 of byte r // 8 is row r."""
BitArray: TypeAlias = "npt.NDArray[np.uint8]"
"""Packed bits of rows or of positions, in the same order."""


class RankedList(NamedTuple):
    """Rows and scores from a channel: best score first, equal scores by the smaller row."""

    rows: Rows
    """Shape (n,), each row once."""
    scores: Scores
    """Shape (n,), never NaN, never rising."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)


class Walked(NamedTuple):
    """The result of a walk of the graph."""

    ranked: RankedList
    breadth: int
    """Candidates kept during the walk (HNSW's efSearch)."""
    recall: float | None = None
    """The share of the exact nearest that such walks found when the graph was measured."""
