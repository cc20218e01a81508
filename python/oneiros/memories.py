"""What can be done with memories, within bounds: all of a store, or one scope of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import file_name, require_choice, require_flag, require_utf8
from oneiros.comparing import Comparing
from oneiros.dataclasses_on_use import replace
from oneiros.errors import DamagedMemoriesWarning, MissingEmbedderWarning, StoreCorrupt
from oneiros.fields import FIELDS, VERDICTS
from oneiros.linking import Linking
from oneiros.looking import Looking
from oneiros.marking import Marking
from oneiros.memory import Memory
from oneiros.named_calls import named_calls
from oneiros.records import records_of
from oneiros.remember import Bounds
from oneiros.rescoring import Rescoring
from oneiros.search.response import load_each
from oneiros.searching import Searching

if TYPE_CHECKING:
    from pathlib import Path

    from oneiros.bounded import Time
    from oneiros.remember import AddReport
    from oneiros.scopes import Where


__all__ = ["Memories"]

_SCOPE_FIELDS = ("project", "session", "topic")
_LOAD_BATCH = 1_000
_BOUND = 60  # characters of a bound that are shown
_MOST_NAMED = 20


@named_calls("Scope")
class Memories(Searching, Comparing, Rescoring, Linking, Marking, Looking):
    """Memories that can be added, changed and found.

    An :class:`Engine` holds all of a store; its :meth:`scope` is the same face over a part of it,
    and can see nothing else.
    """

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
        record = {"text": text, **fields}
        return self._add(iter((record,)), on_conflict=on_conflict, now=now).ids[0]

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
        from oneiros.remember.batch import OnFirstLook  # noqa: PLC0415 - many processes only search

        require_choice("on_conflict", on_conflict, ("raise", "update"))
        require_choice("on_error", on_error, ("raise", "skip", "collect"))
        require_flag("progress", progress)
        if links is not None:
            require_flag("links", links)
        given = records_of(records, progress=progress)
        report = self._add(given, on_conflict=on_conflict, on_error=on_error, now=now, links=links)
        return replace(report, look=OnFirstLook(partial(self._repeats_among, report.ids)))

    def _add(
        self,
        records: Iterator[object],
        *,
        on_conflict: str,
        on_error: str = "raise",
        now: Time | None = None,
        links: bool | None = None,
    ) -> AddReport:
        parts = self._parts
        report = parts.remember.add(
            records,
            now=self._now(now),
            on_conflict=on_conflict,
            on_error=on_error,
            bounds=Bounds(self._bounds, self._inside, self._seen),
            initial_stability=parts.profile.initial_stability,
            ingest=parts.profile.ingest,
            links=links,
        )
        self._warn_of_dropped_vectors()
        return report

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
        for name in self._bounds:
            if name in changes:
                msg = f"{name}: fixed by the scope, cannot be changed through it"
                raise ValueError(msg)
        require_utf8("id", id)
        self._parts.remember.update(id, changes, now=self._now(now), seen=self._seen)
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
        self._parts.remember.feedback(id, verdict, now=self._now(now), seen=self._seen)

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
        if id is None:
            return parts.remember.delete_matching(self._within(where), now=self._now(now))
        require_utf8("id", id)
        parts.remember.delete(id, now=self._now(now), seen=self._seen)
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
        return self._parts.remember.restore(id, now=self._now(now), seen=self._seen)

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
        self._parts.remember.forget(id, seen=self._seen, is_bounded=bool(self._bounds))

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
        from oneiros.exporting import write_jsonl  # noqa: PLC0415 - few export

        require_flag("embeddings", embeddings)
        target = self._foreign(path)
        self._follow_others()
        ids = [self._parts.projections.lifecycle.ids[row] for row in self._matching(None)]
        left_out: list[str] = []
        count = write_jsonl(target, self._pages(ids, left_out), embeddings=embeddings)
        if not self._bounds:
            left_out += [one.id for one in self._parts.remember.damaged.values()]
        self._warn_of_damage(list(dict.fromkeys(left_out)))
        return count

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

    def __repr__(self) -> str:
        from oneiros.visible_text import shortened  # noqa: PLC0415 - for those who look

        bounds = "".join(
            f" {name}={shortened(value, _BOUND)!r}" for name, value in self._bounds.items()
        )
        return f"<Scope{bounds} of {str(self._shared.store.path)!r}, {self._state()}>"

    def _state(self) -> str:
        """Return how many memories there are, for a line that names this object."""
        return f"{len(self)} memories" if self._shared.remember.is_open_here else "closed"

    # -- inside ------------------------------------------------------------------------------------

    def _inside(self, record: Any) -> Any:
        """Give a record the scope's fields; one that says otherwise is refused."""
        if not self._bounds:
            return record
        is_memory = isinstance(record, Memory)
        if not is_memory and not isinstance(record, Mapping):
            return record  # refused where all records are checked
        for name, value in self._bounds.items():
            said = getattr(record, name) if is_memory else record.get(name)
            if said not in (None, value):
                msg = f"{name}: the scope fixes it, got another value"
                raise ValueError(msg)
        if isinstance(record, Memory):
            return replace(record, **self._bounds)  # type: ignore[arg-type]
        return {**record, **self._bounds}

    def _foreign(self, path: str | os.PathLike[str]) -> Path:
        """Return a path that names none of the store's own files."""
        from oneiros.exporting import foreign_file  # noqa: PLC0415 - few export

        return foreign_file("path", file_name("path", path), self._parts.store.path)

    def _pages(self, ids: Sequence[str], left_out: list[str]) -> Iterator[Memory]:
        """Yield memories; the ids of damaged ones go to ``left_out``."""
        for start in range(0, len(ids), _LOAD_BATCH):
            part = ids[start : start + _LOAD_BATCH]
            found = load_each(self._load_live, part)
            for id, memory in zip(part, found, strict=True):
                if isinstance(memory, StoreCorrupt):
                    left_out.append(id)
                elif memory is not None:
                    yield memory

    def _warn_of_damage(self, ids: Sequence[str]) -> None:
        if ids:
            from oneiros.warning_places import warn  # noqa: PLC0415 - as a rule nothing is damaged

            names = ", ".join(map(repr, ids[:_MOST_NAMED])) + (", ..." if ids[_MOST_NAMED:] else "")
            memories = "1 memory is" if len(ids) == 1 else f"{len(ids)} memories are"
            warn(
                f"{memories} damaged in the store and left out of the export: {names}",
                DamagedMemoriesWarning,
            )

    def _warn_of_dropped_vectors(self) -> None:
        remember = self._parts.remember
        if remember.has_dropped_vectors and not (remember.has_warned or self._parts.is_quiet):
            from oneiros.warning_places import warn  # noqa: PLC0415 - once an engine, if at all

            remember.has_warned = True
            warn(
                "a text was changed, and its vector, which is of the old text, was dropped: this "
                "engine has no embedder to make another. Give embedding= with the text, or open the "
                "store with embedder=. Further vectors are dropped without a warning",
                MissingEmbedderWarning,
            )
