"""Revisions of memories, and engines over the store as it was known at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet, finalize

from oneiros.engine.engine import QuietEngine
from oneiros.engine.scope import EngineServices, Scope
from oneiros.errors import EngineClosed, UnknownMemory
from oneiros.model.fields import FIELDS
from oneiros.model.validation import moment, require_utf8
from oneiros.runtime.dataclasses import asdict, dataclass, replace
from oneiros.store import Store
from oneiros.store.rows import STORED_NAMES
from oneiros.vector_index import Kind
from oneiros.write import unknown

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.model.memory import Memory
    from oneiros.store.rows import StoredMemory

__all__ = ["PastEngines", "Revision", "memory_at", "placed", "revisions"]

Keywords = TypeVar("Keywords", bound=Mapping[str, Any])

_check_as_of: Final = moment("as_of")
_MOST_MOMENTS: Final = 4
_CELLS: Final = {name: STORED_NAMES.get(name, name) for name in FIELDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A memory as the store knew it from one commit until another.

    >>> import oneiros
    >>> engine = oneiros.Engine(":memory:", clock=lambda: 1_000.0)
    >>> id = engine.add("tea")
    >>> (revision,) = engine.history(id)
    >>> revision.memory.text, revision.recorded_at, revision.until
    ('tea', 1000.0, None)
    """

    revision: int | None
    """The number of the commit that made it so. Numbers rise with every commit of the store, so that
    a scope, which learns nothing of others, has None."""
    recorded_at: float | None
    """The time of that commit by the engine's clock, in seconds UTC; None: it is older than the
    store's history."""
    until: float | None
    """The time of the commit that replaced it; None: it is the present one."""
    memory: Memory
    changed: tuple[str, ...]
    """The fields that differ from the revision before; empty for the first one."""


def revisions(scope: Scope, id: str) -> list[Revision]:
    """Return the revisions of a memory; see :meth:`oneiros.Engine.history`."""
    require_utf8("id", id)
    _write_use(scope)
    found: list[Revision] = []
    before: StoredMemory | None = None
    with scope.services.store.read() as reading:
        for version in reading.history.versions(id):
            row = version.row
            if not scope.contains(row):
                continue
            changed = () if before is None else _differing(before, row)
            if found and not changed:  # a reembed, which keeps no former vectors
                found[-1] = replace(found[-1], until=version.until)
                continue
            found.append(
                Revision(
                    revision=None if scope.bounds else version.revision,
                    recorded_at=version.recorded_at,
                    until=version.until,
                    memory=reading.memory_of(row),
                    changed=changed,
                )
            )
            before = row
    if not found:
        raise UnknownMemory(unknown(id))
    return found


def _differing(before: StoredMemory, after: StoredMemory) -> tuple[str, ...]:
    return tuple(
        name for name, cell in _CELLS.items() if getattr(before, cell) != getattr(after, cell)
    )


def memory_at(scope: Scope, id: str, as_of: Time) -> Memory:
    """Return a memory as it was known at a time; see :meth:`oneiros.Engine.get`."""
    time = _check_as_of(scope.zoned(as_of))
    _write_use(scope)
    with scope.services.store.read() as reading:
        row = reading.history.row_at(id, reading.history.revision_at(time))
        if row is None or row.deleted_at is not None or not scope.contains(row):
            raise UnknownMemory(unknown(id))
        return reading.memory_of(row)


def _write_use(scope: Scope) -> None:
    """Write the use that waits, so that the history has it."""
    scope.services.sync.write_events_before_reading()


def placed(scope: Scope, keywords: Keywords) -> tuple[Scope, Keywords]:
    """Return the scope and the keywords of a search with ``as_of``, to be run at that time.

    Args:
        scope: of the caller.
        keywords: of the search; without ``as_of``, both are returned unchanged.

    Raises:
        ValueError, TypeError: ``as_of`` is no time, or ``reinforce`` is True.
        HistoryUnavailable: the store does not know that state.
    """
    as_of = keywords.get("as_of")
    given = {name: value for name, value in keywords.items() if name != "as_of"}
    if as_of is None:
        return scope, given  # type: ignore[return-value]
    time = _check_as_of(scope.zoned(as_of))
    if given.get("reinforce") is True:
        msg = "reinforce: must not be True with as_of, since the past cannot be used"
        raise ValueError(msg)
    given["reinforce"] = False
    if given.get("now") is None:
        given["now"] = time
    _write_use(scope)
    services = scope.services.past.services_at(time)
    return Scope(services, scope.bounds), given  # type: ignore[return-value]


class PastEngines:
    """Engines over the last few states of the past that were asked for. Thread-safe.

    Args:
        services: of the engine.
    """

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self._lock = threading.RLock()  # a signal handler may search on the thread that holds it
        self._made: dict[tuple[int, int], _PastEngine] = {}  # the last used one last
        self._stores: WeakSet[Store] = WeakSet()  # those that responses read from, too

    def services_at(self, time: float) -> EngineServices:
        """Return the services of an engine over the state that the store had at a time.

        Raises:
            HistoryUnavailable: the store does not know that state.
        """
        store = self._services.store
        with self._lock:
            with store.read() as reading:
                revision = reading.history.revision_at(time)
                erased = reading.last_erasure()
            key = (revision, erased)
            if erased != next(iter(self._made), key)[1]:
                self._made.clear()  # what was erased is gone from the past, too
            found = self._made.pop(key, None)
            if found is None:
                past = store.at(revision)
                self._stores.add(past)
                found = _PastEngine(past, self._services, revision)
            self._made[key] = found
            while len(self._made) > _MOST_MOMENTS:
                del self._made[next(iter(self._made))]
            return found._scope.services

    def drop(self, erased: Sequence[str]) -> None:
        """Drop all states, and erase memories from those that responses still read from."""
        with self._lock:
            self._made.clear()
            for past in list(self._stores) if erased else ():
                # Another thread may drop the last response of it, which closes it.
                with suppress(EngineClosed), past.write() as transaction:
                    transaction.erase_many(erased)


class _PastEngine(QuietEngine):
    """An engine over a state of the past, which nothing changes."""

    def __init__(self, store: Store, services: EngineServices, revision: int) -> None:
        self._past = store
        kind: Kind = services.read_model.indexes.vector_index
        super().__init__(
            store.path,
            profile=services.profile,
            embedder=services.sync.vectors.embedder,
            reranker=services.reranker,
            query_expander=services.expander,
            vector_index=kind,
            vector_recall=services.read_model.indexes.vector_recall,
            clock=services.clock,
            watch=services.watch,
            timezone=services.zone,
            **asdict(services.read_model.options),  # of this engine, maybe not those recorded
        )
        own = self._scope.services
        own.observers, own.past_revision = services.observers, revision
        # Responses read from the state, so that it is closed with the last of them. Collecting it later
        # would let states pile up: the collector does not know how large they are.
        finalize(own, own.sync.close).atexit = False

    def _open_store(self, path: str | os.PathLike[str], **options: Any) -> Store:  # noqa: ARG002
        return self._past
