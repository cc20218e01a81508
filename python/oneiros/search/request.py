"""The request of one search: everything the core needs to run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.index.visibility import BackAgain
    from oneiros.models.rerankers import Reranker
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.fusion import ReciprocalRankFusion
    from oneiros.scoring.profile import Profile
    from oneiros.search.query.expansion import Expanded
    from oneiros.search.query.parsed import Understood
    from oneiros.search.text_match import TextMatcher

__all__ = ["SearchRequest"]


@dataclass(slots=True, eq=False)
class SearchRequest:
    """One search, checked."""

    query: str
    plain_text: str
    """The query's text without the signs of its syntax."""
    syntax: str
    """Syntax of the query: "plain" or "query"."""
    vector: npt.NDArray[np.float32] | None
    """Unit length, shape (dimension,); None leaves the vector channel out."""
    absent: str
    """Why the vector channel is left out; empty if it is not."""
    k: int
    """Most results; the depth of channels follows from it."""
    now: float
    """Seconds UTC."""
    profile: Profile
    """The profile with the weights of this query."""
    profile_hash: str
    """Hash of the profile before the query changed its weights."""
    understood: Understood
    is_explained: bool
    verdicts: Verdicts
    """Feedback on memories, by kind; empty if the profile does not read it."""
    deep_recall_rows: BackAgain | None
    """Rows that only deep recall returns; None: the search is not deep."""
    text_matcher: TextMatcher | None
    """The query's words and the texts to match them with; None if no stage reads texts."""
    reranker: Reranker | None
    until: float | None
    """Deadline of the reranker on the monotonic clock; None: the profile's deadline."""
    expanded: Expanded | None = None
    """Result of the query expander; None without one."""
    added: tuple[Factor, ...] = ()
    """Factors applied after those of the profile."""
    variant_fusion: ReciprocalRankFusion | None = None
    """The profile's fusion if variants of the query are searched too; else None."""
