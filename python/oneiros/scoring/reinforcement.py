"""Reinforcement: the changes that a recall makes to the memories it returns.

Every rule increases ``access_count`` by one, sets ``last_accessed_at`` to now and adds the session
to the memory's set of sessions. ``oneiros._core.Columns.reinforce`` carries it out.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from oneiros.model.fields import U32_MAX
from oneiros.model.validation import (
    FLOAT32_MAX,
    require_int,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import TypedDict, dataclass, fields
from oneiros.scoring.tables import NOT_NEGATIVE, POSITIVE, POSITIVE_SHARE, WEIGHT

__all__ = [
    "REINFORCEMENTS",
    "CountsOnly",
    "Reinforcement",
    "ReinforcementDeclaration",
    "ReinforcementRule",
    "SpacedReinforcement",
]


class ReinforcementRule(TypedDict):
    """Parameters of the core's rule."""

    gain: float
    span_days: float
    most: float
    limit: float
    is_additive: bool


class _Growing:
    """A rule by which an access raises the stability, more after a longer rest."""

    __slots__ = ()

    gain: float
    span_days: float
    most: float
    limit: float
    is_additive: ClassVar[bool]

    def rule(self, *, is_associative: bool = False) -> ReinforcementRule:
        """Return the parameters of the core's rule, for direct or for linked results."""
        linked_gain = getattr(self, "associative_gain", None) if is_associative else None
        return {
            "gain": self.gain if linked_gain is None else linked_gain,
            "span_days": self.span_days,
            "most": self.most,
            "limit": self.limit,
            "is_additive": self.is_additive,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforcement(_Growing):
    """Multiply the stability of each returned memory, by more after a longer rest.

    ``stability = min(limit, stability * (1 + gain * min(most, days / span_days)))``, where ``days``
    counts from the last access (creation if never); negative days count as 0.

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
    """Most spans of rest that count, 0 to 1e6."""

    limit: float = 10.0
    """The greatest stability, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=NOT_NEGATIVE, span_days=POSITIVE, most=WEIGHT, limit=POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacedReinforcement(_Growing):
    """Add stability to each returned memory, more after a longer rest; strengthen links.

    ``stability = min(limit, stability + gain * min(most, days / span_days))``, where ``days``
    counts from the last access (creation if never); negative days count as 0, a memory without any
    time as one span.

    A memory of the cold tier returns to the hot tier. Options that are None are off.

    Every access is counted and dated. Its effects are bounded: on stability by the rest before it,
    on links by ``link_rest_days``, on both by ``once_a_session``.

    Source: docs/systems/cognitive.md C11 to C13; the bounds: docs/systems/house.md H7.
    """

    name: ClassVar[str] = "spaced"
    is_additive: ClassVar[bool] = True
    promotes: ClassVar[bool] = True
    """Whether a recall can make a memory core or hot again."""

    gain: float = 0.1
    """Gain after ``span_days`` of rest, 0 to 1e6."""

    span_days: float = 7.0
    """Days, > 0."""

    most: float = 2.0
    """Most spans of rest that count, 0 to 1e6."""

    limit: float = 1.0
    """The greatest stability, > 0."""

    associative_gain: float | None = None
    """Gain of linked results, 0 to 1e6; None: ``gain``. C11."""

    link_gain: float | None = None
    """Gain of the link between each pair of direct results, above 0, at most 1; None: off. C13."""

    most_linked: int = 32
    """Number of first direct results that are linked pairwise, 2 to 1,000; the number of pairs
    grows with its square."""

    link_rest_days: float = 0.0
    """Days, >= 0. A link gains only ``days / link_rest_days`` of ``link_gain`` if its memories were
    last found together fewer days ago; 0: always all of it."""

    once_a_session: bool = False
    """Whether a memory that the session recalled before gains no stability, and a link between two
    such memories no weight."""

    core_accesses: int | None = None
    """Least number of accesses of a memory that becomes core, >= 0; None: none does. C12."""

    core_stability: float = 0.85
    """Its least stability, >= 0."""

    core_sessions: int = 3
    """Its least number of distinct sessions, >= 1."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            gain=WEIGHT,
            span_days=POSITIVE,
            most=WEIGHT,
            limit=POSITIVE,
            core_stability=NOT_NEGATIVE,
            link_rest_days=NOT_NEGATIVE,
        )
        if self.associative_gain is not None:
            settle_numbers(self, associative_gain=WEIGHT)
        if self.link_gain is not None:
            settle_numbers(self, link_gain=POSITIVE_SHARE)
        if self.core_accesses is not None:
            require_int("core_accesses", self.core_accesses, low=0, high=U32_MAX)
        require_int("core_sessions", self.core_sessions, low=1, high=U32_MAX)
        require_int("most_linked", self.most_linked, low=2, high=1_000)
        settle_flags(self, "once_a_session")

    def record(self) -> dict[str, object]:
        """Return name and fields; without ``core_accesses``, no defaults of other core fields."""
        record: dict[str, object] = {"name": self.name}
        for field in fields(self):
            value = getattr(self, field.name)
            is_unused = self.core_accesses is None and field.name.startswith("core_")
            if value is not None and not (is_unused and value == field.default):
                record[field.name] = value
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsOnly:
    """Count and date accesses; leave the stability unchanged.

    Source: docs/systems/mnemosyne.md M9, docs/systems/ciar.md A13, docs/systems/omega.md O33.
    """

    name: ClassVar[str] = "counts"
    link_gain: ClassVar[None] = None
    promotes: ClassVar[bool] = False

    def rule(self, *, is_associative: bool = False) -> ReinforcementRule:
        """Return the parameters of the core's rule: no gain, and the largest limit of a column."""
        del is_associative
        return {
            "gain": 0.0,
            "span_days": 1.0,
            "most": 0.0,
            "limit": FLOAT32_MAX,
            "is_additive": True,
        }


ReinforcementDeclaration: TypeAlias = Reinforcement | SpacedReinforcement | CountsOnly
"""Any reinforcement that a profile can name."""

REINFORCEMENTS: tuple[type[ReinforcementDeclaration], ...] = (
    Reinforcement,
    SpacedReinforcement,
    CountsOnly,
)
