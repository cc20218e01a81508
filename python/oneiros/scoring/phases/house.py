"""The phases of docs/systems/house.md H15 and H16, as a profile declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from oneiros.model.validation import require_int, require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.phases.reverie import SIGNAL_WEIGHTS
from oneiros.scoring.tables import (
    POSITIVE,
    POSITIVE_SHARE,
    SHARE,
    WEIGHT,
    require_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.scoring.phases import Phase

__all__ = ["PHASES", "Budget", "ChangedFacts"]

_LARGEST: Final = 1e6
_MOST: Final = 2**62
_MOST_ASKED: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Archive the memories that are worth least, down to a budget, and bring back those that fit again.

    The worth of a memory is computed from its words, its place in its session, its age, feedback,
    importance, kind and trust. Without ``share``, ``count``, ``size`` or ``least_value`` the phase
    does nothing. With several, all hold.

    Source: docs/systems/house.md H15, where the weights were measured.

    >>> import oneiros
    >>> from oneiros.scoring.phases.house import Budget
    >>> profile = oneiros.profiles.get("oneiros").replace(phases=(Budget(share=0.5),))
    >>> profile.phases[0].share
    0.5
    """

    name: ClassVar[str] = "budget"
    reads_aliases: ClassVar[tuple[str, ...]] = ("kind_weights",)

    share: float | None = None
    """The share of the memories to keep at most, above 0 to 1; None: no limit."""

    count: int | None = None
    """The number of memories to keep at most, 1 to 2^62; None: no limit."""

    size: int | None = None
    """The bytes of texts and vectors to keep at most, 1 to 2^62; None: no limit."""

    least_value: float | None = None
    """The worth below which memories are archived, -1e6 to 1e6, as far as the profile's rails allow
    in a day; None: no limit."""

    information: float = 4.0
    """Weight of what a text says, 0 to 1e6."""

    half_information: float = 30.0
    """Sum of the idf of a text's words at which it counts half, > 0."""

    person: float = 5.1
    """Weight of the share of words that speak of the speaker, less those to the listener, 0 to
    1e6."""

    most_person: float = 0.2
    """Share of such words up to which they count, 0 to 1."""

    answer: float = 0.8
    """Weight of following a memory of its session that asks, 0 to 1e6."""

    long_talk: float = 1.6
    """Loss per ln(words / ``whole_answer``) of a longer text where all of a session asks, 0 to 1e6."""

    whole_answer: float = 60.0
    """Words up to which a text is no long talk, > 0."""

    age: float = 1.2
    """Loss per ln(1 + age in years), 0 to 1e6."""

    feedback: float = 0.8
    """Weight of ln(1 + feedback), 0 to 1e6; negative feedback lowers the worth likewise."""

    importance: float = 2.0
    """Weight of the importance less 0.5, 0 to 1e6."""

    kind_weights: Mapping[str, float] = SIGNAL_WEIGHTS
    """By kind, > 0: its logarithm is added."""

    def __post_init__(self) -> None:
        _settle_optional(self, "share", *POSITIVE_SHARE)
        for name in ("count", "size"):
            value = getattr(self, name)
            if value is None:
                settle(self, name, None)
            else:
                require_int(name, value, low=1, high=_MOST)
        _settle_optional(self, "least_value", -_LARGEST, _LARGEST, False)
        settle_numbers(
            self,
            information=WEIGHT,
            half_information=POSITIVE,
            person=WEIGHT,
            most_person=SHARE,
            answer=WEIGHT,
            long_talk=WEIGHT,
            whole_answer=POSITIVE,
            age=WEIGHT,
            feedback=WEIGHT,
            importance=WEIGHT,
        )
        settle(
            self,
            "kind_weights",
            require_table(
                "kind_weights", self.kind_weights, low=0.0, above_low=True, high=_LARGEST
            ),
        )

    @property
    def has_limit(self) -> bool:
        """Whether the phase does anything."""
        limits = (self.share, self.count, self.size, self.least_value)
        return any(limit is not None for limit in limits)


def _settle_optional(budget: Budget, name: str, low: float, high: float, above: bool) -> None:
    value = getattr(budget, name)
    if value is None:
        settle(budget, name, None)
    else:
        settle(budget, name, require_number(name, value, low=low, high=high, above_low=above))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFacts:
    """Let a judge decide whether new memories state other values of facts that older ones state.

    Pairs are found without a model, as :meth:`oneiros.Engine.conflicts` finds them. Without a judge
    the phase does nothing.

    Source: docs/systems/house.md H16.

    >>> import oneiros
    >>> from oneiros.scoring.phases.house import ChangedFacts
    >>> profile = oneiros.profiles.get("oneiros").replace(phases=(ChangedFacts(most_pairs=50),))
    >>> profile.phases[0].most_pairs
    50
    """

    name: ClassVar[str] = "settle"

    least_confidence: float = 0.1
    """Confidence (H12) from which a pair is passed to the judge, above 0 to 1."""

    nearest: int = 20
    """Memories to compare each new one with, by words and as many by vector, 1 to 1,000."""

    most_asked: int = 1_000
    """New memories compared per cycle, the latest first, 0 to 1e9."""

    most_pairs: int = 1_000
    """Pairs passed to the judge per cycle, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, least_confidence=POSITIVE_SHARE)
        require_int("nearest", self.nearest, low=1, high=1_000)
        require_int("most_asked", self.most_asked, low=0, high=_MOST_ASKED)
        require_int("most_pairs", self.most_pairs, low=0, high=_MOST_ASKED)


PHASES: tuple[type[Phase], ...] = (Budget, ChangedFacts)
"""The phases of this file."""
