"""Adjustments of a fused relevance before any factor, as a profile declares them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from oneiros import _core
from oneiros.model.validation import LARGEST_WEIGHT, require_int, settle_flags, settle_numbers
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.scoring.program import ProgramBuilder

__all__ = ["HotSet", "NamedTime", "Neighbours", "Statements"]


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


_SHARE = (0.0, 1.0, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSet:
    """The memories recalled most often are candidates where they hold enough of the question's words.

    ``max(relevance, weight * overlap)``, of those of the ``size`` most accessed whose overlap, the
    share of the question's words found in text and tags, is at least ``least_overlap``. Signal:
    ``hot_seed``, what the maximum is taken with, and ``hot_best``, the largest of them.

    Source: docs/systems/omega.md O1.
    """

    reads_texts: ClassVar[bool] = True

    size: int = 50
    """How many of the most accessed are looked at, 1 to 10,000."""

    least_overlap: float = 0.4
    """0 to 1."""

    weight: float = 0.8
    """Of the overlap, above 0, at most 1e6."""

    def __post_init__(self) -> None:
        require_int("size", self.size, low=1, high=10_000)
        settle_numbers(self, least_overlap=_SHARE, weight=(0.0, LARGEST_WEIGHT, True))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what the relevance gains."""
        program.join_best("hot_best")
        above = program.call("subtract", program.signal("hot_seed", -math.inf), program.relevance)
        return program.call("maximum", above, program.constant(0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Damp memories that ask: what asks answers little.

    ``relevance x (1 - damping * asks)``, ``asks`` being the share of its text that stands in
    sentences which end with a question mark.

    Source: docs/systems/house.md H9.
    """

    damping: float = 0.5
    """What a memory loses that does nothing but ask, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, damping=_SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what the relevance gains."""
        asks = program.call("multiply", program.column("asks"), program.is_asked)
        damped = program.call("scale", asks, factor=-self.damping, offset=0.0)
        return program.call("multiply", program.relevance, damped)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTime:
    """Damp what lies outside of the time that a question names.

    ``relevance x outside``, by how surely the question named it; 1 for what lies within. Signal:
    ``named_time_case``: 0 no time named, 1 in range, 2 out of a soft range, 3 out of an explicit one,
    4 out of an inferred one. The question's wording decides, not the memory's date as in
    :class:`oneiros.scoring.factors.TemporalConstraint`.

    Source: docs/systems/house.md H10.
    """

    soft: float = 0.85
    """Where the range is soft ("around May", or given so), 0 to 1, as the others."""

    explicit: float = 0.5
    """Where a date, month or year is named, or the range is given."""

    inferred: float = 0.7
    """Where it is reckoned from now ("last week")."""

    def __post_init__(self) -> None:
        settle_numbers(self, soft=_SHARE, explicit=_SHARE, inferred=_SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what the relevance gains."""
        table = [0.0, 0.0, self.soft - 1.0, self.explicit - 1.0, self.inferred - 1.0]
        case = program.signal("named_time_case", 0.0)
        damped = program.call("lookup", case, table=table, otherwise=0.0)
        return program.call("multiply", program.relevance, damped)
