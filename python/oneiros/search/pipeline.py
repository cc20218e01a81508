"""The search path: a checked request, one run in the core, a response.

The core runs channels, candidates, scoring and all stages of the profile in one call without the
GIL. The walk of an HNSW graph by FAISS comes before that call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core, explain
from oneiros._lazy import np
from oneiros.filters import allowed_bits
from oneiros.graph.graph import LinkEvidence
from oneiros.index.questions import word_hashes
from oneiros.index.stored_rows import ids_of
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.scoring import factors as published
from oneiros.scoring.stages import Surfacing
from oneiros.search.callbacks import Callbacks
from oneiros.search.plan import SearchPlan, surfacing_numbers
from oneiros.search.query.parsed import PLAIN
from oneiros.search.response import (
    Duplicate,
    ResultMemories,
    SearchResponse,
    SearchResult,
)
from oneiros.search.trace import (
    REASONS,
    Note,
    SearchTrace,
    StageTrace,
    note_words,
    reason_words,
    respelled_words,
)

if TYPE_CHECKING:
    from oneiros.explain.explanation import Explanation
    from oneiros.index import ReadModel, Visible
    from oneiros.search.call import SearchCall, SearchRequest
    from oneiros.search.response import LoadMemories, LoadResults
    from oneiros.vector_index import Walked
    from oneiros.vector_index.index import VectorIndex

__all__ = [
    "FoundRows",
    "SearchRun",
    "abstention_of",
    "answer",
    "answer_many",
    "walk_graph",
]

Result = tuple[int, float, float, float]
"""A row, its relevance, retention and score."""


def answer(
    request: SearchRequest,
    call: SearchCall,
    visible: Visible,
    load: LoadMemories,
) -> SearchResponse:
    """Run one search of a call."""
    search, outcome = _run(request, call.read_model, visible, load)
    if call.read_model.row_sets.lets_in_others(visible):
        search, outcome = _run(request, call.read_model, call.visible(is_exact=True), load)
    return search.response(outcome)


def _run(
    request: SearchRequest, read_model: ReadModel, visible: Visible, load: LoadMemories
) -> tuple[SearchRun, _core.SearchOutcome]:
    walk = walk_graph(request, read_model, visible)
    search = SearchRun(request, read_model, visible, load, walk)
    return search, search.run.run()


def answer_many(
    requests: Sequence[SearchRequest],
    call: SearchCall,
    visible: Visible,
    load: LoadMemories,
    threads: int,
) -> list[SearchResponse]:
    """Run a batch of searches on several threads; the responses equal those of :func:`answer`."""
    read_model = call.read_model
    searches, outcomes = _run_many(requests, read_model, visible, load, threads)
    if read_model.row_sets.lets_in_others(visible):
        visible = call.visible(is_exact=True)
        searches, outcomes = _run_many(requests, read_model, visible, load, threads)
    return [search.response(outcome) for search, outcome in zip(searches, outcomes, strict=True)]


def _run_many(
    requests: Sequence[SearchRequest],
    read_model: ReadModel,
    visible: Visible,
    load: LoadMemories,
    threads: int,
) -> tuple[list[SearchRun], Sequence[_core.SearchOutcome]]:
    walks = _walk_graph_many(requests, read_model, visible, threads)
    searches = [
        SearchRun(request, read_model, visible, load, walk)
        for request, walk in zip(requests, walks, strict=True)
    ]
    return searches, _core.run_searches(runs=[search.run for search in searches], threads=threads)


class SearchRun:
    """One search, ready to run.

    Args:
        request: the checked request.
        read_model: the read model.
        visible: the rows that may be returned.
        load: the store's loader.
        walk: result of the graph walk; without hits the core scans the vectors itself.
        is_whole: whether candidates beyond the last result run through the stages too.
    """

    __slots__ = (
        *("callbacks", "load", "plan", "reach", "read_model", "request", "run", "started", "walk"),
    )

    def __init__(
        self,
        request: SearchRequest,
        read_model: ReadModel,
        visible: Visible,
        load: LoadMemories,
        walk: Walk,
        *,
        is_whole: bool = False,
    ) -> None:
        self.started = perf_counter() - walk.ms / 1e3
        self.request = request
        self.walk = walk
        self.read_model = read_model
        self.plan = plan = read_model.search_plan(request.profile, request.added)
        self.reach = visible.reach
        self.load = load
        self.callbacks = partial(Callbacks, request, plan, read_model, load)
        self.run = _core.SearchRun(
            plan=plan.core,
            view=_view(request, plan, read_model, visible),
            rows=visible.for_core,
            host=self.callbacks,
            query=request.query,
            k=request.k,
            now_seconds=request.now,
            vector=request.vector,
            walk_ms=walk.ms,
            read=self._read_query(is_whole=is_whole),
        )

    def _read_query(self, *, is_whole: bool) -> dict[str, Any]:
        """Return what few searches have: another syntax, words, times, context, verdicts, variants."""
        request, plan = self.request, self.plan
        matcher = request.text_matcher
        read: dict[str, Any] = {}
        if is_whole:
            read["is_whole"] = True
        if request.is_explained:
            read["explain"] = True
        if request.reranker is not None:
            read["has_reranker"] = read["has_user_code"] = True
        elif plan.has_functions:
            read["has_user_code"] = True
        if request.is_of_spelling:
            read["is_of_spelling"] = True
        if request.syntax != "plain":
            read["syntax"] = request.syntax
        if self.walk.hits is not None:
            read["hits"] = self.walk.hits
        if request.statistics is not None:
            read["statistics"] = request.statistics
        if request.is_weighed_by_store:
            read["is_weighed_by_store"] = True
        if request.plain_text != request.query:
            read["plain_text"] = request.plain_text
        if matcher is not None:
            profile = request.profile
            read["words"] = (matcher.words, [], len(matcher.words))
            if plan.reads_overlap:
                read["overlap"] = matcher.overlap_words(profile.factors)
            if profile.fast_path is not None:
                read["spoken"] = matcher.start(profile.fast_path.characters)
        if request.understood is not PLAIN:
            self._read_understood(read)
        if request.deep_recall_rows is not None:
            read["lapsed"] = request.deep_recall_rows.lapsed_rows
        if request.verdicts:
            factors, kinds = request.profile.factors, self.read_model.lifecycle.kinds
            read["by_kind"] = published.verdict_tables(
                factors, request.verdicts, kinds, request.now
            )
        if plan.question_least is not None and (given := self.read_model.questions.verdicts):
            words = word_hashes(request.plain_text)
            read["questions"] = given, plan.question_least, words
        if request.variant_fusion is not None:
            read |= self._variants()
        return read

    def _read_understood(self, read: dict[str, Any]) -> None:
        request = self.request
        profile, understood = request.profile, request.understood
        if understood.time is not None:
            time = understood.time
            read["time"] = (time.start, time.end, time.is_soft, time.case)
        read["is_keyword_like"] = understood.intent == "navigational"
        read["leaves_time"] = understood.leaves_time
        constants = read["constants"] = []
        if understood.asks_time:
            constants.append(("asks_time", 1.0))
        if understood.asks_by_time:
            constants.append(("asks_by_time", 1.0))
        if understood.asks_preference:
            constants.append(("preference", 1.0))
        situation = understood.situation
        if understood.surroundings is not None:
            count = len(self.read_model.lifecycle.ids)
            words, rows = understood.surroundings
            read["surroundings"] = words, allowed_bits(rows, count) if rows else None
            matches = (one for one in profile.factors if isinstance(one, published.ContextMatch))
            factor = next(matches, None)
            if situation is not None and factor is not None:
                constants.append(("context_weight", factor.weight * situation.context))
        if situation is not None and isinstance(profile.abstention, Surfacing):
            read["surfacing"] = surfacing_numbers(_surfacing(request, is_relaxed=False))
            if profile.retry is not None:
                read["relaxed_surfacing"] = surfacing_numbers(_surfacing(request, is_relaxed=True))

    def _variants(self) -> dict[str, Any]:
        """Return the variants of the query, each searched like the query itself. O6."""
        request, expanded = self.request, self.request.expanded
        fusion = request.variant_fusion
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
                    if (matcher := variant.text_matcher) is None
                    else (matcher.words, [], len(matcher.words)),
                )
                for variant in expanded.variants
            ],
            "variant_rule": (
                reader.variant_weight,
                fusion.k,
                fusion.normalise != "none",
                list(weights),
            ),
            **(
                {}
                if request.variant_statistics is None
                else {"variant_statistics": request.variant_statistics}
            ),
        }

    def response(self, outcome: _core.SearchOutcome) -> SearchResponse:
        """Return the response for the outcome of the run."""
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
            # What leads in words and meaning say nothing of what only a time asks for (H21).
            confidence=None if request.understood.asks_by_time else outcome.confidence,
        )


class FoundRows:
    """The outcome of a search with ids in place of rows; each part is built on demand."""

    __slots__ = (
        "_callbacks",
        "_channel_scores",
        "_found_count",
        "_id_of",
        "_places",
        "_plan",
        "_request",
        "_rows",
        "_search",
        "_walk",
        "ids",
        "outcome",
        "scores",
        "total_ms",
    )

    def __init__(self, search: SearchRun, outcome: _core.SearchOutcome) -> None:
        self.outcome = outcome
        self._request = search.request
        self._plan = search.plan
        self._channel_scores: dict[int, list[float | None]] | None = None
        self._callbacks = search.callbacks
        # A run holds all candidates; only explanations need them.
        self._search = search if search.request.is_explained else None
        self._walk = search.walk
        self._id_of = search.read_model.lifecycle.ids
        self._rows = outcome.rows()
        self.ids = ids_of(self._id_of, self._rows)
        self.scores = outcome.scores()
        self._places: Sequence[int] | None = None
        self._found_count = len(self.ids)
        window = search.request.window
        if not window.is_whole or "" in self.ids:  # "": forgotten since
            self._places = [place for place in window.places(self.scores) if self.ids[place]]
            self.ids = [self.ids[place] for place in self._places]
            self.scores = [self.scores[place] for place in self._places]
        self.total_ms = (perf_counter() - search.started) * 1e3

    @property
    def ranking(self) -> SearchPlan:
        """The plan that ranked the results: of the profile, a short circuit or a retry."""
        outcome = self.outcome
        return self._plan.ranking(outcome.short_cut, is_relaxed=outcome.is_relaxed)

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return new results, best first, that read from ``memories``."""
        outcome, request = self.outcome, self._request
        rows = outcome.results()
        raw = outcome.raw_scores if outcome.best is not None else None
        if self._places is not None:
            rows = [rows[place] for place in self._places]
            raw = None if raw is None else [raw[place] for place in self._places]
        explained = self._explained()
        results = tuple(
            SearchResult(
                memories,
                id,
                row[1:],
                explained and partial(explained, row[0]),
                partial(self._channels_of, row[0]),
            )
            for id, row in zip(self.ids, rows, strict=True)
        )
        if raw is not None:
            for result, score in zip(results, raw, strict=True):
                result.raw_score = score
        if request.deep_recall_rows is not None:
            for result, (row, *_) in zip(results, rows, strict=True):
                result.via_deep_recall = request.deep_recall_rows.hold(row)
        if outcome.direct is not None:
            self._set_links(results, rows)
        if self._plan.core.has_neighbours:
            brought = outcome.brought()
            for result, (row, *_) in zip(results, rows, strict=True):
                if row in brought:
                    result.neighbour_of = self._id_of[brought[row]] or None
        return results

    def _channels_of(self, row: int) -> dict[str, float]:
        """Return the score of each channel that found a row of the results."""
        if self._channel_scores is None:
            scores = self.outcome.channel_scores()
            self._channel_scores = dict(zip(self._rows, scores, strict=True))
        names = [channel.name for channel in self._request.profile.channels]
        found = zip(names, self._channel_scores[row], strict=True)
        return {name: score for name, score in found if score is not None}

    def _set_links(self, results: Sequence[SearchResult], rows: Sequence[Result]) -> None:
        """Set ``found_by_links`` of the results."""
        linked = {row: (path, weight) for row, path, weight, *_ in self.outcome.linked()}
        bridges = self.outcome.bridges()
        for result, (row, *_) in zip(results, rows, strict=True):
            bridge = bridges.get(row, ())
            if row in linked or bridge:
                path, weight = linked.get(row, ((), None))
                result.found_by_links = LinkEvidence(
                    tuple(ids_of(self._id_of, path)), weight, tuple(ids_of(self._id_of, bridge))
                )

    def _explained(self) -> Callable[[int], Explanation] | None:
        """Return the function that explains a row; None unless explanations were asked for."""
        if self._search is None:
            return None
        made = explain.explanation.ExplanationsOfSearch(self._search, self.outcome, self.ranking)
        return made.explanation

    def nearest_misses(self, load: LoadResults) -> tuple[SearchResult, ...]:
        """Return the nearest candidates as new results, if the search abstained."""
        if not self.outcome.has_reason:
            return ()
        misses = self.outcome.misses()
        pairs = zip(ids_of(self._id_of, [row for row, *_ in misses]), misses, strict=True)
        existing = [(id, miss) for id, miss in pairs if id]
        memories = ResultMemories([id for id, _ in existing], load)
        return tuple(SearchResult(memories, id, miss[1:]) for id, miss in existing)

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the direct results; None if no links were followed."""
        direct = self.outcome.direct
        if direct is None:
            return None
        if self._places is None and list(direct) == self._rows:
            return tuple(self.ids)
        ids = filter(None, ids_of(self._id_of, direct))
        if self._request.window.is_whole:
            return tuple(ids)
        returned = set(self.ids)
        return tuple(id for id in ids if id in returned)

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that were found by links."""
        linked = [row for row, *_ in self.outcome.linked()]
        if not linked:
            return frozenset()
        return frozenset(ids_of(self._id_of, linked)).intersection(self.ids)

    def reason(self, *, is_relaxed: bool | None = None) -> str:
        """Return why an attempt abstained although there were candidates; else "".

        The attempt is the retry, the first one, or by default the returned one.
        """
        outcome = self.outcome
        is_retry = outcome.is_relaxed if is_relaxed is None else is_relaxed
        reason = outcome.reasons[is_retry]
        if not reason[0]:
            return ""
        rule = abstention_of(self._request, is_relaxed=is_retry)
        return reason_words(reason, rule, len(self._callbacks().stems()))

    def trace(self) -> SearchTrace:
        """Return the trace of all stages."""
        request, outcome = self._request, self.outcome
        stages = []
        expansion_ms = 0.0
        if (expanded := request.expanded) is not None:
            expansion_ms = expanded.duration_ms
            query_count = 1 + len(expanded.texts)
            tokens, reason = expanded.tokens, expanded.reason
            stages.append(
                StageTrace("query_expansion", 1, query_count, expansion_ms, *tokens, reason)
            )
        for stage in outcome.stages():
            name, is_retry, entered, left, ms, note, first, second, words, read, written = stage
            if note in REASONS:
                words = self.reason(is_relaxed=is_retry)
            elif note == Note.RESPELLED:
                words = respelled_words(words)
            elif note and not words:
                words = note_words(note, first, second, request, self._walk)
            full_name = f"retry/{name}" if is_retry else name
            stages.append(StageTrace(full_name, entered, left, ms, read, written, words))
        if not request.window.is_whole:
            stages.append(request.window.stage(self._found_count, len(self.ids)))
        ids = self._id_of
        duplicates = [(ids[row], ids[better]) for row, better in outcome.duplicates]
        return SearchTrace(
            tuple(stages),
            self.total_ms + expansion_ms,
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
    """Return the abstention rule as an attempt applies it."""
    rule, retry = request.profile.abstention, request.profile.retry
    if isinstance(rule, Surfacing):
        return _surfacing(request, is_relaxed=is_relaxed)
    return rule.eased(retry) if is_relaxed and rule is not None and retry is not None else rule


def _surfacing(request: SearchRequest, *, is_relaxed: bool) -> Surfacing:
    """Return the surfacing thresholds, those of the situation if there is one. O16, O28."""
    rule, retry = request.profile.abstention, request.profile.retry
    situation = request.understood.situation
    assert isinstance(rule, Surfacing)
    share = score_share = 1.0
    if is_relaxed and retry is not None:
        if situation is None:
            return rule.eased(retry)
        share, score_share = retry.relaxation, retry.score_relaxation
    if situation is None:
        return rule
    return replace(
        rule,
        least_cosine=situation.min_vec * share,
        least_overlap=situation.min_text * share,
        least_score=situation.min_composite * score_share,
    )


def _view(
    request: SearchRequest, plan: SearchPlan, read_model: ReadModel, visible: Visible
) -> _core.ReadView:
    """Return the parts of the read model that the core reads for this search."""
    reach, matcher = visible.reach, request.text_matcher
    is_read = request.vector is not None or plan.reads_vectors
    vectors = _compared_vectors(request, read_model) if is_read else None
    has_neighbours = request.profile.neighbours is not None
    return read_model.view(
        (read_model.sessions.whole or read_model.sessions.order) if has_neighbours else None,
        read_model.associations.graph if reach is None else reach.associations.graph,
        None if matcher is None else matcher.column,
        None if matcher is None else matcher.texts.lowered,
        vectors.column if vectors else None,
        None if request.profile.newer_first is None else read_model.statements,
    )


def _compared_vectors(request: SearchRequest, read_model: ReadModel) -> VectorIndex | None:
    return read_model.indexes.vectors if request.vector_index is None else request.vector_index


class Walk(NamedTuple):
    """The result of a walk of the HNSW graph."""

    hits: Any
    """Rows and scores; None: there was no walk."""
    ms: float
    """Duration; in a batch, the query's share."""
    breadth: int = 0
    """Candidates kept during the walk (HNSW's efSearch); 0: all vectors are compared."""
    recall: float | None = None
    """The share of the nearest that such walks found when the graph was measured; None: unknown."""


_NO_WALK: Final = Walk(None, 0.0)


def walk_graph(request: SearchRequest, read_model: ReadModel, visible: Visible) -> Walk:
    """Walk the HNSW graph for a query if that is faster than a scan of all vectors."""
    if request.vector is None:
        return _NO_WALK  # a query of words only: do not even load the vectors
    index, depth = _compared_vectors(request, read_model), _vector_depth(request)
    if not index or depth is None or len(request.vector) != index.dimension:
        return _NO_WALK
    started = perf_counter()
    permitted = read_model.indexes.permitted(
        request.query, visible.bits, request.syntax, request.statistics
    )
    walked = index.walk(request.vector, depth, permitted)
    return _walk_of(walked, (perf_counter() - started) * 1e3)


def _walk_graph_many(
    requests: Sequence[SearchRequest], read_model: ReadModel, visible: Visible, threads: int
) -> list[Walk]:
    """Walk the graph for the requests of one call, which differ only in their queries."""
    if requests[0].syntax != "plain" or len(requests) == 1:
        return [walk_graph(request, read_model, visible) for request in requests]
    walks = [_NO_WALK] * len(requests)
    given = next((request for request in requests if request.vector is not None), None)
    if given is None:
        return walks
    index, depth = _compared_vectors(given, read_model), _vector_depth(given)
    if not index or depth is None:
        return walks
    vector_of = {
        place: request.vector
        for place, request in enumerate(requests)
        if request.vector is not None and len(request.vector) == index.dimension
    }
    if vector_of:
        started = perf_counter()
        vectors = np.stack(list(vector_of.values()))
        found = index.walk_many(vectors, depth, visible.bits, threads)
        share_ms = (perf_counter() - started) * 1e3 / len(vector_of)
        for place, walked in zip(vector_of, found, strict=True):
            walks[place] = _walk_of(walked, share_ms)
    return walks


def _vector_depth(request: SearchRequest) -> int | None:
    """Return the depth of the profile's vector channel; None: it has none."""
    for channel in request.profile.channels:
        if channel.needs == "vector":
            return channel.depth_for(request.k)
    return None


def _walk_of(walked: Walked | None, ms: float) -> Walk:
    if walked is None:
        return Walk(None, ms)
    return Walk(walked.ranked, ms, walked.breadth, walked.recall)
