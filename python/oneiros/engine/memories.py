"""Operations on memories, shared by the engine and its scopes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from oneiros import conflicts, engine, explain, filters, graph, rescoring, search, write
from oneiros.display.counts import count_of
from oneiros.display.escaping import shortened
from oneiros.engine.scope import Scope, checked_bounds, checked_ids, is_within, watched
from oneiros.errors import MissingEmbedderWarning, UnknownMemory
from oneiros.model.calls import named_calls
from oneiros.model.fields import VERDICTS
from oneiros.model.memory import Memory
from oneiros.model.validation import (
    LAST_MOMENT,
    require_choice,
    require_flag,
    require_seconds,
    require_utf8,
)
from oneiros.runtime.dataclasses import replace
from oneiros.runtime.warnings import warn
from oneiros.search import searcher
from oneiros.search.options import BatchKeywords, SearchKeywords, WhyNotKeywords, taking

if TYPE_CHECKING:
    from datetime import timedelta

    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.conflicts import Conflict
    from oneiros.engine.feed import ChangeFeed
    from oneiros.engine.history import Revision
    from oneiros.engine.listing import Page
    from oneiros.engine.observers import EventKind
    from oneiros.explain.why_not import WhyNot
    from oneiros.filters import Where
    from oneiros.graph import Link
    from oneiros.lexical.statistics import QueryStatistics
    from oneiros.model.keywords import AddFields, ChangedFields
    from oneiros.rescoring.store import PromotionReport, Rescored
    from oneiros.scoring.profile import Profile
    from oneiros.search.near_duplicates import NearDuplicate, Similar
    from oneiros.search.options import SharedKeywords
    from oneiros.search.response import SearchResponse
    from oneiros.write import AddReport, AddRules
    from oneiros.write.erase import Erasure

    # The method `list` hides the type in the annotations of its class.
    Conflicts = list[Conflict]
    Links = list[Link]
    LinksOfAll = list[tuple[str, Link]]
    MaybeMemories = list[Memory | None]
    NearDuplicates = list[NearDuplicate]
    NewestMemories = list[Memory]
    Revisions = list[Revision]
    Responses = list[SearchResponse]
    Similars = list[Similar]

    Options = TypeVar("Options", bound=SharedKeywords)


__all__ = ["Memories"]

ON_CONFLICT = ("raise", "update", "replace")
_BOUND = 60  # most characters of a bound in a repr


def _at(scope: Scope, options: Options) -> tuple[Scope, Options]:
    """Return the scope and the keywords of a search, those of the past with ``as_of``."""
    return engine.history.placed(scope, options) if "as_of" in options else (scope, options)


def _namespace(value: object) -> str | None:
    """Return a given namespace as text; None for another type, which the field's check refuses."""
    return value if isinstance(value, str) else None


@named_calls("Scope")
class Memories:
    """Memories that can be added, changed and searched.

    :class:`Engine` covers a whole store. :meth:`scope` returns the same methods over a part of it,
    through which the rest of the store is invisible.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    # -- write -------------------------------------------------------------------------------------

    @watched
    def add(
        self,
        /,
        text: str,
        *,
        on_conflict: str = "raise",
        merge_metadata: bool = False,
        now: Time | None = None,
        **fields: Unpack[AddFields],
    ) -> str:
        """Add one memory.

        When the call returns, the memory is committed and searches find it.

        Args:
            text: up to 16 MiB of UTF-8; may be empty.
            on_conflict: "raise"; "update" to update the live memory that has the id; or "replace"
                to replace all its fields: those left out get their defaults, ``created_at`` is now
                unless given, and counts of use start again. Its links, the verdicts on it and its
                place in the order of insertion stay. A deleted memory with the id is erased, and
                the new one starts from its own fields.
            merge_metadata: with "update", merge ``metadata`` into that of the memory, as in
                :meth:`update`. A new memory gets it as given.
            now: the current time, for ``created_at`` and a generated id: seconds since the Unix
                epoch (UTC), an aware ``datetime`` or an ISO 8601 text with offset. Default: the
                engine's clock.
            **fields: any field of docs/systems/fields.md, such as ``id``, ``kind``, ``session``,
                ``tags`` or ``metadata``. Without ``embedding``, the engine's embedder makes the
                vector; a blank text gets none.

        Returns:
            The memory's id. Duplicates are stored; :meth:`similar` finds them.

        Raises:
            ValueError, TypeError: a field breaks its rule; the message names the field and the
                value.
            DuplicateId: the id exists.
            StoreBusy: another process held the store's lock for too long.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> engine.add("Ada likes her coffee black", id="coffee", kind="user_preference")
            'coffee'
        """
        self._scope.require_writable("add")
        rules = self._rules(on_conflict, now, merges_metadata=merge_metadata)
        added = self._scope.services.remember.adding.add_one({"text": text, **fields}, rules)
        if self._scope.shared.observers:
            kind: EventKind = "add" if added.is_new else "update"
            self._scope.publish(kind, "add", (added.id,), rules.now, revision=added.revision)
        self._warn_of_dropped_vectors()
        return added.id

    @watched
    def add_many(
        self,
        records: object,
        *,
        on_conflict: str = "raise",
        on_error: str = "raise",
        merge_metadata: bool = False,
        now: Time | None = None,
        progress: bool = False,
        links: bool | None = None,
    ) -> AddReport:
        """Add a batch of memories in one transaction: all of them or none.

        Args:
            records: an iterable of dicts or :class:`Memory`, an Arrow table, or a pandas or polars
                frame. An index of pandas is read if it has a name, such as ``id``.
            on_conflict: "raise" (:class:`DuplicateId` for an id that exists or comes twice),
                "update": an existing memory is updated with the given fields, those of a
                :class:`Memory` that differ from their defaults, or "replace", as in :meth:`add`.
                Of records with the same id the last wins. A deleted memory with the id is erased
                and replaced.
            on_error: "raise" at the first invalid record, "skip" invalid records, or "collect"
                their errors in the report's ``failures``.
            merge_metadata: as in :meth:`add`.
            now: as in :meth:`add`.
            progress: show a progress bar on stderr (needs ``oneiros[cli]``).
            links: whether to link similar memories and to raise the stability of existing similar
                ones (docs/systems/cognitive.md C17, C18). Default: in batches of up to 1,000
                records. If the engine's profile has no ``ingest``, nothing is linked, even with
                True.

        Returns:
            An :class:`AddReport`: ``ids`` in the order of the records, then the ids ``updated`` and
            ``repeated``, the records ``skipped``, and ``near_duplicates``, computed on first
            access.

        Raises:
            ValueError, TypeError, DuplicateId, StoreBusy: as :meth:`add`. A note on the error gives
                the position of the record.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "tea", "text": "Green tea"}, {"text": "No milk"}])
            >>> report.ids[0], len(report.ids)
            ('tea', 2)
        """
        self._scope.require_writable("add_many")
        require_choice("on_error", on_error, ("raise", "skip", "collect"))
        require_flag("progress", progress)
        if links is not None:
            require_flag("links", links)
        checked = write.records_of(records, progress=progress)
        rules = self._rules(on_conflict, now, on_error, links, merges_metadata=merge_metadata)
        report = self._scope.services.remember.adding.add(checked, rules)
        if self._scope.shared.observers:
            updated = set(report.updated)
            new = [id for id in report.ids if id not in updated]
            revision = self._scope.shared.sync.writer.committed  # an observer may write
            self._scope.publish("add", "add_many", new, rules.now, revision=revision)
            self._scope.publish("update", "add_many", report.updated, rules.now, revision=revision)
        self._warn_of_dropped_vectors()
        return replace(
            report,
            look=write.OnFirstLook(
                partial(search.near_duplicates.repeats_among, self._scope, report.ids)
            ),
        )

    @watched
    def update(
        self,
        id: str,
        /,
        *,
        merge_metadata: bool = False,
        now: Time | None = None,
        **changes: Unpack[ChangedFields],
    ) -> None:
        """Change fields of one memory.

        ``revision_count`` rises by one, and ``updated_at`` becomes the current time. The engine's
        embedder embeds a changed text or title. Without an embedder the old vector is dropped,
        unless you pass a new ``embedding``.

        Args:
            id: the memory's id.
            merge_metadata: merge ``metadata`` into that of the memory instead of replacing it, as
                JSON merge patch does (RFC 7396): the keys given are set, None removes a key, other
                keys stay, and objects within are merged in the same way.
            now: as in :meth:`add`.
            **changes: new values by field name.

        Warns:
            MissingEmbedderWarning: a vector was dropped. Issued once per engine.

        Raises:
            UnknownMemory: no live memory has this id.
            StoreBusy: others kept changing the text while it was embedded, or held the lock for too
                long.
            ValueError, TypeError: a field breaks its rule, is ``id`` or is fixed by the scope.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Deploys happen on Tuesdays")
            >>> engine.update(id, text="Deploys happen on Mondays", importance=0.9)
            >>> engine.get(id).text
            'Deploys happen on Mondays'
        """
        self._scope.require_writable("update")
        given: Mapping[str, object] = changes
        for name, bound in self._scope.bounds.items():
            if name in given and not (
                name == "namespace" and is_within(name, _namespace(given[name]), bound)
            ):
                msg = f"{name}: fixed by the scope, cannot be changed through it"
                raise ValueError(msg)
        require_utf8("id", id)
        self._scope.services.remember.update(
            id,
            self._scope.zoned_fields(changes),
            now=self._scope.now(now),
            seen=self._scope.contains,
            merges_metadata=require_flag("merge_metadata", merge_metadata),
        )
        self._scope.publish("update", "update", (id,), now)
        self._warn_of_dropped_vectors()

    @watched
    def _merge_metadata(self, where: Where, patch: Mapping[str, object]) -> list[str]:
        """Merge metadata into that of all memories that match; return their ids. For adapters.

        As :meth:`update` with ``merge_metadata``, in one transaction, which also finds what matches.
        """
        self._scope.require_writable("update")
        ids = self._scope.services.remember.merge_metadata_matching(
            self._scope.within(where), patch, now=self._scope.now(None)
        )
        self._scope.publish("update", "update", ids)
        return ids

    @watched
    def touch(self, id: str, *, ttl: float | timedelta | None, now: Time | None = None) -> None:
        """Set when a memory expires, counted from now.

        ``valid_until`` becomes now + ``ttl``, and the memory's own ``ttl``, which counts from its
        creation, becomes None. Neither a revision nor a use: ``updated_at`` stays.

        Args:
            id: the memory's id; it may have expired.
            ttl: seconds from now, >= 0, or a ``timedelta``. None: the memory never expires.
            now: the current time, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError, TypeError: ``ttl`` breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:", clock=lambda: 1_000.0)
            >>> id = engine.add("The build is red", ttl=60)
            >>> engine.touch(id, ttl=3_600)
            >>> engine.get(id).valid_until
            4600.0
        """
        self._scope.require_writable("touch")
        require_utf8("id", id)
        ends = {id: self._end_of(ttl, now)}
        changed = self._scope.services.remember.touch(ends, seen=self._scope.contains)
        self._scope.publish("update", "touch", changed, now)

    @watched
    def _touch(self, lifetimes: Mapping[str, float]) -> None:
        """Touch memories in one transaction, without those that are unknown. For adapters.

        Args:
            lifetimes: seconds from now, by id.
        """
        self._scope.require_writable("touch")
        ends = {id: self._end_of(ttl, None) for id, ttl in lifetimes.items()}
        changed = self._scope.services.remember.touch(
            ends, seen=self._scope.contains, is_strict=False
        )
        self._scope.publish("update", "touch", changed)

    def _end_of(self, ttl: float | timedelta | None, now: Time | None) -> float | None:
        """Return when a lifetime from now ends; None: never."""
        if ttl is None:
            return None
        end = self._scope.now(now) + require_seconds("ttl", ttl)
        if not end < LAST_MOMENT:
            msg = f"ttl: must end in year 9999 or earlier (UTC), got {ttl!r}"
            raise ValueError(msg)
        return end

    @watched
    def sweep_expired(self, where: Where | None = None, *, now: Time | None = None) -> int:
        """Soft-delete the memories past their ``valid_until`` or ``ttl``.

        Searches hide them anyway; this also removes them from :meth:`get`, :meth:`list` and
        :meth:`count`. :meth:`restore` brings one back. The kinds that expire are those of the
        engine's profile.

        Args:
            where: a filter (:func:`oneiros.where`); memories that do not match stay.
            now: the current time, as in :meth:`add`.

        Returns:
            The number of deleted memories.

        Raises:
            StoreBusy: another process held the store's lock for too long.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("The build is red", ttl=60, created_at="2025-06-01T00:00:00Z")
            >>> engine.sweep_expired(), engine.count()
            (1, 0)

        Source: docs/systems/cognitive.md C7.
        """
        self._scope.require_writable("sweep_expired")
        scope = self._scope
        ids = scope.services.remember.delete_expired(
            scope.within(where), scope.services.profile.selection, now=scope.now(now)
        )
        scope.publish("delete", "sweep_expired", ids, now)
        return len(ids)

    @watched
    def feedback(
        self,
        id: str,
        verdict: str,
        *,
        query: str | None = None,
        embedding: npt.ArrayLike | None = None,
        now: Time | None = None,
    ) -> None:
        """Add a verdict to a memory's ``feedback``, which is the sum of its verdicts.

        With the question it was given for, a verdict counts for similar questions under the default
        profile, and changes nothing for others. Pass the query of the search that returned the
        memory, and its ``embedding`` if you gave that search one.

        The store keeps no text of the question: its vector in 8 bits a component, or hashes of its
        words where there is no vector, of the memory's newest 8 verdicts with a question.
        :meth:`forget` erases them with the memory. :meth:`reembed` drops the vectors.

        Args:
            id: the memory's id.
            verdict: "helpful" (+1), "unhelpful" (-1) or "outdated" (-2). "outdated" is about the
                memory, so it counts for every question, and the store keeps no question with it.
            query: the question. The engine's embedder makes its vector, unless you give one. A
                query without a vector is compared by its words.
            embedding: the question's vector, as in :meth:`search`.
            now: the time of the verdict, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError: another verdict, or an embedding of another width than the store's vectors.
            TypeError: ``query`` is not a text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Deploys happen on Tuesdays")
            >>> engine.feedback(id, "outdated")
            >>> engine.get(id).feedback
            -2
            >>> engine.feedback(id, "helpful", query="When are deploys?")

        Source: docs/systems/fields.md; docs/systems/omega.md O12, O15; docs/systems/house.md H19.
        """
        self._scope.require_writable("feedback")
        require_utf8("id", id)
        require_choice("verdict", verdict, tuple(VERDICTS))
        question = searcher.question_of(self._scope, query, embedding)
        self._scope.services.remember.feedback(
            id,
            verdict,
            None if verdict == "outdated" else question,
            now=self._scope.now(now),
            seen=self._scope.contains,
        )
        self._scope.publish("update", "feedback", (id,), now)

    @watched
    def delete(
        self, id: str | None = None, *, where: Where | None = None, now: Time | None = None
    ) -> int:
        """Soft-delete one memory, or all that match a filter.

        :meth:`restore` undoes it, and :meth:`forget` erases a memory for good. What a deleted memory
        superseded stays hidden; ``update(old, superseded_by=None)`` shows it again.

        Args:
            id: the id of the memory to delete.
            where: a filter (:func:`oneiros.where`): delete all live memories that match.
            now: the time of the deletion, as in :meth:`add`.

        Returns:
            The number of deleted memories.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError: neither or both of ``id`` and ``where`` are given.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"text": "tea", "tags": ["draft"]}, {"text": "milk"}])
            >>> engine.delete(where=oneiros.where(tags="draft"))
            1
        """
        self._scope.require_writable("delete")
        if (id is None) == (where is None):
            msg = "delete: give an id or where=, one of the two"
            raise ValueError(msg)
        remember = self._scope.services.remember
        if id is None:
            ids = remember.delete_matching(self._scope.within(where), now=self._scope.now(now))
        else:
            require_utf8("id", id)
            remember.delete(id, now=self._scope.now(now), seen=self._scope.contains)
            ids = [id]
        self._scope.publish("delete", "delete", ids, now)
        return len(ids)

    @watched
    def restore(self, id: str, *, now: Time | None = None) -> bool:
        """Undo the soft deletion, the archiving or the cooling of a memory.

        An archived memory becomes consolidated; any other status stays. A cold one that nothing
        supersedes becomes hot, so that ``cognitive`` finds it. Restoring counts as a use:
        ``last_accessed_at`` becomes the current time, so the memory is no more stale than one just
        recalled. The next dream cycle may still remove it as a duplicate, as superseded or for
        negative feedback, unless :meth:`pin` protects it. A memory that is neither deleted,
        archived nor cold does not change.

        Args:
            id: the memory's id.
            now: the current time, as in :meth:`add`.

        Returns:
            Whether the memory was deleted, archived or cold.

        Raises:
            UnknownMemory: no memory has this id, deleted or not.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black")
            >>> engine.delete(id)
            1
            >>> engine.restore(id)
            True

        Source: docs/systems/reverie.md R13, R19.
        """
        self._scope.require_writable("restore")
        require_utf8("id", id)
        is_restored = self._scope.services.remember.restore(
            id, now=self._scope.now(now), seen=self._scope.contains
        )
        self._scope.publish("restore", "restore", (id,) if is_restored else (), now)
        return is_restored

    @watched
    def forget(
        self,
        id: str | None = None,
        *,
        where: Where | None = None,
        derived: bool = True,
        now: Time | None = None,
    ) -> Erasure:
        """Erase a memory for good, or all that match a filter, soft-deleted or not.

        Texts, vectors, links, verdicts and what dream cycles noted to undo them go from the store,
        its log and its snapshot. What was derived from the memories goes, too: memories that name
        one in ``derived_from``, summaries that dream cycles made of them, and what was derived from
        those. The other sources of such a summary are current and hot again. Memories that an
        erased one superseded are superseded by its successor; if it has none, or they are of
        another user, project, agent or namespace, they are current again, and hot if a dream cycle
        cooled them since. The store keeps digests of the erased ids, not the ids.

        A scope erases nothing outside it, not even what was derived from its memories. Call the
        engine's ``forget`` with the scope's fields in ``where`` to erase that as well.

        Args:
            id: the memory's id.
            where: a filter (:func:`oneiros.where`) instead of an id. Quarantined, archived and
                expired memories match, too. An empty filter is refused, except in a scope, where it
                matches everything in the scope.
            derived: whether to erase what was derived from the memories.
            now: the time of the receipt, as in :meth:`add`.

        Returns:
            An :class:`oneiros.Erasure`: ids, time, counts and digests of the texts. It holds no
            content. :meth:`Engine.verify_erased` checks it.

        Raises:
            ValueError: neither or both of ``id`` and ``where`` are given, or an empty filter.
            UnknownMemory: no memory has this id, deleted or not.
            StoreCorrupt: the memory is damaged and this is a scope. An engine forgets damaged
                memories by id. A filter may not match them, and
                :class:`oneiros.DamagedMemoriesWarning` names those it left.
            StoreBusy, StoreFull: readers in other processes, or a full disk, kept the write-ahead log
                from being emptied. The memories are gone; their bytes may stay in the log until the
                next ``forget`` or opening. A note says so. Without it, the disk was full before, and
                nothing was changed.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("The passphrase is xyzzy", user="ada")
            >>> len(engine.forget(where=oneiros.where(user="ada")))
            1
            >>> engine.verify_erased("xyzzy")
            True
        """
        self._scope.require_writable("forget")
        if (id is None) == (where is None):
            msg = "forget: give an id or where=, one of the two"
            raise ValueError(msg)
        if id is not None:
            require_utf8("id", id)
            return self._forget("forget", [id], derived=derived, now=now)
        within = self._scope.within(where)
        if within == filters.where():
            msg = "where: must have a condition, as an empty filter would erase every memory"
            raise ValueError(msg)
        receipt = self._forget("forget", within, derived=derived, now=now)
        if not self._scope.bounds:
            engine.maintenance.warn_of_unmatched(self._scope)
        return receipt

    @watched
    def forget_many(
        self, ids: Sequence[str], *, derived: bool = True, now: Time | None = None
    ) -> Erasure:
        """Erase memories for good in one transaction: all of them or none.

        Args:
            ids: the ids; repeated ones count once.
            derived: whether to erase what was derived from the memories, as in :meth:`forget`.
            now: the time of the receipt, as in :meth:`add`.

        Returns:
            An :class:`oneiros.Erasure`.

        Raises:
            UnknownMemory: no memory has one of the ids, deleted or not.
            TypeError, StoreCorrupt, StoreBusy, StoreFull: as :meth:`forget`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.forget_many(["a", "b"]).ids
            ('a', 'b')
        """
        self._scope.require_writable("forget_many")
        return self._forget("forget_many", list(checked_ids(ids)), derived=derived, now=now)

    def _forget(
        self, method: str, named: list[str] | Where | None, *, derived: bool, now: Time | None
    ) -> Erasure:
        erased: list[str] = []
        try:
            return self._scope.services.remember.erasing.forget(
                named,
                now=self._scope.now(now),
                seen=self._scope.contains,
                is_bounded=bool(self._scope.bounds),
                with_derived=require_flag("derived", derived),
                erased=erased,
            )
        finally:  # also if they are gone, and only their bytes may be in the log
            engine.maintenance.follow_erasure(self._scope, method, erased, now)

    @watched
    def purge(self, older_than_days: float | timedelta = 30.0, *, now: Time | None = None) -> int:
        """Erase for good the memories that were soft-deleted long enough ago.

        It erases what :meth:`forget` erases: text, vector, links, log and snapshot. Until then
        :meth:`restore` brings a memory back, whether a dream cycle or a caller deleted it. Memories
        derived from those stay, such as summaries of memories that a cycle deleted later. A scope
        purges only what is in it.

        Once three quarters of the read model's rows, and at least 10,000, are those of erased
        memories, the read model is rebuilt without them, which gives their memory back.

        Args:
            older_than_days: only memories deleted longer ago than this, >= 0, in days or as a
                ``timedelta``.
            now: the current time, as in :meth:`add`.

        Returns:
            The number of erased memories.

        Raises:
            ValueError, TypeError: an argument is out of its range or not a number.
            StoreBusy, StoreFull: as in :meth:`forget`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", now="2025-01-01T00:00:00Z")
            >>> engine.delete(id, now="2025-02-01T00:00:00Z")
            1
            >>> engine.purge(30, now="2025-06-01T00:00:00Z")
            1
        """
        self._scope.require_writable("purge")
        return engine.maintenance.purge(self._scope, older_than_days, now)

    def purgeable(
        self, older_than_days: float | timedelta = 30.0, *, now: Time | None = None
    ) -> list[str]:
        """Return the ids of the memories that :meth:`purge` would erase, in order of insertion.

        Args:
            older_than_days: only memories deleted longer ago than this, >= 0, in days or as a
                ``timedelta``.
            now: the current time, as in :meth:`add`.

        Raises:
            ValueError, TypeError: an argument is out of its range or not a number.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", id="tea", now="2025-01-01T00:00:00Z")
            >>> engine.delete(id, now="2025-02-01T00:00:00Z")
            1
            >>> engine.purgeable(30, now="2025-06-01T00:00:00Z")
            ['tea']
        """
        return engine.maintenance.purgeable(self._scope, older_than_days, now)

    def get_deleted(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return soft-deleted memories in the order of the ids, None where there is none.

        Args:
            ids: ids of memories.

        Raises:
            TypeError, ValueError: an id is not a text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", id="tea")
            >>> engine.delete(id)
            1
            >>> engine.get_deleted(["tea", "milk"])
            [<Memory 'tea' (note, deleted): 'tea'>, None]
        """
        return engine.maintenance.get_deleted(self._scope, ids)

    # -- search ------------------------------------------------------------------------------------

    @taking(SearchKeywords, embedding=None)
    def search(self, query: str, k: int = 10, **options: Unpack[SearchKeywords]) -> SearchResponse:
        """Find the memories that match a query, best first.

        Args:
            query: any text; taken literally unless ``syntax="query"``.
            k: most results to return, >= 0. Each channel returns at most its depth (100 in most
                profiles), and the trace notes a larger ``k``. The channels of ``bm25``, ``cosine``
                and ``rrf`` go as deep as ``k``.
            where: a filter (:func:`oneiros.where`), applied inside every channel.
            session: the caller's session. Reinforcement adds it to the sessions of the returned
                memories; nothing else reads it.
            now: the time of this search, as in :meth:`add`.
            embedding: the query's vector, shape (dimension,). Default: from the engine's embedder,
                which is not called under profiles that read no vector, such as ``bm25``. They check
                a given one and ignore it.
            profile: the ranking, by name or as a ``Profile``. Default: the engine's.
            reinforce: whether returned memories count as accessed. Default: as the profile says,
                but False with ``explain``. True is refused under a profile without reinforcement.
            explain: attach an explanation to each result.
            include_expired: also return memories past their ``valid_until`` or ``ttl``
                (docs/systems/cognitive.md C7). Memories that are not valid yet stay hidden. The
                profile's selection says which kinds expire.
            deep_recall: also return superseded memories, with their scores multiplied by the
                profile's ``deep_recall_penalty``. Such results have ``via_deep_recall`` set
                (docs/systems/cognitive.md C4, C6).
            include_expired_in_deep_recall: with ``deep_recall``, also return expired memories, with
                the same penalty; ``include_expired`` waives the penalty for them. Refused without
                ``deep_recall``.
            valid_at: return only memories valid at this time, whatever the profile hides; a time as
                ``now``. Kinds that do not expire in the profile have no end. Scores and
                reinforcement still use ``now``.
            status: return only memories with one of these statuses. Default: all but "archived" and
                "quarantined".
            least_trust: return only memories with at least this ``trust``, 0 to 1. Default: all.
            syntax: "plain", or "query" to understand ``+must -not "a phrase" pre* title:word``
                (docs/query_syntax.md). Must and must-not hold for every channel; the vector channel
                searches for the words without the must-not ones.
            hint: a kind or a type of question, to select one of the profile's hints
                (docs/systems/omega.md O8). Default: the single kind that ``where`` asks for. A hint
                that the profile does not list has no effect.
            date_range: when the events happened, a pair of times as ``now``, both included, None for
                an open end. Replaces a time named in the query ("last week", "in March 2024";
                docs/systems/omega.md O4).
            soft_range: treat ``date_range`` as a hint rather than a limit. OMEGA and the default
                profile then penalise memories outside it as little as for a vague time
                (docs/systems/omega.md O22, docs/systems/house.md H10).
            context: the caller's situation, an :class:`oneiros.Context`. Profiles that read it
                favour memories that belong to it (docs/systems/omega.md O16, O20).
            reranker: a reranker for the first results, at the place where the profile's ``rerank``
                puts it, or that of :class:`oneiros.scoring.stages.Reranking` by default. Default:
                the engine's.
            deadline: seconds from now, > 0, to wait for the reranker and the engine's
                ``query_expander``. After a timeout the order is that without the reranker, and the
                trace says so. Default: the limit of the profile's ``rerank``; infinity waits
                without limit. No effect where neither is called. Seconds or a ``timedelta``.
            statistics: whose word frequencies and lengths BM25 reads. "scope": those of this scope,
                which then scores as a store would that holds nothing else, and tells nothing of
                other memories. "store": those of all live memories. A
                :class:`oneiros.QueryStatistics`, such as the sum of :meth:`statistics` over several
                stores, replaces both. ``where`` never changes statistics.
            offset: number of the first results to leave out: ``search(query, k, offset=n)`` returns
                what ``search(query, n + k)`` returns after place n. Only the returned memories
                count as accessed. Under a profile whose candidates depend on ``k`` (``cognitive``,
                ``omega``), and under those that follow links, two pages may overlap.
            min_score: least score of a result. Scores are those of the profile: BM25 under
                ``bm25``, shares of the best under ``omega``. Scores of two searches do not
                compare under the default profile; ``response.confidence`` does.
            exclude: ids of memories to leave out, inside every channel and for links; unknown ids
                have no effect.
            exclude_newer: leave out memories that were added within this many seconds before the
                search, by their ``learned_at``: what the caller has just stored. Seconds or a
                ``timedelta``.
            as_of: rank the memories as the store knew them at this time, by the clock of its
                writes: their texts, fields, states, links and verdicts then. ``now`` is that time
                unless given, and nothing is reinforced; ``valid_at`` is independent of it. Needs
                ``history="all"`` (docs/guide/history.md). Settings and the embedder are the present
                ones, and erased memories are gone from the past, too. The first search of a state
                copies the store, O(n); the last four states are kept in memory. A time as ``now``.

        ``hint``, ``context``, ``date_range`` and ``soft_range`` need a profile that reads them:
        ``omega`` reads all four, ``omega-bounded`` all but ``soft_range``, ``oneiros`` the two
        ranges. Other profiles refuse them. To restrict a search to a period under any profile, use
        a filter: ``where=oneiros.where(occurred_at=(start, end))``.

        If the profile has a ``cache``, a repeated query gets the cached response until it expires
        or a memory is written, and the trace says so. ``now``, ``as_of``, ``exclude_newer`` and
        ``explain`` bypass the cache.

        Returns:
            A :class:`SearchResponse` with the results and the trace.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
            QueryTooLarge: the query is over 64 KiB or has over 1,024 distinct terms.
            HistoryUnavailable: the store does not know all of its state at ``as_of``; names the
                time from which it does.
            EmbedderMismatch: the search began again 16 times, since the vectors of another embedder
                replaced all meanwhile, as by a callable that calls :meth:`reembed`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee")
            >>> response = engine.search("how does Ada take her coffee?")
            >>> response.ids
            ['coffee']
            >>> response.results[0].memory.text
            'Ada likes her coffee black'
        """
        scope, options = _at(self._scope, options)
        return searcher.search(scope, query, k, options, self.search)

    @taking(BatchKeywords, embeddings=None, threads=None)
    def search_many(
        self, queries: Sequence[str], k: int = 10, **options: Unpack[BatchKeywords]
    ) -> Responses:
        """Search for many queries at once, in parallel in the core.

        The responses are those of :meth:`search` for each query alone, before any of them
        reinforced a memory and without the profile's ``cache``. Reinforcement follows in the order
        of the queries.

        Args:
            queries: the query texts.
            k: most results per query, >= 0.
            where: as in :meth:`search`, like all that follow; each applies to every query.
            session: the caller's session.
            now: the time of all these searches.
            embeddings: the vectors of the queries, one each, where None stands for the embedder's.
                Default: the embedder's.
            profile: the ranking.
            reinforce: whether returned memories count as accessed.
            explain: attach an explanation to each result.
            include_expired: also return expired memories.
            deep_recall: also return superseded memories.
            include_expired_in_deep_recall: with ``deep_recall``, also return expired memories.
            valid_at: return only memories valid at this time.
            status: return only memories with one of these statuses.
            least_trust: return only memories with at least this ``trust``.
            syntax: the syntax of all queries, "plain" or "query".
            hint: a kind or a type of question.
            date_range: when the events happened.
            soft_range: treat ``date_range`` as a hint.
            context: the caller's situation.
            reranker: a reranker, called once per query.
            deadline: seconds from now for all queries together.
            statistics: whose word frequencies and lengths BM25 reads.
            offset: number of the first results to leave out.
            min_score: least score of a result.
            exclude: ids of memories to leave out.
            exclude_newer: leave out memories added within this many seconds before the search.
            as_of: rank the memories as the store knew them at this time.
            threads: threads of the channels, 1 to 256. Default: one per core.

        Returns:
            One :class:`SearchResponse` per query, in their order.

        Raises:
            ValueError, TypeError, QueryTooLarge: as :meth:`search`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "milk"}, {"id": "b", "text": "tea"}])
            >>> [response.ids for response in engine.search_many(["tea", "milk"])]
            [['b'], ['a']]
        """
        scope, options = _at(self._scope, options)
        return searcher.search_many(scope, queries, k, options, self.search_many)

    def statistics(
        self,
        queries: str | Sequence[str],
        *,
        syntax: str = "plain",
        known: QueryStatistics | None = None,
    ) -> QueryStatistics:
        """Return the numbers by which BM25 weighs a query: N, lengths, df by term.

        They are of the live memories of this scope, and add up over stores: memories that are
        searched with ``statistics=`` the sum over several stores get, from words, the scores of one
        store with all of them, to the bit.

        Args:
            queries: one query, or several that one value is to serve.
            syntax: as in :meth:`search`.
            known: a sum that is not complete (:attr:`oneiros.QueryStatistics.is_complete`).

        Returns:
            :class:`oneiros.QueryStatistics`.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
            QueryTooLarge: as :meth:`search`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"text": "green tea"}, {"text": "black tea"}])
            >>> engine.statistics("tea").frequencies
            {'tea': 2}
        """
        return searcher.statistics(self._scope, queries, syntax, known)

    @taking(WhyNotKeywords, k=10, embedding=None, explain=True)
    def why_not(self, query: str, id: str, **options: Unpack[WhyNotKeywords]) -> WhyNot:
        """Explain why a search does or does not return a memory.

        Never counts as an access.

        Args:
            query: the query of the search.
            id: the id of the missing memory.
            k: the ``k`` of the search. This and the arguments below are those of :meth:`search`;
                pass them as you passed them there.
            where: the filter of the search.
            session: accepted, no effect.
            now: the time of the search.
            embedding: the query's vector.
            profile: the ranking.
            reinforce: accepted, no effect.
            explain: accepted, no effect.
            include_expired: as in the search.
            deep_recall: as in the search.
            include_expired_in_deep_recall: as in the search.
            valid_at: as in the search.
            status: as in the search.
            least_trust: as in the search.
            syntax: as in the search.
            hint: as in the search.
            date_range: as in the search.
            soft_range: as in the search.
            context: as in the search.
            reranker: as in the search; it is called again, for each part of a compound query twice.
            deadline: as in the search.
            statistics: as in the search.
            offset: as in the search.
            min_score: as in the search.
            exclude: as in the search.
            exclude_newer: as in the search.
            as_of: as in the search.

        Returns:
            A :class:`WhyNot`: what hides the memory, how each channel and factor scores it, its
            rank, and the score it lacks to the last returned result. A scope reports a memory
            outside it as an id that does not exist. Of a compound query
            (docs/systems/omega.md O10), the report is on the part that ranks the memory best.

        Raises:
            ValueError, TypeError, QueryTooLarge: as :meth:`search`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee", status="archived")
            >>> engine.search("coffee").ids
            []
            >>> engine.why_not("coffee", "coffee").verdict
            'hidden: archived'
        """
        scope, options = _at(self._scope, options)
        return explain.why_not.why_not(scope, query, id, options, self.why_not)

    def similar(
        self,
        id_or_text: str,
        k: int = 10,
        *,
        where: Where | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
    ) -> Similars:
        """Return the memories most similar to a memory, or to a text that is not stored.

        Memories whose texts begin alike come first, in order of insertion, then the nearest by
        cosine. The profile's ``duplicates`` decides which are near-duplicates: by default those
        with the same first 150 characters, ignoring markdown, white space and case, or with a
        cosine of at least 0.92. All live memories of the scope are compared, also those that a
        search would hide, except quarantined ones. The first call reads their texts; after that a call costs one pass over
        the beginnings and one vector search, approximate above 10,000 memories. Never counts as an
        access.

        Args:
            id_or_text: the id of a live memory in the scope; anything else is taken as a text.
            k: most memories to return, >= 0.
            where: a filter (:func:`oneiros.where`).
            embedding: the vector to compare with. Default: the memory's own, or for a text that of
                the engine's embedder. Without any vector only texts that begin alike are found.
            profile: the profile whose ``duplicates`` applies. Default: the engine's. A profile
                without the rule uses the published thresholds.

        Returns:
            A list of ``Similar`` with ``id``, ``cosine``, ``begins_alike`` and ``is_duplicate``.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee")
            >>> [similar.id for similar in engine.similar("ada likes her **coffee** black")]
            ['coffee']

        Source: docs/systems/omega.md O26.
        """
        return search.near_duplicates.similar(
            self._scope, id_or_text, k, where=where, embedding=embedding, profile=profile
        )

    def near_duplicates(
        self,
        ids: Sequence[str],
        *,
        where: Where | None = None,
        profile: Profile | str | None = None,
    ) -> NearDuplicates:
        """Return the memories of which the given ones are near-duplicates.

        Applies the rule of :meth:`similar` to the 10 most similar memories of each id. Costs one
        pass over the beginnings of all texts and one vector search per id, which uses the HNSW
        graph above 10,000 memories once it is built. Never counts as an access.

        Args:
            ids: ids of live memories in the scope.
            where: a filter that the other memories pass.
            profile: as in :meth:`similar`.

        Returns:
            A list of ``NearDuplicate`` in the order of the ids. A pair with both ids among the
            given ones is listed once, at the later one.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: an argument breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee")
            >>> id = engine.add("Ada likes her coffee **black**", id="again")
            >>> [(pair.id, pair.of) for pair in engine.near_duplicates(["again"])]
            [('again', 'coffee')]

        Source: docs/systems/omega.md O26.
        """
        return search.near_duplicates.among(self._scope, ids, where=where, profile=profile)

    # -- read --------------------------------------------------------------------------------------

    def get(self, id: str, *, as_of: Time | None = None) -> Memory:
        """Return one memory, also an expired, archived or superseded one.

        Never counts as an access.

        Args:
            id: the memory's id.
            as_of: return the memory as the store knew it at this time, by the clock of its writes;
                a time as in :meth:`add`. Fields that use and dream cycles change have their present
                values unless the store keeps ``history="all"``. Default: the present.

        Raises:
            UnknownMemory: no live memory has this id, or had it then.
            StoreCorrupt: the memory's row in the store is damaged.
            HistoryUnavailable: the store's history does not reach back to ``as_of``; names the time
                from which it is known.
            ValueError, TypeError: ``as_of`` is no time.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee")
            >>> engine.get("coffee")
            <Memory 'coffee' (note): 'Ada likes her coffee black'>
        """
        require_utf8("id", id)
        if as_of is not None:
            return engine.history.memory_at(self._scope, id, as_of)
        found = self.get_many([id])[0]
        if found is None:
            raise UnknownMemory(write.unknown(id))
        return found

    def history(self, id: str) -> Revisions:
        """Return what a memory was, revision by revision, the present one last.

        A revision is a state of the memory's fields between two commits that changed them. With
        ``history="content"``, use and dream cycles that change nothing but states make no revision;
        with "all" they do. A scope leaves out the revisions in which the memory lay outside it.
        Never counts as an access.

        Args:
            id: the memory's id; it may be soft-deleted.

        Returns:
            A list of :class:`Revision`, oldest first, with ``revision``, ``recorded_at``,
            ``until``, ``memory`` and the names of the ``changed`` fields. The first one is the
            oldest still known, within the store's ``history_limit`` and ``history_age``.

        Raises:
            UnknownMemory: no memory has this id, deleted or not.
            StoreCorrupt: the memory or its history is damaged.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Deploys happen on Tuesdays")
            >>> engine.update(id, text="Deploys happen on Mondays")
            >>> [revision.memory.text for revision in engine.history(id)]
            ['Deploys happen on Tuesdays', 'Deploys happen on Mondays']
            >>> engine.history(id)[-1].changed
            ('text', 'updated_at', 'revision_count')
        """
        return engine.history.revisions(self._scope, id)

    def get_many(self, ids: Sequence[str]) -> MaybeMemories:
        """Return memories in the order of the ids, None for an id without a live memory.

        Never counts as an access. Expired, archived and superseded memories are included.

        Args:
            ids: ids of memories.

        Raises:
            StoreCorrupt: a memory is damaged. The error names it; the others can be read without
                it.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", id="tea")
            >>> engine.get_many(["milk", "tea"])
            [None, <Memory 'tea' (note): 'tea'>]
        """
        return self._scope.load_live(checked_ids(ids))

    def __len__(self) -> int:
        """Return the number of live memories, as :meth:`count` does."""
        return self.count()

    def __contains__(self, id: str) -> bool:
        """Return whether a live memory has an id. Never counts as an access, and reads no memory.

        Raises:
            TypeError: the id is not a str.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada likes her coffee black", id="coffee")
            >>> "coffee" in engine, "tea" in engine
            (True, False)
        """
        require_utf8("id", id)
        self._scope.follow_others()
        return self._scope.live_rows([id])[0] is not None

    def __iter__(self) -> Iterator[Memory]:
        """Iterate over the live memories in order of insertion. Never counts as an access.

        They are those of the first step. They are read in batches of 500: one that is deleted before
        its batch is read is left out, as is one that is damaged.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"text": "tea"}, {"text": "milk"}])
            >>> [memory.text for memory in engine]
            ['tea', 'milk']
        """
        return engine.listing.each(self._scope)

    def __bool__(self) -> bool:
        """Return True, also without memories: ``engine or Engine(path)`` opens no second store."""
        return True

    def count(self, where: Where | None = None, *, include_expired: bool = True) -> int:
        """Return the number of live memories that match a filter.

        Args:
            where: a filter (:func:`oneiros.where`). Default: all.
            include_expired: whether to count memories past their ``valid_until`` or ``ttl``.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", tags=["drink"])
            >>> engine.count(oneiros.where(tags="drink"))
            1
        """
        self._scope.follow_others()
        if where is None and not self._scope.bounds and include_expired is True:
            return self._scope.services.read_model.live_count
        return len(engine.listing.matching(self._scope, where, include_expired=include_expired))

    def list(
        self,
        where: Where | None = None,
        *,
        order: str | None = None,
        after: str | None = None,
        limit: int = 100,
        offset: int = 0,
        with_total: bool = False,
        include_expired: bool = True,
    ) -> Page:
        """Return live memories, one page at a time. Never counts as an access.

        The order is computed from columns in memory; only the page is read from the store.

        Args:
            where: a filter (:func:`oneiros.where`).
            order: "oldest" or "newest" by ``created_at``; or a field such as "importance", or
                "-importance" for descending. Text fields are in the order of ``sorted``, capitals
                before small letters, enumerations in that of docs/systems/fields.md; memories
                without the field come last. Ties are in order of insertion, under "newest" in the
                reverse. Default: in order of insertion.
            after: the last id of the previous page: the page begins after it. It may have been
                deleted since.
            limit: most memories to return, >= 0.
            offset: number of memories to skip, after ``after``.
            with_total: whether to set ``total`` of the page to the number of all that match.
            include_expired: whether to list memories past their ``valid_until`` or ``ttl``.

        Returns:
            :class:`Page`, a list of :class:`Memory` with ``total``.

        Raises:
            UnknownMemory: ``after`` names no memory.
            ValueError: ``order`` names no field that can be ordered.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> [memory.id for memory in engine.list(after="a")]
            ['b']
            >>> page = engine.list(order="newest", limit=1, with_total=True)
            >>> page[0].id, page.total
            ('b', 2)
        """
        return engine.listing.page(
            self._scope,
            where,
            order=order,
            after=after,
            limit=limit,
            offset=offset,
            with_total=with_total,
            include_expired=include_expired,
        )

    def last(
        self,
        n: int = 10,
        *,
        session: str | None = None,
        where: Where | None = None,
        include_expired: bool = True,
    ) -> NewestMemories:
        """Return the newest memories in chronological order, as the messages of a chat.

        Never counts as an access.

        Args:
            n: most memories to return, >= 0.
            session: only memories of this session. Default: of all sessions.
            where: a filter (:func:`oneiros.where`).
            include_expired: whether to return memories past their ``valid_until`` or ``ttl``.

        Returns:
            A list of :class:`Memory`, the oldest first, by ``created_at``, ties by insertion.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> for text in ("Hello", "How are you?", "Fine"):
            ...     id = engine.add(text, session="chat")
            >>> [memory.text for memory in engine.last(2, session="chat")]
            ['How are you?', 'Fine']
        """
        return engine.listing.latest(
            self._scope, n, session, where, include_expired=include_expired
        )

    def values(
        self, field: str, where: Where | None = None, *, include_expired: bool = True
    ) -> dict[Any, int]:
        """Return how many live memories have each value of a field, the most frequent first.

        Args:
            field: ``kind``, ``project``, ``session``, ``topic``, ``user``, ``agent``,
                ``namespace``, ``source``, ``source_ref``, ``tags``, ``labels``, an enumeration such
                as ``status`` or ``canonical_layer``, a whole number or flag such as ``priority`` or
                ``pinned``, or "metadata.key" for the texts, numbers, truth values and nulls at a
                path of metadata, such as "metadata.customer.plan".
            where: a filter (:func:`oneiros.where`).
            include_expired: whether to count memories past their ``valid_until`` or ``ttl``.

        Returns:
            Value to count; ties in the order of ``sorted``. Memories without the field are not counted,
            one with several tags is counted for each. Values of metadata that are equal in Python,
            such as 1 and true, are counted together.

        Raises:
            ValueError: no such field, or one whose values are not counted.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"text": text, "kind": "fact"} for text in ("a", "b")])
            >>> id = engine.add("c", tags=["draft"])
            >>> engine.values("kind"), engine.values("tags")
            ({'fact': 2, 'note': 1}, {'draft': 1})
        """
        return engine.listing.value_counts(
            self._scope, field, where, include_expired=include_expired
        )

    def changes(self, since: int = 0, *, limit: int = 1_000) -> ChangeFeed:
        """Return which memories changed after a revision of the store, in order of revision.

        Another process follows a store by calling it again with the revision of the last answer.
        Commits of every process count, also reinforcement and dream cycles. Each memory appears
        once, at its last revision, whatever happened to it; one that was added under the id of an
        erased memory appears after it. Links and settings are no changes of memories. Reinforcement
        appears once it is written.

        A scope's feed lists the memories that lie in it now. It cannot name erased memories, since
        only digests of their ids are kept, nor memories that were moved out of the scope. Revisions count the
        commits of the whole store, so that gaps between them show commits outside the scope.

        Args:
            since: a revision, >= 0: ``revision`` of an earlier answer or of an event. 0: all
                memories.
            limit: most memories to return, >= 1. All changes of a revision come together, so there
                may be more.

        Returns:
            :class:`oneiros.ChangeFeed`: a sequence of (id, kind, revision), where ``kind`` is
            "changed" (or new), "deleted" (softly) or "erased" (its id is then a digest); the ``revision`` to ask from next;
            and whether it ``has_more``.

        Raises:
            ValueError, TypeError: an argument is out of its range or not an int, or ``since`` is
                later than the store's last revision, as after an older copy was put back.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> feed = engine.changes()
            >>> [(change.id, change.kind) for change in feed]
            [('a', 'changed'), ('b', 'changed')]
            >>> receipt = engine.forget("a")
            >>> feed = engine.changes(feed.revision)
            >>> feed[0].kind, feed.erased_among(["a", "b"])
            ('erased', ['a'])
        """
        return engine.feed.changes(self._scope, since, limit)

    # -- mark and link -----------------------------------------------------------------------------

    @watched
    def supersede(self, old: str, new: str, reason: str = "", *, now: Time | None = None) -> None:
        """Replace one memory by another. Searches then hide the old one.

        The old memory keeps its content and links, and :meth:`get` still returns it. Its
        ``superseded_by`` becomes ``new``, and its ``metadata`` gets "superseded_at" in seconds and,
        if given, "superseded_reason". A later call overwrites both. To undo it, call ``update(old,
        superseded_by=None)``; ``forget(new)`` does the same if ``new`` has no successor. The tier
        changes only with the next dream cycle (docs/systems/cognitive.md C19); undoing it makes
        ``old`` hot again if a cycle cooled it.

        Args:
            old: the id of the memory that no longer holds.
            new: the id of its replacement. It may itself be superseded, but not by ``old``.
            reason: an explanation for people. Default: none is stored.
            now: the time of the change, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError: both ids are the same, ``old`` supersedes ``new`` already, directly or
                through others, or the reason makes ``metadata`` too long.
            TypeError: an id or the reason is not a text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Deploys happen on Tuesdays", id="old")
            >>> id = engine.add("Deploys happen on Mondays", id="new")
            >>> engine.supersede("old", "new", reason="moved in June")
            >>> engine.search("deploys").ids
            ['new']

        Source: docs/systems/fields.md; docs/systems/cognitive.md C4; docs/systems/omega.md O23.
        """
        self._scope.require_writable("supersede")
        require_utf8("old", old)
        require_utf8("new", new)
        require_utf8("reason", reason)
        if old == new:
            msg = f"new: must be another memory than old, got {new!r} twice"
            raise ValueError(msg)
        self._scope.services.remember.supersede(
            old, new, reason, now=self._scope.now(now), seen=self._scope.contains
        )
        self._scope.publish("update", "supersede", (old,), now)

    def conflicts(
        self,
        where: Where | None = None,
        *,
        limit: int = 100,
        least_confidence: float = 0.7,
        since: Time | None = None,
    ) -> Conflicts:
        """Return pairs of memories that seem to state different values of one fact.

        Memories of one project, user, agent and namespace are compared, each with the 20 nearest by
        words and the 20 nearest by vector, by a model of their words without a language model.
        Superseded memories, those that are not valid now, questions and texts of 40 words or more
        are never part of a pair. The store is unchanged: :meth:`resolve_conflict` settles a pair.
        Searches use the same model to rank a newer value before an older one. The time grows with
        the number of memories compared, some 0.2 ms each; ``since`` compares only new ones with all.

        Args:
            where: only memories that match. Default: all.
            limit: most pairs.
            least_confidence: least confidence, above 0, at most 1. docs/guide/changing_facts.md has
                the share of true conflicts by confidence.
            since: only pairs whose newer memory was created then or later: seconds UTC, or an aware
                datetime. Default: all.

        Returns:
            :class:`oneiros.conflicts.Conflict` objects with ``older``, ``newer``, ``confidence``
            and ``reason``, the most confident first.

        Raises:
            ValueError: a negative limit or a confidence out of range.
            TypeError: ``where`` is not a filter, or an argument has another type.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("My rent is 900 euros a month", id="old", created_at=1.7e9)
            >>> id = engine.add("My rent went up to 950 euros now", id="new", created_at=1.71e9)
            >>> [(each.older, each.newer) for each in engine.conflicts()]
            [('old', 'new')]
            >>> engine.resolve_conflict("old", "new", "update")
            >>> engine.conflicts()
            []

        Source: docs/systems/house.md H12.
        """
        return conflicts.finding.found(
            self._scope, where, limit=limit, least_confidence=least_confidence, since=since
        )

    @watched
    def resolve_conflict(
        self,
        older: str,
        newer: str,
        verdict: str,
        *,
        reason: str = "",
        now: Time | None = None,
    ) -> None:
        """Settle a conflict of two memories.

        "update" and "contradiction" supersede the older memory by the newer, as :meth:`supersede`
        does. "distinct" records that both hold, as a link of the kind "distinct": the pair is not
        proposed again, searches rank each by its own score, and if one superseded the other, it no
        longer does. :meth:`unlink` takes it back.

        Args:
            older: the id of the memory that no longer holds, unless the verdict is "distinct".
            newer: the id of the other memory.
            verdict: "update", "contradiction" or "distinct".
            reason: an explanation for people, stored with the superseded memory. Default: the
                verdict.
            now: the time of the change, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError: another verdict, both ids are the same, or ``older`` supersedes ``newer``.
            TypeError: an id, the verdict or the reason is not a text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("My rent is 900 euros a month", id="flat", created_at=1.7e9)
            >>> id = engine.add("The studio's rent is 300 euros now", id="studio", created_at=1.71e9)
            >>> engine.resolve_conflict("flat", "studio", "distinct")
            >>> engine.conflicts(least_confidence=0.01)
            []

        Source: docs/systems/house.md H12; docs/systems/cognitive.md C22.
        """
        self._scope.require_writable("resolve_conflict")
        conflicts.finding.resolve(self._scope, older, newer, verdict, reason=reason, now=now)

    @watched
    def pin(self, id: str, pinned: bool = True) -> None:
        """Pin or unpin a memory.

        Under the default profile a pinned memory does not age: its recency is 1. Scores of other
        profiles ignore the pin. No dream cycle of any profile deletes, archives or cuts a pinned
        memory; it may go cold, and the verdict of a judge can supersede it.
        ``oneiros.where(pinned=True)`` finds pinned memories.

        Args:
            id: the memory's id.
            pinned: True to pin, False to unpin.

        Raises:
            UnknownMemory: no live memory has this id.
            TypeError: ``pinned`` is neither True nor False.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("Ada is allergic to nuts")
            >>> engine.pin(id)
            >>> engine.count(oneiros.where(pinned=True))
            1

        Source: docs/systems/fields.md; docs/systems/house.md H6; docs/systems/reverie.md R13.
        """
        self._scope.require_writable("pin")
        require_utf8("id", id)
        is_pinned = require_flag("pinned", pinned)
        is_changed = self._scope.services.remember.pin(
            id, pinned=is_pinned, seen=self._scope.contains
        )
        self._scope.publish("update", "pin", (id,) if is_changed else ())

    @watched
    def link(
        self,
        a: str,
        b: str,
        weight: float = 0.5,
        *,
        kind: str = "explicit",
        now: Time | None = None,
    ) -> None:
        """Link two memories.

        A link between the two is replaced, but keeps its creation time.

        Args:
            a: the id of one memory.
            b: the id of the other. Links have no direction.
            weight: in (0, 1]. It fades from the first time the two are found together.
            kind: "co_retrieval", "ingest", "explicit", "summary", "relation" or "distinct".
            now: as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both ids are the same, the weight is out of range or the kind
                unknown.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.link("a", "b", 0.8)
            >>> [(link.id, link.weight) for link in engine.neighbours("a")]
            [('b', 0.8)]

        Source: docs/systems/cognitive.md C16, C17.
        """
        self._scope.require_writable("link")
        graph.linking.link(self._scope, a, b, weight, kind=kind, now=now)

    @watched
    def link_many(
        self,
        links: Iterable[Any],
        *,
        now: Time | None = None,
    ) -> int:
        """Link many pairs of memories in one transaction: all of them or none.

        Args:
            links: tuples (a, b), (a, b, weight) or (a, b, weight, kind), as in :meth:`link`. If a
                pair comes twice, the last one counts.
            now: as in :meth:`add`.

        Returns:
            The number of distinct pairs.

        Raises:
            UnknownMemory, ValueError, TypeError: as :meth:`link`. For an invalid tuple the message
                gives its position.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": id, "text": id} for id in ("tea", "milk", "mint")])
            >>> engine.link_many([("tea", "milk"), ("tea", "mint", 0.8, "relation")])
            2
        """
        self._scope.require_writable("link_many")
        return graph.linking.link_many(self._scope, links, now=now)

    def links(self, where: Where | None = None, *, now: Time | None = None) -> LinksOfAll:
        """Return all links between two live memories of the scope that match a filter.

        Args:
            where: a filter that both memories pass. Default: all.
            now: the time for which weights are decayed, as in :meth:`add`.

        Returns:
            Pairs of the id of the memory added first and the :class:`Link` to the other, in order
            of insertion of the first, then of the second.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.link("b", "a")
            >>> [(id, link.id, link.kind) for id, link in engine.links()]
            [('a', 'b', 'explicit')]

        Source: docs/systems/cognitive.md C16.
        """
        return graph.linking.links(self._scope, where, now=now)

    @watched
    def unlink(self, a: str, b: str) -> bool:
        """Remove the link between two memories.

        Args:
            a: the id of one memory.
            b: the id of the other.

        Returns:
            Whether there was a link.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both ids are the same, or one is not a text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.unlink("a", "b")
            False
        """
        self._scope.require_writable("unlink")
        return graph.linking.unlink(self._scope, a, b)

    def neighbours(self, id: str, *, limit: int = 100, now: Time | None = None) -> Links:
        """Return the links of a memory to other live memories of the scope.

        Args:
            id: the memory's id.
            limit: most links to return, >= 0.
            now: the time for which weights are decayed, as in :meth:`add`.

        Returns:
            A list of :class:`Link`, heaviest first, then in order of insertion.

        Raises:
            UnknownMemory: no live memory has the id.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.link("a", "b")
            >>> engine.neighbours("b")[0].id
            'a'

        Source: docs/systems/cognitive.md C16.
        """
        return graph.linking.neighbours(self._scope, id, limit=limit, now=now)

    # -- score -------------------------------------------------------------------------------------

    def rescore(
        self,
        profile: Profile | str | None = None,
        now: Time | None = None,
        *,
        where: Where | None = None,
        threads: int | None = None,
    ) -> Rescored:
        """Score every live memory as a search would if all were equally relevant.

        Never counts as an access. All scores are taken at one moment: writes and reinforcing
        searches wait meanwhile, a few nanoseconds per memory.

        Args:
            profile: by name or as a ``Profile``. Default: the engine's.
            now: the current time, as in :meth:`add`. Later times have age 0 and are counted.
            where: a filter (:func:`oneiros.where`).
            threads: 1 to 256. Default: one per core.

        Returns:
            :class:`Rescored`: ``ids`` in order of insertion and their float64 ``scores``.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
            >>> engine.rescore().ids
            ['a', 'b']

        Source: docs/systems/README.md, "Scoring without a query"; docs/systems/ciar.md A11.
        """
        return rescoring.store.rescore(self._scope, profile, now, where=where, threads=threads)

    @watched
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
        """Consolidate the staged memories that score at least a threshold, in one transaction.

        Never counts as an access.

        Args:
            profile: by name or as a ``Profile``.
            threshold: in (0, 1]. Default: the profile's.
            now: the current time, as in :meth:`add`. Later times have age 0.
            where: a filter (:func:`oneiros.where`); memories that do not match stay as they are.
            dry_run: only report what would be promoted.
            threads: 1 to 256. Default: one per core.

        Returns:
            :class:`PromotionReport`: the promoted memories, with the factors that qualified them.

        Raises:
            ValueError, TypeError: an argument breaks its rule, or neither the profile nor the call
                has a threshold.
            StoreBusy: another process held the store's lock for too long.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("The build runs on two cores", id="build")
            >>> engine.promote(threshold=0.4).ids
            ['build']

        Source: docs/systems/ciar.md A4.
        """
        if not require_flag("dry_run", dry_run):
            self._scope.require_writable("promote")
        return rescoring.store.promote(
            self._scope, profile, threshold, now, where=where, dry_run=dry_run, threads=threads
        )

    # -- export and scopes -------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str], *, embeddings: bool = True) -> int:
        """Write the live memories to a file as JSON lines.

        :meth:`add_many` and ``oneiros import`` read the format. The file appears complete or not at
        all, and only its owner can read it. An existing file is replaced; symbolic links are not
        followed. Links, verdicts, deleted memories and the history are not written;
        :meth:`oneiros.Engine.backup` keeps them.

        Args:
            path: the file to write.
            embeddings: whether to write the vectors.

        Returns:
            The number of memories written.

        Warns:
            DamagedMemoriesWarning: damaged memories were left out; the warning names them. A scope
                names those that are known to lie within it.

        Raises:
            ValueError, TypeError: ``path`` does not name a file, or names one of the store's own.
            OSError: the file cannot be written.

        Examples:
            >>> import oneiros, tempfile
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     engine.export(f"{folder}/memories.jsonl")
            1
        """
        return engine.maintenance.export(self._scope, path, embeddings=embeddings)

    def scope(self, **bounds: str) -> Memories:
        """Return a view of the memories of one user, agent, namespace, project, session or topic.

        The view sees no other memory, and what you add through it gets the scope's fields. Scopes
        nest. A scope with a namespace also contains what lies below it: a record may name such a
        namespace, and gets the scope's otherwise.

        Args:
            **bounds: ``user``, ``agent``, ``namespace``, ``project``, ``session`` or ``topic``, each
                a str.

        Returns:
            :class:`Memories`: the methods of this class over the part.

        Raises:
            ValueError: another field, or a field that this view already fixes to another value. A
                nested scope may name a namespace below that of the view.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> apollo = engine.scope(project="apollo")
            >>> id = apollo.add("The launch is in July")
            >>> engine.get(id).project
            'apollo'
            >>> engine.scope(project="gemini").count()
            0
            >>> id = engine.add("Refunds take a week", user="ada", namespace="acme/support/eu")
            >>> engine.scope(user="ada", namespace="acme/support").search("refunds").ids == [id]
            True
        """
        for name, value in checked_bounds(bounds).items():
            if not is_within(name, value, self._scope.bounds.get(name, value)):
                msg = f"{name}: this scope is already bound to another value"
                raise ValueError(msg)
        return Memories(Scope(self._scope.services, {**self._scope.bounds, **bounds}))

    @property
    def bounds(self) -> dict[str, str]:
        """The fields that bound this scope, with their values; {} of an engine.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> engine.scope(user="ada").scope(session="s1").bounds
            {'user': 'ada', 'session': 's1'}
            >>> engine.bounds
            {}
        """
        return dict(self._scope.bounds)

    def __repr__(self) -> str:

        bounds = "".join(
            f" {name}={shortened(value, _BOUND)!r}" for name, value in self._scope.bounds.items()
        )
        return f"<Scope{bounds} of {str(self._scope.shared.store.path)!r}, {self._state()}>"

    def _state(self) -> str:
        """Return the number of memories as words, for ``repr``; "closed" for a closed engine."""
        shared = self._scope.shared
        if not shared.sync.is_open_here:
            return "closed"
        return count_of(len(self), "memory") + (", read-only" if shared.is_read_only else "")

    # -- private -----------------------------------------------------------------------------------

    def _rules(
        self,
        on_conflict: str,
        now: Time | None,
        on_error: str = "raise",
        links: bool | None = None,
        *,
        merges_metadata: bool,
    ) -> AddRules:
        require_choice("on_conflict", on_conflict, ON_CONFLICT)
        if require_flag("merge_metadata", merges_metadata) and on_conflict != "update":
            msg = f'merge_metadata: needs on_conflict="update", got {on_conflict!r}'
            raise ValueError(msg)
        profile = self._scope.services.profile
        return write.AddRules(
            self._scope.now(now),
            write.Bounds(self._scope.bounds, self._inside, self._scope.contains),
            profile.initial_stability,
            profile.ingest,
            on_conflict,
            on_error,
            merges_metadata,
            links,
        )

    def _inside(self, record: Any) -> Any:
        """Return a record with the scope's fields and time zone; refuse one with other values."""
        if not self._scope.bounds and self._scope.shared.zone is None:
            return record
        is_memory = isinstance(record, Memory)
        if not is_memory and not isinstance(record, Mapping):
            return record  # the check of all records refuses it
        record = self._scope.zoned_record(record)
        if not self._scope.bounds:
            return record
        fixed: dict[str, str] = {}
        for name, value in self._scope.bounds.items():
            given = getattr(record, name) if is_memory else record.get(name)
            if given is None or (isinstance(given, str) and given == value):
                fixed[name] = value
            elif not (name == "namespace" and is_within(name, _namespace(given), value)):
                msg = f"{name}: the scope fixes it, got another value"
                raise ValueError(msg)
        if isinstance(record, Memory):
            return replace(record, **fixed)  # type: ignore[arg-type]
        return {**record, **fixed}

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
