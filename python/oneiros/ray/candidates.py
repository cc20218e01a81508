"""The part of a shard in a search over all shards: statistics, candidates, and their surroundings.

Nothing here knows Ray: a :class:`CandidateSource` reads an engine, and its answers can be pickled.
"""

from __future__ import annotations

import os
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import oneiros
from oneiros import _core, lexical
from oneiros.errors import StoreCorrupt
from oneiros.filters import allowed_bits
from oneiros.graph.graph import TAU_DAYS, links_found
from oneiros.index.columns import coded
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.fusion import WeightedSum
from oneiros.scoring.profile import Profile
from oneiros.search.call import SearchCall, SearchRequest
from oneiros.search.options import SearchOptions
from oneiros.search.pipeline import SearchRun, Walk, walk_graph
from oneiros.search.query.parsed import PLAIN, Understood
from oneiros.store.rows import json_text
from oneiros.write.reinforce import OF_USE, ReinforcementEvent

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.engine.engine import Engine
    from oneiros.engine.memories import Memories
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.filters import Bits
    from oneiros.index import Visible
    from oneiros.index.columns import Lifecycle
    from oneiros.index.indexes import LexicalOptions
    from oneiros.lexical.statistics import QueryStatistics
    from oneiros.ray.shard_scopes import ShardScopes
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.reinforcement import ReinforcementDeclaration
    from oneiros.scoring.selection import Selection
    from oneiros.search.query.dates import TimeRange
    from oneiros.store import StoredLink, StoredMemory

__all__ = [
    "HOT",
    "Around",
    "Candidate",
    "CandidateSource",
    "Found",
    "Hit",
    "Linked",
    "Moment",
    "Order",
    "Overview",
    "Part",
    "PartVariant",
    "SessionPlace",
    "ShardQuestion",
    "Spacer",
    "Used",
    "with_terms",
]

Order = tuple[float, int, int]
"""Sorts the memories of all shards as one store would hold them: the time of addition (never before
that of an earlier memory of the shard), the number of the shard, the sequence number in it."""

Moment = tuple[str, int, str]
"""A process, a number that rises with every commit that it applies, and a text that every step of a
move of a scope to or from the shard replaces."""
HOT: Final = "most accessed"
"""The name of the most accessed memories next to those of channels."""
_STATES: Final = tuple(name for name in OF_USE if FIELDS[name].column is not None)
_RAW: Final = WeightedSum(weights=(1.0,), importance=0.0, normalise=("none",))
_CHANNELS: Final = {
    "lexical": LexicalChannel,
    "vector": VectorChannel,
    "temporal": TemporalChannel,
}


class PartVariant(NamedTuple):
    """Other words for a part, from the query expander; they are in plain syntax."""

    text: str
    vector: npt.NDArray[np.float32] | None


class Part(NamedTuple):
    """A text to search for: the query, or a part of a compound one."""

    query: str
    plain_text: str
    vector: npt.NDArray[np.float32] | None
    time: TimeRange | None
    variants: tuple[PartVariant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardQuestion:
    """A checked search, as every shard gets it."""

    parts: tuple[Part, ...]
    bounds: Mapping[str, str]
    syntax: str
    now: float
    depths: Mapping[str, int]
    """Number of candidates by name of the channel."""
    word_weights: Mapping[str, Any]
    """Parameters of the lexical channel that weigh the words of a query, besides BM25."""
    selection: Selection
    limits: Mapping[str, Any]
    """The checked keywords of a search that say which memories it may return."""
    weighed_by: str | QueryStatistics
    """As ``statistics`` of a search."""
    hot_size: int
    """Number of the most accessed memories that become candidates."""
    reads_verdicts: bool
    reads_links: bool
    reads_sessions: bool

    @property
    def variants(self) -> list[str]:
        """The texts of the variants of all parts."""
        return [variant.text for part in self.parts for variant in part.variants]

    def profile(self, channels: Iterable[tuple[str, int]]) -> Profile:
        """Return a profile of channels alone, each with its depth."""
        own: dict[str, Mapping[str, Any]] = {"lexical": self.word_weights}
        return Profile(
            name="candidates",
            channels=tuple(
                _CHANNELS[name](depth=depth, **own.get(name, {})) for name, depth in channels
            ),
            fusion=_RAW,
            selection=self.selection,
            reinforcement=None,
        )


class Overview(NamedTuple):
    """Round one: what weighs the query, and what must be alike in all shards."""

    moment: Moment
    """Another one after every change of the shard's memories but by use."""
    version: str
    """The version of Oneiros."""
    options: LexicalOptions
    embedder: str | None
    dimension: int | None
    has_vectors: bool
    has_links: bool
    has_sessions: bool
    """Whether any memory is of a session, where neighbours in sessions count."""
    statistics: QueryStatistics
    variant_statistics: QueryStatistics | None
    """Those that weigh the variants; None: there are none."""
    verdicts: Verdicts
    row_count: int
    """Number of memories that the search may return."""
    bounds_count: int
    """Number of memories in the scope."""


class Candidate(NamedTuple):
    """A memory with its place among all."""

    order: Order
    row: StoredMemory
    questions: tuple[tuple[str, bytes], ...] = ()
    """Its verdicts that have a question, each with the stored form of that."""


class Hit(NamedTuple):
    """A memory that a channel found."""

    id: str
    score: float
    order: Order
    session: str | None
    time: float
    """The time by which it stands in its session, seconds."""


class Found(NamedTuple):
    """Round two: the best of each channel."""

    moment: Moment
    hits: list[dict[str, list[list[Hit]]]]
    """For each part, by name of the channel, or :data:`HOT`: those of the part, then of each of its
    variants."""
    breadth: int
    """Breadth of the walk of the graph of vectors; 0: all vectors were compared."""


class SessionPlace(NamedTuple):
    """The place of a candidate in its session."""

    session: str
    time: float
    order: Order
    is_leading: bool
    """Whether its neighbours may become candidates, too."""


class Spacer(NamedTuple):
    """A memory that only stands between others in a session."""

    id: str
    order: Order
    session: str
    time: float
    is_visible: bool
    """Whether the search may return it."""


class Around(NamedTuple):
    """Round three: candidates, and the memories next to them in their sessions."""

    moment: Moment
    candidates: list[Candidate]
    spacers: list[Spacer]


class Linked(NamedTuple):
    """Round four: links among candidates and of the best of them, and where these lead."""

    moment: Moment
    candidates: list[Candidate]
    links: list[StoredLink]


class Used(NamedTuple):
    """The results of a search that lie in one shard, as :class:`ReinforcementEvent` has them."""

    ids: tuple[str, ...]
    now: float
    session: str | None
    rule: ReinforcementDeclaration
    direct: tuple[str, ...]
    linked: frozenset[str]


def with_terms(statistics: QueryStatistics, own: QueryStatistics) -> QueryStatistics:
    """Return statistics with 0 for the terms that only ``own`` has, which the core insists on."""
    return replace(
        statistics, frequencies={**dict.fromkeys(own.frequencies, 0), **statistics.frequencies}
    )


class _Sessions(NamedTuple):
    """Memories of sessions, in order of session, time and addition."""

    code_of: Mapping[str, int]
    rows: npt.NDArray[np.uint32]
    codes: npt.NDArray[np.uint32]
    times: npt.NDArray[np.float64]
    added: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.float64]


class CandidateSource:
    """The candidates of one shard.

    Args:
        engine: the engine of the shard.
        number: number of the shard.
    """

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine = engine
        self._number = number
        self._process = os.urandom(8).hex()
        self.scopes: ShardScopes | None = None
        """The scopes of the shard, where they can be moved."""
        # Each is replaced as a whole, so that threads may share them.
        self._kept_sessions: tuple[tuple[Any, ...], _Sessions] | None = None
        self._kept_answer: tuple[int, bool] | None = None
        self._kept_names: tuple[weakref.ref[Lifecycle], tuple[str, ...]] | None = None
        self._added: tuple[tuple[Any, ...], npt.NDArray[np.float64]] | None = None

    def overview(self, question: ShardQuestion, known: QueryStatistics | None = None) -> Overview:
        """Return what weighs the query here.

        Args:
            question: the search.
            known: the sum over all shards, if they find different words by a prefix: words that
                begin so, which others found, are counted here, too.
        """
        scope = self._scope(question)
        call = self._call(scope, question)
        services = scope.services
        sync, read_model = services.sync, scope.read_model
        moment, visible = self._moment(scope), call.visible()
        given = question.weighed_by
        bounds = {} if given == "store" else question.bounds
        own = self._engine.scope(**bounds) if bounds else self._engine
        variants = question.variants
        vectors = read_model.indexes.vectors
        verdicts: Verdicts = {}
        if question.reads_verdicts:
            verdicts = sync.verdicts.within(question.bounds, sync.revision)
        links = None
        if question.reads_links:
            links = sync.links_to_follow(read_model, is_bounded=bool(question.bounds))
        return Overview(
            moment=moment,
            version=oneiros.__version__,
            options=self._engine._options,
            embedder=sync.vectors.recorded_name,
            dimension=sync.vectors.dimension,
            has_vectors=bool(vectors),
            has_links=links is not None and len(links) > 0,
            has_sessions=question.reads_sessions and self._has_sessions(),
            statistics=given
            if isinstance(given, lexical.statistics.QueryStatistics)
            else self._statistics(own, question, known),
            variant_statistics=own.statistics(variants) if variants else None,
            verdicts=verdicts,
            row_count=visible.row_count,
            bounds_count=visible.bounds_count,
        )

    def _statistics(
        self, own: Memories, question: ShardQuestion, known: QueryStatistics | None
    ) -> QueryStatistics:
        """Return the statistics of a scope.

        A prefix finds every form that any text of the store has, also in a scope without that form.
        """
        queries = [part.query for part in question.parts]
        found = own.statistics(queries, syntax=question.syntax, known=known)
        if not found.prefix_terms or own is self._engine:
            return found
        all_terms = self._engine.statistics(queries, syntax=question.syntax).prefix_terms
        return replace(
            found,
            prefix_terms={
                prefix: tuple(sorted({*terms, *all_terms.get(prefix, ())}))
                for prefix, terms in found.prefix_terms.items()
            },
        )

    def found(
        self,
        question: ShardQuestion,
        statistics: QueryStatistics,
        variant_statistics: QueryStatistics | None,
    ) -> Found:
        """Return the best memories of each channel, and the most accessed ones.

        Args:
            question: the search.
            statistics: the sum over all shards.
            variant_statistics: the same for the variants, if there are any.
        """
        scope = self._scope(question)
        moment = self._moment(scope)
        queries = [part.query for part in question.parts]
        weights = self._weights(scope, statistics, queries, question.syntax)
        variant_weights = None
        if variant_statistics is not None:
            variant_weights = self._weights(scope, variant_statistics, question.variants, "plain")
        breadth = 0
        hits: list[dict[str, list[list[Hit]]]] = []
        for part in question.parts:
            own: dict[str, list[list[Hit]]] = {}
            for name in question.depths:
                rows, scores, walked = self._hits(scope, question, part, name, weights)
                own[name] = [self._as_hits(scope, rows, scores)]
                breadth = max(breadth, walked)
                if name != "temporal":  # whose hits do not depend on words
                    own[name] += [
                        self._as_hits(scope, *found)
                        for found in self._variant_hits(
                            scope, question, part, name, weights, variant_weights
                        )
                    ]
            if question.hot_size:
                rows = self._most_accessed(scope, question, part, weights)
                counts = scope.read_model.lifecycle.column("access_count")[rows]
                own[HOT] = [self._as_hits(scope, rows, counts.tolist())]
            hits.append(own)
        return Found(moment, hits, breadth)

    def around(
        self,
        question: ShardQuestion,
        ids: Sequence[str],
        places: Sequence[SessionPlace],
        *,
        reach: int,
    ) -> Around:
        """Return candidates, and what stands next to places in sessions.

        Next to leading places, memories within ``reach`` are returned whole, and as many behind them
        as spacers, as a neighbour that becomes a candidate has neighbours of its own. Next to other
        places, all are spacers.

        Args:
            question: the search.
            ids: of candidates; those of other shards are ignored.
            places: in sessions, also of candidates of other shards.
            reach: most steps at which a neighbour counts.
        """
        scope = self._scope(question)
        moment, lifecycle = self._moment(scope), scope.read_model.lifecycle
        whole = {row: None for id in ids if (row := lifecycle.row_of.get(id)) is not None}
        beside: dict[int, None] = {}
        if places:
            near, beside = self._beside(scope, question, places, reach)
            if question.syntax != "plain":  # operators judge words, which spacers do not have
                near, beside = near | beside, {}
            whole |= near
        return Around(
            moment,
            self._candidates(scope, whole),
            self._spacers(scope, question, [row for row in beside if row not in whole]),
        )

    def _beside(
        self, scope: Scope, question: ShardQuestion, places: Sequence[SessionPlace], reach: int
    ) -> tuple[dict[int, None], dict[int, None]]:
        """Return the rows next to leading places, and those that only stand there."""
        known = self._sessions(scope, question)
        by_session: dict[int, list[SessionPlace]] = {}
        for place in places:
            code = known.code_of.get(place.session)
            if code is not None:
                by_session.setdefault(code, []).append(place)
        near: dict[int, None] = {}
        beside: dict[int, None] = {}
        for code, members in by_session.items():
            start, end = np.searchsorted(known.codes, [code, code + 1]).tolist()
            own = known.rows[start:end]
            for place in members:
                before, after = self._split(
                    place,
                    known.times[start:end],
                    known.added[start:end],
                    known.numbers[start:end],
                )
                steps = 2 * reach if place.is_leading else reach
                back, on = own[max(0, before - steps) : before][::-1], own[after : after + steps]
                for side in (back.tolist(), on.tolist()):
                    whole = reach if place.is_leading else 0
                    near |= dict.fromkeys(side[:whole])
                    beside |= dict.fromkeys(side[whole:])
        return near, beside

    def linked(
        self,
        question: ShardQuestion,
        seeds: Sequence[str],
        others: Sequence[str],
        *,
        hops: int,
        least: float,
    ) -> Linked:
        """Return links, and the memories to which the links of some memories lead.

        Args:
            question: the search.
            seeds: ids of memories whose links are followed; those of other shards are ignored.
            others: ids of more memories, whose links among all are returned.
            hops: most links on a path.
            least: least weight of a link that is followed.
        """
        scope = self._scope(question)
        sync, read_model = scope.services.sync, scope.read_model
        moment = self._moment(scope)
        associations = sync.links_to_follow(read_model, is_bounded=bool(question.bounds))
        if associations is None or associations.graph is None:
            return Linked(moment, [], [])
        graph, row_of = associations.graph, read_model.lifecycle.row_of
        count = graph.row_count

        def known(ids: Sequence[str]) -> dict[int, None]:
            found = (row_of.get(id) for id in ids)
            return {row: None for row in found if row is not None and row < count}

        def neighbours(row: int) -> list[tuple[int, float, int, float, float]]:
            return graph.neighbours(row=row, now_seconds=question.now, tau_days=TAU_DAYS)

        live = scope.matching(None)
        frontier = known(seeds)
        reached = dict(frontier)
        for _ in range(hops):
            step: dict[int, None] = {}
            for row in frontier:
                for other, weight, *_rest in neighbours(row):
                    if weight >= least and other in live and other not in reached:
                        step[other] = None
            reached |= step
            frontier = step
        rows = reached | known(others)
        pairs = {
            (min(row, other), max(row, other))
            for row in rows
            for other, *_rest in neighbours(row)
            if other in rows
        }
        ordered = sorted(pairs)
        ids = read_model.lifecycle.ids
        links = links_found(graph, ordered, [(ids[a], ids[b]) for a, b in ordered])
        return Linked(
            moment,
            self._candidates(scope, reached),
            [link for link in links if link is not None],
        )

    def use(self, used: Used) -> None:
        """Reinforce the results of a search that lie here."""
        services = self._engine._scope.services
        if not services.is_read_only:
            services.sync.reinforce(ReinforcementEvent(*used))

    # -- private -----------------------------------------------------------------------------------

    def _moment(self, scope: Scope) -> Moment:
        token = "" if self.scopes is None else self.scopes.token
        return self._process, scope.services.sync.content_revision, token

    def _scope(self, question: ShardQuestion) -> Scope:
        owner = self._engine.scope(**question.bounds) if question.bounds else self._engine
        owner._scope.follow_others()
        return owner._scope.at_once()

    def _call(self, scope: Scope, question: ShardQuestion, channel: str = "lexical") -> SearchCall:
        depth = question.depths.get(channel, 1)
        profile = question.profile([(channel, depth)])
        options = SearchOptions(  # the limits are checked values
            **question.limits, now=question.now, profile=profile, syntax=question.syntax
        )
        return SearchCall(scope, options, depth)

    def _hits(
        self,
        scope: Scope,
        question: ShardQuestion,
        part: Part,
        channel: str,
        weights: _core.QueryStatistics,
    ) -> tuple[list[int], list[float], int]:
        """Return rows that a channel finds, their scores, and the breadth of a walk."""
        if (channel == "vector" and part.vector is None) or (
            channel == "temporal" and part.time is None
        ):
            return [], [], 0
        call = self._call(scope, question, channel)
        request = _request(call, part.query, channel, part.vector, weights)._replace(
            plain_text=part.plain_text,
            understood=PLAIN
            if channel != "temporal" or part.time is None
            else Understood(time=part.time),
        )
        read_model, visible = scope.read_model, call.visible()
        while True:
            walk = walk_graph(request, read_model, visible)
            outcome = SearchRun(request, read_model, visible, scope.loader, walk).run.run()
            if not read_model.row_sets.lets_in_others(visible):
                return outcome.rows(), outcome.scores(), walk.breadth
            visible = call.visible(is_exact=True)

    def _variant_hits(
        self,
        scope: Scope,
        question: ShardQuestion,
        part: Part,
        channel: str,
        weights: _core.QueryStatistics,
        variant_weights: _core.QueryStatistics | None,
    ) -> Iterator[tuple[list[int], list[float]]]:
        """Yield, for each variant of a part, rows that a channel finds, and their scores.

        The signs of the part's query bound what its variants find, and their vectors are compared
        with all others, as in a search of one engine.
        """
        if not part.variants:
            return
        call = self._call(scope, question, channel)
        read_model, visible = scope.read_model, call.visible(is_exact=True)
        bits = read_model.indexes.permitted(part.query, visible.bits, question.syntax, weights)
        visible = replace(visible, bits=bits)
        for variant in part.variants:
            if channel == "vector" and variant.vector is None:
                yield [], []
                continue
            request = _request(call, variant.text, channel, variant.vector, variant_weights)
            request = request._replace(syntax="plain")
            run = SearchRun(request, read_model, visible, scope.loader, Walk(None, 0.0))
            outcome = run.run.run()
            yield outcome.rows(), outcome.scores()

    def _as_hits(self, scope: Scope, rows: Sequence[int], scores: Sequence[float]) -> list[Hit]:
        lifecycle = scope.read_model.lifecycle
        numbers = np.array(rows, np.uint32)
        words = self._session_names(lifecycle)
        codes = lifecycle.column("session_code")[numbers].tolist()
        values = zip(
            rows,
            scores,
            self._orders(scope, numbers),
            codes,
            _times(lifecycle, numbers).tolist(),
            strict=True,
        )
        return [
            Hit(id, score, order, words[code] if code else None, time)
            for row, score, order, code, time in values
            if (id := lifecycle.ids[row])
        ]

    def _session_names(self, lifecycle: Lifecycle) -> tuple[str, ...]:
        """Return the names of sessions by code, kept until there are more."""
        kept = self._kept_names
        if (
            kept is None
            or kept[0]() is not lifecycle
            or len(kept[1]) != lifecycle.word_count("session")
        ):
            self._kept_names = kept = weakref.ref(lifecycle), lifecycle.words_of("session")
        return kept[1]

    def _spacers(self, scope: Scope, question: ShardQuestion, rows: Sequence[int]) -> list[Spacer]:
        bits = self._call(scope, question).visible().bits
        numbers = np.array(rows, np.uint32)
        is_visible = np.ones(len(rows), np.bool_)
        if bits is not None:
            is_visible = (np.frombuffer(bits, np.uint8)[numbers >> 3] >> (numbers & 7)) & 1 != 0
        hits = self._as_hits(scope, rows, is_visible.tolist())
        return [
            Spacer(id, order, session, time, bool(visible))
            for id, visible, order, session, time in hits
            if session is not None
        ]

    def _orders(self, scope: Scope, rows: npt.NDArray[np.uint32]) -> list[Order]:
        numbers = scope.read_model.lifecycle.column("sequence")[rows].tolist()
        added = self._added_at(scope)[rows].tolist()
        return [(at, self._number, int(number)) for at, number in zip(added, numbers, strict=True)]

    def _weights(
        self, scope: Scope, statistics: QueryStatistics, queries: Sequence[str], syntax: str
    ) -> _core.QueryStatistics:
        """Return the statistics for the core, with 0 for terms that only other texts here have.

        They are outside the scope, or were added since round one.
        """
        own = self._engine.statistics(queries, syntax=syntax)
        weights = lexical.statistics.given_statistics(
            with_terms(statistics, own), scope.read_model.indexes.made_with
        )
        assert weights is not None
        return weights

    def _most_accessed(
        self,
        scope: Scope,
        question: ShardQuestion,
        part: Part,
        weights: _core.QueryStatistics,
    ) -> list[int]:
        visible = self._call(scope, question).visible()
        read_model = scope.read_model
        bits = self._bits(scope, visible)
        permitted = read_model.indexes.permitted(part.query, bits, question.syntax, weights)
        return read_model.lifecycle.columns.most_accessed(
            count=question.hot_size, allowed=permitted
        )

    def _has_sessions(self) -> bool:
        """Return whether a live memory of the shard is of a session."""
        services = self._engine._scope.services
        moment = services.sync.content_revision
        if self._kept_answer is None or self._kept_answer[0] != moment:
            read_model = services.read_model
            live = np.array(read_model.row_sets.live.to_array(), np.uint32)
            codes = read_model.lifecycle.column("session_code")[live]
            self._kept_answer = moment, bool(codes.any())
        return self._kept_answer[1]

    @staticmethod
    def _bits(scope: Scope, visible: Visible) -> Bits:
        if visible.bits is not None:
            return visible.bits
        read_model = scope.read_model
        return allowed_bits(read_model.row_sets.live, len(read_model.lifecycle.ids))

    def _sessions(self, scope: Scope, question: ShardQuestion) -> _Sessions:
        """Return the memories among which neighbours in sessions are sought, in order. H4.

        The last answer is kept until memories change.
        """
        status, lifecycle = question.limits.get("status"), scope.read_model.lifecycle
        key = (
            scope.services.sync.content_revision,
            weakref.ref(lifecycle),
            tuple(sorted(question.bounds.items())),
            status is None,
        )
        kept = self._kept_sessions
        if kept is not None and kept[0] == key:
            return kept[1]
        chosen = scope.matching(None)
        if status is None:
            chosen -= scope.read_model.row_sets.states()["archived"]
        rows = np.array(chosen.to_array(), np.uint32)
        codes = lifecycle.column("session_code")[rows]
        rows, codes = rows[codes != 0], codes[codes != 0]
        times = _times(lifecycle, rows)
        in_order = np.lexsort((rows, times, codes))
        rows = rows[in_order]
        words = lifecycle.words_of("session")
        known = _Sessions(
            code_of={words[code]: code for code in np.unique(codes).tolist()},
            rows=rows,
            codes=codes[in_order],
            times=times[in_order],
            added=self._added_at(scope)[rows],
            numbers=lifecycle.column("sequence")[rows],
        )
        self._kept_sessions = key, known
        return known

    def _split(
        self,
        place: SessionPlace,
        times: npt.NDArray[np.float64],
        added: npt.NDArray[np.float64],
        numbers: npt.NDArray[np.float64],
    ) -> tuple[int, int]:
        """Return how many memories of a session stand before a place, and the first after it."""
        low, high = (int(np.searchsorted(times, place.time, side)) for side in ("left", "right"))

        def order_at(at: int) -> Order:
            return float(added[at]), self._number, int(numbers[at])

        at_once = range(low, high)  # at the same time, in order of addition
        before = low + bisect_left(at_once, place.order, key=order_at)
        return before, low + bisect_right(at_once, place.order, key=order_at)

    def _added_at(self, scope: Scope) -> npt.NDArray[np.float64]:
        """Return for each row the latest time of addition up to it."""
        lifecycle = scope.read_model.lifecycle
        revision = scope.services.sync.content_revision
        state = (revision, weakref.ref(lifecycle), len(lifecycle.ids))
        if self._added is None or self._added[0] != state:
            learned = np.nan_to_num(lifecycle.column("learned_at"), nan=-np.inf)
            self._added = state, np.maximum.accumulate(learned)
        return self._added[1]

    def _candidates(self, scope: Scope, rows: Iterable[int]) -> list[Candidate]:
        """Return memories as searches here see them now, uses that are not written yet included."""
        numbers = list(rows)
        if not numbers:
            return []
        services = scope.services
        lifecycle = scope.read_model.lifecycle
        stored = _stored(services, [lifecycle.ids[row] for row in numbers])
        fresh = _uses_not_written(lifecycle, numbers, stored)
        orders = self._orders(scope, np.array(numbers, np.uint32))
        questions = _questions(services, [each.sequence for each in stored if each is not None])
        return [
            Candidate(
                order,
                memory._replace(**changes) if changes else memory,
                tuple(questions.get(memory.sequence, ())),
            )
            for order, memory, changes in zip(orders, stored, fresh, strict=True)
            if memory is not None  # else forgotten meanwhile
        ]


def _questions(
    services: EngineServices, sequences: Sequence[int]
) -> dict[int, list[tuple[str, bytes]]]:
    """Return the verdicts of memories that have a question."""
    found: dict[int, list[tuple[str, bytes]]] = {}
    if services.read_model.questions.verdicts:
        with services.store.read() as reading:
            for sequence, verdict, question in reading.questions_of(sequences):
                found.setdefault(sequence, []).append((verdict, question))
    return found


def _request(
    call: SearchCall,
    text: str,
    channel: str,
    vector: npt.NDArray[np.float32] | None,
    weights: _core.QueryStatistics | None,
) -> SearchRequest:
    """Return the request of a text in one channel alone."""
    return SearchRequest(
        query=text,
        plain_text=text,
        syntax=call.options.syntax,
        vector=vector if channel == "vector" else None,
        is_of_spelling=call.services.sync.vectors.is_of_spelling,
        absent="",
        k=call.k,
        now=call.now,
        profile=call.profile,
        profile_hash=call.profile.hash,
        understood=PLAIN,
        is_explained=False,
        verdicts={},
        deep_recall_rows=None,
        text_matcher=None,
        reranker=None,
        until=None,
        statistics=weights,
    )


def _stored(services: EngineServices, ids: Sequence[str]) -> list[StoredMemory | None]:
    """Return memories; None for one that was forgotten meanwhile or is damaged, which is noted."""
    sync = services.sync
    try:
        with sync.noting_damage(), services.store.read() as reading:
            return reading.load_stored(ids, sync.numbers_of(ids))
    except StoreCorrupt:
        if len(ids) == 1:
            return [None]
        return [stored for id in ids for stored in _stored(services, [id])]


def _uses_not_written(
    lifecycle: Lifecycle, rows: Sequence[int], stored: Sequence[StoredMemory | None]
) -> list[dict[str, Any]]:
    """Return for each memory the cells that use has changed and the store does not have yet."""
    changes: list[dict[str, Any]] = [{} for _ in rows]
    for name in _STATES:
        now = lifecycle.column(name)[np.array(rows, np.uint32)]
        missing = np.nan if now.dtype.kind == "f" else 0
        cells = [None if memory is None else getattr(memory, name) for memory in stored]
        written = np.array([missing if cell is None else cell for cell in cells], now.dtype)
        is_other = (now != written) & ~(np.isnan(now) & np.isnan(written))
        for place, value in zip(
            np.flatnonzero(is_other).tolist(), coded(now[is_other]), strict=True
        ):
            changes[place][name] = value
    for place, (row, memory) in enumerate(zip(rows, stored, strict=True)):
        if memory is not None and (sessions := lifecycle.sessions_of(row)) != memory.sessions:
            changes[place]["sessions_json"] = json_text(sorted(sessions))
    return changes


def _times(lifecycle: Lifecycle, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """Return the times by which rows stand in their sessions."""
    event, created = (lifecycle.column(name)[rows] for name in ("event_at", "created_at"))
    times: npt.NDArray[np.float64] = np.where(np.isnan(event), created, event)
    return times
