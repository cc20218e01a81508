"""Channels: a query in, a ranked list of rows out. Fusion puts their lists together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from oneiros._lazy import np
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Bits", "Kind", "RankedList", "Rows", "Scores"]

Kind: TypeAlias = Literal["auto", "flat", "hnsw"]
"""How vectors are searched: exactly, by a graph, or by what their number asks for."""

Rows: TypeAlias = "npt.NDArray[np.uint32]"
Scores: TypeAlias = "npt.NDArray[np.float64]"

Bits: TypeAlias = "npt.NDArray[np.uint8]"
"""Rows that may be returned, bit-packed little-endian: bit r of byte r // 8 stands for row r."""


class RankedList(NamedTuple):
    """What a channel found: best score first, equal scores by the smaller row."""

    rows: Rows
    """Shape (n,), each row once."""
    scores: Scores
    """Shape (n,), never NaN, never rising."""

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)
