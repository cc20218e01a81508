"""What a recall does to the memories it returns.

Whatever the rule, ``access_count`` goes up by one, ``last_accessed_at`` becomes now, and the session
joins the memory's set of sessions. ``oneiros._core.Columns.reinforce`` carries it out.
"""

from __future__ import annotations

import math
from typing import ClassVar, TypeAlias, TypedDict

from oneiros.model.fields import U32_MAX
from oneiros.model.validation import (
    FLOAT32_MAX,
    LARGEST_WEIGHT,
    require_int,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, fields

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

    def rule(self, *, is_associative: bool = False) -> ReinforcementRule:
        """Return the numbers of the core's rule, for direct results or those that links brought."""
        own = getattr(self, "associative_gain", None) if is_associative else None
        return {
            "gain": self.gain if own is None else own,
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
    link_gain: ClassVar[None] = None
    promotes: ClassVar[bool] = False

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

    A memory of the cold tier comes back to the hot one. What is not given, is not done.

    Accesses are counted and dated however often one asks. What they raise is bounded: stability by
    the rest that must come before, a link by ``link_rest_days``, and both by ``once_a_session``.

    Source: docs/systems/cognitive.md C11 to C13; the bounds: docs/systems/house.md H7.
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

    associative_gain: float | None = None
    """In place of ``gain`` for results that links brought, 0 to 1e6; None: the same. C11."""

    link_gain: float | None = None
    """What the link of each pair of direct results gains, above 0, at most 1; None: nothing. C13."""

    most_linked: int = 32
    """So many of the first direct results are linked, pair by pair, 2 to 1,000: pairs grow with the
    square."""

    link_rest_days: float = 0.0
    """Days, >= 0: a link whose memories were found together less long ago gains only that share of
    ``link_gain``; 0: always all of it."""

    once_a_session: bool = False
    """Whether a session raises nothing of what it was among the sessions of before: no stability of
    such a memory, no link of two of them."""

    core_accesses: int | None = None
    """From so many accesses on a memory may become core, >= 0; None: none does. C12."""

    core_stability: float = 0.85
    """And from this stability on, >= 0."""

    core_sessions: int = 3
    """And from so many distinct sessions on, >= 1."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            gain=_WEIGHT,
            span_days=_POSITIVE,
            most=_WEIGHT,
            limit=_POSITIVE,
            core_stability=_NOT_NEGATIVE,
            link_rest_days=_NOT_NEGATIVE,
        )
        if self.associative_gain is not None:
            settle_numbers(self, associative_gain=_WEIGHT)
        if self.link_gain is not None:
            settle_numbers(self, link_gain=(0.0, 1.0, True))
        if self.core_accesses is not None:
            require_int("core_accesses", self.core_accesses, low=0, high=U32_MAX)
        require_int("core_sessions", self.core_sessions, low=1, high=U32_MAX)
        require_int("most_linked", self.most_linked, low=2, high=1_000)
        settle_flags(self, "once_a_session")

    @property
    def promotes(self) -> bool:
        """Whether a memory can become core or hot again."""
        return True

    def record(self) -> dict[str, object]:
        """Return name and fields; of becoming core, where none does, only what is not the default."""
        told: dict[str, object] = {"name": self.name}
        for field in fields(self):
            value = getattr(self, field.name)
            is_idle = self.core_accesses is None and field.name.startswith("core_")
            if value is not None and not (is_idle and value == field.default):
                told[field.name] = value
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsOnly:
    """Accesses are counted and dated; the stability stays.

    Source: docs/systems/mnemosyne.md M9, docs/systems/ciar.md A13, docs/systems/omega.md O33.
    """

    name: ClassVar[str] = "counts"
    link_gain: ClassVar[None] = None
    promotes: ClassVar[bool] = False

    def rule(self, *, is_associative: bool = False) -> ReinforcementRule:
        """Return the numbers of the core's rule: a gain of 0, and no limit below a column's."""
        del is_associative
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
