"""Responses made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from oneiros.explain.explanation import Explanation
from oneiros.model.memory import Memory
from oneiros.search.response import BuiltParts, ResultMemories, SearchResponse, SearchResult
from oneiros.search.trace import SearchTrace
from oneiros.store.loading import OwnRow

__all__ = ["Memories", "response"]

NOTHING = SearchTrace((), 0.0)


class Memories:
    """Loads some memories by their ids.

    Args:
        held: the memories there are.
    """

    def __init__(self, held: Mapping[str, Memory]) -> None:
        self._held = held

    def __call__(self, ids: Sequence[str], /) -> list[Memory | None]:
        return [self._held.get(id) for id in ids]

    def texts(self, ids: Sequence[str], /) -> list[str | None]:
        return [None if one is None else one.text for one in self(ids)]

    def own_rows(self, ids: Sequence[str], /) -> list[OwnRow | None]:
        raise NotImplementedError


def response(
    query: str = "q",
    *,
    now: float,
    found: Sequence[tuple[Memory, tuple[float, float, float]]] = (),
    explanations: Sequence[Explanation | None] | None = None,
    trace: SearchTrace = NOTHING,
) -> SearchResponse:
    """Return a response.

    Args:
        query: its query.
        now: its clock.
        found: memories, each with relevance, retention and score.
        explanations: one a memory.
        trace: of its stages.
    """
    ids = [memory.id for memory, _ in found]
    memories = ResultMemories(ids, Memories({memory.id: memory for memory, _ in found}))
    results = tuple(
        SearchResult(
            memories, memory.id, scores, explanations and partial(explanations.__getitem__, place)
        )
        for place, (memory, scores) in enumerate(found)
    )
    return SearchResponse(
        query=query,
        now=now,
        profile="reverie",
        profile_hash="abc",
        ids=ids,
        scores=[scores[2] for _, scores in found],
        memories=memories,
        answer=BuiltParts(results, trace),
    )
