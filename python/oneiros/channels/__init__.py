"""Channels: a query in, a ranked list of rows out. Fusion puts their lists together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core

__all__ = ["Bits", "Channel", "ChannelAnswer", "Kind", "RankedList", "Rows", "Scores"]

Kind: TypeAlias = Literal["auto", "flat", "hnsw"]
"""How vectors are searched: exactly, by a graph, or by what their number asks for."""

Rows: TypeAlias = "npt.NDArray[np.uint32]"
Scores: TypeAlias = "npt.NDArray[np.float64]"

Bits: TypeAlias = "npt.NDArray[np.uint8]"
"""Rows that may be returned, bit-packed little-endian: bit r of byte r // 8 stands for row r."""

Query_contra = TypeVar("Query_contra", contravariant=True)


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


class ChannelAnswer(NamedTuple):
    """What a channel says to one query."""

    hits: RankedList | _core.Hits
    """Which of the two depends on the channel; a plan takes both, and both have a ``size``."""
    score_rows: Callable[[Rows], Scores] | None
    """Gives any rows the raw scores that a search gives them, NaN where a row has none. None: the
    query gives the channel nothing to go by."""
    fill: Callable[[_core.Candidates, int], int] | None = None
    """Gives the candidates that lack a raw score of this channel, of that number in the plan, the one
    of ``score_rows``, and returns how many; None: no quicker way than ``score_rows`` is known."""
    ranks: RankedList | None = None
    """Of a question that was asked in other words too: each row's reciprocal rank, best first."""


class Channel(Protocol[Query_contra]):
    """One way of finding memories."""

    def search(self, query: Query_contra, k: int, allowed: Bits | None = None) -> RankedList:
        """Return the best ``k`` rows among ``allowed`` (None: all); fewer only if no more exist."""
        ...
