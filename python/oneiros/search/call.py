"""One call of ``search``, ``search_many`` or ``why_not``: how each of its questions is asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.index import Limits
from oneiros.model.fields import FIELDS
from oneiros.model.validation import count, require_text
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.stages import with_place
from oneiros.search.cache import Same
from oneiros.search.plan import DeepRecall
from oneiros.search.query.date_words import may_name_a_time
from oneiros.search.query.dates import range_in
from oneiros.search.query.parsed import PLAIN, Understood, asks_times, ranked_by, understand
from oneiros.search.request import SearchRequest
from oneiros.write.reinforce import ReinforcementEvent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.index import Visible
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.selection import Selection
    from oneiros.search.options import SearchOptions
    from oneiros.search.query.dates import TimeRange
    from oneiros.search.query.expansion import Expanded
    from oneiros.search.response import SearchResponse
    from oneiros.search.text_match import Sought

__all__ = ["SearchCall", "query_vector"]


class _Traits(NamedTuple):
    """What a profile reads of a question, looked up once."""

    profile: Profile
    asks_times: bool
    reads_texts: bool
    reads_verdicts: bool
    takes_variants: bool


_TRAITS: Final[dict[str, _Traits]] = {}
"""By the hash of a profile."""
_MOST_KEPT: Final = 256
_USUAL_K: Final = 1_000_000  # checked without a call


def _traits_of(profile: Profile) -> _Traits:
    """Return what a profile reads of a question."""
    if len(_TRAITS) >= _MOST_KEPT:
        _TRAITS.clear()
    found = _TRAITS[profile.hash] = _Traits(
        profile=profile,
        asks_times=asks_times(profile),
        reads_texts=profile.reads_texts,
        reads_verdicts=any(getattr(one, "reads_verdicts", False) for one in profile.factors),
        takes_variants=profile.understanding is not None
        and isinstance(profile.fusion, ReciprocalRankFusion),
    )
    return found


class SearchCall:
    """The options of a call, met with the engine that is asked.

    Args:
        scope: of the engine, or a part of it.
        options: checked.
        k: at most so many results a question.
        is_explained: whether results are explained; None: as the options say.

    Raises:
        TypeError, ValueError: ``k`` is no count, or the profile does not read an option.
        EngineClosed: the engine is closed.
    """

    __slots__ = (
        "_scope",
        "bounds",
        "is_explained",
        "k",
        "limits",
        "now",
        "options",
        "profile",
        "services",
        "traits",
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
        self.k = k if type(k) is int and 0 <= k <= _USUAL_K else count("k", k)
        self.services = services = scope.services
        services.sync.follow_others(is_asked=services.auto_refresh)
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
        if selection.hidden_kinds and any(map(_names_kinds, (options.where, self.bounds))):
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
        )

    def visible(self) -> Visible:
        """Return what the searches may return, and where links may lead them."""
        limits, services, bounds = self.limits, self.services, self.bounds
        row_sets = services.projections.row_sets
        visible = row_sets.visible(limits, bounds)
        expansion = self.profile.expansion
        links = None if expansion is None else services.sync.links_to_follow()
        if expansion is None or links is None:
            return visible
        linked = visible
        if limits.is_deep and not expansion.needs_scores:  # then nothing has a score to halve
            limits = replace(limits, is_deep=False)
            linked = row_sets.visible(limits, bounds)
        if expansion.cold and limits.selection.hide_cold:
            limits = replace(limits, selection=replace(limits.selection, hide_cold=False))
        return visible._replace(reach=row_sets.reach(limits, bounds, linked, links))

    # -- questions ---------------------------------------------------------------------------------

    def questions(
        self, queries: Sequence[str], embeddings: Sequence[npt.ArrayLike | None]
    ) -> tuple[list[SearchRequest], list[int]]:
        """Read queries, part by part where a question has several.

        Args:
            queries: the texts.
            embeddings: one a query; None: the embedder's. Of several, or of parts, the embedder
                makes all vectors in one call.

        Returns:
            The requests, and of how many parts each query consists.
        """
        parted = [self._parts_of(query) for query in queries]
        counts = list(map(len, parted))
        if len(counts) == 1 and counts[0] == 1:
            return [self.question(queries[0], embeddings[0])], counts
        each: list[str] = []
        vectors: list[npt.ArrayLike | None] = []
        for query, parts, embedding in zip(queries, parted, embeddings, strict=True):
            each += parts if len(parts) > 1 else [query]
            vectors += [embedding] * len(parts)
        spoken = [_spoken_in(part, self.options.syntax) for part in each]
        is_mute = [bool(self._understood(words).skips_vectors) for words in spoken]
        made = self._embedded(spoken, vectors, is_mute)
        return [self.question(part, own) for part, own in zip(each, made, strict=True)], counts

    def _parts_of(self, query: str) -> Sequence[str]:
        """The parts of a compound question; of another, itself. Source: docs/systems/omega.md O10."""
        reader = self.profile.understanding
        if reader is None or self.options.syntax != "plain":
            return [query]
        require_text("query", query)
        from oneiros.search.query.subqueries import parts_of  # noqa: PLC0415 - few profiles read questions

        return parts_of(query, reader)

    def question(self, query: str, embedding: npt.ArrayLike | None) -> SearchRequest:
        """Read one query.

        Args:
            query: the text.
            embedding: its vector; None: the embedder's.
        """
        options, services = self.options, self.services
        if type(query) is not str:
            require_text("query", query)
        spoken = query if options.syntax == "plain" else _spoken_in(query, options.syntax)
        understood = self._understood(spoken)
        expanded = ranks = None
        if services.expander is not None:
            if not self.traits.takes_variants:
                unused = (*understood.unused, "query_expander not used by the profile")
                understood = understood._replace(unused=unused)
            expanded, embedding = self._expanded(spoken, understood, embedding)
        vector, absent = None, understood.skips_vectors
        if not absent or embedding is not None:  # what is given is checked in any case
            found = query_vector(self._scope, spoken, embedding)
            vector, absent = (None, absent) if absent else found
        reranker = services.reranker if options.reranker is None else options.reranker
        ranked = self.profile if reranker is None else with_place(self.profile)
        if understood is not PLAIN:
            ranked = ranked_by(ranked, understood)
        if expanded is not None and expanded.variants:
            from oneiros.scoring.reweighting import fused_by_shares  # noqa: PLC0415 - few

            assert isinstance(ranked.fusion, ReciprocalRankFusion)
            ranks, ranked = ranked.fusion, fused_by_shares(ranked)
        limits = self.limits
        return SearchRequest(
            query=query,
            spoken=spoken,
            syntax=options.syntax,
            vector=vector,
            absent=absent,
            k=self.k,
            now=self.now,
            profile=ranked,
            profile_hash=self.profile.hash,
            understood=understood,
            is_explained=self.is_explained,
            verdicts=self._scope.verdicts(self.profile) if self.traits.reads_verdicts else {},
            back_again=services.projections.row_sets.came_back(limits) if limits.is_deep else None,
            sought=self._sought(spoken) if self.traits.reads_texts else None,
            reranker=reranker,
            until=options.until,
            expanded=expanded,
            added=(DeepRecall(self.profile.deep_recall_penalty),) if limits.is_deep else (),
            ranks=ranks,
        )

    def _understood(self, spoken: str) -> Understood:
        """What the profile makes of the words, and of what the caller does.

        Raises:
            ValueError: a situation that the profile does not know.
        """
        options, profile = self.options, self.profile
        time: TimeRange | None = None
        if options.time is not None:
            time = options.time
        elif self.traits.asks_times and may_name_a_time(spoken):
            time = range_in(spoken, self.now)
        if time is not None and time.words and profile.named_time is None:
            time = time._replace(certainty="soft")  # O22; H10 alone reads the wording
        if time is None and profile.understanding is None:
            found = PLAIN
        else:
            found = understand(spoken, profile, options.hint, options.where, time)
        if options.hint is not None and found.hint is None:
            found = found._replace(unused=("hint not listed by the profile",))
        context = options.context
        if context is None:
            return found
        reader, situation = profile.understanding, None
        if reader is not None and context.situation is not None:
            situation = reader.situation_of(context.situation)
        is_asked = any(one.name == "context" for one in profile.factors)
        row_sets = self.services.projections.row_sets
        surroundings = context.surroundings(row_sets) if is_asked else None
        return found._replace(surroundings=surroundings, situation=situation)

    def _expanded(
        self, spoken: str, understood: Understood, embedding: npt.ArrayLike | None
    ) -> tuple[Expanded, npt.ArrayLike | None]:
        """Ask the engine's expander for a conceptual question in other words.

        Returns:
            What came of it; and the question's vector, embedded with those of the variants.

        Source: docs/systems/omega.md O6.
        """
        from oneiros.search.query.expansion import Expanded, Variant, expanded_by  # noqa: PLC0415

        expander, reader = self.services.expander, self.profile.understanding
        assert expander is not None
        if reader is None or not self.traits.takes_variants:
            why = "not asked: the profile reads no questions or fuses no ranks"
            return Expanded(reason=why), embedding
        if understood.intent != "conceptual":
            return Expanded(reason="not asked: the question is not conceptual"), embedding
        seconds = reader.expander_seconds
        if self.options.until is not None:
            seconds = min(seconds, self.options.until - monotonic())
        told = expanded_by(expander, spoken, reader, seconds)
        if not told.texts:
            return told, embedding
        texts = [spoken, *told.texts]
        made = self._embedded(texts, [embedding, *(None for _ in told.texts)], [False] * len(texts))
        accept = self.services.sync.vectors.accept
        variants = tuple(
            Variant(
                text,
                None if vector is None else accept(FIELDS["embedding"].check(vector)),
                self._sought(text) if self.traits.reads_texts else None,
            )
            for text, vector in zip(told.texts, made[1:], strict=True)
        )
        return told._replace(variants=variants), made[0]

    def _sought(self, spoken: str) -> Sought:
        from oneiros.search.text_match import Sought  # noqa: PLC0415 - few profiles look into texts

        return Sought(self.services.sync.texts(), spoken, self.profile.query_words)

    def _embedded(
        self,
        queries: Sequence[str],
        given: list[npt.ArrayLike | None],
        is_mute: Sequence[bool],
    ) -> list[npt.ArrayLike | None]:
        """Give the queries that come without a vector the embedder's, all in one call.

        Those that are mute get none: the vector channel is not asked.
        """
        maker = self.services.sync.vectors
        bare = [
            n
            for n, query in enumerate(queries)
            if given[n] is None and query.strip() and not is_mute[n]
        ]
        if maker.is_present and bare:
            for n, vector in zip(bare, maker.of([queries[n] for n in bare]), strict=True):
                given[n] = vector
        return given

    # -- after the search --------------------------------------------------------------------------

    def key(self, query: str, embedding: npt.ArrayLike | None) -> Hashable:
        """Return all that an answer depends on, but for what memories hold and when it is asked.

        Of the time it says which memories are valid.

        Raises:
            TypeError, ValueError: an argument breaks its rule, as it would without.
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
            (query, options.syntax, self.k, vector),
            (options.where, options.hint, options.time, options.context),
            None if options.reranker is None else Same(options.reranker),
            None if limits.status is None else frozenset(map(str, limits.status)),
            (limits.valid_at, limits.includes_expired, limits.is_deep, limits.includes_lapsed),
            self.services.projections.row_sets.out_of_time_counts(limits),
        )

    def together(
        self,
        queries: Sequence[str],
        counts: Sequence[int],
        questions: Sequence[SearchRequest],
        responses: list[SearchResponse],
    ) -> list[SearchResponse]:
        """Merge the answers to the parts of each compound question; ``counts``: of the parts."""
        if len(queries) == len(responses):
            return responses
        from oneiros.search.query.subqueries import merged_answer  # noqa: PLC0415 - few are compound

        told: list[SearchResponse] = []
        start = 0
        for query, count_ in zip(queries, counts, strict=True):
            own = slice(start, start + count_)
            start += count_
            told.append(
                responses[own][0]
                if count_ == 1
                else merged_answer(
                    query,
                    questions[own],
                    responses[own],
                    self.services.projections,
                    self._scope.loader,
                )
            )
        return told

    def reinforced(self, responses: list[SearchResponse]) -> list[SearchResponse]:
        """Strengthen what was found, if it is to be, and say so in the traces."""
        rule, asked = self.profile.reinforcement, self.options.reinforce
        if rule is None or not (not self.is_explained if asked is None else asked):
            return responses
        told = []
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
                        ids if direct is None else direct,
                        frozenset() if direct is None else response.linked_ids,
                    )
                )
            told.append(response.with_reinforcement((perf_counter() - started) * 1e3))
        return told


def query_vector(
    scope: Scope, query: str, embedding: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float32] | None, str]:
    """Return the unit vector of a query, or None and why there is none.

    Args:
        scope: of the engine, or a part of it.
        query: what it says in words.
        embedding: its vector; None: the embedder's.
    """
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


def _names_kinds(condition: Where | None) -> bool:
    """Tell whether a filter asks for kinds, so that none of them is hidden. O23."""
    if condition is None:
        return False
    from oneiros.filters.conditions import And, AnyOf, Or  # noqa: PLC0415 - filters load them

    if isinstance(condition, (And, Or)):
        return any(map(_names_kinds, condition.parts))
    return isinstance(condition, AnyOf) and condition.name == "kind"


@lru_cache(maxsize=64)
def _with_all_kinds(selection: Selection) -> Selection:
    """Return the selection that hides no kinds. Equal selections give one object."""
    return replace(selection, hidden_kinds=())


def _spoken_in(query: str, syntax: str) -> str:
    """What a query says in words, which an embedder understands."""
    if syntax == "plain":
        return query
    clauses = _core.parse_query(text=query, syntax=syntax)
    return " ".join(text for occur, _, _, text in clauses if occur != "must_not")
