"""Channels: a query in, a ranked list of rows out. Fusion puts their lists together."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Bits", "Channel", "RankedList"]

Bits = npt.NDArray[np.uint8]
"""Rows that may be returned, bit-packed little-endian: bit r of byte r // 8 stands for row r."""

Query_contra = TypeVar("Query_contra", contravariant=True)


class RankedList(NamedTuple):
    """What a channel found: best score first, equal scores by the smaller row."""

    rows: npt.NDArray[np.uint32]
    """Shape (n,), each row once."""
    scores: npt.NDArray[np.float64]
    """Shape (n,), never NaN, never rising."""


class Channel(Protocol[Query_contra]):
    """One way of finding memories."""

    def search(self, query: Query_contra, k: int, allowed: Bits | None = None) -> RankedList:
        """Return the best ``k`` rows among ``allowed`` (None: all); fewer only if no more exist."""
        ...
