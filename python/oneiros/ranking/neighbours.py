"""What a hit's neighbours in its session gain from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_int, settle_flags, settle_numbers

if TYPE_CHECKING:
    from oneiros.ranking.program import ProgramBuilder

__all__ = ["Neighbours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Lend a share of every score to what stands next to it in time within its session.

    ``relevance_i += share * decay ** (d - 1) * (lent_(i - d) + lent_(i + d))`` for d from 1 to
    ``reach``. What a candidate lends is its relevance, or what that has beyond the mean of all
    candidates; what is none lends nothing. Time is ``event_at``, else ``created_at``.

    Source: docs/systems/house.md H4.
    """

    share: float = 0.3
    """Of a neighbour's score, 0 to 1e6."""

    decay: float = 0.5
    """What a step farther leaves of the share, 0 to 1."""

    reach: int = 2
    """Steps to either side, 0 to 64."""

    seeds: int = 10
    """How many of the best candidates make candidates of their neighbours, 0 to 100."""

    above_mean: bool = False
    """Lend what is beyond the mean of the candidates, else all."""

    def __post_init__(self) -> None:
        settle_numbers(self, share=(0.0, 1e6, False), decay=(0.0, 1.0, False))
        require_int("reach", self.reach, low=0, high=64)
        require_int("seeds", self.seeds, low=0, high=100)
        settle_flags(self, "above_mean")

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what the relevance gains."""
        return program.signal("neighbours", 0.0)

    def rule(self) -> _core.NeighbourRule:
        """Return the rule as the core takes it."""
        return _core.NeighbourRule(
            share=self.share,
            decay=self.decay,
            reach=self.reach,
            seeds=self.seeds,
            is_above_mean=self.above_mean,
        )
