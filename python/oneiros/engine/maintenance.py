"""A store looked after: counted, checked, copied, its vectors made, its deleted memories erased."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from oneiros.display.tables import progress_bar
from oneiros.dream.history import problems_of_cycles
from oneiros.errors import DamagedMemoriesWarning, StoreCorrupt
from oneiros.index.comparison import SUMMED
from oneiros.model.validation import file_name, require_flag, require_number, require_utf8, texts
from oneiros.models.embedders import name_of
from oneiros.runtime.dataclasses import asdict
from oneiros.runtime.files import foreign_file, write_jsonl
from oneiros.runtime.warnings import warn
from oneiros.search.response import load_each
from oneiros.store import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.index import LexicalOptions
    from oneiros.model.memory import Memory
    from oneiros.models.embedders import Embedder

__all__ = [
    "backup",
    "check",
    "embed_missing",
    "export",
    "foreign_path",
    "get_deleted",
    "purge",
    "purgeable",
    "reembed",
    "stats",
    "verify_erased",
]

_DAY = 86_400.0
_LOAD_BATCH = 1_000
_MOST_NAMED = 20  # damaged memories, in a warning
_OF_AN_INDEX = "wrong # of entries in index "  # SQLite's words


def stats(scope: Scope, options: LexicalOptions) -> dict[str, Any]:
    """Return counts and sizes; see :meth:`oneiros.Engine.stats`."""
    parts = scope.services
    parts.sync.apply_own()
    projections = parts.projections
    vectors = projections.indexes.vectors
    with parts.store.read() as reading:
        without_vector = reading.count_without_vector(without=list(parts.sync.damaged))
        name = reading.reembedding()
        reembedding = None
        if name is not None:
            reembedding = {"embedder": name, "done": reading.new_vector_count()}
    return {
        "memories": projections.live_count,
        "deleted": len(projections.lifecycle.row_of) - projections.live_count,
        "damaged": len(parts.sync.damaged),
        "kinds": projections.kind_counts(),
        "links": parts.store.link_count(),
        "revision": parts.sync.revision,
        "embedder": parts.sync.vectors.recorded_name,
        "embedding_dimension": parts.sync.vectors.dimension,
        "vectors": 0 if vectors is None else len(vectors),
        "without_vector": without_vector,
        "reembedding": reembedding,
        "lexical": {
            **asdict(options),
            "documents": projections.indexes.lexical.document_count,
            "segments": projections.indexes.lexical.segment_count,
            "resident_bytes": projections.indexes.lexical.resident_bytes,
            "merge_error": projections.indexes.lexical.merge_error or None,
        },
        "profile": parts.profile.name,
    }


def check(scope: Scope, *, deep: bool) -> list[str]:
    """Return what is wrong with the store, and rebuild what can be; see :meth:`oneiros.Engine.check`."""
    require_flag("deep", deep)
    parts = scope.services
    problems = _check_indexes(scope)
    found = parts.store.deep_check() if deep else parts.store.quick_check()
    problems += [problem for problem in found if problem not in problems]
    known = set(problems)
    problems += [
        found
        for found in parts.sync.writer.run(partial(_check_read_model, scope, deep=deep))
        if found not in known
    ]
    with parts.store.read() as reading:
        problems += [
            f"memory {id!r}: superseded by {successor!r}, which "
            f"{'was forgotten' if was_erased else 'is not in this store'}; searches return it"
            for id, successor, was_erased in reading.lost_successors()
        ]
        return problems + problems_of_cycles(reading)


def _check_indexes(scope: Scope) -> list[str]:
    sync = scope.services.sync
    found = scope.services.store.quick_check()
    if not all(problem.startswith(_OF_AN_INDEX) for problem in found):
        return []  # pages are damaged: writing might make it worse
    problems: list[str] = sync.writer.run(sync.mend_indexes)
    return problems


def _check_read_model(scope: Scope, *, deep: bool) -> list[str]:

    parts = scope.services
    parts.sync.follow()
    damaged = dict(parts.sync.damaged)
    with parts.store.read() as reading:
        sums = reading.live_sums(SUMMED, without=damaged)
        problems = parts.projections.problems(reading.live_count(without=damaged), sums)
    if deep:
        problems += parts.sync.differences()
        damaged = dict(parts.sync.damaged)
    if problems:
        parts.projections = parts.sync.rebuild()
        problems = [f"{problem}; rebuilt from the store" for problem in problems]
    return [str(one.error()) for one in damaged.values()] + problems


def verify_erased(scope: Scope, text: str) -> bool:
    """Return whether a text is gone from the files; see :meth:`oneiros.Engine.verify_erased`."""
    require_utf8("text", text)
    if not text:
        msg = "text: must be at least one character, got ''"
        raise ValueError(msg)
    return scope.services.store.verify_erased(text.encode())


def purge(scope: Scope, older_than_days: float, now: Time | None) -> int:
    """Erase what was soft-deleted long ago; see :meth:`oneiros.Engine.purge`."""
    return scope.services.remember.cycles.purge(_before(scope, older_than_days, now))


def purgeable(scope: Scope, older_than_days: float, now: Time | None) -> list[str]:
    """Return the ids that a purge would erase; see :meth:`oneiros.Engine.purgeable`."""
    before = _before(scope, older_than_days, now)
    with scope.services.store.read() as reading:
        numbers = reading.cycles.deleted_before(before)
        found = reading.of_sequences(numbers, on_damage=scope.services.sync.note_damage)
        return [memory.id for batch in found for memory in batch]


def get_deleted(scope: Scope, ids: Sequence[str]) -> list[Memory | None]:
    """Return soft-deleted memories; see :meth:`oneiros.Engine.get_deleted`."""
    wanted = texts("ids", ids)
    for place, id in enumerate(wanted):
        require_utf8(f"ids[{place}]", id)
    return [
        memory if memory is not None and memory.deleted_at is not None else None
        for memory in scope.loader(wanted)
    ]


def _before(scope: Scope, older_than_days: float, now: Time | None) -> float:
    days = require_number("older_than_days", older_than_days, low=0.0)
    return scope.now(now) - days * _DAY


def backup(scope: Scope, path: str | os.PathLike[str], *, replace: bool) -> None:
    """Copy the store to a new file; see :meth:`oneiros.Engine.backup`."""
    require_flag("replace", replace)
    target = foreign_path(scope, path)
    if not replace and os.path.lexists(target):
        msg = f"path: must be a new file without replace=True, got {str(target)!r}"
        raise ValueError(msg)
    scope.services.sync.write_events(raises=False)
    scope.services.store.backup(target)


def export(scope: Scope, path: str | os.PathLike[str], *, embeddings: bool) -> int:
    """Write the live memories as JSON lines; see :meth:`oneiros.Engine.export`."""
    require_flag("embeddings", embeddings)
    target = foreign_path(scope, path)
    scope.follow_others()
    services = scope.services
    ids = [services.projections.lifecycle.ids[row] for row in scope.matching(None)]
    left_out: list[str] = []
    count = write_jsonl(target, _pages(scope, ids, left_out), embeddings=embeddings)
    if not scope.bounds:
        left_out += [one.id for one in services.sync.damaged.values()]
    _warn_of_damage(list(dict.fromkeys(left_out)))
    return count


def _pages(scope: Scope, ids: Sequence[str], left_out: list[str]) -> Iterator[Memory]:
    """Yield memories; the ids of damaged ones go to ``left_out``."""
    for start in range(0, len(ids), _LOAD_BATCH):
        part = ids[start : start + _LOAD_BATCH]
        found = load_each(scope.load_live, part)
        for id, memory in zip(part, found, strict=True):
            if isinstance(memory, StoreCorrupt):
                left_out.append(id)
            elif memory is not None:
                yield memory


def _warn_of_damage(ids: Sequence[str]) -> None:
    if ids:
        names = ", ".join(map(repr, ids[:_MOST_NAMED])) + (", ..." if ids[_MOST_NAMED:] else "")
        memories = "1 memory is" if len(ids) == 1 else f"{len(ids)} memories are"
        warn(
            f"{memories} damaged in the store and left out of the export: {names}",
            DamagedMemoriesWarning,
        )


def embed_missing(scope: Scope, *, progress: bool) -> int:
    """Embed what lacks a vector; see :meth:`oneiros.Engine.embed_missing`."""
    require_flag("progress", progress)
    total = _count(scope, Reading.count_without_vector) if progress else None
    with progress_bar("embedding", total) as advance:
        return scope.services.remember.embedding.embed_missing(advance)


def reembed(scope: Scope, embedder: Embedder, *, resume: bool, progress: bool) -> int:
    """Replace every vector; see :meth:`oneiros.Engine.reembed`."""
    name_of(embedder)
    require_flag("resume", resume)
    require_flag("progress", progress)
    total = _count(scope, Reading.count) if progress else None
    with progress_bar("embedding", total) as advance:
        return scope.services.remember.embedding.reembed(embedder, resume=resume, advance=advance)


def foreign_path(scope: Scope, path: str | os.PathLike[str]) -> Path:
    """Return a path that names none of the store's own files."""
    return foreign_file("path", file_name("path", path), scope.services.store.path)


def _count(scope: Scope, count: Callable[[Reading], int]) -> int:
    with scope.services.store.read() as reading:
        return count(reading)
