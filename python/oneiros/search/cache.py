"""Cache of responses to identical queries until the next write. docs/systems/omega.md O30."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from oneiros.runtime.dataclasses import dataclass
from oneiros.runtime.locks import fork_safe_lock
from oneiros.search.trace import SearchTrace, StageTrace

if TYPE_CHECKING:
    from oneiros.search.response import LoadMemories, ResponseParts, SearchResponse

__all__ = ["CachedResponse", "RecentAnswers", "SameObject"]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response, and how long it stays valid."""

    response: SearchResponse
    seconds: float

    def again(self, now: float, started: float, load: LoadMemories) -> SearchResponse:
        """Return a copy of the response at ``now``. Its memories are loaded again.

        Args:
            now: time of the search, seconds UTC.
            started: when the search started, by ``perf_counter``.
            load: the store's loader.
        """
        response = self.response
        note = f"answered {now - response.now:.3g} s ago, and kept for {self.seconds:g} s"
        duration_ms = (perf_counter() - started) * 1e3
        stage = StageTrace("response_cache", len(response), len(response), duration_ms, note=note)
        return response.again(load, now=now, trace=partial(_cached_trace, response.answer, stage))


def _cached_trace(original: ResponseParts, stage: StageTrace) -> SearchTrace:
    """Return a trace of the cache's stage with the notes of the original."""
    trace = original.trace()
    return SearchTrace((stage,), stage.duration_ms, trace.notes, trace.duplicates)


class RecentAnswers:
    """The response cache of one engine, with least recently used eviction. Thread-safe."""

    def __init__(self) -> None:
        self._lock = fork_safe_lock()
        self._revision = -1
        self._cached: OrderedDict[Hashable, CachedResponse] = OrderedDict()

    def __len__(self) -> int:
        return len(self._cached)

    def get(self, key: Hashable, *, revision: int, now: float) -> CachedResponse | None:
        """Return the response of a key if its revision is current and it is not too old at ``now``.

        Args:
            key: all that the response depends on except memories and the clock.
            revision: current revision of the memories' content.
            now: time of the search; earlier than that of the cached response, nothing is returned.
        """
        with self._lock:
            if revision != self._revision:
                return None
            cached = self._cached.pop(key, None)
            if cached is None or not 0 <= now - cached.response.now <= cached.seconds:
                return None
            self._cached[key] = cached  # most recently used now
            return cached

    def put(self, key: Hashable, cached: CachedResponse, *, revision: int, most: int) -> None:
        """Store a response and evict the least recently used beyond ``most``.

        Args:
            key: as for :meth:`get`.
            cached: the response.
            revision: revision of the memories' content before the search.
            most: most responses to hold.
        """
        with self._lock:
            if revision < self._revision:
                return
            if revision > self._revision:
                self._cached.clear()
                self._revision = revision
            self._cached.pop(key, None)
            self._cached[key] = cached
            while len(self._cached) > most:
                with suppress(KeyError):  # a signal handler may have emptied it
                    self._cached.popitem(last=False)


class SameObject:
    """A key that compares an object by identity instead of by its ``__eq__``."""

    __slots__ = ("_object",)

    def __init__(self, value: object) -> None:
        self._object = value  # a reference, so that no other object can get its id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)
