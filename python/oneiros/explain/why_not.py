"""``why_not``: why a search returns a memory or not, in numbers and in words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from oneiros.display.escaping import shortened
from oneiros.display.tables import Branch, DisplayTable, figure, html_text, moment, tree_text
from oneiros.explain.explanation import (
    DIVISOR,
    ChannelScore,
    Explanation,
    Explanations,
    ExplanationsOfSearch,
    FactorValue,
    combined,
)
from oneiros.filters.conditions import (
    AllOf,
    And,
    AnyOf,
    Measured,
    OnMetadata,
    Where,
    Within,
)
from oneiros.filters.metadata_paths import MISSING, resolver
from oneiros.index.row_sets import of_status
from oneiros.model.validation import require_utf8, shown
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.stages import Surfacing
from oneiros.search.call import WHOLE, run_call
from oneiros.search.options import SearchOptions
from oneiros.search.pipeline import FoundRows, SearchRun, abstention_of, answer, walk_graph
from oneiros.search.query.subqueries import merged_answer
from oneiros.search.trace import NO_TIME, shortfall_words

if TYPE_CHECKING:
    import pandas as pd

    from oneiros.engine.scope import Scope
    from oneiros.index import Limits, ReadModel, Visible
    from oneiros.index.row_sets import RowSets
    from oneiros.model.memory import Memory
    from oneiros.scoring.channels import ChannelDeclaration
    from oneiros.search.call import SearchCall, SearchRequest, Window
    from oneiros.search.options import WhyNotKeywords
    from oneiros.search.response import LoadMemories, SearchResponse

__all__ = ["ChannelStanding", "Exclusion", "WhyNot", "exclusions", "why_not"]

_QUERY = 80  # characters of a query in headlines


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One reason that excludes a memory from the results."""

    reason: str
    """deleted, archived, quarantined, superseded, expired, not_yet_valid, trust, status, filter,
    cold, kind; excluded, too_new or min_score, as the search asks; or a rule of the profile that
    leaves candidates out: rule, duplicate (of a better result), abstention (not close enough)."""
    detail: str
    """The reason in words, with the values of the memory and the search."""

    @property
    def headline(self) -> str:
        """The reason in a few words."""
        return self.detail if self.reason == "trust" else self.reason.replace("_", " ")


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
    """From 1, among all candidates and the results that links found with a better score; None if no
    channel found it or a rule leaves it out."""
    candidate_count: int = 0
    """Number of candidates that have a place; for a result, with those that links found before it."""
    linked_place: int | None = None
    """From 1, among the results; None unless links of other results found it."""
    is_displaced: bool = False
    """Whether a memory found by links took its place among the results."""
    is_reordered: bool = False
    """Whether results are in the order of a reranker instead of their scores."""
    offset: int = 0
    """Number of the first results that the search leaves out."""
    kth_id: str | None = None
    """Id of the last result; None if there are fewer than ``k``."""
    kth: Explanation | None = None
    """Explanation of the last result's score, if there are ``k``."""
    part: str = ""
    """The part of a compound query that ranks the memory best (docs/systems/omega.md O10); else
    empty. If the memory is not among the merged results, its place is that in this part."""

    @property
    def is_returned(self) -> bool:
        """Whether the search returns the memory."""
        if self.linked_place is not None:
            return True
        is_within = self.place is not None and self.offset < self.place <= self._last_place
        return is_within and not self.hidden and not self.is_displaced

    @property
    def _last_place(self) -> int:
        """The place of the last result, counted from the best of all."""
        return self.offset + self.k if self.k else 0  # an offset adds no results to none

    @property
    def _limits(self) -> str:
        return f"k is {self.k}" + (f" after an offset of {self.offset}" if self.offset else "")

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
        # Two infinite scores have no difference.
        return 0.0 if self.kth_score == self.score else self.kth_score - self.score

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if not self.exists:
            return "no memory has this id"
        if self.linked_place is not None:
            return f"returned, in place {self.linked_place}, by links of other results"
        if self.hidden:
            reasons = dict.fromkeys(each.headline for each in self.hidden)
            return f"hidden: {', '.join(reasons)}"
        if self.place is None:
            return "no channel finds it"
        if self.is_returned:
            return f"returned, in place {self.place}"
        if self.is_displaced:
            return f"in place {self.place} of {self.candidate_count}, left to what links bring"
        return f"in place {self.place} of {self.candidate_count}, {self._limits}"

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
        return DisplayTable(("part", "this memory", f"place {self._last_place}"), rows)

    def __str__(self) -> str:
        return tree_text(self.tree())

    def __repr__(self) -> str:
        return f"<WhyNot {self.id!r}: {self.verdict}>"

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`table` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{html_text(reason)}</li>" for reason in self._reasons())
        table = self.table()._repr_html_() if self.channels else ""
        return f"<p>{html_text(self._headline())}</p>{reasons and f'<ul>{reasons}</ul>'}{table}"

    def _headline(self) -> str:
        part = f", part {shortened(repr(self.part), _QUERY)}" if self.part else ""
        return f"{self.id!r} for {shortened(repr(self.query), _QUERY)}{part}: {self.verdict}"

    def _reasons(self) -> list[str]:
        """Return all reasons against the memory: its exclusions and the shortfall of its score."""
        if self.is_returned:
            return []
        reasons = [exclusion.detail for exclusion in self.hidden]
        # A deleted memory has no channels, and nothing more to report.
        if self.channels and self.explanation is None:
            reasons.append("; ".join(map(str, self.channels)))
        if self.place is not None and self.hidden:
            reasons.append(f"otherwise in place {self.place} of {self.candidate_count}")
        if self.place is not None and self.place > self._last_place:
            reasons.append(self._shortfall())
        if self.is_displaced:
            reasons.append("a memory that links found took its place")
        return reasons

    def _shortfall(self) -> str:
        """Return in words why the memory is behind the last result."""
        if self.explanation is None or self.kth is None:
            return self._limits
        if self.is_reordered:
            return f"stands behind place {self._last_place} in the reranker's order"
        gap = self.gap
        if not gap:
            return f"ties with place {self._last_place}, which was added earlier"
        if gap < 0:
            return f"place {self._last_place} is left to what links bring"
        needs = f"needs +{figure(gap)} to the {figure(self.kth.score)} of place {self._last_place}"
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

    Without an explanation, the parts of ``template`` are listed without values.
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
    if explanation is not None and explanation.divided_by is not None:
        figures.append((DIVISOR, explanation.divided_by))
    figures.append(("score", None if explanation is None else explanation.score))
    return figures


# -- the search ------------------------------------------------------------------------------------

_WORDS: Final = 200  # characters of a condition that are shown


_DECIDED: Final = {
    1: "not looked at: the fast path answered",
    2: "not looked at: what the words found decides alone",
}
"""By short circuit: why other channels were not used."""


def why_not(
    scope: Scope,
    query: str,
    id: str,
    keywords: WhyNotKeywords,
    method: Callable[..., object],
) -> WhyNot:
    """Explain why a search does not return a memory; see :meth:`oneiros.Engine.why_not`."""
    require_utf8("id", id)
    k, embedding = keywords.pop("k", 10), keywords.pop("embedding", None)
    options = SearchOptions.checked(scope.zoned_keywords(keywords), method)
    call, requests = run_call(
        scope,
        options,
        k,
        lambda call: (call, call.requests([query], [embedding])[0]),
        is_explained=True,
    )
    if len(requests) > 1:
        return _of_parts(call, requests, query, id, scope.loader)
    return _of_request(call, requests[0], id, scope.loader)


def _of_request(call: SearchCall, request: SearchRequest, id: str, load: LoadMemories) -> WhyNot:
    """Return the report on one search."""
    visible, read_model = call.visible(), call.read_model
    search = WhyNotSearch(request, read_model, visible, load)
    if read_model.row_sets.lets_in_others(visible):
        visible = call.visible(is_exact=True)
        search = WhyNotSearch(request, read_model, visible, load)
    report = search.report(id)
    memory = load([id])[0]
    row = read_model.lifecycle.row_of.get(id)
    if memory is None or row is None:
        return report
    hidden = exclusions(memory, row, read_model.row_sets, call.limits)
    report = replace(report, exists=True, hidden=hidden)
    if row not in read_model.row_sets.live:
        return report
    if hidden:
        search = WhyNotSearch(request, read_model, visible.letting_in(row), load)
    return search.complete(report, row)


def _of_parts(
    call: SearchCall, requests: Sequence[SearchRequest], query: str, id: str, load: LoadMemories
) -> WhyNot:
    """Return the report on a compound query, whose parts are searched one by one and merged."""
    visible, window = call.visible(is_exact=True), call.window
    responses = [answer(request, call, visible, load) for request in requests]
    found_count = sum(map(len, responses))
    whole = [request._replace(k=found_count) for request in requests]  # merged without a cut
    merged = merged_answer(query, whole, responses, call.read_model, load, WHOLE)
    kth = merged[call.k - 1] if 0 < call.k <= len(merged) else None
    each = [_of_request(call, request, id, load) for request in requests]
    reports = [
        replace(
            report,
            query=query,
            part=request.query,
            k=max(call.k - window.offset, 0),
            offset=window.offset,
            kth_id=None if kth is None else kth.id,
            kth=None if kth is None else kth.explanation,
            is_reordered=any(other.is_reordered for other in each),
        )
        for request, report in zip(requests, each, strict=True)
    ]
    if not reports[0].exists:
        return replace(reports[0], part="", candidate_count=len(merged))
    raw_scores = [_raw_score(response, id) for response in responses]
    best = reports[raw_scores.index(max(raw_scores))]
    if id in merged.ids:
        place = merged.ids.index(id) + 1
        result = merged[place - 1]
        hidden = outside_window(window, place, result.score)
        is_linked = result.is_associative and place <= call.k and not hidden
        return replace(
            best,
            hidden=hidden,
            place=place,
            candidate_count=len(merged),
            linked_place=place if is_linked else None,
            is_displaced=False,
            explanation=result.explanation,
        )
    better = next((pair.of for pair in merged.trace.duplicates if pair.id == id), None)
    if better is not None and max(raw_scores) > -math.inf:  # a part returns it, and a better one
        hidden = (*best.hidden, _duplicate(better))
        return replace(best, hidden=hidden, place=None, linked_place=None)
    nearest = min(reports, key=_farness)
    explanation = nearest.explanation
    if explanation is not None and merged:  # its score as a share of the same best
        explanation = _divided_as(merged[0].explanation, explanation)
    return replace(nearest, explanation=explanation)


def _raw_score(response: SearchResponse, id: str) -> float:
    """Return the score by which the merge compares the results of parts; -inf for no result."""
    return next((result.raw_score for result in response if result.id == id), -math.inf)


def _farness(report: WhyNot) -> tuple[float, bool, bool]:
    """Return the key by which the report of the nearest of several parts is the least.

    Of parts without a place, one that left the memory out as a duplicate comes before one that found
    it too far, and that before one that did not find it.
    """
    place = math.inf if report.place is None else report.place
    is_duplicate = any(each.reason == "duplicate" for each in report.hidden)
    return place, not is_duplicate, report.explanation is None


def _divided_as(best: Explanation | None, explanation: Explanation) -> Explanation:
    """Return an explanation with its score divided by what another one is divided by."""
    assert best is not None
    whole = replace(explanation, divided_by=None)
    whole = replace(whole, score=whole.evaluate())
    return whole if best.divided_by is None else whole.as_share_of(best.divided_by)


def _duplicate(better: str) -> Exclusion:
    return Exclusion("duplicate", f"it is like {better!r}, which stands better")


def outside_window(window: Window, place: int, score: float) -> tuple[Exclusion, ...]:
    """Return why a window leaves out the result at a place, from 1; empty if it does not."""
    if place <= window.offset:
        detail = f"in place {place}, before the offset of {window.offset}"
        return (Exclusion("offset", detail),)
    if window.min_score is not None and score < window.min_score:
        detail = f"its score {figure(score)} is below min_score {figure(window.min_score)}"
        return (Exclusion("min_score", detail),)
    return ()


class WhyNotSearch:
    """One search with explanations, run to its end for all candidates."""

    def __init__(
        self,
        request: SearchRequest,
        read_model: ReadModel,
        visible: Visible,
        load: LoadMemories,
    ) -> None:
        self._read_model, self._request = read_model, request
        walk = walk_graph(request, read_model, visible)
        search = SearchRun(request, read_model, visible, load, walk, is_whole=True)
        self._run = search.run
        self._outcome = outcome = search.run.run()
        self._found = FoundRows(search, outcome)
        self._ranking = self._found.ranking
        self._explained = ExplanationsOfSearch(search, outcome, self._ranking)
        self._rows = outcome.rows()
        uncut, linked = search.run.uncut(), self._explained.linked
        direct = [(-score, row) for row, *_, score in uncut if row not in linked]
        self._is_reordered = direct != sorted(direct)
        own = self._own_scores()
        order = [row for row, *_ in uncut]
        if not self._is_reordered:  # what links brought stands by the better of its scores
            brought = [
                (-max(score, own.get(row, score)), row) for row, *_, score in uncut if row in linked
            ]
            order = [row for _, row in sorted(direct + brought)]
        stayed = own.keys() - search.run.far().keys()
        self._standing = [row for row in order if row in stayed]
        """Rows that channels found and no stage left out, best first."""

    def _own_scores(self) -> dict[int, float]:
        """Return the score of each candidate without links and a reranker, by row."""
        ranked = self._run.ranked(linked=False)
        own = dict(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True))
        for _, newer, _, factor in self._outcome.conflicts():
            own[newer] *= factor
        return own

    def report(self, id: str) -> WhyNot:
        """Return the report on an id that does not exist: only the search itself."""
        request, rows = self._request, self._rows
        is_full = 0 < request.k == len(rows)
        return WhyNot(
            query=request.query,
            id=id,
            k=max(request.k - request.window.offset, 0),
            offset=request.window.offset,
            now=request.now,
            profile=request.profile.name,
            profile_hash=request.profile_hash,
            exists=False,
            candidate_count=len(self._standing),
            kth_id=(self._read_model.lifecycle.ids[rows[-1]] or None) if is_full else None,
            kth=self._explained.explanation(rows[-1]) if is_full else None,
            linked_place=self._linked_place(id),
        )

    def _linked_place(self, id: str) -> int | None:
        """Return the memory's place among the results, from 1, if links found it."""
        row = self._read_model.lifecycle.row_of.get(id)
        if row is None or row not in self._explained.linked or row not in self._rows:
            return None
        return None if self._outside_window(row) else self._rows.index(row) + 1

    def _outside_window(self, row: int) -> tuple[Exclusion, ...]:
        """Return why the window leaves out a row of the results; empty if it does not."""
        place = self._rows.index(row)
        return outside_window(self._request.window, place + 1, self._outcome.scores()[place])

    def complete(self, report: WhyNot, row: int) -> WhyNot:
        """Return the report with everything the search computes for a row."""
        hidden, standing = report.hidden, self._standing
        found = self._run.place_of(row=row, plan=None)
        explanation = place = None
        if found is not None:
            ranked, place = found
            explanation = Explanations(self._ranking.compiled, ranked).at(0)
            explanation = self._explained.finished(row, explanation, is_linked=False)
            if place is None:
                hidden = (*hidden, *self._failed_rules(row, explanation))
            else:
                place, left_out = self._place_of_ranked(row)
                if row not in self._rows:  # links may bring what a stage left out
                    hidden = (*hidden, *left_out)
        if row in self._rows:
            hidden = (*hidden, *self._outside_window(row))
            if row not in self._explained.linked:  # after results that links found
                place = self._rows.index(row) + 1
                standing = [*dict.fromkeys((*standing, *self._rows[:place]))]
        return replace(
            report,
            hidden=hidden,
            place=place,
            is_displaced=not hidden
            and place is not None
            and place <= self._request.k
            and row not in self._rows,
            is_reordered=self._is_reordered,
            candidate_count=len(standing),
            explanation=explanation,
            channels=tuple(self._standings(row, explanation)),
            factors=self._factors(row) if explanation is None else explanation.factors,
        )

    def _place_of_ranked(self, row: int) -> tuple[int | None, tuple[Exclusion, ...]]:
        """Return the place of a ranked row, from 1, or None and the reason."""
        if row in self._standing:
            return self._standing.index(row) + 1, ()
        for duplicate, better in self._outcome.duplicates:
            if duplicate == row:
                return None, (_duplicate(self._read_model.lifecycle.ids[better]),)
        shortfall = self._run.far().get(row)
        rule = abstention_of(self._request, is_relaxed=self._outcome.is_relaxed)
        reason = self._found.reason()
        if shortfall is not None and isinstance(rule, Surfacing):
            reason = f"not near enough: {shortfall_words(shortfall, rule)}"
        return None, (Exclusion("abstention", reason),)

    def _failed_rules(self, row: int, explanation: Explanation) -> Iterator[Exclusion]:
        """Yield why a candidate has no place: its score, or each rule that alone leaves it out."""
        if math.isnan(explanation.score):
            yield Exclusion("rule", "its score is no number")
            return
        profile = self._ranking.profile
        for rule in profile.keep:
            alone = self._read_model.compiled(profile.replace(keep=(rule,)), self._request.added)
            found = self._run.place_of(row=row, plan=alone.plan)
            if found is not None and found[1] is None:
                yield Exclusion("rule", f"left out by the profile's rule {rule.name!r}")

    def _standings(self, row: int, explanation: Explanation | None) -> Iterator[ChannelStanding]:
        for number, channel in enumerate(self._request.profile.channels):
            rank = None if explanation is None else explanation.channels[number].rank
            score = None if explanation is None else explanation.channels[number].score
            if rank is None and score is None:
                raw = self._run.score_of(channel=number, row=row)
                score = None if math.isnan(raw) else raw
            if rank is None and score == 0.0 and channel.needs == "words":
                score = None  # no word matches
            detail = "" if rank is not None else self._no_rank_reason(channel, score)
            depth = channel.depth_for(self._request.k)
            yield ChannelStanding(channel.name, rank, score, depth, detail)

    def _no_rank_reason(self, channel: ChannelDeclaration, score: float | None) -> str:
        """Return why a channel gives a memory no rank."""
        request = self._request
        if self._outcome.short_cut:
            return _DECIDED[self._outcome.short_cut]
        beyond = f"not within the first {channel.depth_for(request.k)}"
        if channel.needs == "vector":
            if request.vector is None:
                return request.absent
            if score is None:
                return "it has no embedding"
            minimum = self._minimum()
            is_far = minimum is not None and score < minimum
            return f"farther than the least cosine {minimum:g}" if is_far else beyond
        if channel.needs == "time":
            if request.understood.time is None or self._outcome.is_relaxed:
                return NO_TIME
            return beyond if score else "further from the named time than that is long, in days"
        if score is not None:
            return beyond
        is_plain = request.syntax == "plain"
        return "no word of the query is in it" if is_plain else "it does not match the query"

    def _minimum(self) -> float | None:
        """Return the least cosine of the vector channel in the plan that ranked."""
        channels = self._ranking.profile.channels
        return next((channel.least for channel in channels if channel.least is not None), None)

    def _factors(self, row: int) -> tuple[FactorValue, ...]:
        """Return the factors of a memory that is no candidate, as if it were the only one."""
        found = self._run.alone(row=row)
        if found is None:
            return ()
        return Explanations(self._ranking.compiled, found[0]).at(0).factors


def exclusions(
    memory: Memory, row: int, row_sets: RowSets, limits: Limits
) -> tuple[Exclusion, ...]:
    """Return everything that hides a memory; empty if the search may return it."""
    if row not in row_sets.live:
        when = "" if memory.deleted_at is None else f" at {moment(memory.deleted_at)}"
        return (Exclusion("deleted", f"deleted{when}"),)
    words = {
        "superseded": f"superseded by {memory.superseded_by!r}",
        "cold": "it is not of the hot tier",
        "kind": f"its kind is {memory.kind!r}, hidden unless the filter asks for kinds",
        "archived": 'its status is archived; status="archived" asks for such',
        "quarantined": 'its status is quarantined; status="quarantined" asks for such',
        "trust": f"trust {memory.trust:g} below least_trust {limits.least_trust:g}",
        "expired": _expiry(memory, limits),
        "not_yet_valid": f"valid from {moment(memory.valid_from)}, {_clock(limits)}",
        "excluded": "exclude= names it",
        "too_new": f"added at {moment(memory.learned_at)}, within exclude_newer= before now",
    }
    sets = row_sets.hidden(limits)
    found = [Exclusion(reason, words[reason]) for reason, rows in sets.items() if row in rows]
    if limits.status is not None and row not in row_sets.matching(of_status(limits.status)):
        wanted = " or ".join(limits.status) or "none"
        found.append(Exclusion("status", f"its status is {memory.status}, asked is {wanted}"))
    if limits.where is not None:
        found += (
            Exclusion("filter", _unmet(part, memory))
            for part in _failing(limits.where, row, row_sets)
        )
    return tuple(found)


def _failing(condition: Where, row: int, row_sets: RowSets) -> Iterator[Where]:
    """Yield the conditions that fail for the row; of those joined by "and", each on its own."""
    if row in row_sets.matching(condition):
        return
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _failing(part, row, row_sets)
    else:
        yield condition


def _unmet(condition: Where, memory: Memory) -> str:
    wanted = _json(condition.to_json())
    match condition:
        case AnyOf(name=name) | Measured(name=name) | Within(name=name):
            if name == "occurred_at":
                name = "created_at" if memory.event_at is None else "event_at"
            value = getattr(memory, name)
        case AllOf(name=name):
            value = getattr(memory, name)
        case OnMetadata(key=key):
            name, value = f"metadata {_json(key)}", resolver(key)(memory.metadata)
            if value is MISSING:
                return f"outside the filter {wanted}: its {name} is missing"
        case _:
            return f"outside the filter {wanted}"
    return f"outside the filter {wanted}: its {name} is {_json(value)}"


def _json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # an int with more digits than Python prints
        text = shown(value)
    return shortened(text, _WORDS)


def _expiry(memory: Memory, limits: Limits) -> str:
    if memory.valid_until is not None and limits.moment > memory.valid_until:
        return f"valid until {moment(memory.valid_until)}, {_clock(limits)}"
    if memory.ttl is None:
        return "expired"  # another process has just changed it
    ended = moment(memory.created_at + memory.ttl)
    return f"its {memory.ttl:g} seconds ended at {ended}, {_clock(limits)}"


def _clock(limits: Limits) -> str:
    return f"{'now' if limits.valid_at is None else 'valid_at'} is {moment(limits.moment)}"
