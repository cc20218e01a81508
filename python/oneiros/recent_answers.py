"""Answers given again to the same question, until a memory is written. docs/systems/omega.md O30."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.fork_safe_lock import fork_safe_lock
from oneiros.trace import SearchTrace, StageTrace

if TYPE_CHECKING:
    from oneiros.response import LoadMemories, SearchResponse
    from oneiros.search.request import SearchRequest

__all__ = ["Kept", "RecentAnswers", "Same", "has_fallen_short"]


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and for how long it is given again."""

    request: SearchRequest
    response: SearchResponse
    seconds: float

    def again(self, now: float, started: float, load: LoadMemories) -> SearchResponse:
        """Return the answer as it is given at ``now``; its memories are loaded anew.

        Args:
            now: the clock.
            started: by ``perf_counter``, when it was asked for.
            load: the store's loader.
        """
        response, count = self.response, len(self.response)
        age = now - response.now
        note = f"answered {age:.3g} s ago, and kept for {self.seconds:g} s"
        duration_ms = (perf_counter() - started) * 1e3
        stage = StageTrace("response_cache", count, count, duration_ms, note=note)
        before = response.trace
        trace = SearchTrace((stage,), duration_ms, before.notes, before.duplicates)
        return replace(response.loaded_anew(load), now=now, trace=trace)


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


def has_fallen_short(request: SearchRequest, response: SearchResponse) -> bool:
    """Whether a reranker or an expander, where there is one, said less than it might next time.

    Args:
        request: one that was searched whole, or a part of a compound one.
        response: the answer to it.
    """
    if request.expanded is not None and request.expanded.has_failed:
        return True
    stages = response.trace.stages
    return request.reranker is not None and any(
        stage.name.endswith("rerank") and stage.note for stage in stages
    )
