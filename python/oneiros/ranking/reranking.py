"""Where a reranker stands among the stages, how many it judges, and how long it may take."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_int, require_number, settle, settle_flags

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = ["Reranking", "with_place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """The first results are judged again, where there is a reranker.

    With the factor "rerank" its scores multiply those of the results; without, they are the order.

    Source: docs/systems/cognitive.md C8, omega.md O25.
    """

    top: int = 20
    """So many of the first are judged, 1 to 1,000."""

    after_links: bool = True
    """Whether what links bring is judged, too; else direct results alone, and links follow them."""

    deadline_seconds: float = 5.0
    """How long it may take, > 0, before the search goes on without it; infinity: as long as it does."""

    def __post_init__(self) -> None:
        require_int("top", self.top, low=1, high=1_000)
        settle_flags(self, "after_links")
        seconds = require_number(
            "deadline_seconds", self.deadline_seconds, low=0.0, above_low=True, finite=False
        )
        settle(self, "deadline_seconds", seconds)


@lru_cache(maxsize=256)
def with_place(profile: Profile) -> Profile:
    """Return a profile with a place for a reranker: its own, else the default one."""
    return profile if profile.rerank is not None else profile.replace(rerank=Reranking())
