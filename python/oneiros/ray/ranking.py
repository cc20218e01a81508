"""One ranking of the candidates of several shards, by the search of a single engine.

A search of one store that holds every memory looks at few of them: the best of each channel, what
stands next to these in their sessions, and what links lead to. A read model of these memories alone, in
the order of the whole and with the statistics of the whole, gives the same ranking: each channel's best
are among them, and no other part of a search looks further. So the ranking is not written a second
time; :class:`CandidateModel` runs the one of :mod:`oneiros.search`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from pyroaring import BitMap

from oneiros import _core, lexical
from oneiros.clock import system_clock
from oneiros.engine.scope import EngineServices, Scope
from oneiros.filters import allowed_bits
from oneiros.filters.row_bitmaps import rows_of_bits
from oneiros.index import ReadModel
from oneiros.model.zones import checked_zone
from oneiros.models import named
from oneiros.models.embedders import name_of, vectors_of
from oneiros.ray.candidates import Spacer, with_terms
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.profiles import resolved
from oneiros.search.cache import RecentAnswers
from oneiros.search.call import SearchCall
from oneiros.search.options import SearchOptions
from oneiros.search.pipeline import SearchRun, Walk
from oneiros.store.columns import StoredColumns
from oneiros.store.loading import OwnRow
from oneiros.store.rows import StoredMemory
from oneiros.write.vectors import DIMENSION_SETTING, EMBEDDER_SETTING, TextVectors

if TYPE_CHECKING:
    from datetime import tzinfo

    import numpy.typing as npt

    from oneiros.clock import Clock
    from oneiros.graph import Associations
    from oneiros.index import Visible
    from oneiros.index.indexes import LexicalOptions
    from oneiros.index.texts import MemoryTexts
    from oneiros.lexical.statistics import QueryStatistics
    from oneiros.model.memory import Memory
    from oneiros.models.embedders import Embedder
    from oneiros.models.rerankers import Reranker
    from oneiros.ray.candidates import Candidate
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.profile import Profile
    from oneiros.search.call import SearchRequest
    from oneiros.search.query.expansion import Expanded, Expander
    from oneiros.search.query.parsed import Understood
    from oneiros.search.response import SearchResponse
    from oneiros.store import StoredLink

__all__ = [
    "CandidateModel",
    "Client",
    "Expansions",
    "QueryWeights",
    "Ranked",
    "RememberedVectors",
    "settings_of",
]

_FIELDS: Final = StoredMemory._fields

Expansions: TypeAlias = dict[str, tuple["Expanded", Any]]
"""By text: its variants, and its vector, which was embedded together with theirs."""


class Client(NamedTuple):
    """The parts of an engine that rank, at the caller."""

    profile: Profile
    embedder: Embedder | None
    reranker: Reranker | None
    clock: Clock
    zone: tzinfo | None
    writes: bool = True
    """Whether results count as used."""
    expander: Expander | None = None
    """The query expander."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Client:
        """Return the client of engines that were opened with these options."""
        embedder = options.get("embedder")
        return cls(
            profile=resolved(options.get("profile", "oneiros")),
            embedder=named.make(embedder) if isinstance(embedder, str) else embedder,
            reranker=options.get("reranker"),
            clock=options.get("clock", system_clock),
            zone=checked_zone(options.get("timezone")),
            writes=not options.get("read_only", False),
            expander=options.get("query_expander"),
        )

    def options(self, given: Mapping[str, Any], method: Callable[..., object]) -> SearchOptions:
        """Return the checked options of a search, times without a zone in that of the engines.

        Raises:
            ValueError: ``as_of``, which is not supported over shards.
            ValueError, TypeError: as a search.
        """
        if given.get("as_of") is not None:
            msg = "as_of: not supported in a search over shards; name a value of the key"
            raise ValueError(msg)
        zoned = Scope(cast("EngineServices", _Zone(self.zone)), {}).zoned_keywords(given)
        return SearchOptions.checked(
            {name: value for name, value in zoned.items() if name != "as_of"}, method
        )


class _Zone(NamedTuple):
    """The part of an engine's services by which a scope places times in a zone."""

    zone: tzinfo | None


class Ranked(NamedTuple):
    """A ranking, and what it would have looked at in the whole."""

    response: SearchResponse
    beside: frozenset[str]
    """Ids of the candidates whose neighbours in a session became candidates."""
    followed: frozenset[str]
    """Ids of the memories whose links were followed, and perhaps of some more."""


class QueryWeights(NamedTuple):
    """The statistics that weigh a query."""

    query: QueryStatistics
    variants: QueryStatistics | None
    """Those of its variants; None: it has none."""


class RememberedVectors:
    """An embedder that embeds each batch of texts once, as a search is run more than once.

    Args:
        embedder: the embedder.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = name_of(embedder)
        self._made: dict[tuple[str, ...], Any] = {}

    def __call__(self, texts: list[str]) -> Any:
        """Return the embedder's array."""
        key = tuple(texts)
        if key not in self._made:
            self._made[key] = vectors_of(self._embedder, texts)
        return self._made[key]


class CandidateModel:
    """The read model of some candidates, ready to be searched.

    Args:
        client: what ranks.
        candidates: the memories, in any order.
        spacers: memories that only stand between them in sessions.
        links: links between them.
        options: the lexical options of the shards.
        settings: name and width of the shards' vectors; see ``TextVectors``.
        embedder: replaces that of ``client``.
        expansions: what the query expander returned so far, to which calls add.
        has_links: whether any shard has links.
        has_sessions: whether any shard has memories of sessions.
        has_vectors: whether any shard has vectors.
        verdicts: by kind, of all shards.
        bounds: of the scope.
    """

    def __init__(
        self,
        client: Client,
        candidates: Sequence[Candidate],
        spacers: Sequence[Spacer],
        links: Sequence[StoredLink],
        *,
        options: LexicalOptions,
        settings: Mapping[str, str],
        embedder: Embedder | None,
        expansions: Expansions,
        has_links: bool,
        has_sessions: bool,
        has_vectors: bool,
        verdicts: Verdicts,
        bounds: Mapping[str, str],
    ) -> None:
        model = ReadModel(options, vector_index="flat")
        model.texts.read(())
        width = settings.get(DIMENSION_SETTING)
        if has_vectors and width:
            model.indexes._vectors_of(int(width))
        self._model = model
        self._whole = [candidate.row.id for candidate in candidates]
        rows = self._fill(candidates, spacers)
        self._loader = _CandidateLoader({row.id: row for row in rows})
        self._services = _Services(
            client, model, TextVectors(embedder, settings), has_links=has_links
        )
        self._expansions = expansions
        self._verdicts = verdicts
        self._bounds = bounds
        self._has_sessions = has_sessions
        self.set_links(links)

    def _fill(
        self, candidates: Sequence[Candidate], spacers: Sequence[Spacer]
    ) -> list[StoredMemory]:
        """Put memories into the model, in the order of the whole, and return those that are whole.

        Spacers have only a place in a session: no channel and no link finds them.
        """
        model = self._model
        both: list[Candidate | Spacer] = [*candidates, *spacers]
        ordered = sorted(both, key=lambda each: each.order)
        places = {each.order: number for number, each in enumerate(ordered, start=1)}
        rows = [each.row._replace(sequence=places[each.order]) for each in candidates]
        self._hidden = BitMap()
        self._spaces = BitMap()
        if not rows:
            return rows
        columns = StoredColumns.of(rows)
        own = {each.order: at for at, each in enumerate(candidates)}
        which = [own.get(each.order, 0) for each in ordered]
        cells = {name: list(map(columns[name].__getitem__, which)) for name in _FIELDS}
        for row, each in enumerate(ordered):
            cells["sequence"][row] = row + 1
            if isinstance(each, Spacer):
                self._spaces.add(row)
                if not each.is_visible:
                    self._hidden.add(row)
                for name, value in (
                    *(("id", each.id), ("session", each.session), ("text", "")),
                    *(("created_at", each.time), ("event_at", None)),
                    *(("access_count", 0), ("sessions_json", None)),
                ):
                    cells[name][row] = value
        model.apply_columns(StoredColumns(len(ordered), cells, {}, {}))
        model.apply_indexes(columns)
        model.questions.add(
            (places[each.order], verdict, question)
            for each in candidates
            for verdict, question in each.questions
        )
        return rows

    def _with_spacers(self, visible: Visible) -> Visible:
        """Return what a search may return, and where neighbours stand, with the spacers."""
        if not self._spaces:
            return visible
        count = len(self._model.lifecycle.ids)
        rows = (
            BitMap(range(count))
            if visible.bits is None
            else rows_of_bits(memoryview(visible.bits), count)
        )
        bits = allowed_bits((rows | self._spaces) - self._hidden, count)
        standing = visible.standing
        if standing is not None:
            standing = allowed_bits(rows_of_bits(memoryview(standing), count) | self._spaces, count)
        return replace(visible, bits=bits, standing=standing)

    def set_links(self, links: Sequence[StoredLink]) -> None:
        """Replace the links."""
        self._model.associations.set_all(links)

    def call(self, options: SearchOptions, k: int) -> SearchCall:
        """Return a search of the candidates."""
        scope = _CandidateScope(
            cast("EngineServices", self._services), self._bounds, self._verdicts, self._loader
        )
        return _CandidateCall(scope, options, k, self._expansions)

    def ranked(
        self,
        query: str,
        embedding: npt.ArrayLike | None,
        options: SearchOptions,
        k: int,
        *,
        weights: QueryWeights,
        counts: tuple[int, int],
        breadth: int,
        reranks: bool,
    ) -> Ranked:
        """Search the candidates.

        Args:
            query: the query.
            embedding: its vector; None: of the embedder.
            options: the checked options.
            k: as in a search.
            weights: those of the whole.
            counts: the numbers of memories in the whole that the search may return, and that are in
                the scope.
            breadth: breadth of the walk that found the nearest vectors.
            reranks: False: leave the reranker out.
        """
        call = self.call(options, k)
        requests, part_counts = call.requests([query], [embedding])
        visible = self._with_spacers(call.visible())
        visible = replace(
            visible,
            row_count=counts[0],
            bounds_count=counts[1],
            # The stage of neighbours is recorded wherever there are sessions.
            has_bounds=visible.has_bounds or self._has_sessions,
        )
        statistics = self._core_weights(
            weights.query, [request.query for request in requests], options.syntax
        )
        variant_statistics = None
        if weights.variants is not None:
            variants = [
                variant.text
                for request in requests
                if request.expanded is not None
                for variant in request.expanded.variants
            ]
            variant_statistics = self._core_weights(weights.variants, variants, "plain")
        walk = Walk(None, 0.0, breadth)
        responses: list[SearchResponse] = []
        beside: set[str] = set()
        followed: set[str] = set()
        for request in requests:
            request = request._replace(  # noqa: PLW2901 - as it is ranked here
                statistics=statistics, variant_statistics=variant_statistics
            )
            if not reranks:
                request = request._replace(reranker=None)  # noqa: PLW2901
            search = SearchRun(request, self._model, visible, self._loader, walk)
            outcome = search.run.run()
            ids = self._model.lifecycle.ids
            beside |= {ids[row] for row in outcome.brought().values()}
            followed |= {ids[row] for row in self._followed(search, outcome, request)}
            responses.append(search.response(outcome))
        (response,) = call.merge_parts([query], part_counts, requests, responses)
        return Ranked(response, frozenset(beside), frozenset(followed).intersection(self._whole))

    def _core_weights(
        self, given: QueryStatistics, queries: Sequence[str], syntax: str
    ) -> _core.QueryStatistics | None:
        """Return statistics for the core, with 0 for terms that only candidates have."""
        indexes = self._model.indexes
        own = lexical.statistics.statistics_of(
            indexes.lexical, indexes.made_with, queries, None, syntax=syntax
        )
        return lexical.statistics.given_statistics(with_terms(given, own), indexes.made_with)

    def _followed(
        self, search: SearchRun, outcome: _core.SearchOutcome, request: SearchRequest
    ) -> list[int]:
        """Return the rows that stages before the links may have put first.

        A second attempt that was not kept is not known, so then all rows count.
        """
        if any(stage[1] for stage in outcome.stages()):
            return list(range(len(self._model.lifecycle.ids)))
        profile = request.profile
        most = request.k
        for rule, size in (
            (profile.expansion, "seeds"),
            (profile.newer_first, "depth"),
            (profile.rerank, "top"),
        ):
            most = max(most, getattr(rule, size, 0))
        far = {row for row, (is_low, *_rest) in search.run.far().items() if not is_low}
        ranked = [row for row in search.run.ranked(linked=False).rows.tolist() if row not in far]
        return ranked[:most]


class _CandidateLoader:
    """Loads candidates by id."""

    def __init__(self, rows: Mapping[str, StoredMemory]) -> None:
        self._rows = rows

    def __call__(self, ids: Sequence[str], /) -> list[Memory | None]:
        return [None if (row := self._rows.get(id)) is None else row.memory() for id in ids]

    def texts(self, ids: Sequence[str], /) -> list[str | None]:
        return [None if (row := self._rows.get(id)) is None else row.text for id in ids]

    def own_rows(self, ids: Sequence[str], /) -> list[OwnRow | None]:
        return [
            None
            if (row := self._rows.get(id)) is None
            else OwnRow(
                row.id,
                row.text,
                row.title,
                row.tags_json,
                *(getattr(row, name) for name in OwnRow._fields[4:]),
            )
            for id in ids
        ]


class _CandidateCall(SearchCall):
    """A search of candidates, which calls the query expander once for each text."""

    __slots__ = ("_expansions",)

    def __init__(
        self, scope: Scope, options: SearchOptions, k: int, expansions: Expansions
    ) -> None:
        super().__init__(scope, options, k)
        self._expansions = expansions

    def _expanded(
        self, plain_text: str, understood: Understood, embedding: npt.ArrayLike | None
    ) -> tuple[Expanded, npt.ArrayLike | None]:
        known = self._expansions.get(plain_text)
        if known is None:
            known = super()._expanded(plain_text, understood, embedding)
            self._expansions[plain_text] = known
        expanded, vector = known
        if not self.traits.reads_texts:
            return known
        variants = tuple(  # they match words in the texts of this model
            variant._replace(text_matcher=self._text_matcher(variant.text))
            for variant in expanded.variants
        )
        return expanded._replace(variants=variants), vector


class _CandidateScope(Scope):
    """A scope over candidates: verdicts are those of the whole."""

    __slots__ = ("_loader", "_verdicts")

    def __init__(
        self,
        services: EngineServices,
        bounds: Mapping[str, str],
        verdicts: Verdicts,
        loader: _CandidateLoader,
    ) -> None:
        super().__init__(services, bounds)
        self._verdicts = verdicts
        self._loader = loader

    def verdicts(self, profile: Profile) -> Verdicts:  # noqa: ARG002 - the caller has asked for them
        return self._verdicts

    @property
    def loader(self) -> Any:
        return self._loader


class _Sync:
    """The part of ``Sync`` that a search reads; nothing changes here."""

    revision = content_revision = 0

    def __init__(self, model: ReadModel, vectors: TextVectors, *, has_links: bool) -> None:
        self._model = model
        self._has_links = has_links
        self.vectors = vectors

    def follow_others(self, *, is_asked: bool) -> None:
        """Do nothing: candidates do not change."""

    def vector_changes(self) -> int:
        """Return 0: candidates do not change."""
        return 0

    def texts(self, read_model: ReadModel) -> MemoryTexts:
        return read_model.texts

    def links_to_follow(self, read_model: ReadModel, *, is_bounded: bool) -> Associations | None:
        return read_model.associations if self._has_links or is_bounded else None


class _Services:
    """The part of ``EngineServices`` that a search reads."""

    auto_refresh = False
    is_read_only = True
    watch = calls = None

    def __init__(
        self, client: Client, model: ReadModel, vectors: TextVectors, *, has_links: bool
    ) -> None:
        self.read_model = model
        self.sync = _Sync(model, vectors, has_links=has_links)
        self.profile, self.reranker = client.profile, client.reranker
        self.expander = client.expander
        self.clock, self.zone = client.clock, client.zone
        self.recent = RecentAnswers()

    def require_open(self) -> None:
        """Do nothing: candidates are never closed."""


def settings_of(embedder: str | None, dimension: int | None) -> dict[str, str]:
    """Return the settings of a store with vectors of an embedder."""
    found = {} if embedder is None else {EMBEDDER_SETTING: embedder}
    return found if dimension is None else {**found, DIMENSION_SETTING: str(dimension)}
