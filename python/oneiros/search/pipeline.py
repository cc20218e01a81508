"""The recall path: a checked request -> one run in the core -> a response.

The core goes through channels, candidates, scoring and all stages of the profile in one call that
holds no lock of Python's. FAISS is asked before, where a graph is walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.graph.link import LinkEvidence as FoundByLinks
from oneiros.index.stored_rows import StoredIdsByRow
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.scoring.stages import Surfacing
from oneiros.search.callbacks import Callbacks
from oneiros.search.notes import REASONS, note_words, reason_words
from oneiros.search.plan import SearchPlan, surfacing_numbers
from oneiros.search.query.parsed import PLAIN
from oneiros.search.response import (
    Duplicate,
    ResultMemories,
    SearchResponse,
    SearchResult,
)
from oneiros.search.trace import SearchTrace, StageTrace

if TYPE_CHECKING:
    from oneiros.explain.explanation import Explanation
    from oneiros.index import Projections, Visible
    from oneiros.search.query.dates import TimeRange
    from oneiros.search.request import SearchRequest
    from oneiros.search.response import LoadMemories

__all__ = ["FoundRows", "Search", "abstention_of", "answer", "answer_many", "ids_of", "walked"]

Result = tuple[int, float, float, float]
"""A row with its relevance, retention and score."""


def answer(
    request: SearchRequest, projections: Projections, visible: Visible, load: LoadMemories
) -> SearchResponse:
    """Run one search.

    Args:
        request: the checked search.
        projections: what searches read.
        visible: the rows that it may return.
        load: the store's loader, for the memories of the results.
    """
    walk = walked(request, projections, visible)
    search = Search(request, projections, visible, load, walk)
    return search.response(search.run.run())


def answer_many(
    requests: Sequence[SearchRequest],
    projections: Projections,
    visible: Visible,
    load: LoadMemories,
    threads: int,
) -> list[SearchResponse]:
    """Run a batch of searches, cut over threads; the responses are those of :func:`answer`."""
    walks = _walked_many(requests, projections, visible, threads)
    searches = [
        Search(request, projections, visible, load, own)
        for request, own in zip(requests, walks, strict=True)
    ]
    outcomes = _core.run_searches(runs=[search.run for search in searches], threads=threads)
    return [search.response(outcome) for search, outcome in zip(searches, outcomes, strict=True)]


class Search:
    """One search, ready to run.

    Args:
        request: the checked search.
        projections: what it reads.
        visible: the rows that it may return.
        load: the store's loader: ids in, memories out, None for one that is gone.
        walk: of the vectors' graph; without hits the core looks at the vectors itself.
        is_whole: whether what lies beyond the last place is judged, too.
    """

    __slots__ = ("callbacks", "load", "plan", "projections", "reach", "request", "run", "started")

    def __init__(
        self,
        request: SearchRequest,
        projections: Projections,
        visible: Visible,
        load: LoadMemories,
        walk: Walk,
        *,
        is_whole: bool = False,
    ) -> None:
        self.started = perf_counter() - walk.ms / 1e3
        self.request = request
        self.projections = projections
        self.plan = plan = projections.search_plan(request.profile, request.added)
        self.reach = reach = visible.reach
        self.load = load
        self.callbacks = Callbacks(request, plan, projections, load)
        self.run = _core.SearchRun(
            plan=plan.core,
            view=_view(request, plan, projections, visible),
            host=self.callbacks,
            has_user_code=request.reranker is not None or plan.has_functions,
            query=request.query,
            syntax=request.syntax,
            k=request.k,
            now_seconds=request.now,
            allowed=visible.bits,
            allowed_count=visible.row_count,
            bounds_count=visible.bounds_count,
            follows_links=reach is not None,
            reach=None if reach is None else reach.bits,
            vector=request.vector,
            hits=walk.hits,
            walk_ms=walk.ms,
            has_reranker=request.reranker is not None,
            explain=request.is_explained,
            is_whole=is_whole,
            read=self._read_query(),
        )

    def _read_query(self) -> dict[str, Any]:
        """What the query's words, times and surroundings say."""
        request, plan = self.request, self.plan
        sought = request.sought
        read: dict[str, Any] = {}
        if sought is not None:
            profile = request.profile
            read["words"] = (sought.words, [], len(sought.words))
            if plan.reads_overlap:
                read["overlap"] = sought.overlap_words(profile.factors)
            if profile.fast_path is not None:
                read["spoken"] = sought.start(profile.fast_path.characters)
        if request.understood is not PLAIN:
            self._read_understood(read)
        if request.back_again is not None:
            read["lapsed"] = request.back_again.lapsed_rows
        if request.verdicts:
            from oneiros.scoring.factors.thompson import verdict_tables  # noqa: PLC0415

            kinds = self.projections.lifecycle.kinds
            factors = request.profile.factors
            read["by_kind"] = verdict_tables(factors, request.verdicts, kinds, request.now)
        if request.ranks is not None:
            read |= self._variants()
        return read

    def _read_understood(self, read: dict[str, Any]) -> None:
        request = self.request
        profile, understood = request.profile, request.understood
        if understood.time is not None:
            read["time"] = _time(understood.time)
        read["is_keyword_like"] = understood.intent == "navigational"
        read["leaves_time"] = understood.leaves_time
        constants = read["constants"] = []
        if understood.asks_preference:
            constants.append(("preference", 1.0))
        here = understood.situation
        if understood.surroundings is not None:
            count = len(self.projections.lifecycle.ids)
            read["surroundings"] = understood.surroundings.for_rows(count)
            from oneiros.scoring.factors import ContextMatch  # noqa: PLC0415 - few have a context

            weights = [one.weight for one in profile.factors if isinstance(one, ContextMatch)]
            if here is not None and weights:
                constants.append(("context_weight", weights[0] * here.context))
        if here is not None and isinstance(profile.abstention, Surfacing):
            read["surfacing"] = surfacing_numbers(_surfacing(request, is_relaxed=False))
            if profile.retry is not None:
                read["relaxed_surfacing"] = surfacing_numbers(_surfacing(request, is_relaxed=True))

    def _variants(self) -> dict[str, Any]:
        """The query in other words, each searched as the query itself. O6."""
        request, expanded, fusion = self.request, self.request.expanded, self.request.ranks
        reader = request.profile.understanding
        assert expanded is not None
        assert fusion is not None
        assert reader is not None
        channels = request.profile.channels
        weights = (1.0,) * len(channels) if fusion.weights is None else fusion.weights
        return {
            "variants": [
                (
                    variant.text,
                    variant.vector,
                    None,
                    None
                    if variant.sought is None
                    else (variant.sought.words, [], len(variant.sought.words)),
                )
                for variant in expanded.variants
            ],
            "variant_rule": (
                reader.variant_weight,
                fusion.k,
                fusion.normalise != "none",
                list(weights),
            ),
        }

    def response(self, outcome: _core.SearchOutcome) -> SearchResponse:
        """Return the response to what the run found."""
        request = self.request
        found = FoundRows(self, outcome)
        return SearchResponse(
            query=request.query,
            now=request.now,
            profile=request.profile.name,
            profile_hash=request.profile_hash,
            ids=found.ids,
            scores=found.scores,
            memories=ResultMemories(found.ids, self.load),
            answer=found,
            reason=found.reason() if outcome.has_reason else "",
            confidence=outcome.confidence,
        )


class FoundRows:
    """What a search found, told by ids; each part is made when it is asked for.

    Args:
        search: was run.
        outcome: of the run.
    """

    __slots__ = (
        "_callbacks",
        "_id_of",
        "_places",
        "_plan",
        "_request",
        "_search",
        "ids",
        "outcome",
        "scores",
        "total_ms",
    )

    def __init__(self, search: Search, outcome: _core.SearchOutcome) -> None:
        self.outcome = outcome
        self._request = search.request
        self._plan = search.plan
        self._callbacks = search.callbacks
        # A run holds all candidates: explanations alone need it.
        self._search = search if search.request.is_explained else None
        self._id_of = search.projections.lifecycle.ids
        self.ids = ids_of(self._id_of, outcome.rows())
        self.scores = outcome.scores()
        self._places: Sequence[int] | None = None
        if "" in self.ids:  # forgotten meanwhile
            self._places = [place for place, id in enumerate(self.ids) if id]
            self.ids = [self.ids[place] for place in self._places]
            self.scores = [self.scores[place] for place in self._places]
        self.total_ms = (perf_counter() - search.started) * 1e3

    @property
    def ranking(self) -> SearchPlan:
        """The plan that ranked the results: the profile's, or that of a short cut or a retry."""
        outcome = self.outcome
        return self._plan.ranking(outcome.short_cut, is_relaxed=outcome.is_relaxed)

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return new results, best first, whose memories are these."""
        outcome, request = self.outcome, self._request
        rows = outcome.results()
        raw = outcome.raw_scores if outcome.best is not None else None
        if self._places is not None:
            rows = [rows[place] for place in self._places]
            raw = None if raw is None else [raw[place] for place in self._places]
        explanations = self._explanations([row for row, *_ in rows]) if self._search else None
        results = tuple(
            SearchResult(memories, id, found[1:], explanations, place)
            for place, (id, found) in enumerate(zip(self.ids, rows, strict=True))
        )
        if raw is not None:
            for result, score in zip(results, raw, strict=True):
                result.raw_score = score
        if request.back_again is not None:
            for result, (row, *_) in zip(results, rows, strict=True):
                result.via_deep_recall = request.back_again.hold(row)
        if outcome.direct is not None:
            self._tell_links(results, rows)
        if self._plan.core.has_neighbours:
            brought = outcome.brought()
            for result, (row, *_) in zip(results, rows, strict=True):
                if row in brought:
                    result.neighbour_of = self._id_of[brought[row]] or None
        return results

    def _tell_links(self, results: Sequence[SearchResult], rows: Sequence[Result]) -> None:
        """Say of results what links have to do with them."""
        linked = {row: (path, weight) for row, path, weight, *_ in self.outcome.linked()}
        bridges = self.outcome.bridges()
        for result, (row, *_) in zip(results, rows, strict=True):
            bridge = bridges.get(row, ())
            if row in linked or bridge:
                path, weight = linked.get(row, ((), None))
                result.found_by_links = FoundByLinks(
                    tuple(ids_of(self._id_of, path)), weight, tuple(ids_of(self._id_of, bridge))
                )

    def _explanations(self, rows: Sequence[int]) -> Sequence[Explanation]:
        """Return how each of these came to its score, made when it is touched."""
        from oneiros.explain.explanation import ExplanationsOfSearch  # noqa: PLC0415 - few are explained

        assert self._search is not None
        return ExplanationsOfSearch(self._search, self.outcome, self.ranking).of(rows)

    def nearest_misses(self, load: LoadMemories) -> tuple[SearchResult, ...]:
        """Return new nearest candidates where nothing is returned."""
        if not self.outcome.has_reason:
            return ()
        misses = self.outcome.misses()
        pairs = zip(ids_of(self._id_of, [row for row, *_ in misses]), misses, strict=True)
        there = [(id, found) for id, found in pairs if id]
        memories = ResultMemories([id for id, _ in there], load)
        return tuple(SearchResult(memories, id, found[1:]) for id, found in there)

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the direct results before what links brought was merged in; None: there are none."""
        direct = self.outcome.direct
        return None if direct is None else tuple(filter(None, ids_of(self._id_of, direct)))

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that links brought."""
        linked = [row for row, *_ in self.outcome.linked()]
        return frozenset(ids_of(self._id_of, linked)).intersection(self.ids)

    def reason(self, *, is_relaxed: bool | None = None) -> str:
        """Return why an attempt returns nothing although there are candidates; else "".

        Args:
            is_relaxed: whether the second is meant; None: the one that is returned.
        """
        outcome = self.outcome
        second = outcome.is_relaxed if is_relaxed is None else is_relaxed
        told = outcome.reasons[second]
        if not told[0]:
            return ""
        rule = abstention_of(self._request, is_relaxed=second)
        return reason_words(told, rule, len(self._callbacks.stems()))

    def trace(self) -> SearchTrace:
        """Return what every stage did."""
        request, outcome = self._request, self.outcome
        stages = []
        before_ms = 0.0
        if (told := request.expanded) is not None:
            before_ms = told.duration_ms
            stages.append(
                StageTrace(
                    "query_expansion", 1, 1 + len(told.texts), before_ms, *told.tokens, told.reason
                )
            )
        for (
            name,
            is_retry,
            entered,
            left,
            ms,
            note,
            first,
            second,
            text,
            *tokens,
        ) in outcome.stages():
            words = text
            if note in REASONS:
                words = self.reason(is_relaxed=is_retry)
            elif note and not words:
                words = note_words(note, first, second, request)
            full_name = f"retry/{name}" if is_retry else name
            stages.append(StageTrace(full_name, entered, left, ms, tokens[0], tokens[1], words))
        ids = self._id_of
        duplicates = [(ids[row], ids[better]) for row, better in outcome.duplicates]
        return SearchTrace(
            tuple(stages),
            self.total_ms + before_ms,
            tuple(self._notes()),
            tuple(Duplicate(id, better) for id, better in duplicates if id and better),
        )

    def _notes(self) -> list[str]:
        request, future = self._request, self.outcome.future_count
        understood = request.understood
        if self.outcome.is_relaxed:
            understood = understood._replace(time=None)
        notes = [note] if (note := understood.note) else []
        if future:
            notes.append(f"{future} candidates carry times after now, taken as age 0")
        reach = max(channel.depth_for(request.k) for channel in request.profile.channels)
        if request.k > reach:
            notes.append(
                f"k {request.k} is beyond the channels' depth of {reach}: "
                "what lies deeper is not looked at"
            )
        return notes


def abstention_of(request: SearchRequest, *, is_relaxed: bool) -> object:
    """Return the rule of abstention as an attempt applies it."""
    rule, retry = request.profile.abstention, request.profile.retry
    if isinstance(rule, Surfacing):
        return _surfacing(request, is_relaxed=is_relaxed)
    return rule.eased(retry) if is_relaxed and rule is not None and retry is not None else rule


def _surfacing(request: SearchRequest, *, is_relaxed: bool) -> Surfacing:
    """How near a result must be, as the situation has it. O16, O28."""
    rule, retry = request.profile.abstention, request.profile.retry
    here = request.understood.situation
    assert isinstance(rule, Surfacing)
    share = score = 1.0
    if is_relaxed and retry is not None:
        if here is None:
            return rule.eased(retry)
        share, score = retry.relaxation, retry.score_relaxation
    if here is None:
        return rule
    return replace(
        rule,
        least_cosine=here.min_vec * share,
        least_overlap=here.min_text * share,
        least_score=here.min_composite * score,
    )


def ids_of(ids: Sequence[str] | StoredIdsByRow, rows: Sequence[int]) -> list[str]:
    """Return the ids of rows; "" for one that was forgotten."""
    return ids.of(rows) if isinstance(ids, StoredIdsByRow) else [ids[row] for row in rows]


def _view(
    request: SearchRequest, plan: SearchPlan, projections: Projections, visible: Visible
) -> _core.ReadView:
    """What the core reads, part by part."""
    reach, sought = visible.reach, request.sought
    is_read = request.vector is not None or plan.reads_vectors
    vectors = projections.indexes.vectors if is_read else None
    has_neighbours = request.profile.neighbours is not None
    return _core.ReadView(
        lexical=projections.indexes.lexical,
        columns=projections.lifecycle.columns,
        sessions=(projections.sessions.whole or projections.sessions.order)
        if has_neighbours
        else None,
        graph=None if reach is None else reach.associations.graph,
        texts=None if sought is None else sought.column,
        lowered=None if sought is None else sought.texts.lowered,
        vectors=vectors.column if vectors else None,
    )


class Walk(NamedTuple):
    """What a walk of the vectors' graph found."""

    hits: Any
    """Rows and scores; None: there was no walk."""
    ms: float
    """How long it took; of a batch, a query's share."""


_NO_WALK: Final = Walk(None, 0.0)


def walked(request: SearchRequest, projections: Projections, visible: Visible) -> Walk:
    """Walk the vectors' graph for a query, where that is faster than to look at all vectors."""
    return _walked_many([request], projections, visible, 1)[0]


def _walked_many(
    requests: Sequence[SearchRequest], projections: Projections, visible: Visible, threads: int
) -> list[Walk]:
    """Walk for the requests of one call, which differ in their queries alone."""
    walks = [_NO_WALK] * len(requests)
    if all(request.vector is None for request in requests):
        return walks  # of words alone: the vectors are not even loaded
    index, first = projections.indexes.vectors, requests[0]
    depth = next(
        (
            channel.depth_for(first.k)
            for channel in first.profile.channels
            if channel.needs == "vector"
        ),
        None,
    )
    if not index or depth is None:
        return walks
    walking = {
        place: request.vector
        for place, request in enumerate(requests)
        if request.vector is not None and len(request.vector) == index.dimension
    }
    started = perf_counter()
    if first.syntax == "plain" and len(walking) > 1:
        vectors = np.stack(list(walking.values()))
        found = index.walk_many(vectors, depth, visible.bits, threads)
    else:
        found = []
        for place, vector in walking.items():
            request = requests[place]
            permitted = projections.indexes.permitted(request.query, visible.bits, request.syntax)
            found.append(index.walk(vector, depth, permitted))
    if walking:
        share_ms = (perf_counter() - started) * 1e3 / len(walking)
        for place, hits in zip(walking, found, strict=True):
            walks[place] = Walk(hits, share_ms)
    return walks


def _time(asked: TimeRange) -> tuple[float, float, bool, float]:
    return asked.start, asked.end, asked.is_soft, asked.case
