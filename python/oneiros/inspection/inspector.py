"""Reads a store for the page, as JSON values, and makes the few changes that it offers."""

from __future__ import annotations

import os
import threading
import time
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from oneiros import filters
from oneiros.errors import EngineReadOnly, StoreIOError, UnknownMemory
from oneiros.inspection.cycles import cycle_record, fate_record, heading_record, impact_record
from oneiros.inspection.records import (
    PAGE_OF_TEXT,
    graph_record,
    listed_record,
    response_record,
    restore_command,
    revision_records,
    shown_record,
    text_page,
    why_not_record,
)
from oneiros.model.fields import ENUMS
from oneiros.model.validation import require_flag, require_instance
from oneiros.scoring import profiles
from oneiros.store.connections import MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.dream.plan import DreamPlan
    from oneiros.engine import Engine
    from oneiros.filters import Where
    from oneiros.model.memory import Memory

__all__ = ["Inspector", "StoreMoved"]

_CHOICES: Final = ("kind", "session", "user", "project")
_MOST_CHOICES: Final = 100
_MOST_CYCLES: Final = 50
_PLAN_SECONDS: Final = 60.0


class StoreMoved(StoreIOError):
    """The store's file was moved, deleted or replaced since the engine opened it."""


class Inspector:
    """A store, seen through methods that return JSON values. Thread-safe.

    Nothing counts as a use of a memory. Texts are cut to pages, so that a response stays small.

    Args:
        engine: an open engine; its owner closes it.
        writes: whether the methods that change something are allowed.

    Raises:
        TypeError: ``engine`` is not an engine, or ``writes`` neither True nor False.
        ValueError: ``writes`` with a read-only engine.

    Examples:
        >>> import oneiros
        >>> from oneiros.inspection.inspector import Inspector
        >>> engine = oneiros.Engine(":memory:")
        >>> id = engine.add("Ada likes her coffee black", id="coffee")
        >>> Inspector(engine).search("coffee")["results"][0]["memory"]["text"]
        'Ada likes her coffee black'
    """

    def __init__(self, engine: Engine, *, writes: bool = False) -> None:
        from oneiros.engine import Engine  # noqa: PLC0415 - a cycle of types

        require_instance("engine", engine, (Engine,), "an Engine")
        self._engine = engine
        self._path = str(engine.path)
        self.writes = require_flag("writes", writes)
        """Whether the methods that change something are allowed."""
        if writes and engine.stats().get("read_only"):
            msg = "writes: must be False with a read-only engine"
            raise ValueError(msg)
        self._opened = _file_of(self._path)
        self._planning = threading.Lock()
        self._plan: tuple[tuple[str | None, str], float, DreamPlan] | None = None

    def require_in_place(self) -> None:
        """Check that the store's file is the one that was opened.

        Raises:
            StoreMoved: it is not.
        """
        if self._opened is None:
            return
        found = _file_of(self._path)
        if found is None:
            msg = f"{self._path}: the store's file is gone; it was moved or deleted"
            raise StoreMoved(msg)
        if found != self._opened:
            msg = f"{self._path}: another file took the place of the store; start inspect again"
            raise StoreMoved(msg)

    # -- store -------------------------------------------------------------------------------------

    def store(self) -> dict[str, Any]:
        """Return counts, sizes and settings of the store, and the values that filters may take.

        Of each field, the values that most memories have.
        """
        engine = self._engine
        stats = engine.stats()
        counts = {name: engine.values(name) for name in _CHOICES}
        return {
            "path": self._path,
            "writes": self.writes,
            "stats": stats,
            "counts": {
                "kind": dict(islice(counts["kind"].items(), _MOST_CHOICES)),
                "status": engine.values("status"),
                "tier": engine.values("tier"),
            },
            "kinds": len(counts["kind"]),
            "profiles": profiles.names(),
            "choices": {
                **{name: list(found)[:_MOST_CHOICES] for name, found in counts.items()},
                "status": list(ENUMS["status"]),
            },
        }

    def check(self, *, deep: bool = False) -> dict[str, Any]:
        """Return the problems of the store; see :meth:`oneiros.Engine.check`."""
        started = time.perf_counter()
        problems = self._engine.check(deep=deep)
        return {"problems": problems, "deep": deep, "seconds": time.perf_counter() - started}

    # -- search ------------------------------------------------------------------------------------

    def search(self, q: str, **options: Any) -> dict[str, Any]:
        """Return the results of a search, explained, without any reinforcement.

        Args:
            q: the query.
            **options: ``kind``, ``session``, ``user``, ``project`` and ``status`` of the memories, and
                keywords of :meth:`oneiros.Engine.search`.
        """
        keywords = _keywords(options)
        return response_record(self._engine.search(q, explain=True, reinforce=False, **keywords))

    def why_not(self, q: str, id: str, **options: Any) -> dict[str, Any]:
        """Return why :meth:`search` with the same options returns a memory or not."""
        return why_not_record(self._engine.why_not(q, id, **_keywords(options)))

    def listing(
        self, *, limit: int = 20, offset: int = 0, status: str | None = None, **fields: str | None
    ) -> dict[str, Any]:
        """Return the newest memories that pass the filters, and how many do."""
        where = _where({**fields, "status": status})
        page = self._engine.list(where, order="newest", limit=limit, offset=offset, with_total=True)
        return {"memories": [listed_record(memory) for memory in page], "total": page.total}

    # -- one memory --------------------------------------------------------------------------------

    def memory(self, id: str) -> dict[str, Any]:
        """Return a memory with all its fields and the first page of its text; deleted ones too."""
        found = self._found(id)
        record = shown_record(found)
        is_away = found.deleted_at is not None or found.status == "archived"
        record["is_away"] = is_away
        record["restore"] = restore_command(id, self._path) if is_away else None
        return record

    def text(self, id: str, *, start: int = 0) -> dict[str, Any]:
        """Return a later page of a memory's text."""
        return text_page(self._found(id).text, start, PAGE_OF_TEXT)

    def history(self, id: str) -> dict[str, Any]:
        """Return the revisions of a memory, the newest first, with their differences."""
        return {"revisions": revision_records(self._engine.history(id))}

    def graph(self, id: str) -> dict[str, Any]:
        """Return the memories within two links of a memory."""
        return graph_record(self._engine, id)

    def fate(self, id: str) -> dict[str, Any]:
        """Return what the next dream cycle would do with a memory, and why."""
        self._found(id)
        return fate_record(self._planned(None, None, is_fresh=False), id)

    def _found(self, id: str) -> Memory:
        try:
            return self._engine.get(id)
        except UnknownMemory:
            (deleted,) = self._engine.get_deleted([id])
            if deleted is None:
                raise
            return deleted

    # -- dream cycles ------------------------------------------------------------------------------

    def plan(
        self, *, profile: str | None = None, keep: float | None = None, fresh: bool = False
    ) -> dict[str, Any]:
        """Return what a dream cycle would do now, without doing it.

        Args:
            profile: whose phases run; None: the engine's.
            keep: a share of the memories if a float, a number of them if an int.
            fresh: plan again, even if nothing changed since the last plan.
        """
        plan = self._planned(profile, keep, is_fresh=fresh)
        return cycle_record(self._engine, plan.report, self._path)

    def impact(
        self,
        q: Sequence[str],
        *,
        k: int = 10,
        profile: str | None = None,
        keep: float | None = None,
    ) -> dict[str, Any]:
        """Return how the planned cycle would change the results of queries."""
        return impact_record(self._planned(profile, keep, is_fresh=False).impact(q, k))

    def cycles(self) -> dict[str, Any]:
        """Return the last dream cycles, the newest first, and the drift over them."""
        reports = self._engine.dreams(_MOST_CYCLES)
        interrupted = self._engine.interrupted_dream()
        return {
            "cycles": [heading_record(report) for report in reports],
            "drift": self._engine.drift(_MOST_CYCLES).record()["cycles"],
            "interrupted": None if interrupted is None else interrupted.id,
        }

    def cycle(self, id: str) -> dict[str, Any]:
        """Return one of the last dream cycles: what it did, and how to take it back."""
        reports = self._engine.dreams(_MOST_CYCLES)
        for report in reports:
            if report.id == id:
                return cycle_record(self._engine, report, self._path)
        msg = f"id: no dream cycle {id!r} among the last {_MOST_CYCLES}"
        raise UnknownMemory(msg)

    def _planned(self, profile: str | None, keep: float | None, *, is_fresh: bool) -> DreamPlan:
        """Return a plan: the last one, if it is of the same question and nothing changed since."""
        question = (profile, repr(keep))  # 1 is a memory, 1.0 all of them
        with self._planning:  # a second browser waits for the plan of the first
            if self._plan is not None and not is_fresh:
                known, made_at, plan = self._plan
                is_recent = time.monotonic() - made_at < _PLAN_SECONDS
                if known == question and is_recent and not self._engine.changes(plan.revision):
                    return plan
            plan = self._engine.dream(dry_run=True, profile=profile, keep=keep)
            self._plan = question, time.monotonic(), plan
            return plan

    # -- changes -----------------------------------------------------------------------------------

    def pin(self, id: str, *, pinned: bool) -> dict[str, Any]:
        """Pin or unpin a memory."""
        self._require_writes()
        self._engine.pin(id, pinned)
        return {"id": id, "pinned": pinned}

    def delete(self, id: str) -> dict[str, Any]:
        """Soft-delete a memory, which :meth:`restore` takes back."""
        self._require_writes()
        self._engine.delete(id)
        return {"id": id, "restore": restore_command(id, self._path)}

    def restore(self, id: str) -> dict[str, Any]:
        """Bring back a memory that was deleted or archived. That counts as a use of it."""
        self._require_writes()
        return {"id": id, "restored": self._engine.restore(id)}

    def feedback(self, id: str, *, verdict: str, q: str | None = None) -> dict[str, Any]:
        """Add a verdict to a memory, for a question if one is given."""
        self._require_writes()
        self._engine.feedback(id, verdict, query=q)
        return {"id": id, "feedback": self._engine.get(id).feedback}

    def undo(self, id: str) -> dict[str, Any]:
        """Undo a dream cycle."""
        self._require_writes()
        report = self._engine.undo_dream(id)
        return {"id": report.id, "undoes": id, "words": str(report)}

    def _require_writes(self) -> None:
        if not self.writes:
            msg = "nothing can be changed here; start oneiros inspect with --write"
            raise EngineReadOnly(msg)


def _keywords(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a search as the engine's keywords."""
    status = options.pop("status", None)
    where = _where({name: options.pop(name, None) for name in _CHOICES})
    return {**options, "where": where, "status": None if status is None else [status]}


def _where(fields: dict[str, str | None]) -> Where | None:
    given = {name: value for name, value in fields.items() if value is not None}
    return filters.where(**given) if given else None  # type: ignore[arg-type]


def _file_of(path: str) -> tuple[int, int] | None:
    """Return the device and the inode of a file; None if there is none, or for a store in memory."""
    if path == MEMORY:
        return None
    try:
        found = os.stat(path)  # noqa: PTH116 - a descriptor of the file alone
    except OSError:
        return None
    return found.st_dev, found.st_ino
