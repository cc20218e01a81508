"""Memories that can be searched, and asked why a search does not return one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from oneiros.bounded import Bounded
from oneiros.search import searching
from oneiros.search.options import BatchKeywords, SearchKeywords, WhyNotKeywords, taking

if TYPE_CHECKING:
    from oneiros.explain.why_not import WhyNot
    from oneiros.search.response import SearchResponse

__all__ = ["Searching"]


class Searching(Bounded):
    """Memories that can be searched."""

    @taking(SearchKeywords, embedding=None)
    def search(self, query: str, k: int = 10, **options: Unpack[SearchKeywords]) -> SearchResponse:
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
        return searching.search(self, query, k, options)

    @taking(BatchKeywords, embeddings=None, threads=None)
    def search_many(
        self, queries: Sequence[str], k: int = 10, **options: Unpack[BatchKeywords]
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
        return searching.search_many(self, queries, k, options)

    @taking(WhyNotKeywords, k=10, embedding=None, explain=True)
    def why_not(self, query: str, id: str, **options: Unpack[WhyNotKeywords]) -> WhyNot:
        """Tell why a search does not return a memory; never counts as an access.

        Args:
            query: the search's.
            id: of the memory that is missed.
            k: the search's, like all that follow, so that they can be given as they were.
            where: the search's filter.
            session: taken, and of no effect here.
            now: the search's clock.
            embedding: the search's.
            profile: the search's.
            reinforce: taken, and of no effect here.
            explain: taken, and of no effect here.
            include_expired: the search's.
            deep_recall: the search's.
            include_expired_in_deep_recall: the search's.
            valid_at: the search's.
            status: the search's.
            syntax: the search's.
            hint: the search's.
            date_range: the search's.
            soft_range: the search's.
            context: the search's.
            reranker: the search's; it is asked again.
            deadline: the search's.

        Returns:
            :class:`WhyNot`: what hides the memory, how each channel and factor sees it, its place
            and what it lacks of the last place returned. A scope says of a memory outside what it
            says of an id that does not exist.

        Raises:
            As :meth:`search`.
        """
        from oneiros.explain.absence import why_not  # noqa: PLC0415 - for those who ask why

        return why_not(self, query, id, options)
