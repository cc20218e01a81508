"""What can be done with memories, within bounds: all of a store, or one scope of it."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from oneiros.errors import EngineClosed, UnknownMemory
from oneiros.exporting import write_jsonl
from oneiros.field_checks import time as time_check
from oneiros.fields import FIELDS
from oneiros.profiles import get as get_profile
from oneiros.ranking.profile import Profile
from oneiros.recall import Question, answer, answer_many
from oneiros.records import records_of
from oneiros.remember import unknown
from oneiros.scopes import Where, where
from oneiros.write_behind import ReinforcementEvent

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.clock import Clock
    from oneiros.memory import Memory
    from oneiros.projections import Projections
    from oneiros.remember import AddReport, Remember
    from oneiros.response import SearchResponse
    from oneiros.store import Store, StoredMemory

    Time = float | int | str | datetime
    # The class has a method called list, which hides the type from the hints in it.
    MaybeMemories = list[Memory | None]
    Page = list[Memory]
    Responses = list[SearchResponse]

__all__ = ["Memories", "Parts"]

_check_now = time_check("now")
_SCOPE_FIELDS = ("project", "session", "topic")
_LOAD_BATCH = 1_000


@dataclass(slots=True)
class Parts:
    """What an engine is made of; its scopes share it."""

    store: Store
    projections: Projections
    remember: Remember
    clock: Clock
    profile: Profile
    auto_refresh: bool
    is_closed: bool = False


class Memories:
    """Memories that can be added, changed and found.

    An :class:`Engine` holds all of a store; its :meth:`scope` is the same face over a part of it,
    and can see nothing else.
    """

    def __init__(self, parts: Parts, bounds: Mapping[str, str]) -> None:
        self._shared = parts
        self._bounds = dict(bounds)

    # -- remember ----------------------------------------------------------------------------------

    def add(
        self,
        text: str,
        *,
        on_conflict: str = "raise",
        now: Time | None = None,
        **fields: object,
    ) -> str:
        """Add one memory. It is durable, and found by searches, when this returns.

        Args:
            text: up to 16 MiB of UTF-8; may be empty.
            on_conflict: "raise", or "update" to update a memory that has the id already.
            now: the clock, for ``created_at`` and a new id; seconds UTC, an aware ``datetime`` or
                an ISO 8601 text with offset; default: the engine's clock.
            **fields: any field of docs/systems/fields.md (``id``, ``kind``, ``session``, ...);
                ``embedding`` is made by the engine's embedder when not given.

        Returns:
            The memory's id.

        Raises:
            ValueError, TypeError: a field breaks its rule (the message names field and value).
            DuplicateId: the id exists.
            StoreBusy: another process held the store's lock for too long.
        """
        report = self.add_many([{"text": text, **fields}], on_conflict=on_conflict, now=now)
        return report.ids[0]

    def add_many(
        self,
        records: object,
        *,
        on_conflict: str = "raise",
        on_error: str = "raise",
        now: Time | None = None,
        progress: bool = False,
    ) -> AddReport:
        """Add a batch in one transaction: it is stored whole or not at all.

        Args:
            records: dicts or ``Memory``, in any iterable; an Arrow table; a pandas or polars frame.
            on_conflict: "raise" (:class:`DuplicateId` for an id that exists or comes twice), or
                "update": an id that exists is updated with the fields given, of one that comes
                twice the last wins.
            on_error: "raise" at the first record that breaks a rule; "skip" it; or "collect" it
                in the report's ``failures``.
            now: as in :meth:`add`.
            progress: show a bar on the error stream.

        Returns:
            :class:`AddReport`: ids in the order of the records, what was updated, repeated, refused.

        Raises:
            As :meth:`add`; the error's note tells the record's place.
        """
        _choice("on_conflict", on_conflict, ("raise", "update"))
        _choice("on_error", on_error, ("raise", "skip", "collect"))
        parts = self._parts
        inside: Iterable[Any] = records_of(records, progress=progress)
        if self._bounds:
            inside = (self._inside(record) for record in inside)
        return parts.remember.add(
            inside,
            now=self._now(now),
            on_conflict=on_conflict,
            on_error=on_error,
            seen=self._seen,
        )

    def update(self, id: str, /, *, now: Time | None = None, **changes: object) -> None:
        """Change fields of one memory; ``revision_count`` goes up by one, ``updated_at`` is now.

        A changed text (or title) is embedded anew by the engine's embedder; without one, give the
        new ``embedding`` too (None drops the old), or the vector stays what it was.

        Raises:
            UnknownMemory: no live memory has this id.
            ValueError, TypeError: a field breaks its rule, or is ``id``.
        """
        for name in self._bounds:
            if name in changes:
                msg = f"{name}: fixed by the scope, cannot be changed through it"
                raise ValueError(msg)
        _text("id", id)
        self._parts.remember.update(id, changes, now=self._now(now), seen=self._seen)

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
        parts = self._parts
        if id is not None:
            _text("id", id)
            return parts.remember.delete([id], now=self._now(now), seen=self._seen)
        with parts.remember.steady():
            ids = [parts.projections.ids[row] for row in self._matching(where)]
            return parts.remember.delete(ids, now=self._now(now), seen=self._seen)

    def restore(self, id: str) -> None:
        """Take a soft delete back.

        Raises:
            UnknownMemory: there is no such memory, deleted or not.
        """
        _text("id", id)
        self._parts.remember.restore(id, seen=self._seen)

    def forget(self, id: str) -> None:
        """Erase a memory for good, soft-deleted or not: text, vector, log.

        Raises:
            UnknownMemory: there is no such memory.
            StoreBusy: other processes' readers kept the log from being emptied; the memory is
                gone, its old bytes may still stand in the log until the next ``forget``.
        """
        _text("id", id)
        self._parts.remember.forget(id, seen=self._seen)

    # -- look --------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory:
        """Return one memory. Never counts as an access.

        Raises:
            UnknownMemory: no live memory has this id.
        """
        found = self.get_many([id])[0]
        if found is None:
            raise UnknownMemory(unknown(id))
        return found

    def get_many(self, ids: Sequence[str]) -> MaybeMemories:
        """Return memories in the order of the ids; None where there is no live one."""
        for id in ids:
            _text("id", id)
        return [
            memory
            if memory is not None and memory.deleted_at is None and self._seen(memory)
            else None
            for memory in self._load(ids)
        ]

    def __len__(self) -> int:
        return self.count()

    def count(self, where: Where | None = None) -> int:
        """Return how many live memories match (all of them without ``where``)."""
        self._follow_others()
        if where is None and not self._bounds:
            return self._parts.projections.live_count
        return len(self._matching(where))

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
        self._follow_others()
        limit = _count("limit", limit)
        projections = self._parts.projections
        first = 0
        if after is not None:
            row = projections.row_of.get(after)
            if row is None:
                raise UnknownMemory(unknown(after))
            first = row + 1
        rows = self._matching(where)
        start = rows.rank(first - 1) if first else 0
        ids = [projections.ids[row] for row in rows[start : start + limit]]
        return [memory for memory in self.get_many(ids) if memory is not None]

    def export(self, path: str | os.PathLike[str], *, embeddings: bool = True) -> int:
        """Write the live memories as JSON lines, which ``add_many`` and ``oneiros import`` read.

        The file appears whole or not at all, readable by its owner only; links are not followed.

        Returns:
            How many memories were written.
        """
        self._follow_others()
        ids = [self._parts.projections.ids[row] for row in self._matching(None)]
        return write_jsonl(Path(path), self._pages(ids), embeddings=embeddings)

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
            if self._bounds.get(name, value) != value:
                msg = f"{name}: this scope is already bound to another value"
                raise ValueError(msg)
        return Memories(self._parts, {**self._bounds, **bounds})

    # -- recall ------------------------------------------------------------------------------------

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
        status: str | Sequence[str] | None = None,
    ) -> SearchResponse:
        """Find the memories that answer a question, best first.

        Args:
            query: any text; it is always taken literally.
            k: at most so many results, >= 0.
            where: a filter, applied inside every channel.
            session: who asks; reinforcement adds it to the sessions of what is found.
            now: the clock of this search, as in :meth:`add`.
            embedding: the question's vector, shape (dimension,); default: the engine's embedder's.
            profile: how to rank, by name or as a ``Profile``; default: the engine's.
            reinforce: whether what is returned counts as accessed; default: as the profile says.
            explain: give each result its explanation.
            status: only memories of these statuses ("archived" ones are hidden otherwise).

        Returns:
            :class:`SearchResponse`, always with its trace.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
            QueryTooLarge: the query is over 64 KiB or 1,024 distinct terms.
        """
        self._follow_others()
        question = self._question(query, embedding, k, now, profile, explain)
        parts = self._parts
        visible = parts.projections.visible(
            question.profile.selection, self._within(where), _statuses(status), question.now
        )
        response = answer(question, parts.projections, visible, self._load)
        return self._reinforced([response], question, session, reinforce)[0]

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
        status: str | Sequence[str] | None = None,
        threads: int | None = None,
    ) -> Responses:
        """Answer a batch of questions, in parallel in the core.

        The answers are those of :meth:`search`, each as if asked alone before any of them
        reinforced anything; reinforcement follows in their order.

        Args:
            queries: the questions.
            k: at most so many results a question.
            where: a filter, for all questions.
            session: who asks.
            now: the clock of all these searches.
            embeddings: the questions' vectors, one a query; default: the embedder's.
            profile: how to rank.
            reinforce: whether what is returned counts as accessed.
            explain: give each result its explanation.
            status: only memories of these statuses.
            threads: for the channels, >= 1; default: one a core.

        Returns:
            One response a query, in their order.

        Raises:
            As :meth:`search`.
        """
        vectors = [None] * len(queries) if embeddings is None else list(embeddings)
        if len(vectors) != len(queries):
            msg = f"embeddings: expected {len(queries)}, one a query, got {len(vectors)}"
            raise ValueError(msg)
        if threads is None:
            threads = os.cpu_count() or 1
        self._follow_others()
        moment = self._now(now)
        questions = [
            self._question(query, vector, k, moment, profile, explain)
            for query, vector in zip(_texts("queries", queries), vectors, strict=True)
        ]
        if not questions:
            return []
        parts = self._parts
        chosen = questions[0].profile
        visible = parts.projections.visible(
            chosen.selection, self._within(where), _statuses(status), moment
        )
        responses = answer_many(
            questions, parts.projections, visible, self._load, _count("threads", threads, low=1)
        )
        return self._reinforced(responses, questions[0], session, reinforce)

    # -- inside ------------------------------------------------------------------------------------

    @property
    def _parts(self) -> Parts:
        if self._shared.is_closed:
            msg = "the engine is closed"
            raise EngineClosed(msg)
        return self._shared

    def _follow_others(self) -> None:
        if self._parts.auto_refresh:
            self._parts.remember.follow_others()

    def _now(self, now: Time | None) -> float:
        seconds: float = _check_now(self._parts.clock() if now is None else now)
        return seconds

    def _seen(self, memory: StoredMemory | Memory) -> bool:
        return all(getattr(memory, name) == value for name, value in self._bounds.items())

    def _inside(self, record: Any) -> Any:
        """Give a record the scope's fields; one that says otherwise is refused."""
        fields = record.to_record() if hasattr(record, "to_record") else dict(record)
        for name, value in self._bounds.items():
            if fields.get(name, value) not in (None, value):
                msg = f"{name}: the scope fixes it, got another value"
                raise ValueError(msg)
            fields[name] = value
        return fields

    def _within(self, condition: Where | None) -> Where | None:
        _instance("where", condition, (Where, type(None)), "oneiros.where(...)")
        if not self._bounds:
            return condition
        bounds = where(**self._bounds)
        return bounds if condition is None else bounds & condition

    def _matching(self, condition: Where | None) -> BitMap:
        return self._parts.projections.matching(self._within(condition))

    def _load(self, ids: Sequence[str]) -> MaybeMemories:
        with self._parts.store.read() as reading:
            found = reading.load(ids)
        return self._parts.remember.as_reinforced(found)

    def _pages(self, ids: Sequence[str]) -> Iterator[Memory]:
        for start in range(0, len(ids), _LOAD_BATCH):
            for memory in self.get_many(ids[start : start + _LOAD_BATCH]):
                if memory is not None:
                    yield memory

    def _question(
        self,
        query: str,
        embedding: npt.ArrayLike | None,
        k: int,
        now: Time | None,
        profile: Profile | str | None,
        is_explained: bool,
    ) -> Question:
        _text("query", query)
        vector, absent = self._query_vector(query, embedding)
        return Question(
            query=query,
            vector=vector,
            absent=absent,
            k=_count("k", k),
            now=self._now(now),
            profile=self._profile(profile),
            is_explained=is_explained,
        )

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

    def _profile(self, profile: Profile | str | None) -> Profile:
        if profile is None:
            return self._parts.profile
        if isinstance(profile, str):
            return get_profile(profile)
        _instance("profile", profile, (Profile,), "a name or a Profile")
        return profile

    def _reinforced(
        self,
        responses: Responses,
        question: Question,
        session: str | None,
        reinforce: bool | None,
    ) -> Responses:
        """Strengthen what was found, if it is to be, and say so in the traces."""
        rule = question.profile.reinforcement
        if session is not None:
            FIELDS["session"].check(session)
        if rule is None or reinforce is False:
            return responses
        told = []
        for response in responses:
            started = perf_counter()
            if response.results:
                self._parts.remember.reinforce(
                    ReinforcementEvent(tuple(response.ids), question.now, session, rule)
                )
            told.append(response.with_reinforcement((perf_counter() - started) * 1e3))
        return told


def _instance(name: str, value: object, kinds: tuple[type, ...], words: str) -> None:
    if not isinstance(value, kinds):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def _text(name: str, value: object) -> None:
    _instance(name, value, (str,), "str")


def _texts(name: str, values: object) -> Sequence[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        msg = f"{name}: expected a sequence of str, got {type(values).__name__}"
        raise TypeError(msg)
    return values


def _choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        msg = f"{name}: expected one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


def _count(name: str, value: object, *, low: int = 0) -> int:
    if isinstance(value, bool):
        msg = f"{name}: expected an int, got {value!r}"
        raise TypeError(msg)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{name}: expected an int, got {type(value).__name__}"
        raise TypeError(msg) from None
    if not low <= number <= 2**31 - 1:
        msg = f"{name}: must be in [{low}, 2^31 - 1], got {number}"
        raise ValueError(msg)
    return number


def _statuses(status: str | Sequence[str] | None) -> Sequence[str] | None:
    return [status] if isinstance(status, str) else status
