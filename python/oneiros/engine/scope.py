"""A scope: an engine's services, and the memories that a caller may see and change."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

from oneiros import filters
from oneiros.clock import system_clock
from oneiros.dream.lock import CycleLock
from oneiros.errors import EngineClosed, StoreCorrupt
from oneiros.filters import require_where
from oneiros.model.validation import moment as moment_check
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.scoring.profiles import resolved
from oneiros.search.cache import RecentAnswers
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from pyroaring import BitMap

    from oneiros.clock import Clock, Time
    from oneiros.dream.impact import StoreCopies
    from oneiros.filters import Where
    from oneiros.index import Projections
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

__all__ = ["EngineServices", "Scope", "ScopeLoader", "Watch", "require_watch"]


class Watch(Protocol):
    """One who is there while a search runs, and is told what it answers."""

    def searching(
        self, method: str
    ) -> AbstractContextManager[Callable[[Sequence[SearchResponse]], None]]:
        """Enter before the search of this method begins; what it gives is called with its answers.

        An exception of the search passes through it.
        """
        ...


def require_watch(name: str, watch: object) -> None:
    """Refuse what cannot watch; None is nobody, and fine.

    Raises:
        TypeError: naming the argument.
    """
    searching = None if isinstance(watch, type) else getattr(watch, "searching", None)
    if watch is not None and not callable(searching):
        msg = f"{name}: expected an object with searching(method), got {watch!r}"
        raise TypeError(msg)


Read = TypeVar("Read", "Memory", "OwnRow")


_check_now = moment_check("now")


@dataclass(slots=True)
class EngineServices:
    """The parts of an engine, which its scopes share."""

    store: Store
    projections: Projections
    remember: Remember
    sync: Sync
    clock: Clock
    profile: Profile
    auto_refresh: bool
    trials: Callable[[EngineServices, float], AbstractContextManager[StoreCopies]]
    """Copies the store for the trials of a block, their clock standing still at a moment."""
    watch: Watch | None = None
    reranker: Reranker | None = None
    expander: Expander | None = None
    is_quiet: bool = False
    """Whether nobody is warned that the embedder is missing."""
    recent: RecentAnswers = field(default_factory=RecentAnswers)
    cycles: CycleLock = field(init=False)

    def __post_init__(self) -> None:
        self.cycles = CycleLock(self.store.path)


class Scope:
    """The memories whose fields have the values that bounds name.

    Args:
        services: the engine's, which all its scopes share.
        bounds: field to value; empty for all memories.
    """

    __slots__ = ("bounds", "shared")

    def __init__(self, services: EngineServices, bounds: Mapping[str, str]) -> None:
        self.shared = services
        """The services, whether the engine is open or not."""
        self.bounds = dict(bounds)

    @property
    def services(self) -> EngineServices:
        """The services of an open engine.

        Raises:
            EngineClosed: the engine is closed, or was opened before a fork.
        """
        if os.getpid() != self.shared.sync.open_in:
            msg = "the engine is closed, or came here by fork; a child process opens its own"
            raise EngineClosed(msg)
        return self.shared

    def follow_others(self) -> None:
        """Apply what other processes committed, where the engine does so before a search."""
        parts = self.services
        parts.sync.follow_others(is_asked=parts.auto_refresh)

    def now(self, now: Time | None) -> float:
        """Return a time as seconds since the epoch; None: the engine's clock."""
        clock = self.services.clock
        if now is None and clock is system_clock:
            return system_clock()
        seconds: float = _check_now(clock() if now is None else now)
        return seconds

    def profile(self, profile: Profile | str | None) -> Profile:
        """Return the profile that is given, or has the name; None: the engine's."""
        return self.services.profile if profile is None else resolved(profile)

    def verdicts(self, profile: Profile) -> Verdicts:
        """Return the verdicts on memories within the bounds, by kind; empty where the profile reads none."""
        if not any(getattr(factor, "reads_verdicts", False) for factor in profile.factors):
            return {}
        sync = self.services.sync
        return sync.verdicts.within(self.bounds, sync.revision)

    def contains(self, memory: StoredMemory | Memory | OwnRow) -> bool:
        """Whether a memory lies within the bounds."""
        return all(getattr(memory, name) == value for name, value in self.bounds.items())

    def contained(self, found: list[Read | None]) -> list[Read | None]:
        """Return what was read of memories, None in place of what lies beyond the bounds."""
        if not self.bounds:
            return found
        return [one if one is not None and self.contains(one) else None for one in found]

    def condition(self) -> Where | None:
        """Return the bounds as a filter; None: all memories."""
        if not self.bounds:
            return None
        return filters.where(**self.bounds)

    def within(self, condition: Where | None) -> Where | None:
        """Return a filter and the bounds as one filter; None: all memories.

        Raises:
            TypeError: it is no filter.
        """
        require_where(condition)
        scope = self.condition()
        if scope is None or condition is None:
            return condition if scope is None else scope
        return scope & condition

    def matching(self, condition: Where | None) -> BitMap:
        """Return the rows of live memories within the bounds that pass a filter."""
        return self.services.projections.row_sets.matching(self.within(condition))

    def load(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories, soft-deleted ones and those out of bounds too; None where there is none."""
        parts = self.services
        parts.sync.settle()
        reinforcing = parts.sync.reinforcing
        owed = reinforcing.owing_of(ids)
        found = parts.store.load_each(ids, parts.sync.numbers_of(ids))
        read = self._undamaged(ids, found)
        reinforcing.bring_up_to_date([one for one in read if one is not None], owed)
        return read

    def own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        """Return of memories within the bounds what neither use nor a dream cycle changes."""
        parts = self.services
        found = self._undamaged(ids, parts.store.own_rows(ids, parts.sync.numbers_of(ids)))
        return self.contained(found)

    def _undamaged(
        self, ids: Sequence[str], found: Sequence[Read | StoreCorrupt | None]
    ) -> list[Read | None]:
        """Return what was read of memories; note those that are damaged.

        Raises:
            StoreCorrupt: one is damaged. Through a scope, only of one that is known to lie within.
        """
        read: list[Read | None] = []
        for id, one in zip(ids, found, strict=True):
            if isinstance(one, StoreCorrupt):
                self._note_damage(id, one)
                read.append(None)
            else:
                read.append(one)
        return read

    def _note_damage(self, id: str, damage: StoreCorrupt) -> None:
        row = self.services.projections.lifecycle.row_of.get(id)
        is_within = not self.bounds or (row is not None and row in self.matching(None))
        self.services.sync.note_damage(Damaged(damage.sequence, id, damage.reason))
        if is_within:
            raise damage

    def load_live(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return the live memories within the bounds; None in place of others."""
        return [
            memory if memory is not None and memory.deleted_at is None else None
            for memory in self.loader(ids)
        ]

    def live_rows(self, ids: Sequence[str]) -> list[int | None]:
        """Return the rows of live memories within the bounds; None in place of others."""
        row_of = self.services.projections.lifecycle.row_of
        live = self.matching(None)
        found = [row_of.get(id) for id in ids]
        return [row if row is not None and row in live else None for row in found]

    @property
    def loader(self) -> ScopeLoader:
        """Loads the memories within the bounds, soft-deleted or not."""
        return ScopeLoader(self)


class ScopeLoader:
    """Loads the memories of results: those that still lie within a scope, soft-deleted or not."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __call__(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories; None in place of one that is not there."""
        return self._scope.contained(self._scope.load(ids))

    def texts(self, ids: Sequence[str]) -> list[str | None]:
        """Return the texts of memories, of which nothing else is made."""
        return [None if row is None else row.text for row in self.own_rows(ids)]

    def own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        """Return of memories what no search and no dream cycle changes."""
        return self._scope.own_rows(ids)
