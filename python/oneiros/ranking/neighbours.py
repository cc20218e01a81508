"""What a hit's neighbours in its session gain from it."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import require_int, settle_numbers

__all__ = ["Neighbours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Lend a share of every score to what stands next to it in time within its session.

    ``score_i += share * decay ** (d - 1) * (score_(i - d) + score_(i + d))`` for d from 1 to
    ``reach``.

    Source: docs/systems/house.md H4.
    """

    share: float = 0.3
    """Of a neighbour's score, 0 to 1e6."""

    decay: float = 0.5
    """What a step farther leaves of the share, 0 to 1."""

    reach: int = 2
    """Steps to either side, 0 to 64."""

    def __post_init__(self) -> None:
        settle_numbers(self, share=(0.0, 1e6, False), decay=(0.0, 1.0, False))
        require_int("reach", self.reach, low=0, high=64)
