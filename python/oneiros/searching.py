"""Recall within bounds: arguments checked, channels asked, what is found strengthened."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import (
    require_utf8,
    texts,
)
from oneiros.dataclasses_on_use import replace
from oneiros.limiting import DeepLimits
from oneiros.query.asking import Asking, one_each, require_asking, require_reinforcement
from oneiros.questioning import Questioning, spoken_in
from oneiros.ranking.profile import Profile
from oneiros.ranking.threads import checked_threads
from oneiros.recent_answers import Kept, has_fallen_short
from oneiros.search.pipeline import answer, answer_many
from oneiros.watching import watched

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.bounded import Time
    from oneiros.projections import Limits
    from oneiros.query.asking import TimePair
    from oneiros.query.context import Context
    from oneiros.rerank import Reranker
    from oneiros.response import SearchResponse
    from oneiros.scopes import Where
    from oneiros.search.request import SearchRequest

__all__ = ["Searching"]


class Searching(Questioning):
    """Memories that can be searched."""

    @watched
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        where: Where | None = None,
        session: str | None = None,
        now: Time | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
        reinforce: bool | None = None,
        explain: bool = False,
        include_expired: bool = False,
        deep_recall: bool = False,
        include_expired_in_deep_recall: bool = False,
        valid_at: Time | None = None,
        status: str | Sequence[str] | None = None,
        syntax: str = "plain",
        hint: str | None = None,
        date_range: TimePair | None = None,
        soft_range: bool = False,
        context: Context | None = None,
        reranker: Reranker | None = None,
        deadline: float | None = None,
    ) -> SearchResponse:
        """Find the memories that answer a question, best first.

        Args:
            query: any text; taken literally unless ``syntax`` says otherwise.
            k: at most so many results, >= 0; of each channel no more than its depth are looked at
                (100 by most profiles), and the trace says so where ``k`` is beyond.
            where: a filter, applied inside every channel.
            session: of the caller; reinforcement adds it to the sessions of what is found, and
                nothing else reads it.
            now: the clock of this search, as in :meth:`add`.
            embedding: the question's vector, shape (dimension,); default: the engine's embedder's.
                A profile without a vector channel does not read it.
            profile: how to rank, by name or as a ``Profile``; default: the engine's.
            reinforce: whether what is returned counts as accessed; default: as the profile says,
                and never with ``explain``. True is refused under a profile without reinforcement.
            explain: give each result its explanation.
            include_expired: return also what is past its ``valid_until`` or ``ttl``
                (docs/systems/cognitive.md C7); what is not valid yet stays hidden. Which kinds expire
                is a field of the profile's selection.
            deep_recall: return also superseded memories, their scores multiplied by the profile's
                ``deep_recall_penalty``; such results are ``via_deep_recall``
                (docs/systems/cognitive.md C4, C6).
            include_expired_in_deep_recall: with ``deep_recall``, return also expired memories, with
                the same penalty. With ``include_expired`` there is none for them. Refused without
                ``deep_recall``.
            valid_at: only what was valid then, whatever the profile hides; a time as ``now`` is
                given. Kinds that do not expire in the profile have no end. Scores, and what is due to
                be strengthened, go by ``now`` all the same.
            status: only memories of these statuses ("archived" ones are hidden otherwise).
            syntax: "plain", or "query": then ``+must -not "a phrase" pre* title:word`` are
                understood, as docs/query_syntax.md tells. What must or must not be holds for every
                channel; meaning is sought by the words without what must not be.
            hint: which of the profile's hints weighs (docs/systems/omega.md O8), a kind or a sort of
                question; default: the single kind that ``where`` asks for. What the profile does not
                list weighs as no hint.
            date_range: when it was, a pair of times as ``now`` is given, None for an open end; in
                place of the time that the query names, if it does ("last week", "in March 2024";
                docs/systems/omega.md O4).
            soft_range: whether ``date_range`` is a hint rather than a limit: OMEGA and the default
                profile then lower what lies outside of it as little as for a time that is only
                roughly meant (docs/systems/omega.md O22, docs/systems/house.md H10).
            context: what the caller is doing, an :class:`oneiros.Context`: favours memories that
                belong to it, where the profile asks for that (docs/systems/omega.md O16, O20).
            reranker: judges the first results again, where the profile's ``rerank`` says, or where
                :class:`oneiros.ranking.reranking.Reranking` does of itself; default: the engine's.
            deadline: seconds from now, > 0, after which a reranker is waited for no longer: its
                place in the trace then says so, and the order is that without it. Default: as long
                as the profile's ``rerank`` says; infinity: however long it takes. It ends the wait
                for the engine's ``query_expander``, too. Where neither is called, it has no effect.

        ``hint``, ``context``, ``date_range`` and ``soft_range`` are for profiles that read them:
        ``omega`` reads all four, ``omega-bounded`` all but the last, ``oneiros`` the last two. Other
        profiles refuse them. To restrict a search to a period under any profile, filter:
        ``where=oneiros.where(occurred_at=(start, end))``.

        A profile with a ``cache`` gives the same question the same answer for a while, until a memory
        is written; the trace says so. With ``now`` or ``explain``, it is asked again.

        Returns:
            :class:`SearchResponse`, always with its trace.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
            QueryTooLarge: the query is over 64 KiB or 1,024 distinct terms.
        """
        started = perf_counter()
        require_asking(session, reinforce, k, explain)
        self._follow_others()
        asking = Asking.checked(
            where, hint, date_range, context, reranker, deadline, soft_range=soft_range
        )
        chosen, moment = self._profile(profile), self._now(now)
        require_reinforcement(chosen, reinforce)
        asking.require_read(chosen)
        deep = DeepLimits(deep_recall, include_expired_in_deep_recall)
        limits = self._limits(
            chosen.selection, moment, where, status, include_expired, valid_at, deep
        )
        key, revision = None, self._parts.remember.content_revision
        if chosen.cache is not None and now is None and not explain:
            key = self._key(query, embedding, k, chosen, syntax, asking, limits)
            kept = self._parts.recent.get(key, revision=revision, now=moment)
            if kept is not None:
                response = kept.again(moment, started, self._load_seen)
                question = replace(kept.request, now=moment)
                return self._reinforced([response], question, session, reinforce)[0]
        question, response, fell_short = self._answered(
            query, embedding, k, moment, chosen, explain, syntax, asking, limits
        )
        if key is not None and chosen.cache is not None and not fell_short:
            # A copy: what the caller does to the results is not told to who asks next.
            copied = response.loaded_anew(self._load_seen)
            kept = Kept(question, copied, chosen.cache.kept_for(response.confidence))
            self._parts.recent.put(key, kept, revision=revision, most=chosen.cache.most)
        return self._reinforced([response], question, session, reinforce)[0]

    def _answered(
        self,
        query: str,
        embedding: npt.ArrayLike | None,
        k: int,
        moment: float,
        profile: Profile,
        is_explained: bool,
        syntax: str,
        asking: Asking,
        limits: Limits,
    ) -> tuple[SearchRequest, SearchResponse, bool]:
        """Search anew, part by part where the question has several.

        Returns:
            The first part's question; the answer; whether a reranker or an expander fell short.
        """
        spoken = self._spoken_parts(query, syntax, profile)
        vectors = [embedding]
        if len(spoken) == 1:
            spoken = [query]
        else:
            vectors = self._embedded_parts(
                spoken, [embedding] * len(spoken), asking, profile, moment
            )
        questions = [
            self._question(part, vector, k, moment, profile, is_explained, syntax, asking)
            for part, vector in zip(spoken, vectors, strict=True)
        ]
        visible = self._visible(questions[0], limits)
        questions = [self._in_depth(question, limits) for question in questions]
        responses = [
            answer(question, self._parts.projections, visible, self._load_seen)
            for question in questions
        ]
        fell_short = any(map(has_fallen_short, questions, responses))
        (response,) = self._together([query], [len(questions)], questions, responses)
        return questions[0], response, fell_short

    @watched
    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        *,
        where: Where | None = None,
        session: str | None = None,
        now: Time | None = None,
        embeddings: Sequence[npt.ArrayLike | None] | npt.NDArray[Any] | None = None,
        profile: Profile | str | None = None,
        reinforce: bool | None = None,
        explain: bool = False,
        include_expired: bool = False,
        deep_recall: bool = False,
        include_expired_in_deep_recall: bool = False,
        valid_at: Time | None = None,
        status: str | Sequence[str] | None = None,
        syntax: str = "plain",
        hint: str | None = None,
        date_range: TimePair | None = None,
        soft_range: bool = False,
        context: Context | None = None,
        reranker: Reranker | None = None,
        deadline: float | None = None,
        threads: int | None = None,
    ) -> list[SearchResponse]:
        """Answer a batch of questions, in parallel in the core.

        The answers are those of :meth:`search`, each as if asked alone and anew before any of them
        reinforced anything; reinforcement follows in their order.

        Args:
            queries: the questions.
            k: at most so many results a question.
            where: a filter, for all questions.
            session: who asks.
            now: the clock of all these searches.
            embeddings: the questions' vectors, one a query; default: the embedder's.
            profile: how to rank.
            reinforce: whether what is returned counts as accessed, as :meth:`search` says.
            explain: give each result its explanation.
            include_expired: as for :meth:`search`.
            deep_recall: as for :meth:`search`.
            include_expired_in_deep_recall: as for :meth:`search`.
            valid_at: as for :meth:`search`.
            status: only memories of these statuses.
            syntax: how all queries are read, as for :meth:`search`.
            hint: as for :meth:`search`, for all questions.
            date_range: as for :meth:`search`, for all questions.
            soft_range: as for :meth:`search`, for all questions.
            context: as for :meth:`search`, for all questions.
            reranker: as for :meth:`search`; it is asked once a question.
            deadline: as for :meth:`search`, of all questions together.
            threads: for the channels, 1 to 256; default: one a core.

        Returns:
            One response a query, in their order.

        Raises:
            As :meth:`search`.
        """
        asked = texts("queries", queries)
        require_utf8("syntax", syntax)
        spoken_in("", syntax)  # refuses what is no syntax, of no queries too
        vectors = one_each(embeddings, len(asked))
        require_asking(session, reinforce, k, explain)
        thread_count = checked_threads(threads)
        self._follow_others()
        moment = self._now(now)
        asking = Asking.checked(
            where, hint, date_range, context, reranker, deadline, soft_range=soft_range
        )
        chosen = self._profile(profile)
        require_reinforcement(chosen, reinforce)
        asking.require_read(chosen)
        deep = DeepLimits(deep_recall, include_expired_in_deep_recall)
        limits = self._limits(
            chosen.selection, moment, where, status, include_expired, valid_at, deep
        )
        parted = [self._spoken_parts(query, syntax, chosen) for query in asked]
        counts = [len(held) for held in parted]
        each = [
            part
            for query, held in zip(asked, parted, strict=True)
            for part in (held if len(held) > 1 else [query])
        ]
        spoken = [spoken_in(part, syntax) for part in each]
        vectors = [
            vector for vector, held in zip(vectors, counts, strict=True) for _ in range(held)
        ]
        vectors = self._embedded_parts(spoken, vectors, asking, chosen, moment)
        questions = [
            self._question(part, vector, k, moment, chosen, explain, syntax, asking)
            for part, vector in zip(each, vectors, strict=True)
        ]
        if not questions:
            return []
        parts = self._parts
        visible = self._visible(questions[0], limits)
        questions = [self._in_depth(question, limits) for question in questions]
        responses = answer_many(
            questions, parts.projections, visible, self._load_seen, thread_count
        )
        responses = self._together(asked, counts, questions, responses)
        return self._reinforced(responses, questions[0], session, reinforce)
