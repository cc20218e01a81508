"""A shard: an engine in a process of its own, and what it does for its clients."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.clock import system_clock
from oneiros.dream.report import DreamReport
from oneiros.engine.engine import Engine, QuietEngine
from oneiros.errors import DuplicateId, StoreIOError
from oneiros.ray.candidates import CandidateSource
from oneiros.ray.cluster import require_ray
from oneiros.ray.copies import upload
from oneiros.ray.shard_scopes import ShardScopes
from oneiros.runtime.dataclasses import asdict
from oneiros.runtime.files import new_file

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.ray.routing import Layout
    from oneiros.ray.shard_scopes import ShardPlaces

__all__ = ["Shard", "layout_file", "read_layout", "store_file", "write_layout"]


_READS: Final = frozenset(
    {
        "__len__",
        "count",
        "get",
        "get_many",
        "history",
        "last",
        "list",
        "neighbours",
        "similar",
        "stats",
        "why_not",
    }
)


def store_file(folder: Path, number: int) -> Path:
    """Return the path of a shard's store."""
    return folder / f"shard-{number:05}.db"


def layout_file(folder: Path, number: int) -> Path:
    """Return the path of the note that says which part of which whole the store is."""
    return store_file(folder, number).with_suffix(".json")


def write_layout(path: Path, number: int, layout: Layout) -> None:
    """Note which part of which whole a store is."""
    with new_file(path) as file:
        file.write(json.dumps({"shard": number, **asdict(layout)}).encode())


def read_layout(path: Path) -> dict[str, Any]:
    """Return the number of a store and its layout, as :func:`write_layout` noted them.

    Raises:
        ValueError: the note is damaged.
        OSError: it cannot be read.
    """
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return {"shard": int(note["shard"]), "shards": int(note["shards"]), "key": str(note["key"])}
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path}: not the note of a shard ({error})"
        raise ValueError(msg) from None


class Shard:
    """The engine of one shard. Ray runs it as an actor and makes it again after a crash.

    The store is opened by :meth:`open`, since Ray raises an error of its own in place of those of a
    constructor. An actor that was made again opens it by itself.

    Args:
        folder: folder of the store, on the disk of the machine that the actor runs on.
        number: number of the shard.
        layout: how memories are split.
        options: options of :class:`oneiros.Engine`.

    Raises:
        Exception: as :meth:`open`, after a crash.
    """

    def __init__(
        self, folder: str, number: int, layout: Layout, options: Mapping[str, Any]
    ) -> None:
        home = Path(folder)
        self._store, self._note = store_file(home, number), layout_file(home, number)
        self._number = number
        self._layout = layout
        self._options = dict(options)
        self._engine: Engine
        self._is_open = False
        self._was_here = require_ray().get_runtime_context().was_current_actor_reconstructed
        if self._was_here:
            self.open()

    def is_made(self) -> bool:
        """Return whether the store was made before.

        Raises:
            ValueError: it was made for another layout or another number, or its note is damaged.
            StoreIOError: it was made before, but is not here.
        """
        store, is_known = self._store, self._note.exists()
        if is_known:
            found = read_layout(self._note)
            expected = {"shard": self._number, **asdict(self._layout)}
            if found != expected:
                msg = f"folder: {store.name} was made as {_words(found)}, not as {_words(expected)}"
                raise ValueError(msg)
        is_here = store.exists()
        is_lost = not is_here and (self._was_here or bool(self._options.get("read_only", False)))
        if is_lost or (is_known and not (is_here and store.stat().st_size)):
            # An empty store in its place would look as if all memories were forgotten.
            what = "empty" if is_here else "missing on this machine"
            msg = f"{store}: {what}; restore it from a generation"
            raise StoreIOError(msg)
        return is_here

    def open(self) -> int:
        """Open the store, which is made if it is new, and return the number of its memories.

        Raises:
            Exception: as :meth:`is_made` and :class:`oneiros.Engine`.
        """
        if not self._is_open:
            self.is_made()
            is_read_only = bool(self._options.get("read_only", False))
            if not is_read_only:
                self._store.parent.mkdir(parents=True, exist_ok=True)
            self._engine = Engine(self._store, **self._options)
            self._source = CandidateSource(self._engine, self._number)
            # What was read lasts as long as the process. The collector would traverse it in the middle
            # of searches, and every search over all shards waits for the slowest one.
            gc.collect()
            gc.freeze()
            if not is_read_only and not self._note.exists():
                write_layout(self._note, self._number, self._layout)
            self._scopes = ShardScopes(self._engine, self._number, self._layout)
            self._source.scopes = self._scopes
            self._is_open = True
        return self._scopes.memory_count()

    def call(
        self,
        method: str,
        bounds: Mapping[str, str],
        args: Sequence[Any],
        options: Mapping[str, Any],
    ) -> Any:
        """Call a method of the engine, or of a scope of it.

        Raises:
            ScopeMoved, ScopeBusy: the scope is elsewhere, or on its way.
        """
        value = bounds.get(self._layout.key)
        # A search counts uses, unless reinforce=False.
        writes = method not in _READS and not (
            method == "search" and options.get("reinforce") is False
        )
        with self._scopes.using(None if value is None else [value], writes=writes):
            return getattr(self._within(bounds), method)(*args, **options)

    def scopes(self, method: str, args: Sequence[Any]) -> Any:
        """Call a method of :class:`oneiros.ray.shard_scopes.ShardScopes`, a step of a move."""
        return getattr(self._scopes, method)(*args)

    def places(self) -> ShardPlaces:
        """Return what is known about scopes that were moved to this shard or away from it."""
        return self._scopes.places

    def has(self, id: str) -> bool:
        """Return whether a memory is here, soft-deleted or not.

        Raises:
            ScopeBusy: a scope is leaving, perhaps with the memory.
        """
        self._scopes.require_settled()
        scope = self._engine._scope
        with self._scopes.using(None, writes=False):
            scope.follow_others()
            return scope.services.read_model.lifecycle.row_of.get(id) is not None

    def add_many(
        self,
        bounds: Mapping[str, str],
        records: Sequence[Mapping[str, Any]],
        options: Mapping[str, Any],
    ) -> list[str]:
        """Add records in one transaction; those that are here already, unchanged, are not repeated.

        Args:
            bounds: the scope.
            records: each with an ``id``.
            options: as :meth:`oneiros.Engine.add_many` takes them.

        Returns:
            The ids of the records.

        Raises:
            ScopeMoved, ScopeBusy: a scope is elsewhere, or on its way. Nothing was added.
        """
        scope, key = self._within(bounds), self._layout.key
        named = [bounds[key]] if key in bounds else [str(record[key]) for record in records]
        with self._scopes.using(set(named), writes=True):
            try:
                scope.add_many(records, **options)
            except DuplicateId:
                existing = self._existing(scope, records)
                if not existing:
                    raise
                rest = [record for record in records if record["id"] not in existing]
                if rest:
                    scope.add_many(rest, **options)
        return [str(record["id"]) for record in records]

    def candidates(self, method: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a method of the shard's :class:`oneiros.ray.candidates.CandidateSource`.

        Raises:
            ScopeBusy: a search over all shards begins while a scope is leaving this one.
        """
        if method == "overview":
            self._scopes.require_settled()
        with self._scopes.using(None, writes=False):
            return getattr(self._source, method)(*args, **keywords)

    def _within(self, bounds: Mapping[str, str]) -> Memories:
        return self._engine.scope(**bounds) if bounds else self._engine

    def _existing(self, scope: Memories, records: Sequence[Mapping[str, Any]]) -> set[str]:
        """Return the ids of the records that are stored with the same content.

        Every field that a record gives counts, in the form in which a store has it, except the
        vector. A memory that was changed since is another one.
        """
        found = scope.get_many([record["id"] for record in records])
        pairs = [
            (record, memory)
            for record, memory in zip(records, found, strict=True)
            if memory is not None
        ]
        same: set[str] = set()
        with ExitStack() as stack:
            scratch = stack.enter_context(
                QuietEngine(":memory:", timezone=self._options.get("timezone"))
            )
            for record, memory in pairs:
                content = {name: value for name, value in record.items() if name != "embedding"}
                if scratch.get_many([memory.id]) != [None]:
                    continue  # a batch with an id twice
                scratch.add_many([content], now=memory.learned_at)
                copied = scratch.get(memory.id)
                if all(getattr(copied, name) == getattr(memory, name) for name in content):
                    same.add(memory.id)
        return same

    def dream(self, options: Mapping[str, Any]) -> DreamReport:
        """Run a cycle, or plan one and return the plan's report, since a plan is bound to its store."""
        with self._scopes.using(None, writes=not options.get("dry_run")):
            done = self._engine.dream(**options)
        return done if isinstance(done, DreamReport) else done.report

    def back_up(self, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Copy the store to a file next to it, upload that, and return the manifest's entry."""
        self._scopes.require_settled()
        copied_at = system_clock()
        draft = self._store.with_name(f".{self._store.name}.{os.urandom(6).hex()}.part")
        try:
            self._engine.backup(draft)
            return upload(draft, self._store.name, self._number, url, options, copied_at)
        finally:
            draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the engine, which writes pending reinforcement."""
        if self._is_open:
            self._engine.close()
            self._scopes.close()


def _words(note: Mapping[str, Any]) -> str:
    return f"shard {note['shard']} of {note['shards']} by {note['key']}"
