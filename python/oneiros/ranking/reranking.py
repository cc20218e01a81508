"""Where a reranker stands among the stages, and how many it judges."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import require_flag, require_int

__all__ = ["Reranking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """The first results are judged again, where there is a reranker.

    Source: docs/systems/cognitive.md C8, omega.md O25.
    """

    top: int = 20
    """So many of the first are judged, 1 to 1,000."""

    after_links: bool = True
    """Whether what links bring is judged, too; else direct results alone, and links follow them."""

    def __post_init__(self) -> None:
        require_int("top", self.top, low=1, high=1_000)
        require_flag("after_links", self.after_links)
