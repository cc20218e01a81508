"""Maintenance of a store: counts, checks, copies, missing vectors, erasure."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from oneiros import models
from oneiros.display.counts import count_of
from oneiros.display.tables import progress_bar
from oneiros.dream.history import problems_of_cycles
from oneiros.engine.scope import checked_ids
from oneiros.errors import DamagedMemoriesWarning, StoreCorrupt
from oneiros.index.comparison import SUMMED
from oneiros.model.validation import (
    file_name,
    require_flag,
    require_number,
    require_utf8,
    seconds_of,
)
from oneiros.models.embedders import name_of
from oneiros.runtime.dataclasses import asdict
from oneiros.runtime.files import foreign_file, write_jsonl
from oneiros.runtime.freed_memory import give_back
from oneiros.runtime.warnings import warn
from oneiros.search.response import load_each
from oneiros.store import Reading
from oneiros.store.connections import MEMORY
from oneiros.store.derivations import Derivations
from oneiros.store.index_checking import mend_indexes
from oneiros.write.erase import Erasure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta
    from pathlib import Path

    from oneiros.clock import Time
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.index import LexicalOptions, ReadModel
    from oneiros.model.memory import Memory
    from oneiros.models.embedders import Embedder

__all__ = [
    "backup",
    "check",
    "embed_missing",
    "export",
    "follow_erasure",
    "foreign_path",
    "get_deleted",
    "purge",
    "purgeable",
    "reembed",
    "stats",
    "verify_erased",
    "warn_of_unmatched",
]

_DAY = 86_400.0
_LOAD_BATCH = 1_000
_FEWEST_EMPTY = 10_000  # rows of erased memories, before the read model is rebuilt without them
_EMPTY_PER_ROW = 3  # and so many for each memory, or rebuilding would be most of the work
_MOST_NAMED = 20  # damaged memories, in a warning
_INDEX_PROBLEM = "wrong # of entries in index "  # SQLite's wording


def stats(scope: Scope, options: LexicalOptions) -> dict[str, Any]:
    """Return counts and sizes; see :meth:`oneiros.Engine.stats`."""
    services = scope.services
    services.sync.apply_own()
    read_model, sync = services.read_model, services.sync
    lexical, vectors = read_model.indexes.lexical, read_model.indexes.vectors
    with services.store.read() as reading:
        candidates = read_model.sequences_without_vector() - sync.damaged.keys()
        without_vector = reading.count_without_vector(candidates)
        name = reading.reembedding()
        reembedding = None
        if name is not None:
            reembedding = {"embedder": name, "done": reading.new_vector_count()}
    return {
        "memories": read_model.live_count,
        "deleted": len(read_model.lifecycle.row_of) - read_model.live_count,
        "damaged": len(sync.damaged),
        "kinds": read_model.kind_counts(),
        "links": services.store.link_count(),
        "revision": sync.revision,
        "embedder": sync.vectors.recorded_name,
        "embedding_dimension": sync.vectors.dimension,
        "vectors": 0 if vectors is None else len(vectors),
        "vector_search": None if vectors is None else vectors.measured(),
        "without_vector": without_vector,
        "reembedding": reembedding,
        "lexical": {
            **asdict(options),
            "documents": lexical.document_count,
            "segments": lexical.segment_count,
            "resident_bytes": lexical.resident_bytes,
            "merge_error": lexical.merge_error or None,
        },
        "profile": services.profile.name,
        "file_bytes": _file_bytes(services.store.path),
        "waiting": {
            "writes": sync.writer.write_count,
            "uses": len(sync.reinforcing.owing()),
        },
        **({"read_only": True} if services.is_read_only else {}),
    }


def _file_bytes(path: str) -> int:
    """Return the size of a store's file and its log; 0 for a store in memory."""
    size = 0
    for name in () if path == MEMORY else (path, f"{path}-wal"):
        with suppress(FileNotFoundError):  # another process may have emptied its log
            size += os.stat(name).st_size  # noqa: PTH116 - pathlib loads much
    return size


def check(scope: Scope, *, deep: bool) -> list[str]:
    """Return the problems of the store, and mend what can be; see :meth:`oneiros.Engine.check`."""
    require_flag("deep", deep)
    services = scope.services
    found = services.store.quick_check()
    problems = _mend_indexes(scope, found)
    if deep:
        found = services.store.deep_check()
    elif problems:  # what was mended is none any longer
        found = services.store.quick_check()
    problems += [problem for problem in found if problem not in problems]
    known = set(problems)
    found = services.sync.writer.run(partial(_check_read_model, scope, deep=deep))
    problems += [problem for problem in found if problem not in known]
    with services.store.read() as reading:
        problems += [
            f"memory {id!r}: superseded by {successor!r}, which "
            f"{'was forgotten' if was_erased else 'is not in this store'}; searches return it"
            for id, successor, was_erased in reading.lost_successors()
        ]
        return problems + problems_of_cycles(reading)


def _mend_indexes(scope: Scope, found: list[str]) -> list[str]:
    """Mend indexes that differ from their tables; return the problems of indexes."""
    sync = scope.services.sync
    if sync.store.is_read_only:
        return []
    if not all(problem.startswith(_INDEX_PROBLEM) for problem in found):
        return []  # pages are damaged: a write could do more harm
    return sync.writer.run(partial(mend_indexes, sync.store))


def _check_read_model(scope: Scope, *, deep: bool) -> list[str]:
    services = scope.services
    sync = services.sync
    with sync.comparing() as reading:  # one state: others may commit meanwhile
        damaged = dict(sync.damaged)
        sums = reading.live_sums(SUMMED, without=damaged)
        problems = services.read_model.problems(reading.live_count(without=damaged), sums)
    if deep:
        problems += sync.differences()
        damaged = dict(sync.damaged)
    if problems:
        services.read_model = sync.rebuild()
        problems = [f"{problem}; rebuilt from the store" for problem in problems]
    return [str(memory.error()) for memory in damaged.values()] + problems


def verify_erased(scope: Scope, erased: str | Erasure) -> bool:
    """Return whether a text or memories are gone; see :meth:`oneiros.Engine.verify_erased`."""
    if isinstance(erased, Erasure):
        return _is_carried_out(scope, erased)
    require_utf8("text", erased)
    if not erased:
        msg = "text: must be at least one character, got ''"
        raise ValueError(msg)
    return scope.services.store.verify_erased(erased.encode())


def _is_carried_out(scope: Scope, receipt: Erasure) -> bool:
    """Return whether no memory of a receipt, none derived from one and no trace is in the store."""
    ids = [*receipt.ids, *receipt.derived]
    with scope.services.store.read() as reading:
        if reading.traces():
            return False
        left = [*ids, *Derivations(reading).of(ids)]
        found = reading.load_each(left)
    return all(
        memory is None
        or (not isinstance(memory, StoreCorrupt) and memory.learned_at > receipt.erased_at)
        for memory in found
    )


def purge(scope: Scope, older_than_days: float | timedelta, now: Time | None) -> int:
    """Erase memories soft-deleted long ago; see :meth:`oneiros.Engine.purge`."""
    erased: list[str] = []
    try:
        before = _before(scope, older_than_days, now)
        return scope.services.remember.erasing.purge(before, seen=scope.contains, erased=erased)
    finally:  # also if they are gone, and only their bytes may be in the log
        follow_erasure(scope, "purge", erased, now)


def follow_erasure(scope: Scope, method: str, erased: Sequence[str], now: Time | None) -> None:
    """Publish the event of an erasure, and drop what memory holds of the erased memories."""
    scope.services.drop_past(erased)
    scope.publish("forget", method, erased, now)  # first: it reads the revision of this write
    drop_empty_rows(scope.services)


def drop_empty_rows(services: EngineServices) -> None:
    """Rebuild the read model if nearly all of its rows are those of erased memories.

    Row numbers are never used again: some 700 bytes of each erased memory stay in memory, in its
    columns.
    """

    def rebuild() -> bool:  # on the writer thread: the rows stay as they are meanwhile
        if not _is_nearly_empty(services.read_model):
            return False
        services.read_model = services.sync.rebuild()
        return True

    if services.sync.writer.run(rebuild):
        give_back()  # or what glibc keeps of the former one grows with each rebuild


def _is_nearly_empty(read_model: ReadModel) -> bool:
    lifecycle = read_model.lifecycle
    empty = len(lifecycle.ids) - len(lifecycle.row_of)
    return empty >= max(_FEWEST_EMPTY, _EMPTY_PER_ROW * len(lifecycle.row_of))


def purgeable(scope: Scope, older_than_days: float | timedelta, now: Time | None) -> list[str]:
    """Return the ids that a purge would erase; see :meth:`oneiros.Engine.purgeable`."""
    before = _before(scope, older_than_days, now)
    with scope.services.store.read() as reading:
        numbers = reading.cycles.deleted_before(before)
        found = reading.of_sequences(numbers, on_damage=scope.services.sync.note_damage)
        return [memory.id for batch in found for memory in batch if scope.contains(memory)]


def get_deleted(scope: Scope, ids: Sequence[str]) -> list[Memory | None]:
    """Return soft-deleted memories; see :meth:`oneiros.Engine.get_deleted`."""
    return [
        memory if memory is not None and memory.deleted_at is not None else None
        for memory in scope.loader(checked_ids(ids))
    ]


def _before(scope: Scope, older_than_days: float | timedelta, now: Time | None) -> float:
    seconds = seconds_of(older_than_days)
    if seconds is not older_than_days:
        older_than_days = seconds / _DAY
    days = require_number("older_than_days", older_than_days, low=0.0)
    return scope.now(now) - days * _DAY


def backup(scope: Scope, path: str | os.PathLike[str], *, replace: bool) -> None:
    """Copy the store to a new file; see :meth:`oneiros.Engine.backup`."""
    require_flag("replace", replace)
    target = foreign_path(scope, path)
    if not replace and os.path.lexists(target):
        msg = f"path: must be a new file without replace=True, got {str(target)!r}"
        raise ValueError(msg)
    scope.services.sync.write_events_before_reading()
    scope.services.store.backup(target)


def export(scope: Scope, path: str | os.PathLike[str], *, embeddings: bool) -> int:
    """Write the live memories as JSON lines; see :meth:`oneiros.Engine.export`."""
    require_flag("embeddings", embeddings)
    target = foreign_path(scope, path)
    scope.follow_others()
    scope, services = scope.at_once(), scope.services
    ids = [scope.read_model.lifecycle.ids[row] for row in scope.matching(None)]
    left_out: list[str] = []
    count = write_jsonl(target, _pages(scope, ids, left_out), embeddings=embeddings)
    if not scope.bounds:
        left_out += [memory.id for memory in services.sync.damaged.values()]
    _warn_of_damage(list(dict.fromkeys(left_out)), "left out of the export")
    return count


def _pages(scope: Scope, ids: Sequence[str], left_out: list[str]) -> Iterator[Memory]:
    """Yield memories, and append the ids of damaged ones to ``left_out``."""
    for start in range(0, len(ids), _LOAD_BATCH):
        batch = ids[start : start + _LOAD_BATCH]
        memories = load_each(scope.load_live, batch)
        for id, memory in zip(batch, memories, strict=True):
            if isinstance(memory, StoreCorrupt):
                left_out.append(id)
            elif memory is not None:
                yield memory


def warn_of_unmatched(scope: Scope) -> None:
    """Warn of damaged memories, which no filter matches."""
    damaged = [memory.id for memory in scope.services.sync.damaged.values()]
    _warn_of_damage(damaged, "not forgotten; forget them by id")


def _warn_of_damage(ids: Sequence[str], outcome: str) -> None:
    if ids:
        names = ", ".join(map(repr, ids[:_MOST_NAMED])) + (", ..." if ids[_MOST_NAMED:] else "")
        memories = f"{count_of(len(ids), 'memory')} {'is' if len(ids) == 1 else 'are'}"
        warn(f"{memories} damaged in the store and {outcome}: {names}", DamagedMemoriesWarning)


def embed_missing(scope: Scope, *, progress: bool) -> int:
    """Embed memories without a vector; see :meth:`oneiros.Engine.embed_missing`."""
    require_flag("progress", progress)
    total = _count(scope, Reading.count_without_vector) if progress else None
    with progress_bar("embedding", total) as advance:
        return scope.services.remember.embedding.embed_missing(advance)


def reembed(scope: Scope, embedder: Embedder | str, *, resume: bool, progress: bool) -> int:
    """Replace all vectors; see :meth:`oneiros.Engine.reembed`."""
    if isinstance(embedder, str):
        embedder = models.named.make(embedder)
    name_of(embedder)
    require_flag("resume", resume)
    require_flag("progress", progress)
    total = _count(scope, Reading.count) if progress else None
    try:
        with progress_bar("embedding", total) as advance:
            embedding = scope.services.remember.embedding
            return embedding.reembed(embedder, resume=resume, advance=advance)
    finally:
        scope.services.drop_past()  # its vectors are the former embedder's


def foreign_path(scope: Scope, path: str | os.PathLike[str]) -> Path:
    """Return a path that is none of the store's own files."""
    return foreign_file("path", file_name("path", path), scope.services.store.path)


def _count(scope: Scope, count: Callable[[Reading], int]) -> int:
    with scope.services.store.read() as reading:
        return count(reading)
