"""Why a search does not return a memory: the answer, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oneiros.display.escaping import shortened
from oneiros.display.tables import Branch, DisplayTable, figure, html_text, tree_text
from oneiros.explain.explanation import ChannelScore, Explanation, FactorValue, combined
from oneiros.runtime.dataclasses import dataclass

__all__ = ["ChannelStanding", "Exclusion", "WhyNot"]

_QUERY = 80  # characters of a query that are shown


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One thing that hides a memory from a search."""

    reason: str
    """deleted, archived, superseded, expired, not_yet_valid, status, filter, cold; or how the profile
    leaves candidates out: rule, duplicate (of a better one), abstention (not near enough)."""
    detail: str
    """The same in words, with what the memory has and what was asked."""


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """How a memory stands with one channel of the profile."""

    name: str
    rank: int | None
    """From 1, among what the search may return; None: not within the first ``depth``."""
    score: float | None
    """The channel's raw score, exact beyond its depth too; None: it has none."""
    depth: int
    """So many memories were asked of the channel."""
    detail: str = ""
    """Why there is no rank; empty where there is one."""

    def __str__(self) -> str:
        if self.rank is not None or not self.detail:
            return str(ChannelScore(self.name, self.rank, self.score))
        score = "" if self.score is None else f", score {figure(self.score)}"
        return f"{self.name}: {self.detail}{score}"


@dataclass(frozen=True, slots=True, repr=False)
class WhyNot:
    """Why a search returns a memory or does not. Nothing was counted as an access for it.

    ``str()`` tells it in a few lines, a notebook shows it beside the last memory that is returned.
    Of a hidden memory, ranks, score and place are those it would have if it alone were not hidden.
    """

    query: str
    id: str
    k: int
    now: float
    """The clock of the search, seconds UTC."""
    profile: str
    profile_hash: str
    exists: bool
    """Whether there is such a memory here, soft-deleted ones included."""
    hidden: tuple[Exclusion, ...] = ()
    """All that hides it; empty: nothing does."""
    channels: tuple[ChannelStanding, ...] = ()
    factors: tuple[FactorValue, ...] = ()
    """What each factor of the profile gives it, whether it was found or not."""
    explanation: Explanation | None = None
    """How it comes to its score; None where no channel found it."""
    place: int | None = None
    """From 1, among all candidates; None where no channel found it, or a rule leaves it out."""
    candidate_count: int = 0
    """Candidates that have a place."""
    linked_place: int | None = None
    """From 1, among the results; None unless links of other results brought it there."""
    is_displaced: bool = False
    """What links brought has its place among the results."""
    is_reordered: bool = False
    """Results stand in the order of a reranker, and not in that of their scores."""
    kth_id: str | None = None
    """The last memory returned; None where fewer than ``k`` are, so that none had to be beaten."""
    kth: Explanation | None = None
    """How that one came to its score."""

    @property
    def is_returned(self) -> bool:
        """Whether the search returns it."""
        if self.linked_place is not None:
            return True
        is_within = self.place is not None and self.place <= self.k
        return is_within and not self.hidden and not self.is_displaced

    @property
    def score(self) -> float | None:
        """Its score; None where no channel found it."""
        return None if self.explanation is None else self.explanation.score

    @property
    def kth_score(self) -> float | None:
        """The score of the last memory returned, where ``k`` are."""
        return None if self.kth is None else self.kth.score

    @property
    def gap(self) -> float | None:
        """What it lacks of that score; below 0 where it has more."""
        if self.score is None or self.kth_score is None:
            return None
        return self.kth_score - self.score

    @property
    def verdict(self) -> str:
        """The answer in one line."""
        if not self.exists:
            return "no memory has this id"
        if self.linked_place is not None:
            return f"returned, in place {self.linked_place}, by links of other results"
        if self.hidden:
            reasons = dict.fromkeys(one.reason.replace("_", " ") for one in self.hidden)
            return f"hidden: {', '.join(reasons)}"
        if self.place is None:
            return "no channel finds it"
        if self.is_returned:
            return f"returned, in place {self.place}"
        if self.is_displaced:
            return f"in place {self.place} of {self.candidate_count}, left to what links bring"
        return f"in place {self.place} of {self.candidate_count}, k is {self.k}"

    @property
    def lacked(self) -> str:
        """What it lacked, in words; empty for what is returned or does not exist."""
        return "; ".join(self._reasons())

    def tree(self) -> Branch:
        """Return the answer over what led to it."""
        branches = [Branch(reason) for reason in self._reasons()]
        if self.explanation is None:
            branches += [Branch(str(factor)) for factor in self.factors]
        else:
            whole = self.explanation.tree()
            sources = self.explanation.sources(self.channels)
            relevance = whole.branches[0]._replace(branches=sources)
            branches.append(whole._replace(branches=[relevance, *whole.branches[1:]]))
        return Branch(self._headline(), branches)

    def table(self) -> DisplayTable:
        """Return its figures beside those of the last memory returned, one row a part.

        Of a memory that is deleted or does not exist there are none.
        """
        if not self.channels:
            return DisplayTable(("part", "this memory"), ())
        own = _figures(self.channels, self.explanation, self.factors, self.kth)
        if self.kth is None:
            return DisplayTable(("part", "this memory"), tuple(own))
        kth = _figures(self.kth.channels, self.kth, self.kth.factors)
        return DisplayTable(("part", "this memory", f"place {self.k}"), tuple(_beside(own, kth)))

    def __str__(self) -> str:
        return tree_text(self.tree())

    def __repr__(self) -> str:
        return f"<WhyNot {self.id!r}: {self.verdict}>"

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{html_text(reason)}</li>" for reason in self._reasons())
        table = self.table()._repr_html_() if self.channels else ""
        return f"<p>{html_text(self._headline())}</p>{reasons and f'<ul>{reasons}</ul>'}{table}"

    def _headline(self) -> str:
        return f"{self.id!r} for {shortened(repr(self.query), _QUERY)}: {self.verdict}"

    def _reasons(self) -> list[str]:
        """All that keeps it out, one a text: what hides it, and what it lacks besides."""
        reasons = [one.detail for one in self.hidden]
        is_known = bool(self.channels)  # of what is deleted, nothing more is
        if is_known and self.explanation is None:
            reasons.append("; ".join(map(str, self.channels)))
        if self.place is not None and self.hidden:
            reasons.append(f"otherwise in place {self.place} of {self.candidate_count}")
        if self.place is not None and self.place > self.k:
            reasons.append(self._shortfall())
        return reasons

    def _shortfall(self) -> str:
        """What it lacks of the last place that is returned."""
        if self.explanation is None or self.kth is None:
            return f"k is {self.k}"
        if self.is_reordered:
            return f"stands behind place {self.k} in the reranker's order"
        gap = self.kth.score - self.explanation.score
        if gap == 0:
            return f"ties with place {self.k}, which was added earlier"
        needs = f"needs +{figure(gap)} to the {figure(self.kth.score)} of place {self.k}"
        costly = _costliest(self.explanation, self.kth)
        return needs if costly is None else f"{needs}: its {costly} costs most"


def _costliest(own: Explanation, kth: Explanation) -> str | None:
    """Name the part whose value, were it that of the k-th, would raise the score most."""
    parts = [
        (
            combined(kth.relevance, own.factors),
            f"relevance {figure(own.relevance)} (there {figure(kth.relevance)})",
        )
    ]
    if [one.name for one in own.factors] != [one.name for one in kth.factors]:
        return None  # one of them has its score by links: no part is that of another
    for place, (mine, theirs) in enumerate(zip(own.factors, kth.factors, strict=True)):
        swapped = (*own.factors[:place], theirs, *own.factors[place + 1 :])
        told = f"{mine.name} factor {figure(mine.value)} (there {figure(theirs.value)})"
        parts.append((combined(own.relevance, swapped), told))
    score, told = max(parts, key=lambda part: part[0])
    return told if score > combined(own.relevance, own.factors) else None


def _beside(
    own: list[tuple[str, object]], others: list[tuple[str, object]]
) -> Iterator[tuple[str, object, object]]:
    """Yield each part with both figures; None where one has no such part, as what links scored.

    The last figure of both, the score, stays last.
    """
    left = others[:-1]
    for part, mine in own[:-1]:
        place = next((n for n, (name, _) in enumerate(left) if name == part), None)
        yield part, mine, None if place is None else left.pop(place)[1]
    for part, theirs in left:
        yield part, None, theirs
    yield own[-1][0], own[-1][1], others[-1][1]


def _figures(
    channels: Iterable[ChannelStanding | ChannelScore],
    told: Explanation | None,
    factors: Iterable[FactorValue],
    beside: Explanation | None = None,
) -> list[tuple[str, object]]:
    """Return every figure with its part, in the order of a table's rows.

    Args:
        channels: of the memory, each with its rank and score.
        told: how it came to its score; None where it has none.
        factors: what each gives it.
        beside: the explanation it stands beside, whose parts it then has too, without a value.
    """
    figures: list[tuple[str, object]] = []
    for channel in channels:
        figures += (f"{channel.name} rank", channel.rank), (f"{channel.name} score", channel.score)
    if told is not None:
        figures += ((part.heading, part.value) for part in told.parts)
    elif beside is not None:
        figures += ((part.heading, None) for part in beside.parts)
    figures.append(("relevance", None if told is None else told.relevance))
    figures += ((factor.heading, factor.value) for factor in factors)
    figures.append(("score", None if told is None else told.score))
    return figures
