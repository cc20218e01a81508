"""What can be done with memories, within bounds: all of a store, or one scope of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from oneiros import engine, explain, rescoring
from oneiros.engine.scope import Scope
from oneiros.errors import (
    MissingEmbedderWarning,
    UnknownMemory,
)
from oneiros.graph import linking
from oneiros.model.calls import named_calls
from oneiros.model.fields import FIELDS, VERDICTS
from oneiros.model.memory import Memory
from oneiros.model.validation import count, require_choice, require_flag, require_utf8, texts
from oneiros.runtime.dataclasses import replace
from oneiros.runtime.warnings import warn
from oneiros.search import near_duplicates, searcher
from oneiros.search.options import BatchKeywords, SearchKeywords, WhyNotKeywords, taking
from oneiros.search.response import readable
from oneiros.write import Bounds, unknown
from oneiros.write.batch import records_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.explain.why_not import WhyNot
    from oneiros.filters import Where
    from oneiros.graph import Link
    from oneiros.rescoring.store import PromotionReport, Rescored
    from oneiros.scoring.profile import Profile
    from oneiros.search.near_duplicates import NearDuplicate, Similar
    from oneiros.search.response import SearchResponse
    from oneiros.write import AddReport

    # The class has a method called list, which hides the type from the hints in it.
    Links = list[Link]
    LinksOfAll = list[tuple[str, Link]]
    MaybeMemories = list[Memory | None]
    NearDuplicates = list[NearDuplicate]
    Page = list[Memory]
    Responses = list[SearchResponse]
    Similars = list[Similar]


__all__ = ["Memories"]

_SCOPE_FIELDS = ("project", "session", "topic")
_BOUND = 60  # characters of a bound that are shown


@named_calls("Scope")
class Memories:
    """Memories that can be added, changed and found.

    An :class:`Engine` holds all of a store; its :meth:`scope` is the same face over a part of it,
    and can see nothing else.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    # -- remember ----------------------------------------------------------------------------------

    def add(
        self,
        /,
        text: str,
        *,
        on_conflict: str = "raise",
        now: Time | None = None,
        **fields: object,
    ) -> str:
        """Add one memory. It is durable, and found by searches, when this returns.

        Args:
            text: up to 16 MiB of UTF-8; may be empty.
            on_conflict: "raise", or "update" to update a memory that has the id already. A deleted
                memory is not updated: it is erased, and the new one starts with its own fields.
            now: the clock, for ``created_at`` and a new id; seconds UTC, an aware ``datetime`` or
                an ISO 8601 text with offset; default: the engine's clock.
            **fields: any field of docs/systems/fields.md (``id``, ``kind``, ``session``, ...);
                ``embedding`` is made by the engine's embedder when not given. A blank text has
                none.

        Returns:
            The memory's id; :meth:`similar` tells what was there already.

        Raises:
            ValueError, TypeError: a field breaks its rule (the message names field and value).
            DuplicateId: the id exists.
            StoreBusy: another process held the store's lock for too long.
        """
        require_choice("on_conflict", on_conflict, ("raise", "update"))
        parts = self._scope.services
        id = parts.remember.adding.add_one(
            {"text": text, **fields},
            now=self._scope.now(now),
            on_conflict=on_conflict,
            bounds=self._bounds(),
            initial_stability=parts.profile.initial_stability,
            ingest=parts.profile.ingest,
        )
        self._warn_of_dropped_vectors()
        return id

    def add_many(
        self,
        records: object,
        *,
        on_conflict: str = "raise",
        on_error: str = "raise",
        now: Time | None = None,
        progress: bool = False,
        links: bool | None = None,
    ) -> AddReport:
        """Add a batch in one transaction: it is stored whole or not at all.

        Args:
            records: dicts or ``Memory``, in any iterable; an Arrow table; a pandas or polars frame.
            on_conflict: "raise" (:class:`DuplicateId` for an id that exists or comes twice), or
                "update": an id that exists is updated with the fields given, of one that comes
                twice the last wins. A deleted memory of the id is erased and replaced.
            on_error: "raise" at the first record that breaks a rule; "skip" it; or "collect" it
                in the report's ``failures``.
            now: as in :meth:`add`.
            progress: show a bar on the error stream.
            links: whether similar memories are linked, and raise the stability of those that were
                there (docs/systems/cognitive.md C17, C18); default: in batches of up to 1,000
                records. Under an engine's profile without ``ingest`` nothing is linked, even if True.

        Returns:
            :class:`AddReport`: ids in the order of the records, what was updated, repeated,
            refused; and, looked for when they are asked for, ``near_duplicates``.

        Raises:
            As :meth:`add`; the error's note tells the record's place.
        """
        from oneiros.write.batch import OnFirstLook  # noqa: PLC0415 - many processes only search

        require_choice("on_conflict", on_conflict, ("raise", "update"))
        require_choice("on_error", on_error, ("raise", "skip", "collect"))
        require_flag("progress", progress)
        if links is not None:
            require_flag("links", links)
        given = records_of(records, progress=progress)
        report = self._add(given, on_conflict=on_conflict, on_error=on_error, now=now, links=links)
        return replace(
            report,
            look=OnFirstLook(partial(near_duplicates.repeats_among, self._scope, report.ids)),
        )

    def _add(
        self,
        records: Iterator[object],
        *,
        on_conflict: str,
        on_error: str = "raise",
        now: Time | None = None,
        links: bool | None = None,
    ) -> AddReport:
        parts = self._scope.services
        report = parts.remember.adding.add(
            records,
            now=self._scope.now(now),
            on_conflict=on_conflict,
            on_error=on_error,
            bounds=self._bounds(),
            initial_stability=parts.profile.initial_stability,
            ingest=parts.profile.ingest,
            links=links,
        )
        self._warn_of_dropped_vectors()
        return report

    def _bounds(self) -> Bounds:
        return Bounds(self._scope.bounds, self._inside, self._scope.contains)

    def update(self, id: str, /, *, now: Time | None = None, **changes: object) -> None:
        """Change fields of one memory; ``revision_count`` goes up by one, ``updated_at`` is now.

        A changed text or title is embedded by the engine's embedder. Without an embedder the old
        vector is dropped, unless a new ``embedding`` is given too.

        Warns:
            MissingEmbedderWarning: a vector was dropped; once an engine.

        Raises:
            UnknownMemory: no live memory has this id.
            StoreBusy: others kept changing the text while it was embedded, or held the lock.
            ValueError, TypeError: a field breaks its rule, or is ``id``.
        """
        for name in self._scope.bounds:
            if name in changes:
                msg = f"{name}: fixed by the scope, cannot be changed through it"
                raise ValueError(msg)
        require_utf8("id", id)
        self._scope.services.remember.update(
            id, changes, now=self._scope.now(now), seen=self._scope.contains
        )
        self._warn_of_dropped_vectors()

    def feedback(self, id: str, verdict: str, *, now: Time | None = None) -> None:
        """Record what someone says of a memory: its ``feedback`` is the sum of such verdicts.

        Args:
            id: of the memory.
            verdict: "helpful" (+1), "unhelpful" (-1) or "outdated" (-2).
            now: when, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError: another verdict.

        Source: docs/systems/fields.md; docs/systems/omega.md O12, O15.
        """
        require_utf8("id", id)
        require_choice("verdict", verdict, tuple(VERDICTS))
        self._scope.services.remember.feedback(
            id, verdict, now=self._scope.now(now), seen=self._scope.contains
        )

    def delete(
        self, id: str | None = None, *, where: Where | None = None, now: Time | None = None
    ) -> int:
        """Soft-delete one memory or all that match; :meth:`restore` takes it back.

        Returns:
            How many were deleted.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError: neither or both of ``id`` and ``where`` given.
        """
        if (id is None) == (where is None):
            msg = "delete: give an id or where=, one of the two"
            raise ValueError(msg)
        parts = self._scope.services
        if id is None:
            return parts.remember.delete_matching(
                self._scope.within(where), now=self._scope.now(now)
            )
        require_utf8("id", id)
        parts.remember.delete(id, now=self._scope.now(now), seen=self._scope.contains)
        return 1

    def restore(self, id: str, *, now: Time | None = None) -> bool:
        """Take a soft delete back, and an archiving, so that the memory can be found again.

        What was archived is consolidated then; otherwise its status stays. That is a use of it:
        ``last_accessed_at`` is now, and it is as stale as if it had just been recalled. What repeats
        another, is superseded or is disliked is taken away by the next cycle all the same, unless
        :meth:`pin` keeps it. Of a memory that is not away nothing changes.

        Args:
            id: of the memory.
            now: the clock, as in :meth:`add`.

        Returns:
            Whether it was away.

        Raises:
            UnknownMemory: there is no such memory, deleted or not.

        Source: docs/systems/reverie.md R13, R19.
        """
        require_utf8("id", id)
        return self._scope.services.remember.restore(
            id, now=self._scope.now(now), seen=self._scope.contains
        )

    def forget(self, id: str) -> None:
        """Erase a memory for good, soft-deleted or not: text, vector, log, what cycles changed of it.

        A summary that a cycle made of it, named by its ``superseded_by``, says what it said and is a
        memory of its own, to be forgotten as well. Memories that it superseded are superseded by its
        own successor, or found again if it has none.

        Raises:
            UnknownMemory: there is no such memory.
            StoreCorrupt: it is damaged, and this is a scope; an engine forgets damaged memories.
            StoreBusy: other processes' readers kept the log from being emptied; the memory is
                gone, its old bytes may still stand in the log until the next ``forget``.
        """
        require_utf8("id", id)
        self._scope.services.remember.forget(
            id, seen=self._scope.contains, is_bounded=bool(self._scope.bounds)
        )

    # -- find --------------------------------------------------------------------------------------

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
                :class:`oneiros.scoring.stages.Reranking` does of itself; default: the engine's.
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
        return searcher.search(self._scope, query, k, options, self.search)

    @taking(BatchKeywords, embeddings=None, threads=None)
    def search_many(
        self, queries: Sequence[str], k: int = 10, **options: Unpack[BatchKeywords]
    ) -> Responses:
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
        return searcher.search_many(self._scope, queries, k, options, self.search_many)

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
        return explain.absence.why_not(self._scope, query, id, options, self.why_not)

    def similar(
        self,
        id_or_text: str,
        k: int = 10,
        *,
        where: Where | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
    ) -> Similars:
        """Return what is most like a memory, or a text that is no memory yet; never an access.

        First those whose texts begin alike, as they were added, then the nearest by cosine. Which of
        them are near-duplicates, the ``duplicates`` of the profile says: by default the same first
        150 characters, whatever their markdown, white space and capitals, or a cosine of 0.92. All
        live memories within the scope are looked at, also those that a search would hide. Their
        texts are read when they are first asked for; after that a call costs one pass over the
        beginnings and one search by vector, which beyond 5,000 memories is approximate.

        Args:
            id_or_text: the id of a live memory within the scope; all else is taken for a text.
            k: most to return, >= 0.
            where: a filter.
            embedding: the vector to go by; default: the memory's own, of a text the engine's
                embedder's. Without any, only what begins alike is found.
            profile: whose ``duplicates`` is the rule; default: the engine's. One that has none
                goes by the published numbers.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/omega.md O26.
        """
        return near_duplicates.similar(
            self._scope, id_or_text, k, where=where, embedding=embedding, profile=profile
        )

    def near_duplicates(
        self,
        ids: Sequence[str],
        *,
        where: Where | None = None,
        profile: Profile | str | None = None,
    ) -> NearDuplicates:
        """Return what the given memories are near-duplicates of; never an access.

        By the rule of :meth:`similar`, of each memory the 10 others that are most alike are looked
        at. Costs one pass over the beginnings of all texts, and a search by vector for each id:
        beyond 5,000 memories by the graph, once it is built.

        Args:
            ids: of live memories within the scope.
            where: a filter, which the others pass.
            profile: as for :meth:`similar`.

        Returns:
            In the order of the ids; a pair of which both are among them is told once, of the later.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/omega.md O26.
        """
        return near_duplicates.among(self._scope, ids, where=where, profile=profile)

    # -- look --------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory:
        """Return one memory. Never counts as an access.

        Raises:
            UnknownMemory: no live memory has this id.
            StoreCorrupt: its row in the store is damaged.
        """
        require_utf8("id", id)
        found = self.get_many([id])[0]
        if found is None:
            raise UnknownMemory(unknown(id))
        return found

    def get_many(self, ids: Sequence[str]) -> MaybeMemories:
        """Return memories in the order of the ids; None where there is no live one.

        Raises:
            StoreCorrupt: one of them is damaged; it is named, and the others can be read alone.
        """
        ids = texts("ids", ids)
        for place, id in enumerate(ids):
            require_utf8(f"ids[{place}]", id)
        return self._scope.load_live(ids)

    def __len__(self) -> int:
        return self.count()

    def count(self, where: Where | None = None) -> int:
        """Return how many live memories match (all of them without ``where``)."""
        self._scope.follow_others()
        if where is None and not self._scope.bounds:
            return self._scope.services.projections.live_count
        return len(self._scope.matching(where))

    def list(
        self, where: Where | None = None, *, after: str | None = None, limit: int = 100
    ) -> Page:
        """Return live memories in order of insertion, a page at a time.

        Args:
            where: a filter.
            after: the last id of the page before.
            limit: at most so many, >= 0.

        Raises:
            UnknownMemory: ``after`` names no memory.
        """
        self._scope.follow_others()
        limit = count("limit", limit)
        lifecycle = self._scope.services.projections.lifecycle
        first = 0
        if after is not None:
            require_utf8("after", after)
            row = lifecycle.row_of.get(after)
            if row is None or self._scope.loader([after])[0] is None:
                raise UnknownMemory(unknown(after))
            first = row + 1
        rows = self._scope.matching(where)
        start = rows.rank(first - 1) if first else 0
        found: Page = []
        while len(found) < limit and start < len(rows):
            some = rows[start : start + limit - len(found)]
            start += len(some)
            read = readable(self._scope.load_live, [lifecycle.ids[row] for row in some])
            found += [memory for memory in read if memory is not None]
        return found

    # -- mark and link -----------------------------------------------------------------------------

    def supersede(self, old: str, new: str, reason: str = "", *, now: Time | None = None) -> None:
        """Let one memory take the place of another, which searches then hide.

        The older keeps all it holds, its links too, and can still be had by its id. Its
        ``superseded_by`` is the newer, its ``metadata`` gets "superseded_at", in seconds, and
        "superseded_reason" where a reason is given. Superseded again, it says what was said last;
        ``update(old, superseded_by=None)`` lets it be found again, and so does ``forget(new)``, unless
        ``new`` has a successor. Its tier stays what it is until
        the dream cycle looks (docs/systems/cognitive.md C19).

        Args:
            old: the id of the one that no longer holds.
            new: the id of the one that does; it may itself be superseded, but not by ``old``.
            reason: why, for people; empty: none is kept.
            now: when, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError: both are the same, or ``old`` supersedes ``new`` already, be it through
                others; with the reason ``metadata`` would be too long.
            TypeError: an id or the reason is no text.

        Source: docs/systems/fields.md; docs/systems/cognitive.md C4; docs/systems/omega.md O23.
        """
        require_utf8("old", old)
        require_utf8("new", new)
        require_utf8("reason", reason)
        if old == new:
            msg = f"new: must be another memory than old, got {new!r} twice"
            raise ValueError(msg)
        self._scope.services.remember.supersede(
            old, new, reason, now=self._scope.now(now), seen=self._scope.contains
        )

    def pin(self, id: str, pinned: bool = True) -> None:
        """Pin a memory, or let it go again.

        A pinned memory does not age under the profile ``oneiros``: its recency is 1; the others
        rank it as any. ``oneiros.where(pinned=True)`` finds what is pinned.

        Args:
            id: of the memory.
            pinned: whether it is to be.

        Raises:
            UnknownMemory: no live memory has this id.
            TypeError: ``pinned`` is neither True nor False.

        Source: docs/systems/fields.md; docs/systems/house.md H6.
        """
        require_utf8("id", id)
        is_pinned = require_flag("pinned", pinned)
        self._scope.services.remember.pin(id, pinned=is_pinned, seen=self._scope.contains)

    def link(
        self,
        a: str,
        b: str,
        weight: float = 0.5,
        *,
        kind: str = "explicit",
        now: Time | None = None,
    ) -> None:
        """Link two memories; one that is there is replaced, but keeps when it was made.

        Args:
            a: the id of one.
            b: the id of the other; which is which makes no difference.
            weight: in (0, 1]. It fades from when the two are first found together.
            kind: "co_retrieval", "ingest", "explicit", "summary" or "relation".
            now: as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both are the same, the weight is out of range, another kind.

        Source: docs/systems/cognitive.md C16, C17.
        """
        linking.link(self._scope, a, b, weight, kind=kind, now=now)

    def link_many(
        self,
        links: Iterable[Any],
        *,
        now: Time | None = None,
    ) -> int:
        """Link many pairs of memories in one transaction: all of them or none.

        Args:
            links: (a, b), (a, b, weight) or (a, b, weight, kind) each, as :meth:`link` takes them;
                of a pair given twice the last counts.
            now: as in :meth:`add`.

        Returns:
            How many pairs.

        Raises:
            As :meth:`link`; the message names the place.
        """
        return linking.link_many(self._scope, links, now=now)

    def links(self, where: Where | None = None, *, now: Time | None = None) -> LinksOfAll:
        """Return all links whose two memories are live, within the scope and match.

        Args:
            where: a filter that both memories pass; default: all.
            now: for what is left of the weights, as in :meth:`add`.

        Returns:
            The id of one memory, the earlier added, and the link to the other: in order of
            insertion of the first, then of the second.

        Source: docs/systems/cognitive.md C16.
        """
        return linking.links(self._scope, where, now=now)

    def unlink(self, a: str, b: str) -> bool:
        """Take the link of two memories away.

        Returns:
            Whether there was one.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both are the same, or no text.
        """
        return linking.unlink(self._scope, a, b)

    def neighbours(self, id: str, *, limit: int = 100, now: Time | None = None) -> Links:
        """Return the links of a memory to others that are live and within the scope.

        Args:
            id: of the memory.
            limit: at most so many, >= 0.
            now: for what is left of the weights, as in :meth:`add`.

        Returns:
            The heaviest first, then in order of insertion.

        Raises:
            UnknownMemory: no live memory has the id.

        Source: docs/systems/cognitive.md C16.
        """
        return linking.neighbours(self._scope, id, limit=limit, now=now)

    # -- score -------------------------------------------------------------------------------------

    def rescore(
        self,
        profile: Profile | str | None = None,
        now: Time | None = None,
        *,
        where: Where | None = None,
        threads: int | None = None,
    ) -> Rescored:
        """Score every live memory, as a search would where all were equally relevant.

        Never counts as an access. The scores are those of one moment: writes and searches that
        strengthen wait meanwhile (a few nanoseconds a memory).

        Args:
            profile: by name or as a ``Profile``; default: the engine's.
            now: the clock, as in :meth:`add`; times after it are age 0, and counted.
            where: a filter.
            threads: 1 to 256; default: one a core.

        Returns:
            :class:`Rescored`: ids in order of insertion and float64 scores.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/README.md, "Scoring without a query"; docs/systems/ciar.md A11.
        """
        return rescoring.store.rescore(self._scope, profile, now, where=where, threads=threads)

    def promote(
        self,
        profile: Profile | str = "ciar",
        threshold: float | None = None,
        now: Time | None = None,
        *,
        where: Where | None = None,
        dry_run: bool = False,
        threads: int | None = None,
    ) -> PromotionReport:
        """Consolidate the staged memories that score high enough, all in one transaction.

        Never counts as an access.

        Args:
            profile: by name or as a ``Profile``.
            threshold: in (0, 1]; default: the profile's.
            now: the clock, as in :meth:`add`; times after it are age 0.
            where: a filter: others stay as they are.
            dry_run: only tell what would be done.
            threads: 1 to 256; default: one a core.

        Returns:
            :class:`PromotionReport`: who was promoted, and the factors that earned it.

        Raises:
            ValueError, TypeError: an argument breaks its rule; the profile has no threshold, and
                none is given.
            StoreBusy: another process held the store's lock for too long.

        Source: docs/systems/ciar.md A4.
        """
        return rescoring.store.promote(
            self._scope, profile, threshold, now, where=where, dry_run=dry_run, threads=threads
        )

    # -- out ---------------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str], *, embeddings: bool = True) -> int:
        """Write the live memories as JSON lines, which ``add_many`` and ``oneiros import`` read.

        The file appears whole or not at all, readable by its owner only; links are not followed. A
        file of that name is replaced.

        Returns:
            How many memories were written.

        Warns:
            DamagedMemoriesWarning: memories are damaged and were left out; they are named. A scope
                names those that are known to lie within.

        Raises:
            ValueError, TypeError: no path for a file, or the store's own.
            OSError: the file cannot be written.
        """
        return engine.maintenance.export(self._scope, path, embeddings=embeddings)

    def scope(self, **bounds: str) -> Memories:
        """Return a view of the memories of one project, session or topic that can see nothing else.

        What is added through it carries the scope's fields. Scopes nest.

        Args:
            **bounds: ``project``, ``session`` or ``topic``, each a str.

        Raises:
            ValueError: another field, or one this view already fixes to another value.
        """
        for name, value in bounds.items():
            if name not in _SCOPE_FIELDS:
                msg = f"scope: {name!r} cannot bound a scope; can: {', '.join(_SCOPE_FIELDS)}"
                raise ValueError(msg)
            FIELDS[name].check(value)
            if self._scope.bounds.get(name, value) != value:
                msg = f"{name}: this scope is already bound to another value"
                raise ValueError(msg)
        return Memories(Scope(self._scope.services, {**self._scope.bounds, **bounds}))

    def __repr__(self) -> str:
        from oneiros.display.escaping import shortened  # noqa: PLC0415 - for those who look

        bounds = "".join(
            f" {name}={shortened(value, _BOUND)!r}" for name, value in self._scope.bounds.items()
        )
        return f"<Scope{bounds} of {str(self._scope.shared.store.path)!r}, {self._state()}>"

    def _state(self) -> str:
        """Return how many memories there are, for a line that names this object."""
        return f"{len(self)} memories" if self._scope.shared.sync.is_open_here else "closed"

    # -- inside ------------------------------------------------------------------------------------

    def _inside(self, record: Any) -> Any:
        """Give a record the scope's fields; one that says otherwise is refused."""
        if not self._scope.bounds:
            return record
        is_memory = isinstance(record, Memory)
        if not is_memory and not isinstance(record, Mapping):
            return record  # refused where all records are checked
        for name, value in self._scope.bounds.items():
            said = getattr(record, name) if is_memory else record.get(name)
            if said not in (None, value):
                msg = f"{name}: the scope fixes it, got another value"
                raise ValueError(msg)
        if isinstance(record, Memory):
            return replace(record, **self._scope.bounds)  # type: ignore[arg-type]
        return {**record, **self._scope.bounds}

    def _warn_of_dropped_vectors(self) -> None:
        sync = self._scope.services.sync
        if sync.has_dropped_vectors and not (sync.has_warned or self._scope.services.is_quiet):
            sync.has_warned = True
            warn(
                "a text was changed, and its vector, which is of the old text, was dropped: this "
                "engine has no embedder to make another. Give embedding= with the text, or open the "
                "store with embedder=. Further vectors are dropped without a warning",
                MissingEmbedderWarning,
            )
