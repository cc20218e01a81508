"""What a recall does to the memories it returns.

Whatever the rule, ``access_count`` goes up by one, ``last_accessed_at`` becomes now, and the session
joins the memory's set of sessions. ``oneiros._core.Columns.reinforce`` carries it out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, TypedDict

from oneiros.field_checks import FLOAT32_MAX
from oneiros.ranking.declaration import LARGEST_WEIGHT, settle_numbers

__all__ = [
    "REINFORCEMENTS",
    "CountsOnly",
    "Reinforcement",
    "ReinforcementDeclaration",
    "ReinforcementRule",
    "SpacedReinforcement",
]

_WEIGHT = (0.0, LARGEST_WEIGHT, False)
_NOT_NEGATIVE = (0.0, math.inf, False)
_POSITIVE = (0.0, math.inf, True)


class ReinforcementRule(TypedDict):
    """The numbers of the core's rule."""

    gain: float
    span_days: float
    most: float
    limit: float
    is_additive: bool


class _Growing:
    """A rule by which the stability grows with the rest before an access."""

    __slots__ = ()

    gain: float
    span_days: float
    most: float
    limit: float
    is_additive: ClassVar[bool]

    def rule(self) -> ReinforcementRule:
        """Return the numbers of the core's rule."""
        return {
            "gain": self.gain,
            "span_days": self.span_days,
            "most": self.most,
            "limit": self.limit,
            "is_additive": self.is_additive,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforcement(_Growing):
    """Each returned memory grows more stable, the longer it had rested.

    ``stability = min(limit, stability * (1 + gain * min(most, days / span_days)))``, days since the
    last access (creation if never, a negative span 0).

    Source: docs/systems/reverie.md R20.
    """

    name: ClassVar[str] = "growth"
    is_additive: ClassVar[bool] = False

    gain: float = 0.1
    """Growth at ``span_days`` of rest, >= 0."""

    span_days: float = 7.0
    """Days, > 0."""

    most: float = 2.0
    """The spans of rest that count, 0 to 1e6."""

    limit: float = 10.0
    """The greatest stability, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=_NOT_NEGATIVE, span_days=_POSITIVE, most=_WEIGHT, limit=_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacedReinforcement(_Growing):
    """Each returned memory gains stability, more after a rest than at once.

    ``stability = min(limit, stability + gain * min(most, days / span_days))``, days since the last
    access (creation if never, a negative span 0); without any time as after one span.

    Source: docs/systems/cognitive.md C11, the boost of direct results.
    """

    name: ClassVar[str] = "spaced"
    is_additive: ClassVar[bool] = True

    gain: float = 0.1
    """At ``span_days`` of rest, 0 to 1e6."""

    span_days: float = 7.0
    """Days, > 0."""

    most: float = 2.0
    """The spans of rest that count, 0 to 1e6."""

    limit: float = 1.0
    """The greatest stability, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=_WEIGHT, span_days=_POSITIVE, most=_WEIGHT, limit=_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsOnly:
    """Accesses are counted and dated; the stability stays.

    Source: docs/systems/mnemosyne.md M9, docs/systems/ciar.md A13, docs/systems/omega.md O33.
    """

    name: ClassVar[str] = "counts"

    def rule(self) -> ReinforcementRule:
        """Return the numbers of the core's rule: a gain of 0, and no limit below a column's."""
        return {
            "gain": 0.0,
            "span_days": 1.0,
            "most": 0.0,
            "limit": FLOAT32_MAX,
            "is_additive": True,
        }


ReinforcementDeclaration: TypeAlias = Reinforcement | SpacedReinforcement | CountsOnly
"""Any reinforcement a profile can name."""

REINFORCEMENTS: tuple[type[ReinforcementDeclaration], ...] = (
    Reinforcement,
    SpacedReinforcement,
    CountsOnly,
)
