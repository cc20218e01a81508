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
_Counted: TypeAlias = "tuple[tuple[int, int], dict[tuple[tuple[str, str], ...], Verdicts]]"


class VerdictCounts:
    """Counts the store's verdicts, and again when some were given or forgotten since.

    Safe to use from many threads: a count that two of them make at once is made twice.

    Args:
        store: the open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counted: _Counted = ((-1, -1), {})  # one object: no thread sees half of it changed

    def within(self, bounds: Mapping[str, str]) -> Verdicts:
        """Return good and bad verdicts by kind, on memories within bounds.

        Good are the helpful, bad the unhelpful and outdated. Source: docs/systems/omega.md O15.
        """
        key = tuple(sorted(bounds.items()))
        with self._store.read() as reading:
            now, (then, held) = reading.verdict_state(), self._counted
            if now != then or len(held) >= _MOST_BOUNDS:
                held = {}
            found = held.get(key)
            if found is None:
                found = _by_kind(reading.verdict_counts(bounds))
                self._counted = (now, {**held, key: found})
        return found


def _by_kind(counts: list[tuple[str, str, int]]) -> Verdicts:
    good: defaultdict[str, int] = defaultdict(int)
    bad: defaultdict[str, int] = defaultdict(int)
    for kind, verdict, count in counts:
        (good if verdict == "helpful" else bad)[kind] += count
    return {kind: (good[kind], bad[kind]) for kind in {**good, **bad}}
