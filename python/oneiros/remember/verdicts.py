"""What was said of memories, counted by kind, for the profiles that ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from oneiros.ranking.factors.thompson import Verdicts
    from oneiros.store import Store

__all__ = ["VerdictCounts"]

_MOST_BOUNDS = 256
_Counts: TypeAlias = "dict[tuple[tuple[str, str], ...], Verdicts]"


class VerdictCounts:
    """Counts the store's verdicts, and again when some were given or forgotten since.

    Safe to use from many threads: a count that two of them make at once is made twice.

    Args:
        store: the open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # The revision it is known to hold at, the state of the verdicts, and what was counted: one
        # object, so that no thread sees half of it changed.
        self._counted: tuple[int, tuple[int, int], _Counts] = (-1, (-1, -1), {})

    def within(self, bounds: Mapping[str, str], revision: int) -> Verdicts:
        """Return good and bad verdicts by kind, on memories within bounds.

        Args:
            bounds: field to value; empty for all memories.
            revision: of the store, as the caller knows it: what was counted at it is not asked again.

        Good are the helpful, bad the unhelpful and outdated. Source: docs/systems/omega.md O15.
        """
        key = tuple(sorted(bounds.items()))
        known, then, held = self._counted
        if known == revision and (at_once := held.get(key)) is not None:
            return at_once
        with self._store.read() as reading:
            now = reading.verdict_state()
            if now != then or len(held) >= _MOST_BOUNDS:
                held = {}
            found = held.get(key)
            if found is None:
                found = _by_kind(reading.verdict_counts(bounds))
                held = {**held, key: found}
            self._counted = (revision, now, held)
        return found


def _by_kind(counts: list[tuple[str, str, int]]) -> Verdicts:
    good: defaultdict[str, int] = defaultdict(int)
    bad: defaultdict[str, int] = defaultdict(int)
    for kind, verdict, count in counts:
        (good if verdict == "helpful" else bad)[kind] += count
    return {kind: (good[kind], bad[kind]) for kind in {**good, **bad}}
