"""The report of ``why_not``: why a search returns a memory or not, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oneiros.display.escaping import shortened
from oneiros.display.tables import Branch, DisplayTable, figure, html_text, tree_text
from oneiros.explain.explanation import ChannelScore, Explanation, FactorValue, combined
from oneiros.runtime.dataclasses import dataclass

__all__ = ["ChannelStanding", "Exclusion", "WhyNot"]

_QUERY = 80  # characters of a query in headlines


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One reason that excludes a memory from the results."""

    reason: str
    """deleted, archived, superseded, expired, not_yet_valid, status, filter, cold, kind; or a rule
    of the profile that leaves candidates out: rule, duplicate (of a better result), abstention
    (not close enough)."""
    detail: str
    """The reason in words, with the values of the memory and the search."""


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """A memory's rank and score in one channel of the profile."""

    name: str
    rank: int | None
    """From 1, among the memories that the search may return; None: not in the first ``depth``."""
    score: float | None
    """The channel's raw score, exact beyond its depth too; None: there is none."""
    depth: int
    """Number of memories that the channel retrieves."""
    detail: str = ""
    """Why there is no rank; empty if there is one."""

    def __str__(self) -> str:
        if self.rank is not None or not self.detail:
            return str(ChannelScore(self.name, self.rank, self.score))
        score = "" if self.score is None else f", score {figure(self.score)}"
        return f"{self.name}: {self.detail}{score}"


@dataclass(frozen=True, slots=True, repr=False)
class WhyNot:
    """Why a search returns a memory or not. The search counts as no access.

    ``str()`` shows a tree, a notebook a table next to the figures of the last result. Ranks, score
    and place of a hidden memory are those it would have if it alone were not hidden.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     print(engine.why_not("coffee", id).verdict)
    ...     print(engine.why_not("tea", id).verdict)
    returned, in place 1
    no channel finds it
    """

    query: str
    id: str
    k: int
    now: float
    """Time of the search, seconds UTC."""
    profile: str
    profile_hash: str
    exists: bool
    """Whether the memory exists in this scope, even if soft-deleted."""
    hidden: tuple[Exclusion, ...] = ()
    """Everything that hides the memory; empty if nothing does."""
    channels: tuple[ChannelStanding, ...] = ()
    factors: tuple[FactorValue, ...] = ()
    """Values of the profile's factors for the memory, even if no channel found it."""
    explanation: Explanation | None = None
    """Explanation of the score; None if no channel found the memory."""
    place: int | None = None
    """From 1, among all candidates; None if no channel found it or a rule leaves it out."""
    candidate_count: int = 0
    """Number of candidates that have a place."""
    linked_place: int | None = None
    """From 1, among the results; None unless links of other results found it."""
    is_displaced: bool = False
    """Whether a memory found by links took its place among the results."""
    is_reordered: bool = False
    """Whether results are in the order of a reranker instead of their scores."""
    kth_id: str | None = None
    """Id of the last result; None if there are fewer than ``k``."""
    kth: Explanation | None = None
    """Explanation of the last result's score, if there are ``k``."""

    @property
    def is_returned(self) -> bool:
        """Whether the search returns the memory."""
        if self.linked_place is not None:
            return True
        is_within = self.place is not None and self.place <= self.k
        return is_within and not self.hidden and not self.is_displaced

    @property
    def score(self) -> float | None:
        """The memory's score; None if no channel found it."""
        return None if self.explanation is None else self.explanation.score

    @property
    def kth_score(self) -> float | None:
        """Score of the last result; None if there are fewer than ``k``."""
        return None if self.kth is None else self.kth.score

    @property
    def gap(self) -> float | None:
        """Difference from the memory's score to ``kth_score``; below 0 if the memory has more."""
        if self.score is None or self.kth_score is None:
            return None
        return self.kth_score - self.score

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if not self.exists:
            return "no memory has this id"
        if self.linked_place is not None:
            return f"returned, in place {self.linked_place}, by links of other results"
        if self.hidden:
            reasons = dict.fromkeys(each.reason.replace("_", " ") for each in self.hidden)
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
        """The reasons in words; empty if the memory is returned or does not exist."""
        return "; ".join(self._reasons())

    def tree(self) -> Branch:
        """Return a tree with the verdict at the root, and reasons and scores below."""
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
        """Return a table of the figures of the memory and of the last result, one row per part.

        The table is empty for a memory that is deleted or does not exist.
        """
        if not self.channels:
            return DisplayTable(("part", "this memory"), ())
        figures = _figures(self.channels, self.explanation, self.factors, self.kth)
        if self.kth is None:
            return DisplayTable(("part", "this memory"), tuple(figures))
        kth = _figures(self.kth.channels, self.kth, self.kth.factors)
        rows = tuple(_side_by_side(figures, kth))
        return DisplayTable(("part", "this memory", f"place {self.k}"), rows)

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
        """Return all reasons against the memory: its exclusions and the shortfall of its score."""
        reasons = [exclusion.detail for exclusion in self.hidden]
        # A deleted memory has no channels, and nothing more to report.
        if self.channels and self.explanation is None:
            reasons.append("; ".join(map(str, self.channels)))
        if self.place is not None and self.hidden:
            reasons.append(f"otherwise in place {self.place} of {self.candidate_count}")
        if self.place is not None and self.place > self.k:
            reasons.append(self._shortfall())
        return reasons

    def _shortfall(self) -> str:
        """Return in words why the memory is behind the last result."""
        if self.explanation is None or self.kth is None:
            return f"k is {self.k}"
        if self.is_reordered:
            return f"stands behind place {self.k} in the reranker's order"
        gap = self.kth.score - self.explanation.score
        if gap == 0:
            return f"ties with place {self.k}, which was added earlier"
        needs = f"needs +{figure(gap)} to the {figure(self.kth.score)} of place {self.k}"
        part = _costliest_part(self.explanation, self.kth)
        return needs if part is None else f"{needs}: its {part} costs most"


def _costliest_part(this: Explanation, kth: Explanation) -> str | None:
    """Return the part that would raise the score most if it had the value of the k-th result."""
    parts = [
        (
            combined(kth.relevance, this.factors),
            f"relevance {figure(this.relevance)} (there {figure(kth.relevance)})",
        )
    ]
    if [factor.name for factor in this.factors] != [factor.name for factor in kth.factors]:
        return None  # one of the two was scored by links, so their parts cannot be compared
    for place, (factor, kth_factor) in enumerate(zip(this.factors, kth.factors, strict=True)):
        swapped = (*this.factors[:place], kth_factor, *this.factors[place + 1 :])
        values = f"{figure(factor.value)} (there {figure(kth_factor.value)})"
        parts.append((combined(this.relevance, swapped), f"{factor.name} factor {values}"))
    score, text = max(parts, key=lambda part: part[0])
    return text if score > combined(this.relevance, this.factors) else None


def _side_by_side(
    figures: list[tuple[str, object]], others: list[tuple[str, object]]
) -> Iterator[tuple[str, object, object]]:
    """Yield each part with both figures; None for a part that only one of the two has.

    The last figure of both, the score, stays last.
    """
    left = others[:-1]
    for part, value in figures[:-1]:
        place = next((n for n, (name, _) in enumerate(left) if name == part), None)
        yield part, value, None if place is None else left.pop(place)[1]
    for part, other in left:
        yield part, None, other
    yield *figures[-1], others[-1][1]


def _figures(
    channels: Iterable[ChannelStanding | ChannelScore],
    explanation: Explanation | None,
    factors: Iterable[FactorValue],
    template: Explanation | None = None,
) -> list[tuple[str, object]]:
    """Return every figure with its part, in the order of a table's rows.

    Args:
        channels: rank and score of the memory in each channel.
        explanation: explanation of the memory's score; None if it has none.
        factors: the memory's factors.
        template: if ``explanation`` is None, its parts are listed without values.
    """
    figures: list[tuple[str, object]] = []
    for channel in channels:
        figures += (f"{channel.name} rank", channel.rank), (f"{channel.name} score", channel.score)
    if explanation is not None:
        figures += ((part.heading, part.value) for part in explanation.parts)
    elif template is not None:
        figures += ((part.heading, None) for part in template.parts)
    figures.append(("relevance", None if explanation is None else explanation.relevance))
    figures += ((factor.heading, factor.value) for factor in factors)
    figures.append(("score", None if explanation is None else explanation.score))
    return figures
