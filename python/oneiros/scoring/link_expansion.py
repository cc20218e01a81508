"""Link expansion: the decay of links, and the scores of the memories they lead to."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from oneiros.model.validation import require_int, settle_flags, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.tables import POSITIVE, POSITIVE_SHARE, SHARE, WEIGHT

__all__ = [
    "EXPANSIONS",
    "AssociationDecay",
    "AssociativeExpansion",
    "ExpansionDeclaration",
    "GraphExpansion",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationDecay:
    """Decay of a link: ``weight * exp(-days / tau_days)``, days since the last joint hit.

    Source: docs/systems/cognitive.md C16; published 90 days.
    """

    tau_days: float = 90.0
    """Days after which the weight has fallen to 1/e, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, tau_days=POSITIVE)


_MOST_HOPS = 3  # of the core
_MOST_BRIDGED = 16  # of the core
_MOST_DEPTH = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociativeExpansion:
    """Follow the links of all direct results; score each memory reached as a candidate.

    ``score = the profile's score x weight``, where ``weight`` is the product of the decayed links
    of the best path. Requires a fusion of raw scores.

    Source: docs/systems/cognitive.md C9, C10, C14.
    """

    name: ClassVar[str] = "associative"
    needs_scores: ClassVar[bool] = True

    least_link: float = 0.3
    """Least decayed weight of a link that is followed, 0 to 1."""

    least_path: float = 0.3
    """Least product of the weights of a path that is followed, 0 to 1."""

    hops: int = 2
    """Most links from a direct result, 1 to 3."""

    least_score: float = 0.05
    """Least score of a memory reached by two or three links, >= 0."""

    bridged: int = 3
    """Number of first direct results between which bridges are looked up, 0 to 16."""

    cold: bool = True
    """Whether memories of the cold tier are reached too."""

    depth: int = 100
    """Most memories scored, those of the greatest weight first, 1 to 100,000."""

    quota: float = 0.0
    """Share of the k results reserved for linked memories, 0 to 1, rounded down."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            least_link=SHARE,
            least_path=SHARE,
            least_score=WEIGHT,
            quota=SHARE,
        )
        require_int("hops", self.hops, low=1, high=_MOST_HOPS)
        require_int("bridged", self.bridged, low=0, high=_MOST_BRIDGED)
        require_int("depth", self.depth, low=1, high=_MOST_DEPTH)
        settle_flags(self, "cold")

    def followed(self, k: int) -> int:
        """Return the number of first results whose links are followed: all ``k``."""
        return k

    def places(self, k: int) -> int:
        """Return the number of the ``k`` results reserved for linked memories."""
        return int(self.quota * k)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExpansion:
    """Follow the links of the best direct results; each memory reached gets a part of their score.

    ``score = seed's score x weight x (per_hop x decayed link weight)``, the last for each link of
    the path.

    Source: docs/systems/omega.md O24.
    """

    name: ClassVar[str] = "graph"
    needs_scores: ClassVar[bool] = False
    cold: ClassVar[bool] = False

    seeds: int = 5
    """Number of first results whose links are followed, 1 to 1,000."""

    hops: int = 2
    """Most links from a seed, 1 to 3."""

    per_hop: float = 0.4
    """Multiplier of the score per link, next to the link's weight, above 0, at most 1."""

    least_link: float = 0.2
    """Least decayed weight of a link that is followed, 0 to 1."""

    least_score: float = 0.10
    """Memories that score less are dropped, and their links not followed, >= 0."""

    weight: float = 1.0
    """Multiplier of all scores of linked memories, >= 0. Source: docs/systems/omega.md O8."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            per_hop=POSITIVE_SHARE,
            least_link=SHARE,
            least_score=WEIGHT,
            weight=WEIGHT,
        )
        require_int("seeds", self.seeds, low=1, high=1_000)
        require_int("hops", self.hops, low=1, high=_MOST_HOPS)

    def followed(self, k: int) -> int:
        """Return the number of first results whose links are followed, for any ``k``."""
        del k
        return self.seeds

    def places(self, k: int) -> int:
        """Return the number of the ``k`` results reserved for linked memories: none."""
        del k
        return 0


ExpansionDeclaration: TypeAlias = AssociativeExpansion | GraphExpansion
"""Any expansion that a profile can name."""

EXPANSIONS: tuple[type[ExpansionDeclaration], ...] = (AssociativeExpansion, GraphExpansion)
