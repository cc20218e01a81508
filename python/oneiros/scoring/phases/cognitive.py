"""The phases of docs/systems/cognitive.md, as a profile declares them."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import require_int, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.phases.phase import Phase

__all__ = ["PHASES", "Conflicts", "Cooling", "Stubbing", "Summarising"]

_DAYS = (0.0, 1e9, False)
_SHARE = (0.0, 1.0, False)
_MOST = 10**9
_PUBLISHED_SIZE = 5  # of the groups of C21: a summary of so many has the base quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Send to the cold tier what has been at the floor of its retention for long, or is superseded.

    Retention is that of the profile's factor :class:`Retention`.

    Source: docs/systems/cognitive.md C19.
    """

    name: ClassVar[str] = "cool"

    within: float = 0.001
    """How far above its floor retention counts as at it, 0 to 1."""

    days: float = 7.0
    """At the floor, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, within=_SHARE, days=_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubbing:
    """Cut to a stub what has been cold for long: the beginning of its text, no vector, no links.

    Source: docs/systems/cognitive.md C20.
    """

    name: ClassVar[str] = "stub"

    days: float = 180.0
    """In the cold tier, 0 to 1e9."""

    characters: int = 200
    """That are left of the text, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, days=_DAYS)
        require_int("characters", self.characters, low=0, high=_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarising:
    """Write one summary in place of each group of memories that fade and are alike.

    Retention is that of the profile's factor :class:`Retention`.

    Source: docs/systems/cognitive.md C21.
    """

    name: ClassVar[str] = "summarise"

    below: float = 0.20
    """Retention below which a memory may be summarised, 0 to 1."""

    least_cosine: float = 0.70
    """Of each member of a group to its first, 0 to 1."""

    group_size: int = 5
    """Members of every group, 2 to 1,000."""

    base_quality: float = 1.0
    """The quality of a summary of 5 and fewer, 0 to 1e6."""

    quality_step: float = 0.3
    """What each member beyond 5 adds, 0 to 1e6."""

    most_quality: float = 3.0
    """0 to 1e6."""

    link: float = 0.8
    """The weight of the links from the summary to its sources, above 0, to 1."""

    most_compared: int = 10_000
    """Memories that a cycle compares, 0 to 1e9: the work grows with their square."""

    def __post_init__(self) -> None:
        require_int("group_size", self.group_size, low=2, high=1_000)
        require_int("most_compared", self.most_compared, low=0, high=_MOST)
        weight = (0.0, 1e6, False)
        settle_numbers(
            self,
            below=_SHARE,
            least_cosine=_SHARE,
            base_quality=weight,
            quality_step=weight,
            most_quality=weight,
            link=(0.0, 1.0, True),
        )

    @property
    def quality(self) -> float:
        """The consolidation quality of each summary."""
        more = max(self.group_size - _PUBLISHED_SIZE, 0)
        return min(self.most_quality, self.base_quality + self.quality_step * more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Let a judge say what new memories have to do with those most like them.

    Source: docs/systems/cognitive.md C22; the bounds of a cycle are ours.
    """

    name: ClassVar[str] = "judge"

    above_cosine: float = 0.85
    """The cosine above which two are offered to the judge, 0 to 1."""

    nearest: int = 5
    """Memories that each new one is compared with, 1 to 1,000."""

    most_asked: int = 1_000
    """New memories that a cycle compares, the newest first, 0 to 1e9."""

    most_pairs: int = 1_000
    """Pairs that a cycle offers to the judge, 0 to 1e9."""

    def __post_init__(self) -> None:
        settle_numbers(self, above_cosine=_SHARE)
        require_int("nearest", self.nearest, low=1, high=1_000)
        require_int("most_asked", self.most_asked, low=0, high=_MOST)
        require_int("most_pairs", self.most_pairs, low=0, high=_MOST)


PHASES: tuple[type[Phase], ...] = (Cooling, Stubbing, Summarising, Conflicts)
"""The phases of docs/systems/cognitive.md, as a profile declares them."""
