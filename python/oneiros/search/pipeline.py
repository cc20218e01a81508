"""The recall path: a checked request -> one run in the core -> a response.

The core goes through channels, candidates, scoring and all stages of the profile in one call that
holds no lock of Python's. FAISS is asked before, where a graph is walked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros.association.found import Found
from oneiros.dataclasses_on_use import replace
from oneiros.query.understood import PLAIN
from oneiros.ranking.channels import VectorChannel
from oneiros.ranking.finishing import Surfacing, WeakBest
from oneiros.response import Duplicate, SearchResponse, shelve
from oneiros.search.callbacks import Callbacks
from oneiros.search.notes import REASONS, note_words, reason_words
from oneiros.search.plan import SearchPlan, surfacing_numbers
from oneiros.trace import SearchTrace, StageTrace

if TYPE_CHECKING:
    from oneiros.explaining import Explanation
    from oneiros.projections import Projections, Visible
    from oneiros.projections.stored_rows import StoredIdsByRow
    from oneiros.query.dates import TimeRange
    from oneiros.response import LoadMemories
    from oneiros.search.request import SearchRequest

__all__ = ["Search", "answer", "answer_many"]

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
    search = Search(request, projections, visible, load)
    search.run.run()
    return search.response()


def answer_many(
    requests: Sequence[SearchRequest],
    projections: Projections,
    visible: Visible,
    load: LoadMemories,
    threads: int,
) -> list[SearchResponse]:
    """Run a batch of searches, cut over threads; the responses are those of :func:`answer`."""
    hits = _walked_many(requests, projections, visible, threads)
    searches = [
        Search(request, projections, visible, load, hits=own)
        for request, own in zip(requests, hits, strict=True)
    ]
    _core.run_searches(runs=[search.run for search in searches], threads=threads)
    return [search.response() for search in searches]


class Search:
    """One search, ready to run; and what its run found, once it has.

    Args:
        request: the checked search.
        projections: what it reads.
        visible: the rows that it may return.
        load: the store's loader: ids in, memories out, None for one that is gone.
        hits: of the vectors, where a graph was walked; None: as the index decides.
        is_whole: whether what lies beyond the last place is judged, too.
    """

    def __init__(
        self,
        request: SearchRequest,
        projections: Projections,
        visible: Visible,
        load: LoadMemories,
        *,
        hits: Any = None,
        is_whole: bool = False,
    ) -> None:
        self.started = perf_counter()
        self.request = request
        self.projections = projections
        self.plan = plan = projections.search_plan(request.profile, request.added)
        self.reach = visible.reach
        self._load = load
        self._weak: list[str] = []
        self.run = _core.SearchRun(
            plan=plan.core,
            **_view(request, projections, visible),
            host=Callbacks(request, plan, projections, load),
            has_user_code=request.reranker is not None or plan.core.has_functions,
            query=request.query,
            syntax=request.syntax,
            k=request.k,
            now_seconds=request.now,
            allowed=visible.bits,
            allowed_count=visible.row_count,
            bounds_count=visible.bounds_count,
            follows_links=visible.reach is not None,
            reach=None if visible.reach is None else visible.reach.bits,
            vector=request.vector,
            hits=_walked(request, projections, visible) if hits is None else hits,
            leaves_time=request.understood.leaves_time,
            has_reranker=request.reranker is not None,
            explain=request.is_explained,
            is_whole=is_whole,
            **self._read_query(),
        )

    def _read_query(self) -> dict[str, Any]:
        """What the query's words, times and surroundings say."""
        request, plan = self.request, self.plan
        profile, understood, sought = request.profile, request.understood, request.sought
        read: dict[str, Any] = dict(_NOTHING_READ)
        if sought is not None:
            read["words"] = (sought.words, [], len(sought.words))
            if plan.reads_overlap:
                read["overlap"] = sought.overlap_words(profile.factors)
            if profile.fast_path is not None:
                read["spoken"] = sought.start(profile.fast_path.characters)
        if isinstance(profile.abstention, WeakBest) and request.vector is not None:
            from oneiros.texts.normalised import stemmed, words_of  # noqa: PLC0415 - by vectors

            self._weak = stemmed(
                words_of(request.spoken, profile.query_words), profile.abstention.suffixes
            )
            read["weak"] = (self._weak, [], len(self._weak))
        if understood is not PLAIN:
            self._read_understood(read)
        if request.back_again is not None:
            read["lapsed"] = request.back_again.lapsed_rows
        if request.verdicts:
            from oneiros.ranking.factors.thompson import verdict_tables  # noqa: PLC0415

            kinds = self.projections.lifecycle.kinds
            read["by_kind"] = verdict_tables(profile.factors, request.verdicts, kinds, request.now)
        if request.ranks is not None:
            read |= self._variants()
        return read

    def _read_understood(self, read: dict[str, Any]) -> None:
        request = self.request
        profile, understood = request.profile, request.understood
        if understood.time is not None:
            read["time"] = _time(understood.time)
        read["is_keyword_like"] = understood.intent == "navigational"
        constants = read["constants"] = []
        if understood.asks_preference:
            constants.append(("preference", 1.0))
        here = understood.situation
        if understood.surroundings is not None:
            count = len(self.projections.lifecycle.ids)
            read["surroundings"] = understood.surroundings.for_rows(count)
            from oneiros.ranking.factors import Context  # noqa: PLC0415 - few have a context

            weights = [one.weight for one in profile.factors if isinstance(one, Context)]
            if here is not None and weights:
                constants.append(("context_weight", weights[0] * here.context))
        if here is not None and isinstance(profile.abstention, Surfacing):
            read["surfacing"] = surfacing_numbers(self._surfacing(is_relaxed=False))
            if profile.retry is not None:
                read["relaxed_surfacing"] = surfacing_numbers(self._surfacing(is_relaxed=True))

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

    def _surfacing(self, *, is_relaxed: bool) -> Surfacing:
        """How near a result must be, as the situation has it. O16, O28."""
        rule, retry = self.request.profile.abstention, self.request.profile.retry
        here = self.request.understood.situation
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

    # Of what the run found.

    @property
    def ranking(self) -> SearchPlan:
        """The plan that ranked the results: the profile's, or that of a short cut or a retry."""
        return self.plan.ranking(self.run.short_cut, is_relaxed=self.run.is_relaxed)

    @property
    def abstention(self) -> object:
        """The rule of abstention as this search applied it."""
        return self._abstention(is_relaxed=self.run.is_relaxed)

    def _abstention(self, *, is_relaxed: bool) -> object:
        rule, retry = self.request.profile.abstention, self.request.profile.retry
        if isinstance(rule, Surfacing):
            return self._surfacing(is_relaxed=is_relaxed)
        return rule.eased(retry) if is_relaxed and rule is not None and retry is not None else rule

    def _reason(self, *, is_relaxed: bool) -> str:
        """Why an attempt returns nothing although there are candidates; else empty."""
        reason = self.run.reasons[is_relaxed]
        if not reason[0]:
            return ""
        rule = self._abstention(is_relaxed=is_relaxed)
        return reason_words(reason, rule, len(self._weak))

    @property
    def reason(self) -> str:
        """Why nothing is returned although there are candidates; else empty."""
        return self._reason(is_relaxed=self.run.is_relaxed)

    def response(self) -> SearchResponse:
        """Return the response of the run."""
        request, run = self.request, self.run
        ids = _IdsOfRows(self.projections.lifecycle.ids)
        results = [one for one in run.results() if ids[one[0]]]  # "": forgotten meanwhile
        reason = self.reason
        misses = [one for one in run.misses() if ids[one[0]]] if reason else []
        response = SearchResponse(
            query=request.query,
            now=request.now,
            profile=request.profile.name,
            profile_hash=request.profile_hash,
            results=shelve(
                [ids[row] for row, *_ in results],
                [one[1:] for one in results],
                self._explained(results) if request.is_explained else None,
                self._load,
                self._found(results, ids),
                self._neighbours(results, ids),
            ),
            trace=self._trace(ids),
            reason=reason,
            confidence=run.confidence,
            nearest_misses=shelve(
                [ids[row] for row, *_ in misses], [one[1:] for one in misses], None, self._load
            ),
            direct_ids=self._direct_ids(ids),
        )
        if run.best is not None:
            raw = dict(zip((row for row, *_ in run.results()), run.raw_scores, strict=True))
            for (row, *_), result in zip(results, response.results, strict=True):
                result.raw_score = raw[row]
        if request.back_again is not None:
            for (row, *_), result in zip(results, response.results, strict=True):
                result.via_deep_recall = request.back_again.hold(row)
        return response

    def _explained(self, results: Sequence[Result]) -> Sequence[Explanation]:
        """Return how each of these came to its score, made when it is touched."""
        from oneiros.search.explained import Explained  # noqa: PLC0415 - few are explained

        return Explained(self).of([row for row, *_ in results])

    def _trace(self, ids: Mapping[int, str]) -> SearchTrace:
        request, run = self.request, self.run
        stages = []
        before_ms = 0.0
        if (told := request.expanded) is not None:
            before_ms = told.duration_ms
            stages.append(
                StageTrace(
                    "query_expansion", 1, 1 + len(told.texts), before_ms, *told.tokens, told.reason
                )
            )
        for name, is_retry, entered, left, ms, note, first, second, text, *tokens in run.stages():
            words = text
            if note in REASONS:
                words = self._reason(is_relaxed=is_retry)
            elif note and not words:
                words = note_words(note, first, second, request)
            full_name = f"retry/{name}" if is_retry else name
            stages.append(StageTrace(full_name, entered, left, ms, tokens[0], tokens[1], words))
        duplicates = [(ids[row], ids[better]) for row, better in run.duplicates]
        return SearchTrace(
            tuple(stages),
            (perf_counter() - self.started) * 1e3 + before_ms,
            tuple(self._notes()),
            tuple(Duplicate(id, better) for id, better in duplicates if id and better),
        )

    def _notes(self) -> list[str]:
        request, future = self.request, self.run.future_count
        understood = request.understood
        if self.run.is_relaxed:
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

    def _direct_ids(self, ids: Mapping[int, str]) -> tuple[str, ...] | None:
        """The direct results before what links brought was merged in, as far as no stage left them."""
        direct = self.run.direct
        if direct is None:
            return None
        left = {row for row, _ in self.run.duplicates}
        if isinstance(self.request.profile.abstention, Surfacing):
            left |= self.run.far().keys()
        return tuple(ids[row] for row in direct if ids[row] and row not in left)

    def _found(self, results: Sequence[Result], ids: Mapping[int, str]) -> dict[int, Found]:
        """By place, what links have to do with the result there."""
        if self.run.direct is None:
            return {}
        linked = {row: (path, weight) for row, path, weight, *_ in self.run.linked()}
        bridges = self.run.bridges()
        found = {}
        for place, (row, *_) in enumerate(results):
            bridge = bridges.get(row, ())
            if row in linked or bridge:
                path, weight = linked.get(row, ((), None))
                found[place] = Found(
                    tuple(ids[step] for step in path), weight, tuple(ids[step] for step in bridge)
                )
        return found

    def _neighbours(self, results: Sequence[Result], ids: Mapping[int, str]) -> dict[int, str]:
        """By place of a result, the id of the hit beside which it stands, which brought it."""
        if not self.plan.core.has_neighbours:
            return {}
        brought = self.run.brought()
        hits = {
            place: ids[brought[row]] for place, (row, *_) in enumerate(results) if row in brought
        }
        return {place: id for place, id in hits.items() if id}


_NOTHING_READ: Final[dict[str, Any]] = {
    "spoken": "",
    "time": None,
    "is_keyword_like": False,
    "lapsed": None,
    "words": None,
    "overlap": None,
    "weak": None,
    "constants": [],
    "by_kind": [],
    "surroundings": None,
    "variants": [],
    "variant_rule": None,
    "surfacing": None,
    "relaxed_surfacing": None,
}


def _view(request: SearchRequest, projections: Projections, visible: Visible) -> dict[str, Any]:
    """What the core reads, part by part."""
    reach, sought = visible.reach, request.sought
    vectors = projections.indexes.vectors if _reads_vectors(request) else None
    has_neighbours = request.profile.neighbours is not None
    return {
        "lexical": projections.indexes.lexical,
        "columns": projections.lifecycle.columns,
        "sessions": projections.sessions.order if has_neighbours else None,
        "graph": None if reach is None else reach.associations.graph,
        "texts": None if sought is None else sought.column,
        "lowered": None if sought is None else sought.texts.lowered,
        "vectors": vectors.column if vectors else None,
    }


def _reads_vectors(request: SearchRequest) -> bool:
    """Whether a stage looks at vectors: that loads those of a store that was opened."""
    profile = request.profile
    return (
        request.vector is not None
        or profile.duplicates is not None
        or any(factor.name == "cluster" for factor in profile.factors)
    )


def _walked(request: SearchRequest, projections: Projections, visible: Visible) -> Any:
    """What a walk of the vectors' graph finds; None where the core looks at the vectors itself."""
    vector = request.vector
    if vector is None:  # of words alone: the vectors are not even loaded
        return None
    index = projections.indexes.vectors
    if not index or len(vector) != index.dimension:
        return None
    for channel in request.profile.channels:
        if isinstance(channel, VectorChannel):
            permitted = projections.indexes.permitted(request.query, visible.bits, request.syntax)
            return index.walk(vector, channel.depth_for(request.k), permitted)
    return None


def _walked_many(
    requests: Sequence[SearchRequest], projections: Projections, visible: Visible, threads: int
) -> list[Any]:
    del threads
    return [_walked(request, projections, visible) for request in requests]


def _time(asked: TimeRange) -> tuple[float, float, bool, float]:
    return asked.start, asked.end, asked.is_soft, asked.case


class _IdsOfRows(dict[int, str]):
    """The ids of the rows that a response tells of, each read once."""

    __slots__ = ("_ids",)

    def __init__(self, ids: Sequence[str] | StoredIdsByRow) -> None:
        self._ids = ids

    def __missing__(self, row: int) -> str:
        id = self[row] = self._ids[row]
        return id
