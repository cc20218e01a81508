"""One call of ``search``, ``search_many`` or ``why_not``: from options and queries to requests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

from oneiros import _core, lexical
from oneiros.errors import EmbedderMismatch
from oneiros.index import Limits
from oneiros.model.fields import FIELDS
from oneiros.model.validation import count, require_text, require_utf8
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.stages import with_place
from oneiros.scoring.understanding import fused_by_shares
from oneiros.search import query as reading
from oneiros.search.cache import SameObject
from oneiros.search.plan import DeepRecall, question_least
from oneiros.search.query.dates import (
    asks_by_time_alone,
    asks_for_time,
    may_name_a_time,
    range_in,
)
from oneiros.search.query.parsed import (
    PLAIN,
    TextMatcher,
    Understood,
    asks_times,
    names_kinds,
    ranked_by,
    understand,
)
from oneiros.search.trace import StageTrace
from oneiros.write.reinforce import ReinforcementEvent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.engine.scope import Scope
    from oneiros.index import Visible
    from oneiros.index.row_sets import DeepRecallRows
    from oneiros.models.rerankers import Reranker
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.selection import Selection
    from oneiros.search.options import SearchOptions
    from oneiros.search.query.dates import TimeRange
    from oneiros.search.query.expansion import Expanded
    from oneiros.search.response import SearchResponse
    from oneiros.vector_index.index import VectorIndex

__all__ = [
    "WHOLE",
    "SearchCall",
    "SearchRequest",
    "Window",
    "query_vector",
    "run_call",
]


Result = TypeVar("Result")


class VectorsReplaced(Exception):
    """Another embedder's vectors replaced all since the call began: it begins again."""


class Window(NamedTuple):
    """The part of a ranking that a search returns."""

    offset: int = 0
    """Number of the first results that are left out."""
    min_score: float | None = None
    """Least score of a result; None: any."""

    @property
    def is_whole(self) -> bool:
        """Whether every result lies in it."""
        return not self.offset and self.min_score is None

    def places(self, scores: Sequence[float]) -> list[int]:
        """Return the places of the scores that lie in the window, in order."""
        places = range(self.offset, len(scores))
        least = self.min_score
        return list(places) if least is None else [n for n in places if scores[n] >= least]

    def stage(self, entered: int, left: int) -> StageTrace:
        """Return the trace of the window, given the numbers of results before and in it."""
        parts = [f"offset {self.offset}"] if self.offset else []
        parts += [] if self.min_score is None else [f"min_score {self.min_score:g}"]
        return StageTrace("window", entered, left, 0.0, note=", ".join(parts))


WHOLE: Final = Window()


class SearchRequest(NamedTuple):
    """One search, checked."""

    query: str
    plain_text: str
    """The query's text without the signs of its syntax."""
    syntax: str
    """Syntax of the query: "plain" or "query"."""
    vector: npt.NDArray[np.float32] | None
    """Unit length, shape (dimension,); None leaves the vector channel out."""
    is_of_spelling: bool
    """Whether the vectors are of an embedder that knows words by their spelling alone."""
    absent: str
    """Why the vector channel is left out; empty if it is not."""
    k: int
    """Most results, those before the window included; the depth of channels follows from it."""
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
    deep_recall_rows: DeepRecallRows | None
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
    statistics: _core.QueryStatistics | None = None
    """Statistics that weigh words in place of those of the scope."""
    variant_statistics: _core.QueryStatistics | None = None
    """The same for the words of variants."""
    is_weighed_by_store: bool = False
    """Whether the statistics of the whole store weigh words."""
    window: Window = WHOLE
    """The part of the ``k`` results that is returned."""
    vector_index: VectorIndex | None = None
    """The vectors that ``vector`` is compared with; None: those that the read model has when it runs."""


class _Traits(NamedTuple):
    """The parts of a query that a profile reads, computed once per profile."""

    profile: Profile
    asks_times: bool
    reads_texts: bool
    reads_verdicts: bool
    reads_vector: bool
    """Whether a channel or a factor reads the query's vector."""
    takes_variants: bool
    has_functions: bool


_TRAITS: Final[dict[str, _Traits]] = {}
"""By profile hash. Unequal profiles with different user functions may share one, so that the profile
of an entry is compared, too."""
_MOST_CACHED: Final = 256
_MOST_RUNS: Final = 16
_USUAL_K: Final = 1_000_000  # up to here k is checked without a function call


def _traits_of(profile: Profile) -> _Traits:
    if len(_TRAITS) >= _MOST_CACHED:
        _TRAITS.clear()
    traits = _TRAITS[profile.hash] = _Traits(
        profile=profile,
        asks_times=asks_times(profile),
        reads_texts=profile.reads_texts,
        reads_verdicts=any(getattr(factor, "reads_verdicts", False) for factor in profile.factors),
        reads_vector=any(channel.needs == "vector" for channel in profile.channels)
        or question_least(profile, profile.compile()) is not None,
        takes_variants=profile.understanding is not None
        and isinstance(profile.fusion, ReciprocalRankFusion),
        has_functions=profile.has_functions,
    )
    return traits


class SearchCall:
    """The options of one call, resolved against its engine.

    Raises:
        TypeError, ValueError: ``k`` is no count, or the profile does not read an option.
        EngineClosed: the engine is closed.
    """

    __slots__ = (
        "_scope",
        "_vector_changes",
        "bounds",
        "content_revision",
        "is_explained",
        "k",
        "limits",
        "now",
        "options",
        "profile",
        "read_model",
        "services",
        "traits",
        "window",
    )

    def __init__(
        self,
        scope: Scope,
        options: SearchOptions,
        k: int,
        *,
        is_explained: bool | None = None,
    ) -> None:
        self._scope = scope
        self.options = options
        k = k if type(k) is int and 0 <= k <= _USUAL_K else count("k", k)
        self.k = k + options.offset if k else 0
        self.window = WHOLE
        if options.offset or options.min_score is not None:
            self.window = Window(options.offset, options.min_score)
        self.services = services = scope.services
        sync = services.sync
        sync.follow_others(is_asked=services.auto_refresh)
        # Before the read model: what the call finds is of these, or newer.
        self._vector_changes = sync.vector_changes()
        self.content_revision = sync.content_revision
        self.read_model = scope.read_model  # held, since another one would number rows differently
        self.profile = services.profile if options.profile is None else options.profile
        self.now = scope.now(None) if options.now is None else options.now
        options.require_read(self.profile)
        traits = _TRAITS.get(self.profile.hash)
        if traits is None or traits.profile is not self.profile:
            traits = _traits_of(self.profile)
        self.traits = traits
        self.is_explained = options.explain if is_explained is None else is_explained
        self.bounds = scope.condition() if scope.bounds else None
        self.limits = self._limits()

    def _limits(self) -> Limits:
        options, selection = self.options, self.profile.selection
        if selection.hidden_kinds and any(map(names_kinds, (options.where, self.bounds))):
            selection = _with_all_kinds(selection)
        return Limits(
            selection=selection,
            where=options.where,
            status=options.status,
            now=self.now,
            valid_at=options.valid_at,
            includes_expired=options.include_expired,
            is_deep=options.deep_recall,
            includes_lapsed=options.include_expired_in_deep_recall,
            least_trust=options.least_trust or 0.0,
            excluded=options.exclude,
            learned_before=None
            if options.exclude_newer is None
            else self.now - options.exclude_newer,
        )

    def visible(self, *, is_exact: bool = False) -> Visible:
        """Return the rows that the searches may return, and those that links may reach.

        Args:
            is_exact: let in no row that comes to the indexes later. Always so with a reranker or a
                factor in Python: it may take long, so the search must not run again.
        """
        profile, bounds = self.profile, self.bounds
        is_exact = is_exact or self.traits.has_functions or self._reranker is not None
        links = None
        if profile.expansion is not None or profile.newer_first is not None:
            sync, is_bounded = self.services.sync, bounds is not None
            links = sync.links_to_follow(self.read_model, is_bounded=is_bounded)
        return self.read_model.row_sets.searched(
            self.limits,
            bounds,
            links,
            profile.expansion,
            has_neighbours=profile.neighbours is not None,
            is_exact=is_exact,
        )

    @property
    def _reranker(self) -> Reranker | None:
        given = self.options.reranker
        return self.services.reranker if given is None else given

    # -- requests ----------------------------------------------------------------------------------

    def requests(
        self, queries: Sequence[str], embeddings: Sequence[npt.ArrayLike | None]
    ) -> tuple[list[SearchRequest], list[int]]:
        """Return the requests of queries: one per query, or one per part of a compound query.

        Args:
            queries: the texts.
            embeddings: one per query; None: the embedder makes it. The embedder is called once for
                several queries or parts.

        Returns:
            The requests, and the number of parts of each query.
        """
        parts_by_query = [self._parts_of(query) for query in queries]
        counts = list(map(len, parts_by_query))
        if len(counts) == 1 and counts[0] == 1:
            return [self.request(queries[0], embeddings[0])], counts
        parts: list[str] = []
        vectors: list[npt.ArrayLike | None] = []
        for query, query_parts, embedding in zip(queries, parts_by_query, embeddings, strict=True):
            parts += query_parts if len(query_parts) > 1 else [query]
            vectors += [embedding] * len(query_parts)
        plain_texts = [_plain_text_of(part, self.options.syntax) for part in parts]
        skips_vector = [bool(self._absent(self._understood(text))) for text in plain_texts]
        vectors = self._embedded(plain_texts, vectors, skips_vector)
        requests = [self.request(part, vector) for part, vector in zip(parts, vectors, strict=True)]
        if not self.window.is_whole:  # of a compound query it is that of the merged results
            is_part = [count > 1 for count in counts for _ in range(count)]
            requests = [
                request._replace(window=WHOLE) if is_of_many else request
                for request, is_of_many in zip(requests, is_part, strict=True)
            ]
        return requests, counts

    def _parts_of(self, query: str) -> Sequence[str]:
        """Return the parts of a compound query, else the query. docs/systems/omega.md O10."""
        reader = self.profile.understanding
        if reader is None or self.options.syntax != "plain":
            return [query]
        require_text("query", query)
        return reading.subqueries.parts_of(query, reader)

    def request(self, query: str, embedding: npt.ArrayLike | None) -> SearchRequest:
        """Return the request of one query. Without an embedding, the embedder makes its vector."""
        options, services = self.options, self.services
        if type(query) is not str:
            require_text("query", query)
        plain_text = query if options.syntax == "plain" else _plain_text_of(query, options.syntax)
        understood = self._understood(plain_text)
        expanded = variant_fusion = None
        if services.expander is not None:
            if not self.traits.takes_variants:
                unused = (*understood.unused, "query_expander not used by the profile")
                understood = understood._replace(unused=unused)
            expanded, embedding = self._expanded(plain_text, understood, embedding)
        vector, absent, index = None, self._absent(understood), None
        if not absent or embedding is not None:  # a given vector is always checked
            found = self._vector_of(plain_text, embedding)
            vector, absent = (None, absent) if absent else found
        if vector is not None or (expanded is not None and expanded.variants):
            index = self._compared_vectors()
        reranker = self._reranker
        ranked = self.profile if reranker is None else with_place(self.profile)
        if understood is not PLAIN:
            ranked = ranked_by(ranked, understood)
        if expanded is not None and expanded.variants:
            assert isinstance(ranked.fusion, ReciprocalRankFusion)
            variant_fusion, ranked = ranked.fusion, fused_by_shares(ranked)
        is_deep = self.limits.is_deep
        row_sets = self.read_model.row_sets
        return SearchRequest(
            query=query,
            plain_text=plain_text,
            syntax=options.syntax,
            vector=vector,
            is_of_spelling=self.services.sync.vectors.is_of_spelling,
            absent=absent,
            k=self.k,
            now=self.now,
            profile=ranked,
            profile_hash=self.profile.hash,
            understood=understood,
            is_explained=self.is_explained,
            verdicts=self._scope.verdicts(self.profile) if self.traits.reads_verdicts else {},
            deep_recall_rows=row_sets.came_back(self.limits) if is_deep else None,
            text_matcher=self._text_matcher(plain_text) if self.traits.reads_texts else None,
            reranker=reranker,
            until=options.until,
            expanded=expanded,
            added=(DeepRecall(self.profile.deep_recall_penalty),) if is_deep else (),
            variant_fusion=variant_fusion,
            statistics=self._given_statistics(),
            is_weighed_by_store=options.statistics == "store",
            window=self.window,
            vector_index=index,
        )

    def _absent(self, understood: Understood) -> str:
        """Return why the query needs no vector; empty if it does."""
        return understood.skips_vectors if self.traits.reads_vector else "not read by the profile"

    def _vector_of(
        self, text: str, embedding: npt.ArrayLike | None
    ) -> tuple[npt.NDArray[np.float32] | None, str]:
        """Return what :func:`query_vector` does.

        Raises:
            VectorsReplaced: the vector is of another width than the new vectors.
        """
        try:
            return query_vector(self._scope, text, embedding)
        except ValueError:
            self._require_same_vectors()
            raise

    def _compared_vectors(self) -> VectorIndex | None:
        """Return the vectors that those made since the call began can be compared with.

        Raises:
            VectorsReplaced: there are none.
        """
        index = self.read_model.indexes.vectors
        self._require_same_vectors()
        return index

    def _require_same_vectors(self) -> None:
        if self.services.sync.vector_changes() != self._vector_changes:
            raise VectorsReplaced

    def _given_statistics(self) -> _core.QueryStatistics | None:
        given = self.options.statistics
        if isinstance(given, str):
            return None
        made_with = self.read_model.indexes.made_with
        return lexical.statistics.given_statistics(given, made_with)

    def _understood(self, plain_text: str) -> Understood:
        """Read the query's text and the caller's context by the profile.

        Raises:
            ValueError: a situation that the profile does not know.
        """
        options, profile = self.options, self.profile
        time: TimeRange | None = None
        if options.time is not None:
            time = options.time
        elif self.traits.asks_times and may_name_a_time(plain_text):
            time = range_in(plain_text, self.now, self._scope.shared.zone)
        if time is not None and time.words and profile.named_time is None:
            time = time._replace(certainty="soft")  # O22; only H10 reads the wording
        if time is None and profile.understanding is None:
            understood = PLAIN
        else:
            understood = understand(plain_text, profile, options.hint, options.where, time)
        named = profile.named_time
        words = "" if time is None or named is None or not named.alone else time.words
        if words and asks_by_time_alone(plain_text, words):
            understood = understood._replace(asks_by_time=True)
        if profile.asked_time is not None and asks_for_time(plain_text):
            understood = understood._replace(asks_time=True)
        if options.hint is not None and understood.hint is None:
            understood = understood._replace(unused=("hint not listed by the profile",))
        context = options.context
        if context is None:
            return understood
        reader, situation = profile.understanding, None
        if reader is not None and context.situation is not None:
            situation = reader.situation_of(context.situation)
        reads_context = any(factor.name == "context" for factor in profile.factors)
        row_sets = self.read_model.row_sets
        surroundings = context.surroundings(row_sets) if reads_context else None
        return understood._replace(surroundings=surroundings, situation=situation)

    def _expanded(
        self, plain_text: str, understood: Understood, embedding: npt.ArrayLike | None
    ) -> tuple[Expanded, npt.ArrayLike | None]:
        """Have the engine's expander rephrase a conceptual query.

        Returns:
            The variants, or why there are none; and the query's vector, embedded together with
            those of the variants.

        Source: docs/systems/omega.md O6.
        """
        expander, reader = self.services.expander, self.profile.understanding
        assert expander is not None
        if reader is None or not self.traits.takes_variants:
            reason = "not asked: the profile reads no questions or fuses no ranks"
            return reading.expansion.Expanded(reason=reason), embedding
        if understood.intent != "conceptual":
            reason = "not asked: the question is not conceptual"
            return reading.expansion.Expanded(reason=reason), embedding
        seconds = reader.expander_seconds
        if self.options.until is not None:
            seconds = min(seconds, self.options.until - monotonic())
        expanded = reading.expansion.expanded_by(expander, plain_text, reader, seconds)
        if not expanded.texts:
            return expanded, embedding
        texts = [plain_text, *expanded.texts]
        given = [embedding, *(None for _ in expanded.texts)]
        vectors = self._embedded(texts, given, [not self.traits.reads_vector] * len(texts))
        variants = tuple(
            reading.expansion.Variant(
                text,
                None if vector is None else self._vector_of(text, vector)[0],
                self._text_matcher(text) if self.traits.reads_texts else None,
            )
            for text, vector in zip(expanded.texts, vectors[1:], strict=True)
        )
        return expanded._replace(variants=variants), vectors[0]

    def _text_matcher(self, plain_text: str) -> TextMatcher:
        texts = self.services.sync.texts(self.read_model)
        return TextMatcher(texts, plain_text, self.profile.query_words)

    def _embedded(
        self,
        queries: Sequence[str],
        given: list[npt.ArrayLike | None],
        skips_vector: Sequence[bool],
    ) -> list[npt.ArrayLike | None]:
        """Fill in the missing vectors in ``given``, all by one call of the embedder.

        Blank queries get none, and those that skip the vector channel.
        """
        embedder = self.services.sync.vectors
        missing = [
            n
            for n, query in enumerate(queries)
            if given[n] is None and query.strip() and not skips_vector[n]
        ]
        if embedder.is_present and missing:
            vectors = embedder.of([queries[n] for n in missing])
            for n, vector in zip(missing, vectors, strict=True):
                given[n] = vector
        return given

    # -- after the search --------------------------------------------------------------------------

    def key(self, query: str, embedding: npt.ArrayLike | None) -> Hashable:
        """Return the cache key of a response: all it depends on except memories and the clock.

        Of the clock it includes how many memories are out of their time of validity.

        Raises:
            TypeError, ValueError: an argument breaks its rule, as without a cache.
        """
        require_text("query", query)
        vector = None
        if embedding is not None:
            unit = self.services.sync.vectors.accept(FIELDS["embedding"].check(embedding))
            vector = b"" if unit is None else unit.tobytes()
        options, limits = self.options, self.limits
        return (
            self.profile,
            tuple(sorted(self._scope.bounds.items())),
            self._statistics_key(),
            (query, options.syntax, self.k, vector),
            (options.where, options.hint, options.time, options.context),
            None if options.reranker is None else SameObject(options.reranker),
            (self.window, options.exclude),
            None if limits.status is None else frozenset(map(str, limits.status)),
            (limits.valid_at, limits.includes_expired, limits.is_deep, limits.includes_lapsed),
            limits.least_trust,
            self.read_model.row_sets.out_of_time_counts(limits),
        )

    def _statistics_key(self) -> Hashable:
        given = self.options.statistics
        return given if isinstance(given, str) else SameObject(given)

    def merge_parts(
        self,
        queries: Sequence[str],
        counts: Sequence[int],
        requests: Sequence[SearchRequest],
        responses: list[SearchResponse],
    ) -> list[SearchResponse]:
        """Merge the responses of the parts of each compound query."""
        if len(queries) == len(responses):
            return responses
        merged: list[SearchResponse] = []
        start = 0
        for query, part_count in zip(queries, counts, strict=True):
            parts = slice(start, start + part_count)
            start += part_count
            merged.append(
                responses[parts][0]
                if part_count == 1
                else reading.subqueries.merged_answer(
                    query,
                    requests[parts],
                    responses[parts],
                    self.read_model,
                    self._scope.loader,
                    self.window,
                )
            )
        return merged

    def reinforce(self, responses: list[SearchResponse]) -> list[SearchResponse]:
        """Reinforce the results if profile and options say so, and add the stage to the traces."""
        rule, is_wanted = self.profile.reinforcement, self.options.reinforce
        if is_wanted is None:
            is_wanted = not self.is_explained
        if rule is None or not is_wanted or self.services.is_read_only:
            return responses
        for response in responses:
            started = perf_counter()
            if response:
                ids = tuple(response.ids)
                direct = response.direct_ids
                self.services.sync.reinforce(
                    ReinforcementEvent(
                        ids,
                        self.now,
                        self.options.session,
                        rule,
                        ids if direct is None or direct == ids else direct,
                        frozenset() if direct is None else response.linked_ids,
                    )
                )
            response.with_reinforcement((perf_counter() - started) * 1e3)
        return responses


def run_call(
    scope: Scope,
    options: SearchOptions,
    k: int,
    run: Callable[[SearchCall], Result],
    *,
    is_explained: bool | None = None,
) -> Result:
    """Begin a call and run it; from the beginning again where all vectors are replaced meanwhile.

    Raises:
        EmbedderMismatch: they are replaced in each of many runs, as by what a search calls.
    """
    for _ in range(_MOST_RUNS):
        with suppress(VectorsReplaced):
            return run(SearchCall(scope, options, k, is_explained=is_explained))
    msg = (
        f"embedder: the vectors were replaced in each of {_MOST_RUNS} runs of the search; "
        "a callable of the search must not call reembed"
    )
    raise EmbedderMismatch(msg)


def query_vector(
    scope: Scope, query: str, embedding: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float32] | None, str]:
    """Return the unit vector of a query and "", or None and the reason."""
    vectors = scope.services.sync.vectors
    if embedding is not None:
        vector = vectors.accept(FIELDS["embedding"].check(embedding))
        return vector, "" if vector is not None else "absent: the embedding is a zero vector"
    if not vectors.is_present:
        return None, "absent: no embedder, and no embedding given"
    if not query.strip():
        return None, "absent: nothing to embed in an empty query"
    vector = next(vectors.of([query]))
    return vector, "" if vector is not None else "absent: the embedder gave a zero vector"


@lru_cache(maxsize=64)
def _with_all_kinds(selection: Selection) -> Selection:
    """Return the selection that hides no kinds. Equal selections give one object."""
    return replace(selection, hidden_kinds=())


def _plain_text_of(query: str, syntax: str) -> str:
    """Return a query's text without the signs of its syntax, as an embedder reads it."""
    if syntax == "plain":
        return query
    require_utf8("query", query)
    clauses = _core.parse_query(text=query, syntax=syntax)
    return " ".join(text for occur, _, _, text in clauses if occur != "must_not")
