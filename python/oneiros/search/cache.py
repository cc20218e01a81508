"""Answers given again to the same question, until a memory is written. docs/systems/omega.md O30."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

from oneiros.runtime.dataclasses import dataclass
from oneiros.runtime.locks import fork_safe_lock
from oneiros.search.trace import SearchTrace, StageTrace

if TYPE_CHECKING:
    from oneiros.search.response import LoadMemories, ResponseParts, SearchResponse

__all__ = ["Kept", "RecentAnswers", "Same"]


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and for how long it is given again."""

    response: SearchResponse
    seconds: float

    def again(self, now: float, started: float, load: LoadMemories) -> SearchResponse:
        """Return the answer as it is given at ``now``; its memories are loaded anew.

        Args:
            now: the clock.
            started: by ``perf_counter``, when it was asked for.
            load: the store's loader.
        """
        response = self.response
        note = f"answered {now - response.now:.3g} s ago, and kept for {self.seconds:g} s"
        duration_ms = (perf_counter() - started) * 1e3
        stage = StageTrace("response_cache", len(response), len(response), duration_ms, note=note)
        return response.again(load, now=now, answer=_Again(response.answer, stage))


class _Again:
    """An answer given again, whose trace says so.

    Args:
        first: as it was given first.
        stage: in place of all of its stages.
    """

    def __init__(self, first: ResponseParts, stage: StageTrace) -> None:
        self._stage = stage
        self.results = first.results
        self.nearest_misses = first.nearest_misses
        self.direct_ids = first.direct_ids
        self.linked_ids = first.linked_ids
        self._first_trace = first.trace

    def trace(self) -> SearchTrace:
        """Return that it was given again, with the notes of before."""
        before, stage = self._first_trace(), self._stage
        return SearchTrace((stage,), stage.duration_ms, before.notes, before.duplicates)


class RecentAnswers:
    """The answers of one engine that may be given again. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = fork_safe_lock()
        self._revision = -1
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, *, revision: int, now: float) -> Kept | None:
        """Return what is kept under a key, if it is of this revision and not too old at ``now``.

        Args:
            key: all that the answer depends on, but for the memories and the time.
            revision: of what is written in memories, as it is now.
            now: the clock; before the answer was given, it is not given again.
        """
        with self._lock:
            if revision != self._revision:
                return None
            held = self._kept.pop(key, None)
            if held is None or not 0 <= now - held.response.now <= held.seconds:
                return None
            self._kept[key] = held  # the last now
            return held

    def put(self, key: Hashable, kept: Kept, *, revision: int, most: int) -> None:
        """Keep an answer; of more than ``most`` those go that were asked for longest ago.

        Args:
            key: as :meth:`get` takes it.
            kept: the answer.
            revision: as it was before the answer was looked for.
            most: so many are kept.
        """
        with self._lock:
            if revision < self._revision:
                return
            if revision > self._revision:
                self._kept.clear()
                self._revision = revision
            self._kept.pop(key, None)
            self._kept[key] = kept
            while len(self._kept) > most:
                with suppress(KeyError):  # a signal handler may have emptied it
                    self._kept.popitem(last=False)


class Same:
    """Stands in a key for an object that is the same only as itself, whatever it says of others."""

    __slots__ = ("_held",)

    def __init__(self, held: object) -> None:
        self._held = held  # kept, or another could come to have its id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._held is self._held

    def __hash__(self) -> int:
        return id(self._held)
