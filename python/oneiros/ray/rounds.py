"""The rounds of a search over all shards: statistics, candidates, what is next to them, one ranking.

Nothing here knows Ray: :class:`Shards` is how the shards are asked, and tests ask engines of their own
process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import reduce
from operator import add
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

from oneiros.errors import DuplicateId
from oneiros.index.indexes import LexicalOptions
from oneiros.model.validation import moment
from oneiros.ray.candidates import (
    HOT,
    Overview,
    Part,
    PartVariant,
    SessionPlace,
    ShardQuestion,
    Used,
)
from oneiros.ray.failures import MixedShards, ShardUnavailable
from oneiros.ray.ranking import CandidateModel, QueryWeights, RememberedVectors, settings_of
from oneiros.ray.reports import WholeResponse
from oneiros.runtime.dataclasses import replace
from oneiros.search.options import SearchOptions

if TYPE_CHECKING:
    from oneiros.models.embedders import Embedder
    from oneiros.ray.candidates import Around, Candidate, Found, Hit, Linked, Moment, Order, Spacer
    from oneiros.ray.ranking import Client, Expansions
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.profile import Profile
    from oneiros.search.call import SearchCall, SearchRequest
    from oneiros.search.response import SearchResponse
    from oneiros.store import StoredLink

__all__ = ["Shards", "search_shards"]

_checked_now: Final = moment("now")
_ATTEMPTS: Final = 4
"""Most runs of a search while the shards change; the last one accepts it, as one engine does."""
_LEADING: Final = 2
"""So many times the seeds of a channel's list have neighbours that are sent whole at once."""
_LIMITS: Final = (
    *("where", "status", "valid_at", "include_expired", "deep_recall"),
    *("include_expired_in_deep_recall", "least_trust", "exclude", "exclude_newer"),
)


class Shards(Protocol):
    """The shards of a search."""

    def ask(self, method: str, *args: Any, **keywords: Any) -> dict[int, Any]:
        """Call a method of the ``CandidateSource`` of every shard that is not left out.

        Returns:
            By number of the shard, ascending: what was returned.

        Raises:
            ShardUnavailable: a shard does not come back.
        """

    def tell(self, method: str, args: Mapping[int, tuple[Any, ...]]) -> None:
        """Call a method of some shards, once each. A shard that does not respond is left out."""

    def leave_out(self, shard: int) -> bool:
        """Ask a shard no more, and return whether another one is left."""


class _Moved(Exception):
    """A shard changed between two rounds."""


def search_shards(
    shards: Shards,
    client: Client,
    query: str,
    k: int,
    *,
    bounds: Mapping[str, str],
    embedding: Any,
    options: SearchOptions,
    allow_partial: bool = False,
) -> WholeResponse:
    """Return the response of one engine that holds the memories of all shards.

    Args:
        shards: the shards.
        client: what ranks.
        query: the query.
        k: most results.
        bounds: of the scope.
        embedding: the query's vector; None: of the client's embedder.
        options: the checked options.
        allow_partial: leave out shards that do not come back, and mark the response, which then never
            abstains.

    Raises:
        ValueError, TypeError: as a search, or an option that is not supported over shards.
        MixedShards: the shards are not alike.
        DuplicateId: two shards have a memory of one id among the candidates.
        ShardUnavailable: a shard does not come back, without ``allow_partial``; or none does.
    """
    profile = client.profile if options.profile is None else options.profile
    # One time for all rounds.
    if options.now is None:
        options = replace(options, now=_checked_now(client.clock()))
    embedder = None if client.embedder is None else RememberedVectors(client.embedder)
    expansions: Expansions = {}
    missing: dict[int, str] = {}
    attempt = 1
    while True:
        if missing:
            options = replace(options, profile=profile.replace(abstention=None))
        search = _Search(shards, client, query, k, bounds, embedding, options, embedder, expansions)
        search.is_last = attempt >= _ATTEMPTS
        try:
            response = search.run()
        except _Moved:
            attempt += 1
        except ShardUnavailable as error:
            if not (allow_partial and shards.leave_out(error.shard)):
                raise
            missing[error.shard] = str(error)
        else:
            return WholeResponse.of(response, missing, profile)


class _Search:
    """One search over shards."""

    def __init__(
        self,
        shards: Shards,
        client: Client,
        query: str,
        k: int,
        bounds: Mapping[str, str],
        embedding: Any,
        options: SearchOptions,
        embedder: Embedder | None,
        expansions: Expansions,
    ) -> None:
        self._shards, self._client = shards, client
        self._query, self._k, self._embedding = query, k, embedding
        self._bounds = dict(bounds)
        self._weighed_by = options.statistics
        # The ranking gets the statistics of the whole.
        self._options = replace(options, statistics="scope")
        self._embedder, self._expansions = embedder, expansions
        self._reranks = client.reranker is not None or options.reranker is not None
        self.is_last = False
        """Whether changes between rounds are accepted, as in one engine next to a writer."""
        self._moments: dict[int, Moment] = {}
        self._hits: dict[str, Hit] = {}
        self._candidates: dict[str, Candidate] = {}
        self._spacers: dict[str, Spacer] = {}
        self._orders: dict[str, Order] = {}
        self._leading: set[str] = set()

    def run(self) -> SearchResponse:
        """Run all rounds.

        Raises:
            _Moved: a shard changed meanwhile; unless ``is_last``.
        """
        call, question = self._question()
        overviews = self._overviews(question)
        weights = _weights_of(question, overviews)
        breadth = self._find(call, question, weights)
        response = self._rank(question, overviews, weights, call.profile, breadth)
        self._use(call, response)
        return response

    # -- rounds ------------------------------------------------------------------------------------

    def _question(self) -> tuple[SearchCall, ShardQuestion]:
        """Return the search, and what the shards need of it."""
        call = self._model({}, ()).call(self._options, self._k)
        call.options.require_reinforcement(call.profile)
        requests, _ = call.requests([self._query], [self._embedding])
        profile, given = call.profile, vars(self._options)
        question = ShardQuestion(
            parts=tuple(map(_part, requests)),
            bounds=self._bounds,
            syntax=self._options.syntax,
            now=call.now,
            depths={channel.name: channel.depth_for(call.k) for channel in profile.channels},
            word_weights={
                name: getattr(channel, name)
                for channel in profile.channels
                if channel.name == "lexical"
                for name in ("function_words", "whole_query", "typos")
            },
            selection=profile.selection,
            limits={name: given[name] for name in _LIMITS if given.get(name) is not None},
            weighed_by=self._weighed_by,
            hot_size=0 if profile.hot_set is None else profile.hot_set.size,
            reads_verdicts=call.traits.reads_verdicts,
            reads_links=profile.expansion is not None or profile.newer_first is not None,
            reads_sessions=profile.neighbours is not None,
        )
        return call, question

    def _overviews(self, question: ShardQuestion) -> dict[int, Overview]:
        overviews: dict[int, Overview] = self._shards.ask("overview", question)
        _require_alike(overviews)
        self._note(overviews)
        known = _weights_of(question, overviews).query
        if not known.is_complete and isinstance(question.weighed_by, str):
            # Words that begin with a prefix in one shard count in all of them.
            overviews = self._shards.ask("overview", question, known)
            self._note(overviews)
        return overviews

    def _find(self, call: SearchCall, question: ShardQuestion, weights: QueryWeights) -> int:
        """Collect the candidates and what stands next to them; return the breadth of a walk."""
        found: dict[int, Found] = self._shards.ask("found", question, *weights)
        self._note(found)
        rule = call.profile.neighbours
        depths = {**question.depths, HOT: question.hot_size}
        leading: set[str] = set()
        for part in range(len(question.parts)):
            for name, depth in depths.items():
                by_shard = [each.hits[part].get(name, ()) for each in found.values()]
                for lists in zip(*by_shard, strict=True):  # of the part, then of each variant
                    hits = [hit for own in lists for hit in own]
                    hits.sort(key=lambda hit: (-hit.score, hit.order))
                    del hits[depth:]
                    for hit in hits:
                        self._know(hit.id, hit.order)
                        self._hits[hit.id] = hit
                    if rule is not None:
                        leading |= {hit.id for hit in hits[: _LEADING * rule.seeds]}
        if self._hits:
            self._fetch(question, self._hits, leading, 0 if rule is None else rule.reach)
        return max(each.breadth for each in found.values())

    def _fetch(
        self, question: ShardQuestion, ids: Iterable[str], leading: AbstractSet[str], reach: int
    ) -> None:
        """Get hits whole, with what stands next to them in their sessions."""
        places = [
            SessionPlace(hit.session, hit.time, hit.order, id in leading)
            for id in ids
            if reach and (hit := self._hits[id]).session is not None
        ]
        self._leading |= leading
        around: dict[int, Around] = self._shards.ask(
            "around", question, sorted(ids), places, reach=reach
        )
        self._take(around)
        for each in around.values():
            for spacer in each.spacers:
                self._know(spacer.id, spacer.order)
                self._spacers[spacer.id] = spacer

    def _rank(
        self,
        question: ShardQuestion,
        overviews: Mapping[int, Overview],
        weights: QueryWeights,
        profile: Profile,
        breadth: int,
    ) -> SearchResponse:
        """Rank, and fetch what the ranking lacks, until it lacks nothing."""
        counts = (
            sum(each.row_count for each in overviews.values()),
            sum(each.bounds_count for each in overviews.values()),
        )
        follows = question.reads_links and any(each.has_links for each in overviews.values())
        rule = profile.expansion
        links: dict[tuple[str, str], StoredLink] = {}
        known: set[str] = set()
        model, size = self._model(overviews, links.values()), self._size
        is_final = not self._reranks
        while True:
            ranked = model.ranked(
                self._query,
                self._embedding,
                self._options,
                self._k,
                weights=weights,
                counts=counts,
                breadth=breadth,
                reranks=is_final,
            )
            beside = ranked.beside - self._leading
            seeds = sorted(ranked.followed - known) if follows else []
            if not beside and not seeds:
                if is_final:
                    return ranked.response
                is_final = True
                continue
            if beside:
                assert profile.neighbours is not None
                self._fetch(question, beside, beside, profile.neighbours.reach)
            if seeds:
                linked: dict[int, Linked] = self._shards.ask(
                    "linked",
                    question,
                    seeds,
                    sorted(self._candidates),
                    hops=0 if rule is None else rule.hops,
                    least=0.0 if rule is None else rule.least_link,
                )
                self._take(linked)
                known |= set(seeds)
                for each in linked.values():
                    links |= {(link.one, link.other): link for link in each.links}
            if beside or self._size != size:
                model, size = self._model(overviews, links.values()), self._size
            else:
                model.set_links(list(links.values()))

    def _use(self, call: SearchCall, response: SearchResponse) -> None:
        """Reinforce the results in their shards. Links between shards are not made."""
        rule, is_wanted = call.profile.reinforcement, self._options.reinforce
        if is_wanted is None:
            is_wanted = not call.is_explained
        if rule is None or not is_wanted or not self._client.writes:
            return
        started = perf_counter()
        ids = tuple(response.ids)
        found = response.direct_ids
        direct, linked = (ids, frozenset[str]()) if found is None else (found, response.linked_ids)
        together = direct[: getattr(rule, "most_linked", len(direct))]
        by_shard: dict[int, list[str]] = {}
        for id in ids:
            by_shard.setdefault(self._candidates[id].order[1], []).append(id)
        used = {
            shard: Used(
                tuple(own),
                call.now,
                self._options.session,
                rule,
                tuple(id for id in together if id in own),
                linked.intersection(own),
            )
            for shard, own in by_shard.items()
        }
        if used:
            self._shards.tell("use", {shard: (each,) for shard, each in used.items()})
        response.with_reinforcement((perf_counter() - started) * 1e3)

    # -- private -----------------------------------------------------------------------------------

    def _model(
        self,
        overviews: Mapping[int, Overview],
        links: Iterable[StoredLink],
    ) -> CandidateModel:
        """Return the model of the candidates so far."""
        known = list(overviews.values())
        return CandidateModel(
            self._client,
            list(self._candidates.values()),
            [each for id, each in self._spacers.items() if id not in self._candidates],
            list(links),
            options=known[0].options if known else LexicalOptions(),
            settings=settings_of(
                next((each.embedder for each in known if each.embedder), None),
                next((each.dimension for each in known if each.dimension), None),
            ),
            embedder=self._embedder,
            expansions=self._expansions,
            has_links=any(each.has_links for each in known),
            has_sessions=any(each.has_sessions for each in known),
            has_vectors=any(each.has_vectors for each in known),
            verdicts=_summed(each.verdicts for each in known),
            bounds=self._bounds,
        )

    def _note(self, answers: Mapping[int, Overview | Found | Around | Linked]) -> None:
        """Compare the moments of the shards with those of the rounds before.

        A scope that was moved meanwhile may be in two shards, or in none: that is never accepted.
        """
        for shard, answer in answers.items():
            before = self._moments.setdefault(shard, answer.moment)
            is_accepted = self.is_last and before[-1] == answer.moment[-1]
            if before != answer.moment and not is_accepted:
                raise _Moved

    def _take(self, answers: Mapping[int, Around | Linked]) -> None:
        """Add candidates."""
        self._note(answers)
        for answer in answers.values():
            for each in answer.candidates:
                self._know(each.row.id, each.order)
                self._candidates.setdefault(each.row.id, each)

    def _know(self, id: str, order: Order) -> None:
        """Note where a memory lies.

        Raises:
            DuplicateId: another shard has a memory of the same id.
        """
        former = self._orders.setdefault(id, order)
        if former[1] != order[1]:
            msg = (
                f"id: {id!r} is in the shards {former[1]} and {order[1]}; one ranking needs ids "
                "that no two shards share"
            )
            raise DuplicateId(msg)

    @property
    def _size(self) -> int:
        """The number of memories known so far."""
        return len(self._candidates) + len(self._spacers)


def _part(request: SearchRequest) -> Part:
    expanded = request.expanded
    variants = () if expanded is None else expanded.variants
    return Part(
        request.query,
        request.plain_text,
        request.vector,
        request.understood.time,
        tuple(PartVariant(variant.text, variant.vector) for variant in variants),
    )


def _weights_of(question: ShardQuestion, overviews: Mapping[int, Overview]) -> QueryWeights:
    """Return the statistics of the whole, or those that the caller gave."""
    known, given = list(overviews.values()), question.weighed_by
    of_variants = [each.variant_statistics for each in known if each.variant_statistics is not None]
    query = given
    if isinstance(query, str):
        query = reduce(add, (each.statistics for each in known))
        # Words that a prefix finds outside of the scope alone.
        found = (term for terms in query.prefix_terms.values() for term in terms)
        frequencies = {**dict.fromkeys(found, 0), **query.frequencies}
        query = replace(query, frequencies=frequencies)
    return QueryWeights(query, reduce(add, of_variants) if of_variants else None)


def _summed(all_verdicts: Iterable[Verdicts]) -> Verdicts:
    found: dict[str, tuple[int, int]] = {}
    for verdicts in all_verdicts:
        for kind, (good, bad) in verdicts.items():
            before = found.get(kind, (0, 0))
            found[kind] = before[0] + good, before[1] + bad
    return found


def _require_alike(overviews: Mapping[int, Overview]) -> None:
    """Refuse shards that one ranking cannot compare.

    Raises:
        MixedShards: naming the first difference.
    """
    known: dict[str, tuple[int, object]] = {}
    for shard, overview in overviews.items():
        values = {"version": overview.version, "lexical options": overview.options}
        if overview.embedder is not None:
            values["embedder"] = overview.embedder
        if overview.dimension is not None:
            values["dimension of vectors"] = overview.dimension
        for name, value in values.items():
            other, before = known.setdefault(name, (shard, value))
            if value != before:
                msg = (
                    f"shards {other} and {shard} have different {name}: {before!r} and {value!r}; "
                    "one ranking needs equal ones"
                )
                raise MixedShards(msg)
