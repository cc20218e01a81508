"""The phases of cognitive-memory, as a profile declares them. Source: docs/systems/cognitive.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import require_int, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.tables import POSITIVE_SHARE, SHARE, WEIGHT

if TYPE_CHECKING:
    from oneiros.scoring.phases import Phase

__all__ = ["PHASES", "Conflicts", "Cooling", "Stubbing", "Summarising"]

_DAYS = (0.0, 1e9, False)
_MOST = 10**9
_PUBLISHED_SIZE = 5  # group size of C21, for which a summary has the base quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Move memories that are superseded or long at their retention floor to the cold tier.

    Retention is computed by the profile's factor :class:`Retention`.

    Source: docs/systems/cognitive.md C19.
    """

    name: ClassVar[str] = "cool"

    within: float = 0.001
    """Distance from the floor up to which retention counts as at the floor, 0 to 1."""

    days: float = 7.0
    """Days at the floor, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, within=SHARE, days=_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubbing:
    """Reduce long-cold memories to stubs: the beginning of the text, no vector, no links.

    Source: docs/systems/cognitive.md C20.
    """

    name: ClassVar[str] = "stub"

    days: float = 180.0
    """Days in the cold tier, 0 to 1e9."""

    characters: int = 200
    """Characters of the text to keep, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, days=_DAYS)
        require_int("characters", self.characters, low=0, high=_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarising:
    """Replace groups of similar memories with low retention by summaries.

    Retention is computed by the profile's factor :class:`Retention`.

    Source: docs/systems/cognitive.md C21.
    """

    name: ClassVar[str] = "summarise"

    below: float = 0.20
    """Retention below which a memory may be summarised, 0 to 1."""

    least_cosine: float = 0.70
    """Minimum cosine of each member of a group to its first, 0 to 1."""

    group_size: int = 5
    """Members of each group, 2 to 1,000."""

    base_quality: float = 1.0
    """Quality of a summary of at most 5 members, 0 to 1e6."""

    quality_step: float = 0.3
    """Quality added per member beyond 5, 0 to 1e6."""

    most_quality: float = 3.0
    """Upper bound of the quality, 0 to 1e6."""

    link: float = 0.8
    """Weight of the links from the summary to its sources, > 0 to 1."""

    most_compared: int = 10_000
    """Memories compared per cycle, 0 to 1e9; the cost is quadratic."""

    def __post_init__(self) -> None:
        require_int("group_size", self.group_size, low=2, high=1_000)
        require_int("most_compared", self.most_compared, low=0, high=_MOST)
        settle_numbers(
            self,
            below=SHARE,
            least_cosine=SHARE,
            base_quality=WEIGHT,
            quality_step=WEIGHT,
            most_quality=WEIGHT,
            link=POSITIVE_SHARE,
        )

    @property
    def quality(self) -> float:
        """The consolidation quality of each summary."""
        more = max(self.group_size - _PUBLISHED_SIZE, 0)
        return min(self.most_quality, self.base_quality + self.quality_step * more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Let a judge classify the relation of new memories to the most similar ones.

    Source: docs/systems/cognitive.md C22; the limits per cycle are ours.
    """

    name: ClassVar[str] = "judge"

    above_cosine: float = 0.85
    """Cosine above which a pair is passed to the judge, 0 to 1."""

    nearest: int = 5
    """Memories to compare each new one with, 1 to 1,000."""

    most_asked: int = 1_000
    """New memories compared per cycle, newest first, 0 to 1e9."""

    most_pairs: int = 1_000
    """Pairs passed to the judge per cycle, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, above_cosine=SHARE)
        require_int("nearest", self.nearest, low=1, high=1_000)
        require_int("most_asked", self.most_asked, low=0, high=_MOST)
        require_int("most_pairs", self.most_pairs, low=0, high=_MOST)


PHASES: tuple[type[Phase], ...] = (Cooling, Stubbing, Summarising, Conflicts)
"""The phases of this file."""
