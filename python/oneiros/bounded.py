"""What an engine and its scopes have in common: the shared parts, and what lies within bounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from oneiros.argument_checks import require_instance
from oneiros.clock import system_clock
from oneiros.dream.lock import CycleLock
from oneiros.errors import EngineClosed, StoreCorrupt
from oneiros.field_checks import moment as moment_check
from oneiros.profiles import get as get_profile
from oneiros.ranking.profile import Profile
from oneiros.search.cache import RecentAnswers
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from datetime import datetime

    from pyroaring import BitMap

    from oneiros.clock import Clock
    from oneiros.dream.impact import Trials
    from oneiros.memory import Memory
    from oneiros.projections import Projections
    from oneiros.query.expander import Expander
    from oneiros.ranking.factors.thompson import Verdicts
    from oneiros.remember import Remember
    from oneiros.rerank import Reranker
    from oneiros.scopes import Where
    from oneiros.store import Store, StoredMemory
    from oneiros.store.loading import OwnRow
    from oneiros.watching import Watch

    Time = float | int | str | datetime

Read = TypeVar("Read", "Memory", "OwnRow")

__all__ = ["Bounded", "Parts", "SeenMemories", "checked_profile", "require_where"]

_check_now = moment_check("now")


@dataclass(slots=True)
class Parts:
    """What an engine is made of; its scopes share it."""

    store: Store
    projections: Projections
    remember: Remember
    clock: Clock
    profile: Profile
    auto_refresh: bool
    trials: Callable[[Parts, float], AbstractContextManager[Trials]]
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


def checked_profile(profile: Profile | str) -> Profile:
    """Return the profile that is given, or has the name."""
    if isinstance(profile, str):
        return get_profile(profile)
    require_instance("profile", profile, (Profile,), "a name or a Profile")
    return profile


def require_where(condition: object) -> None:
    """Refuse what is no filter; None is none, and fine."""
    if condition is not None:
        from oneiros.scopes import Where  # noqa: PLC0415 - as above

        require_instance("where", condition, (Where, type(None)), "oneiros.where(...)")


class Bounded:
    """The memories that lie within bounds: those whose fields have the values that bounds name.

    Args:
        parts: the engine's; scopes share them.
        bounds: field to value; empty for all memories.
    """

    def __init__(self, parts: Parts, bounds: Mapping[str, str]) -> None:
        self._shared = parts
        self._bounds = dict(bounds)

    @property
    def _parts(self) -> Parts:
        if os.getpid() != self._shared.remember.open_in:
            msg = "the engine is closed, or came here by fork; a child process opens its own"
            raise EngineClosed(msg)
        return self._shared

    def _follow_others(self) -> None:
        parts = self._parts
        parts.remember.follow_others(is_asked=parts.auto_refresh)

    def _now(self, now: Time | None) -> float:
        clock = self._parts.clock
        if now is None and clock is system_clock:
            return system_clock()
        seconds: float = _check_now(clock() if now is None else now)
        return seconds

    def _profile(self, profile: Profile | str | None) -> Profile:
        return self._parts.profile if profile is None else checked_profile(profile)

    def _verdicts(self, profile: Profile) -> Verdicts:
        """What was said of memories within the bounds, by kind; empty where the profile asks not."""
        if not any(getattr(factor, "reads_verdicts", False) for factor in profile.factors):
            return {}
        remember = self._parts.remember
        return remember.verdicts.within(self._bounds, remember.revision)

    def _seen(self, memory: StoredMemory | Memory | OwnRow) -> bool:
        return all(getattr(memory, name) == value for name, value in self._bounds.items())

    def _seen_among(self, found: list[Read | None]) -> list[Read | None]:
        """Return what was read of memories, None in place of what lies beyond the bounds."""
        if not self._bounds:
            return found
        return [one if one is not None and self._seen(one) else None for one in found]

    def _scope(self) -> Where | None:
        if not self._bounds:
            return None
        from oneiros.scopes import where  # noqa: PLC0415 - filters load their conditions

        return where(**self._bounds)

    def _within(self, condition: Where | None) -> Where | None:
        require_where(condition)
        scope = self._scope()
        if scope is None or condition is None:
            return condition if scope is None else scope
        return scope & condition

    def _matching(self, condition: Where | None) -> BitMap:
        return self._parts.projections.row_sets.matching(self._within(condition))

    def _load(self, ids: Sequence[str]) -> list[Memory | None]:
        parts = self._parts
        parts.remember.settle()
        reinforcing = parts.remember.reinforcing
        owed = reinforcing.owing_of(ids)
        found = parts.store.load_each(ids, parts.remember.numbers_of(ids))
        read = self._undamaged(ids, found)
        reinforcing.bring_up_to_date([one for one in read if one is not None], owed)
        return read

    def _own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        parts = self._parts
        found = self._undamaged(ids, parts.store.own_rows(ids, parts.remember.numbers_of(ids)))
        return self._seen_among(found)

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
        row = self._parts.projections.lifecycle.row_of.get(id)
        is_within = not self._bounds or (row is not None and row in self._matching(None))
        self._parts.remember.note_damage(Damaged(damage.sequence, id, damage.reason))
        if is_within:
            raise damage

    @property
    def _load_seen(self) -> SeenMemories:
        """Loads what still lies within the bounds, soft-deleted or not."""
        return SeenMemories(self)


class SeenMemories:
    """Reads the memories of results: those that still lie within bounds, soft-deleted or not."""

    __slots__ = ("_bounded",)

    def __init__(self, bounded: Bounded) -> None:
        self._bounded = bounded

    def __call__(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories; None in place of one that is not there."""
        return self._bounded._seen_among(self._bounded._load(ids))

    def texts(self, ids: Sequence[str]) -> list[str | None]:
        """Return the texts of memories, of which nothing else is made."""
        return [None if row is None else row.text for row in self.own_rows(ids)]

    def own_rows(self, ids: Sequence[str]) -> list[OwnRow | None]:
        """Return of memories what no search and no dream cycle changes."""
        return self._bounded._own_rows(ids)
