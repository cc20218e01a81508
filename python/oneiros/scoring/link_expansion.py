"""Links in a search: how they fade, what they add to the results and how that is scored."""

from __future__ import annotations

import math
from typing import ClassVar, TypeAlias

from oneiros.model.validation import LARGEST_WEIGHT, require_int, settle_flags, settle_numbers
from oneiros.runtime.dataclasses import dataclass

__all__ = [
    "EXPANSIONS",
    "AssociationDecay",
    "AssociativeExpansion",
    "ExpansionDeclaration",
    "GraphExpansion",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationDecay:
    """``weight * exp(-days / tau_days)``, days since the two were last found together.

    Source: docs/systems/cognitive.md C16; published 90 days.
    """

    tau_days: float = 90.0
    """Days after which the weight has fallen to 1/e, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, tau_days=(0.0, math.inf, True))


_SHARE = (0.0, 1.0, False)
_PART = (0.0, 1.0, True)
_MOST_HOPS = 3  # of the core
_MOST_BRIDGED = 16  # of the core
_MOST_DEPTH = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociativeExpansion:
    """Follow the links of all direct results; score what they lead to as a candidate of its own.

    ``score = the profile's score x weight``, the weight being the product of what is left of the
    links on the way, the best way's where there are several. Needs a fusion of raw scores.

    Source: docs/systems/cognitive.md C9, C10, C14.
    """

    name: ClassVar[str] = "associative"
    needs_scores: ClassVar[bool] = True

    least_link: float = 0.3
    """A link with less left is not followed, 0 to 1."""

    least_path: float = 0.3
    """Nor a way of which the product is less, 0 to 1."""

    hops: int = 2
    """Links from a direct result at most, 1 to 3."""

    least_score: float = 0.05
    """What a second link or a third brings must score as much, >= 0."""

    bridged: int = 3
    """So many of the first direct results are looked at for bridges, 0 to 16."""

    cold: bool = True
    """Whether memories of the cold tier are reached, too."""

    depth: int = 100
    """At most so many are scored, those of the greatest weight first, 1 to 100,000."""

    quota: float = 0.0
    """The share of the places that is kept for what links bring, 0 to 1, rounded down."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            least_link=_SHARE,
            least_path=_SHARE,
            least_score=(0.0, LARGEST_WEIGHT, False),
            quota=_SHARE,
        )
        require_int("hops", self.hops, low=1, high=_MOST_HOPS)
        require_int("bridged", self.bridged, low=0, high=_MOST_BRIDGED)
        require_int("depth", self.depth, low=1, high=_MOST_DEPTH)
        settle_flags(self, "cold")

    def followed(self, k: int) -> int:
        """Return how many of the first results are followed: all ``k``."""
        return k

    def places(self, k: int) -> int:
        """Return how many of ``k`` places are kept for what links bring."""
        return int(self.quota * k)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExpansion:
    """Follow the links of the best direct results; what they lead to has a part of their score.

    ``score = seed's score x weight x (per_hop x what is left of the link)``, the last for each link
    on the way.

    Source: docs/systems/omega.md O24.
    """

    name: ClassVar[str] = "graph"
    needs_scores: ClassVar[bool] = False
    cold: ClassVar[bool] = False

    seeds: int = 5
    """So many of the first results are followed, 1 to 1,000."""

    hops: int = 2
    """Links from a seed at most, 1 to 3."""

    per_hop: float = 0.4
    """What each link leaves of the score besides its weight, above 0, at most 1."""

    least_link: float = 0.2
    """A link with less left is not followed, 0 to 1."""

    least_score: float = 0.10
    """What scores less is not kept, and leads no further, >= 0."""

    weight: float = 1.0
    """Of all that the graph brings, >= 0. Source: docs/systems/omega.md O8."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            per_hop=_PART,
            least_link=_SHARE,
            least_score=(0.0, LARGEST_WEIGHT, False),
            weight=(0.0, LARGEST_WEIGHT, False),
        )
        require_int("seeds", self.seeds, low=1, high=1_000)
        require_int("hops", self.hops, low=1, high=_MOST_HOPS)

    def followed(self, k: int) -> int:
        """Return how many of the first results are followed, however many are asked for."""
        del k
        return self.seeds

    def places(self, k: int) -> int:
        """Return how many of ``k`` places are kept for what links bring: none."""
        del k
        return 0


ExpansionDeclaration: TypeAlias = AssociativeExpansion | GraphExpansion
"""Any expansion a profile can name."""

EXPANSIONS: tuple[type[ExpansionDeclaration], ...] = (AssociativeExpansion, GraphExpansion)
