"""A scope: the services of an engine and bounds on the visible memories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    NoReturn,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
)

from oneiros import engine, filters, write
from oneiros.clock import system_clock
from oneiros.dream.lock import CycleLock
from oneiros.errors import EngineClosed, EngineReadOnly, StoreCorrupt
from oneiros.filters import require_where
from oneiros.model import zones
from oneiros.model.fields import FIELDS, is_below
from oneiros.model.validation import moment as moment_check
from oneiros.model.validation import require_instance, require_utf8, texts
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.scoring.profiles import resolved
from oneiros.search.cache import RecentAnswers
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from datetime import tzinfo

    from pyroaring import BitMap

    from oneiros.clock import Clock, Time
    from oneiros.dream.impact import StoreTrials
    from oneiros.engine.history import PastEngines
    from oneiros.engine.observers import EventKind, Observation, WatchedCalls
    from oneiros.filters import Where
    from oneiros.index import ReadModel
    from oneiros.model.memory import Memory
    from oneiros.models.rerankers import Reranker
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.scoring.profile import Profile
    from oneiros.search.query.expansion import Expander
    from oneiros.search.response import SearchResponse
    from oneiros.store import Store, StoredMemory
    from oneiros.store.loading import OwnRow
    from oneiros.write import Remember
    from oneiros.write.sync import Sync

    Read = TypeVar("Read", Memory, OwnRow)

__all__ = [
    "NOT_PICKLED",
    "EngineServices",
    "Scope",
    "ScopeLoader",
    "Watch",
    "checked_bounds",
    "checked_ids",
    "checked_watch",
    "is_within",
    "watched",
]

NOT_PICKLED: Final = (
    "an engine, its scopes and its plans cannot be pickled or copied deeply: open the store by its "
    "path where it is needed, such as once in each process of a pool"
)
"""The message of the TypeError; the error of pickle names a lock."""

_BOUNDS = ("project", "session", "topic", "user", "agent", "namespace")


class Watch(Protocol):
    """An observer of searches, and of other calls if it has ``calling``.

    ``calling(method)`` is optional. It returns a context manager, entered before each method that
    writes runs, "open" before the store is opened and "apply" before a dream plan is applied. Its
    ``__enter__`` returns a callable that receives the result of the call and the call's events.
    """

    def searching(
        self, method: str
    ) -> AbstractContextManager[Callable[[Sequence[SearchResponse]], None]]:
        """Return a context manager, entered before the search that the named method runs.

        Its ``__enter__`` returns a callable that receives the responses. Exceptions of the search
        pass through its ``__exit__``.
        """
        ...


def checked_watch(name: str, watch: object) -> Watch | None:
    """Return the watch of an argument: one, several as one, or None.

    Raises:
        TypeError: one lacks ``searching(method)``.
    """
    if watch is None:
        return None
    if isinstance(watch, list | tuple):
        several = [_require_watch(f"{name}[{place}]", each) for place, each in enumerate(watch)]
        return engine.observers.Watches(several)
    return _require_watch(name, watch)


def _require_watch(name: str, watch: Any) -> Watch:
    searching = None if isinstance(watch, type) else getattr(watch, "searching", None)
    if not callable(searching):
        msg = f"{name}: expected an object with searching(method), got {watch!r}"
        raise TypeError(msg)
    checked: Watch = watch
    return checked


class _Scoped(Protocol):
    @property
    def _scope(self) -> Scope: ...


Owner = TypeVar("Owner", bound=_Scoped)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def watched(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Pass the calls of a method that writes to the engine's watch, if it takes them."""
    name = method.__name__.lstrip("_")

    @wraps(method)
    def call(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        calls = self._scope.shared.calls
        if calls is None:
            return method(self, *args, **kwargs)
        with calls.around(name) as report:
            result = method(self, *args, **kwargs)
            report(result)
            return result

    return call


def checked_ids(ids: Sequence[str]) -> Sequence[str]:
    """Return ids of memories as a sequence of UTF-8 texts.

    Raises:
        TypeError, ValueError: naming the first item that is not.
    """
    checked = texts("ids", ids)
    for place, id in enumerate(checked):
        require_utf8(f"ids[{place}]", id)
    return checked


_check_now = moment_check("now")
_check_clock = moment_check("clock")


@dataclass()
class EngineServices:
    """The parts of an engine, shared by its scopes."""

    store: Store
    read_model: ReadModel
    sync: Sync
    clock: Clock
    profile: Profile
    auto_refresh: bool
    trials: Callable[[EngineServices, float], AbstractContextManager[StoreTrials]]
    """Returns a context manager over copies of the store, with their clocks fixed at a time."""
    watch: Watch | None = None
    calls: WatchedCalls | None = None
    """Passes calls that write to the watch; None: it does not take them."""
    observers: dict[Observation, None] = field(default_factory=dict)
    """The running observations, in order. Changed without a lock, which a signal handler might wait
    for: adding, removing and copying are one step of the interpreter each."""
    reranker: Reranker | None = None
    expander: Expander | None = None
    is_quiet: bool = False
    """Whether to skip warnings about a missing embedder."""
    zone: tzinfo | None = None
    """The time zone of times without one; None: they are refused."""
    past_revision: int | None = None
    """The commit whose state the store has; None: the last one."""
    recent: RecentAnswers = field(default_factory=RecentAnswers)
    cycles: CycleLock = field(init=False)
    is_read_only: bool = field(init=False)
    """Whether the engine was opened with ``read_only=True``."""
    _past: PastEngines | None = field(init=False, default=None)
    _remember: Remember | None = field(init=False, default=None)

    @property
    def remember(self) -> Remember:
        """The write path, loaded by the first write."""
        if self._remember is None:
            self._remember = write.Remember(self.sync)
        return self._remember

    def __post_init__(self) -> None:
        self.is_read_only = self.store.is_read_only
        self.cycles = CycleLock(self.store.path, is_read_only=self.is_read_only)

    @property
    def revision(self) -> int:
        """The last commit that searches see."""
        return self.sync.revision if self.past_revision is None else self.past_revision

    @property
    def projections(self) -> ReadModel:
        """The read model. External benchmarks use this name."""
        return self.read_model

    def require_open(self) -> None:
        """Raise EngineClosed if the engine is closed, or was opened before a fork."""
        if os.getpid() != self.sync.open_in:
            msg = "the engine is closed, or came here by fork; a child process opens its own"
            raise EngineClosed(msg)

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_PICKLED)

    def require_writable(self, method: str) -> None:
        """Raise EngineReadOnly if the engine is read only.

        Args:
            method: the public method that was called.
        """
        if self.is_read_only:
            msg = (
                f"{method}: this engine was opened with read_only=True and does not write "
                f"{self.store.path!r}; open the store without it"
            )
            raise EngineReadOnly(msg)

    def publish(
        self,
        kind: EventKind,
        method: str,
        ids: Iterable[str],
        *,
        time: float,
        revision: int | None = None,
        bounds: Mapping[str, str] = {},
    ) -> None:
        """Pass an event to the observers. No lock may be held.

        Args:
            kind: of the event.
            method: the public method that was called.
            ids: of the memories; repeated ones count once.
            time: seconds since the epoch.
            revision: Default: that of the last write that this thread waited for.
            bounds: of the scope that was called.
        """
        if revision is None:
            revision = self.sync.writer.committed
        event = engine.observers.Event(
            kind=kind,
            method=method,
            ids=tuple(dict.fromkeys(ids)),
            time=time,
            revision=revision,
            bounds=tuple(bounds.items()),
        )
        engine.observers.publish(self, event)

    @property
    def past(self) -> PastEngines:
        """Engines over states of the past, made when searched."""
        if self._past is None:
            self._past = engine.history.PastEngines(self)
        return self._past

    def drop_past(self, erased: Sequence[str] = ()) -> None:
        """Drop the states of the past in memory, and what was erased from responses of them."""
        if self._past is not None:
            self._past.drop(erased)


def checked_bounds(bounds: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that bound a scope, with their values.

    Raises:
        TypeError: not a mapping, or a value that is no text.
        ValueError: another field, or a value that the field does not take.
    """
    require_instance("scope", bounds, (Mapping,), "a dict of fields, such as {'user': 'ada'}")
    for name, value in bounds.items():
        if name not in _BOUNDS:
            msg = f"scope: {name!r} cannot bound a scope; can: {', '.join(_BOUNDS)}"
            raise ValueError(msg)
        FIELDS[name].check(value)
    return dict(bounds)


def is_within(name: str, value: str | None, bound: str) -> bool:
    """Return whether a field's value lies within a bound: equals it, or is a namespace below it."""
    return is_below(value, bound) if name == "namespace" else value == bound


class Scope:
    """The memories whose fields have given values.

    Args:
        services: the engine's, shared by all its scopes.
        bounds: field to value; empty for all memories.
        read_model: the read model; None: the engine's at any time.
    """

    __slots__ = ("_read_model", "bounds", "shared")

    def __init__(
        self,
        services: EngineServices,
        bounds: Mapping[str, str],
        read_model: ReadModel | None = None,
    ) -> None:
        self.shared = services
        """The services, also of a closed engine."""
        self.bounds = dict(bounds)
        self._read_model = read_model

    @property
    def services(self) -> EngineServices:
        """The services of an open engine.

        Raises:
            EngineClosed: the engine is closed, or was opened before a fork.
        """
        self.shared.require_open()
        return self.shared

    @property
    def read_model(self) -> ReadModel:
        """The read model. Row numbers are those of one: hold it for as long as they are used."""
        return self.services.read_model if self._read_model is None else self._read_model

    def at_once(self) -> Scope:
        """Return the scope over the read model of this moment.

        Another thread may let the engine rebuild it, which gives the rows other numbers. A call that
        looks up rows more than once does so in one read model, or it takes one memory for another.
        """
        return Scope(self.services, self.bounds, self.read_model)

    def require_writable(self, method: str) -> None:
        """Raise EngineReadOnly if the engine is read only; see EngineServices.require_writable."""
        if self.shared.is_read_only:
            self.shared.require_writable(method)

    def follow_others(self) -> None:
        """Apply the commits of other processes, if the engine does so before searches."""
        services = self.services
        services.sync.follow_others(is_asked=services.auto_refresh)

    def now(self, now: Time | None) -> float:
        """Return a time as seconds since the epoch; None: the engine's clock."""
        clock = self.services.clock
        if now is None and clock is system_clock:
            return system_clock()
        seconds: float = _check_clock(clock()) if now is None else _check_now(self.zoned(now))
        return seconds

    def publish(
        self,
        kind: EventKind,
        method: str,
        ids: Sequence[str],
        now: Time | None = None,
        *,
        revision: int | None = None,
    ) -> None:
        """Pass an event to the observers, if there are any and ids; see EngineServices.publish."""
        shared = self.shared
        if shared.observers and ids:
            shared.publish(
                kind, method, ids, time=self.now(now), revision=revision, bounds=self.bounds
            )

    def zoned(self, value: Any) -> Any:
        """Return a time without a time zone in that of the engine, all else unchanged."""
        zone = self.shared.zone
        return value if zone is None else zones.zoned(value, zone)

    def zoned_fields(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return fields of a memory with times in the engine's time zone if they have none."""
        zone = self.shared.zone
        return record if zone is None else zones.zoned_fields(record, zone)

    def zoned_record(self, record: Memory | Mapping[str, Any]) -> Memory | Mapping[str, Any]:
        """Return a record as :meth:`zoned_fields` does, or a memory in the same way."""
        zone = self.shared.zone
        if zone is None or isinstance(record, Mapping):
            return self.zoned_fields(record)  # type: ignore[arg-type]
        return zones.zoned_memory(record, zone)

    def zoned_keywords(self, keywords: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return keywords of a search with times in the engine's time zone if they have none."""
        zone = self.shared.zone
        if zone is None:
            return keywords
        found = zones.zoned_fields(keywords, zone, ("now", "valid_at"))
        pair = found.get("date_range")
        if not isinstance(pair, tuple | list):
            return found
        return {**found, "date_range": tuple(zones.zoned(end, zone) for end in pair)}

    def profile(self, profile: Profile | str | None) -> Profile:
        """Return a profile given by value or by name; None: the engine's."""
        return self.services.profile if profile is None else resolved(profile)

    def verdicts(self, profile: Profile) -> Verdicts:
        """Return the verdicts on memories of the scope by kind; {} if the profile reads none."""
        if not any(getattr(factor, "reads_verdicts", False) for factor in profile.factors):
            return {}
        sync = self.services.sync
        return sync.verdicts.within(self.bounds, sync.revision)

    def contains(self, memory: StoredMemory | Memory | OwnRow) -> bool:
        """Return whether a memory lies in the scope."""
        return all(
            is_within(name, getattr(memory, name), bound) for name, bound in self.bounds.items()
        )

    def contained(self, found: list[Read | None]) -> list[Read | None]:
        """Return a list of memories with None for those outside the scope."""
        if not self.bounds:
            return found
        return [row if row is not None and self.contains(row) else None for row in found]

    def condition(self) -> Where | None:
        """Return the bounds as a filter; None: all memories."""
        if not self.bounds:
            return None
        return filters.where(**self.bounds)  # type: ignore[arg-type]

    def within(self, condition: Where | None) -> Where | None:
        """Return a filter combined with the bounds; None: all memories.

        Raises:
            TypeError: ``condition`` is not a filter.
        """
        require_where(condition)
        bounds = self.condition()
        if bounds is None or condition is None:
            return condition if bounds is None else bounds
        return bounds & condition

    def matching(self, condition: Where | None) -> BitMap:
        """Return the rows of the live memories of the scope that pass a filter."""
        return self.read_model.row_sets.matching(self.within(condition))

    def consulted(self, condition: Where | None) -> BitMap:
        """Return the rows of :meth:`matching` without those of quarantined memories."""
        return self.read_model.row_sets.consulted(self.within(condition))

    def load(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories, also soft-deleted ones and those outside the scope; None: no such id."""
        services = self.services
        services.sync.settle()
        reinforcing = services.sync.reinforcing
        pending = reinforcing.owing_of(ids)
        found = services.store.load_each(ids, services.sync.numbers_of(ids))
        memories = self._undamaged(ids, found)
        present = [memory for memory in memories if memory is not None]
        reinforcing.bring_up_to_date(present, pending)
        return memories

    def own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        """Return the fields of memories in the scope that neither use nor dream cycles change."""
        services = self.services
        found = services.store.own_rows(ids, services.sync.numbers_of(ids))
        return self.contained(self._undamaged(ids, found))

    def _undamaged(
        self, ids: Sequence[str], found: Sequence[Read | StoreCorrupt | None]
    ) -> list[Read | None]:
        """Return what was read, None for damaged memories, which are recorded.

        Raises:
            StoreCorrupt: a memory is damaged. A scope raises it only for one known to lie within
                it.
        """
        damaged = [place for place, row in enumerate(found) if isinstance(row, StoreCorrupt)]
        rows = cast("list[Read | None]", list(found))
        for place in damaged:
            self._note_damage(ids[place], cast("StoreCorrupt", found[place]))
            rows[place] = None
        return rows

    def _note_damage(self, id: str, damage: StoreCorrupt) -> None:
        scope = self.at_once()
        row = scope.read_model.lifecycle.row_of.get(id)
        is_within = not self.bounds or (row is not None and row in scope.matching(None))
        self.services.sync.note_damage(Damaged(damage.sequence, id, damage.reason))
        if is_within:
            raise damage

    def load_live(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return the live memories of the scope; None for other ids."""
        return [
            memory if memory is not None and memory.deleted_at is None else None
            for memory in self.loader(ids)
        ]

    def live_rows(self, ids: Sequence[str]) -> list[int | None]:
        """Return the rows of the live memories of the scope; None for other ids."""
        scope = self.at_once()
        row_of, live = scope.read_model.lifecycle.row_of, scope.matching(None)
        found = [row_of.get(id) for id in ids]
        return [row if row is not None and row in live else None for row in found]

    @property
    def loader(self) -> ScopeLoader:
        """A loader of the memories of the scope, including soft-deleted ones."""
        return ScopeLoader(self)


class ScopeLoader:
    """Loads the memories of results that still lie in a scope, including soft-deleted ones."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __call__(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories; None for an id that is not in the scope."""
        return self._scope.contained(self._scope.load(ids))

    def texts(self, ids: Sequence[str]) -> list[str | None]:
        """Return only the texts of memories, without building the memories."""
        return [None if row is None else row.text for row in self.own_rows(ids)]

    def own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        """Return the fields of memories that neither searches nor dream cycles change."""
        return self._scope.own_rows(ids)
