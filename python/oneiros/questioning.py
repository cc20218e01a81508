"""A question on its way into recall: its arguments checked, its words understood and embedded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.argument_checks import count, require_flag, require_text, require_utf8
from oneiros.fields import FIELDS
from oneiros.limiting import Limiting
from oneiros.query.understood import ranked_by
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.reranking import with_place
from oneiros.recent_answers import Same
from oneiros.search.request import SearchRequest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.projections import Limits
    from oneiros.query.asking import Asking
    from oneiros.query.expander import Expanded
    from oneiros.query.understood import Understood
    from oneiros.ranking.profile import Profile
    from oneiros.response import SearchResponse
    from oneiros.texts.sought import Sought

__all__ = ["Questioning", "spoken_in"]


class Questioning(Limiting):
    """Memories that can be asked a question."""

    def _question(
        self,
        query: str,
        embedding: npt.ArrayLike | None,
        k: int,
        now: float,
        profile: Profile | str | None,
        is_explained: bool,
        syntax: str,
        asking: Asking,
    ) -> SearchRequest:
        require_text("query", query)
        require_utf8("syntax", syntax)
        is_explained = require_flag("explain", is_explained)
        most = count("k", k)
        spoken, chosen = spoken_in(query, syntax), self._profile(profile)
        row_sets = self._parts.projections.row_sets
        understood = asking.understood(spoken, chosen, now, row_sets)
        if self._parts.expander is not None and not _takes_variants(chosen):
            unused = (*understood.unused, "query_expander not used by the profile")
            understood = understood._replace(unused=unused)
        expanded, embedding = self._expanded(chosen, spoken, understood, asking, embedding)
        vector, absent = None, understood.skips_vectors
        if not absent or embedding is not None:  # what is given is checked in any case
            found = self._query_vector(spoken, embedding)
            vector, absent = (None, absent) if absent else found
        reranker = self._parts.reranker if asking.reranker is None else asking.reranker
        placed = chosen if reranker is None else with_place(chosen)
        ranked, ranks = ranked_by(placed, understood), None
        if expanded is not None and expanded.variants:
            from oneiros.ranking.weighing import fused_by_shares  # noqa: PLC0415 - few

            assert isinstance(ranked.fusion, ReciprocalRankFusion)
            ranks, ranked = ranked.fusion, fused_by_shares(ranked)
        return SearchRequest(
            query=query,
            spoken=spoken,
            syntax=syntax,
            vector=vector,
            absent=absent,
            k=most,
            now=now,
            profile=ranked,
            profile_hash=chosen.hash,
            understood=understood,
            is_explained=is_explained,
            verdicts=self._verdicts(chosen),
            back_again=None,
            sought=self._sought(chosen, spoken),
            reranker=reranker,
            until=asking.until,
            expanded=expanded,
            ranks=ranks,
        )

    def _expanded(
        self,
        profile: Profile,
        spoken: str,
        understood: Understood,
        asking: Asking,
        embedding: npt.ArrayLike | None,
    ) -> tuple[Expanded | None, npt.ArrayLike | None]:
        """Ask the engine's expander for a conceptual question in other words, where there is one.

        Returns:
            What came of it; and the question's vector, embedded with those of the variants.

        Source: docs/systems/omega.md O6.
        """
        expander, reader = self._parts.expander, profile.understanding
        if expander is None:
            return None, embedding
        from oneiros.query.expander import Expanded, Variant, expanded_by  # noqa: PLC0415

        if reader is None or not _takes_variants(profile):
            why = "not asked: the profile reads no questions or fuses no ranks"
            return Expanded(reason=why), embedding
        if understood.intent != "conceptual":
            return Expanded(reason="not asked: the question is not conceptual"), embedding
        seconds = reader.expander_seconds
        if asking.until is not None:
            seconds = min(seconds, asking.until - monotonic())
        told = expanded_by(expander, spoken, reader, seconds)
        if not told.texts:
            return told, embedding
        texts = [spoken, *told.texts]
        made = self._embedded(texts, [embedding, *(None for _ in told.texts)], [False] * len(texts))
        variants = tuple(
            Variant(text, self._variant_vector(vector), self._sought(profile, text))
            for text, vector in zip(told.texts, made[1:], strict=True)
        )
        return told._replace(variants=variants), made[0]

    def _variant_vector(self, vector: npt.ArrayLike | None) -> npt.NDArray[np.float32] | None:
        accept = self._parts.remember.vectors.accept
        return None if vector is None else accept(FIELDS["embedding"].check(vector))

    def _key(
        self,
        query: str,
        embedding: npt.ArrayLike | None,
        k: int,
        profile: Profile,
        syntax: str,
        asking: Asking,
        limits: Limits,
    ) -> Hashable:
        """Return all that an answer depends on, but for what memories hold and when it is asked.

        Of the time it says which memories are valid.

        Raises:
            TypeError, ValueError: an argument breaks its rule, as it would without.
        """
        require_text("query", query)
        require_utf8("syntax", syntax)
        vector = None
        if embedding is not None:
            unit = self._parts.remember.vectors.accept(FIELDS["embedding"].check(embedding))
            vector = b"" if unit is None else unit.tobytes()
        return (
            profile,
            tuple(sorted(self._bounds.items())),
            (query, syntax, count("k", k), vector),
            asking._replace(reranker=None, until=None),
            None if asking.reranker is None else Same(asking.reranker),
            None if limits.status is None else frozenset(map(str, limits.status)),
            (limits.valid_at, limits.includes_expired, limits.is_deep, limits.includes_lapsed),
            self._parts.projections.row_sets.out_of_time_counts(limits),
        )

    def _sought(self, profile: Profile, spoken: str) -> Sought | None:
        if not profile.reads_texts:
            return None
        from oneiros.texts.sought import Sought  # noqa: PLC0415 - few profiles look into texts

        return Sought(self._parts.remember.texts(), spoken, profile.query_words)

    def _embedded(
        self,
        queries: Sequence[str],
        given: list[npt.ArrayLike | None],
        is_mute: Sequence[bool],
    ) -> list[npt.ArrayLike | None]:
        """Give the queries that come without a vector the embedder's, all in one call.

        Those that are mute get none: the vector channel is not asked.
        """
        maker = self._parts.remember.vectors
        bare = [
            n
            for n, query in enumerate(queries)
            if given[n] is None and query.strip() and not is_mute[n]
        ]
        if maker.is_present and bare:
            for n, vector in zip(bare, maker.of([queries[n] for n in bare]), strict=True):
                given[n] = vector
        return given

    def _embedded_parts(
        self,
        queries: Sequence[str],
        given: list[npt.ArrayLike | None],
        asking: Asking,
        profile: Profile | str | None,
        now: float,
    ) -> list[npt.ArrayLike | None]:
        """Give questions that come without a vector the embedder's, unless they do without."""
        chosen, row_sets = self._profile(profile), self._parts.projections.row_sets
        read = [asking.understood(words, chosen, now, row_sets) for words in queries]
        return self._embedded(queries, given, [bool(one.skips_vectors) for one in read])

    def _spoken_parts(
        self, query: str, syntax: str, profile: Profile | str | None
    ) -> Sequence[str]:
        """The parts of a compound question; of another, itself. Source: docs/systems/omega.md O10."""
        reader = self._profile(profile).understanding
        if reader is None or syntax != "plain":
            return [query]
        require_text("query", query)
        from oneiros.query.compound import parts_of  # noqa: PLC0415 - few profiles read questions

        return parts_of(query, reader)

    def _together(
        self,
        queries: Sequence[str],
        counts: Sequence[int],
        questions: Sequence[SearchRequest],
        responses: Sequence[SearchResponse],
    ) -> list[SearchResponse]:
        """Merge the answers to the parts of each compound question; ``counts``: of the parts."""
        if len(queries) == len(responses):
            return list(responses)
        from oneiros.parting import merged_answer  # noqa: PLC0415 - few questions are compound

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
                    self._parts.projections,
                    self._load_seen,
                )
            )
        return told

    def _query_vector(
        self, query: str, embedding: npt.ArrayLike | None
    ) -> tuple[npt.NDArray[np.float32] | None, str]:
        vectors = self._parts.remember.vectors
        if embedding is not None:
            vector = vectors.accept(FIELDS["embedding"].check(embedding))
            return vector, "" if vector is not None else "absent: the embedding is a zero vector"
        if not vectors.is_present:
            return None, "absent: no embedder, and no embedding given"
        if not query.strip():
            return None, "absent: nothing to embed in an empty query"
        vector = next(vectors.of([query]))
        return vector, "" if vector is not None else "absent: the embedder gave a zero vector"


def _takes_variants(profile: Profile) -> bool:
    return profile.understanding is not None and isinstance(profile.fusion, ReciprocalRankFusion)


def spoken_in(query: str, syntax: str) -> str:
    """What a query says in words, which an embedder understands."""
    if syntax == "plain":
        return query
    clauses = _core.parse_query(text=query, syntax=syntax)
    return " ".join(text for occur, _, _, text in clauses if occur != "must_not")
