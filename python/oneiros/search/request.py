"""One search, checked and read: what the core needs to run it."""

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
    from oneiros.search.text_match import Sought

__all__ = ["SearchRequest"]


@dataclass(slots=True, eq=False)
class SearchRequest:
    """One search, checked."""

    query: str
    spoken: str
    """What the query says in words."""
    syntax: str
    """How the query is read: "plain" or "query"."""
    vector: npt.NDArray[np.float32] | None
    """Unit length, shape (dimension,); None leaves the vector channel out."""
    absent: str
    """Why the vector channel is left out; empty when it is not."""
    k: int
    """How many results are asked for; channels are as deep as that needs."""
    now: float
    profile: Profile
    """As it ranks this query."""
    profile_hash: str
    """Of the profile as it was asked for, before the query weighed it."""
    understood: Understood
    is_explained: bool
    verdicts: Verdicts
    """Feedback on memories, by kind; empty where the profile does not read it."""
    back_again: BackAgain | None
    """The rows that deep recall brings back; None: it is none."""
    sought: Sought | None
    """The query's words and the texts they are sought in; None where no stage reads texts."""
    reranker: Reranker | None
    until: float | None
    """When a reranker is waited for no longer, by the monotonic clock; None: as the profile says."""
    expanded: Expanded | None = None
    """What an expander made of the query; None where there is none."""
    added: tuple[Factor, ...] = ()
    """The factors that this search applies after those of the profile."""
    ranks: ReciprocalRankFusion | None = None
    """The profile's fusion, where the query is searched in other words too."""
