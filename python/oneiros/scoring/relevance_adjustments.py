"""Adjustments of the fused relevance before any factor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from oneiros import _core
from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_int,
    settle_flags,
    settle_numbers,
    settle_optional_flags,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.tables import SHARE, WEIGHT

if TYPE_CHECKING:
    from oneiros.scoring.program import ProgramBuilder

__all__ = ["AskedTime", "HotSet", "NamedTime", "Neighbours", "Statements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Boost memories adjacent in time, within a session, to good candidates.

    ``relevance_i += part_i * share * decay ** (d - 1) * (gain_(i - d) + gain_(i + d))`` for d from 1
    to ``reach``, or the greater of the two gains in place of the sum. The gain of a candidate is its
    relevance, or the excess over a mean; that of other memories is 0. The part is 1, or less for
    long texts. Time is ``event_at``, else ``created_at``.

    Source: docs/systems/house.md H4.
    """

    share: float = 0.3
    """Share of an adjacent memory's gain, 0 to 1e6."""

    decay: float = 0.5
    """Multiplier of the share for each further step, 0 to 1."""

    reach: int = 2
    """Steps to either side, 0 to 64."""

    seeds: int = 10
    """Number of best candidates whose neighbours become candidates, 0 to 100."""

    above_mean: bool = False
    """Whether the gain is the excess over the mean of the candidates, never below 0."""

    above_session: bool | None = None
    """True: the gain is the excess over the mean of the candidates of its session, never below 0; with
    ``above_mean`` over the greater of both means. Where a session is about one thing, its memories
    are alike, and standing next to a hit says little."""

    from_better: bool | None = None
    """True: a memory takes from the better of the two neighbours at each distance. None: from both."""

    session_share: float | None = None
    """Part of what a candidate lacks to the best relevance in its session, neighbours' shares
    included, that it gains, 0 to 1: a session that answers speaks for its memories, also for those
    that neighbours brought. None: 0."""

    whole_length: float | None = None
    """Length up to which a text has its whole share, in words that the analyzer keeps (no stop words),
    0 to 1e6; a longer one has the part whole_length / length, since it says more by itself. None or
    0: every text has its whole share."""

    def __post_init__(self) -> None:
        settle_numbers(self, share=WEIGHT, decay=SHARE)
        require_int("reach", self.reach, low=0, high=64)
        require_int("seeds", self.seeds, low=0, high=100)
        settle_flags(self, "above_mean")
        settle_optional_flags(self, "above_session", "from_better")
        if self.session_share is not None:
            settle_numbers(self, session_share=SHARE)
        if self.whole_length is not None:
            settle_numbers(self, whole_length=WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the term added to the relevance."""
        return program.signal("neighbours", 0.0)

    def rule(self) -> _core.NeighbourRule:
        """Return the core's rule."""
        return _core.NeighbourRule(
            share=self.share,
            decay=self.decay,
            reach=self.reach,
            seeds=self.seeds,
            is_above_mean=self.above_mean,
            is_above_session=bool(self.above_session),
            whole_length=self.whole_length or 0.0,
            is_from_better=bool(self.from_better),
            session_share=self.session_share or 0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSet:
    """Make the most accessed memories candidates if they contain enough of the query's words.

    Their relevance becomes ``max(relevance, weight * overlap)`` if ``overlap``, the share of query
    words found in text and tags, is at least ``least_overlap``. Signals: ``hot_seed``, the values
    ``weight * overlap``, and ``hot_best``, the largest of them.

    Source: docs/systems/omega.md O1.
    """

    reads_texts: ClassVar[bool] = True

    size: int = 50
    """Number of most accessed memories considered, 1 to 10,000."""

    least_overlap: float = 0.4
    """Least overlap, 0 to 1."""

    weight: float = 0.8
    """Weight of the overlap, above 0, at most 1e6."""

    def __post_init__(self) -> None:
        require_int("size", self.size, low=1, high=10_000)
        settle_numbers(self, least_overlap=SHARE, weight=(0.0, LARGEST_WEIGHT, True))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the term added to the relevance."""
        program.join_best("hot_best")
        above = program.call("subtract", program.signal("hot_seed", -math.inf), program.relevance)
        return program.call("maximum", above, program.constant(0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Damp memories that are questions: they answer little.

    ``relevance x (1 - damping * asks)``, where ``asks`` is the share of the text in sentences that
    end with a question mark.

    Source: docs/systems/house.md H9.
    """

    damping: float = 0.5
    """Share of the relevance that a text of questions only loses, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, damping=SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the term added to the relevance."""
        asks = program.call("multiply", program.column("asks"), program.is_asked)
        damped = program.call("scale", asks, factor=-self.damping, offset=0.0)
        return program.call("multiply", program.relevance, damped)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTime:
    """Damp memories outside of the time that a query names.

    The relevance is multiplied by 1 inside of the range, else by a number that depends on the
    wording of the query, not on the memory's date as in
    :class:`oneiros.scoring.factors.TemporalConstraint`. Where the query asks for nothing but what
    was at that time ("what did I do yesterday?"), ``alone`` is added inside of it. Signals:
    ``named_time_case``: 0 no time named, 1 in range, 2 out of a soft range, 3 out of an explicit
    one, 4 out of an inferred one; ``asks_by_time``: 1 if the query asks so, else 0.

    Source: docs/systems/house.md H10, H21.
    """

    soft: float = 0.85
    """Multiplier outside of a soft range ("around May", or ``soft_range=True``), 0 to 1."""

    explicit: float = 0.5
    """Multiplier outside of a named date, month or year, or of a ``date_range``, 0 to 1."""

    inferred: float = 0.7
    """Multiplier outside of a range relative to now ("last week"), 0 to 1."""

    alone: float = 0.0
    """Added to the relevance inside of the range where the query has no other word of content, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, soft=SHARE, explicit=SHARE, inferred=SHARE, alone=SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the term added to the relevance."""
        table = [0.0, 0.0, self.soft - 1.0, self.explicit - 1.0, self.inferred - 1.0]
        case = program.signal("named_time_case", 0.0)
        damped = program.call("lookup", case, table=table, otherwise=0.0)
        lost = program.call("multiply", program.relevance, damped)
        if self.alone == 0.0:
            return lost
        inside = program.call("lookup", case, table=[0.0, self.alone, 0.0, 0.0, 0.0], otherwise=0.0)
        gained = program.call("multiply", inside, program.signal("asks_by_time", 0.0))
        return program.call("add", lost, gained)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTime:
    """Damp memories that name no time where the query asks for one ("when did we move?").

    ``relevance x (1 - damping)`` for texts that neither name a time nor have an ``event_at``. Signal:
    ``asks_time``: 1 if the query asks for a time, else 0.

    Source: docs/systems/house.md H13.
    """

    damping: float = 0.15
    """Share of the relevance that a memory without a time loses, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, damping=SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the term added to the relevance."""
        lacks = program.call("subtract", program.constant(1.0), program.column("names_time"))
        is_wanted = program.call("multiply", lacks, program.signal("asks_time", 0.0))
        damped = program.call("scale", is_wanted, factor=-self.damping, offset=0.0)
        return program.call("multiply", program.relevance, damped)
