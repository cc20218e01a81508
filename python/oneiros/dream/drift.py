"""Figures to follow over cycles: what lies below the threshold, how long memories live, who is used.

Source: docs/systems/reverie.md R19 (ours).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.kinds import staleness
from oneiros.numpy_on_use import np
from oneiros.ranking.phases.reverie import Prune

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from oneiros.dream.draft import Draft

    Column = npt.NDArray[Any]
    Days = npt.NDArray[np.float64]

__all__ = ["TOP", "access_gini", "drift_of", "half_life_days"]

TOP: Final = 50
"""How many of the memories recalled most often a cycle notes, so that the next can tell the churn."""

_KINDS: Final = 30
_DAY: Final = 86_400.0
_ROUNDING: Final = 1e-12


def drift_of(
    draft: Draft, prune: Prune | None = None, before: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the figures of a cycle for its report, as JSON can hold them.

    - "live": how many memories are live after it.
    - "stale_share": the share of the memories left that are as stale as what is pruned (R13), 0 to
      1; 0 where none is left.
    - "half_life_days": by kind, see :func:`half_life_days`; None where more than half is live. The
      30 kinds with the most memories.
    - "access_gini": see :func:`access_gini`.
    - "top": the ids of up to 50 live memories with the most accesses, at least one; of as many
      accesses the last accessed first, then the first inserted.
    - "churn": how much "top" changed since the cycle before, 0 to 1; None: there was none. The
      Jaccard distance 1 - (in both) / (in either); 0 where neither holds any.

    Memories that the cycle adds count in "live" alone: they are new.

    Args:
        draft: when all phases ran.
        prune: the profile's, for its limits and from which staleness on it prunes; None: as
            published.
        before: "top" of the cycle before; None: there was none.

    Source: docs/systems/reverie.md R19 (ours).
    """
    rows = np.flatnonzero(draft.live)
    counts = draft.column("access_count")[rows]
    chosen = prune or Prune()
    stale = int(np.count_nonzero(staleness(draft, chosen)[rows] >= chosen.least_staleness))
    ids = draft.source.ids
    top = [ids[row] for row in _most_recalled(draft, rows, counts)]
    return {
        "live": len(rows) + len(draft.added),
        "stale_share": stale / len(rows) if len(rows) else 0.0,
        "half_life_days": _half_lives(draft),
        "access_gini": access_gini(counts),
        "top": top,
        "churn": None if before is None else _distance(set(before), set(top)),
    }


def access_gini(counts: Column) -> float:
    """Return the Gini coefficient of access counts, 0 (all alike) up to 1 (one has all).

    With the counts in rising order, x_1 to x_n: sum of (2 i - n - 1) x_i, over n times their sum.
    0 where nothing was accessed.

    Args:
        counts: shape (n,), whole numbers >= 0.
    """
    total = int(counts.sum(dtype=np.uint64))
    if not total:
        return 0.0
    rising = np.sort(counts).astype(np.float64)
    size = len(rising)
    weights = 2.0 * np.arange(1, size + 1) - size - 1
    return float(weights @ rising / (size * total))


def half_life_days(lived: Days, has_died: Column) -> float | None:
    """Return the age at which half of the memories ever created are still live.

    The median of the survival curve as Kaplan and Meier estimate it: the curve falls, at each age at
    which some were deleted, by the share of these among all that reached this age, and memories that
    are still live count up to the age that they have.

    Args:
        lived: days from creation to deletion, or to now; >= 0.
        has_died: whether it is the former.

    Returns:
        The first age at which the curve is at most 1/2; None where it stays above.
    """
    deaths = np.sort(lived[has_died])
    if not len(deaths):
        return None
    # Deaths of one age one after the other: their shares multiply to that of all of them.
    reached = len(lived) - np.searchsorted(np.sort(lived), deaths, side="left")
    within = np.arange(len(deaths)) - np.searchsorted(deaths, deaths, side="left")
    alive = np.cumprod(1.0 - 1.0 / (reached - within))
    halved = np.flatnonzero(alive <= 0.5 + _ROUNDING)
    return float(deaths[halved[0]]) if len(halved) else None


def _half_lives(draft: Draft) -> dict[str, float | None]:
    """Return the half-life of each kind, over what is live or soft-deleted; what was erased is gone."""
    deleted = draft.column("deleted_at")
    rows = np.flatnonzero(draft.live | ~np.isnan(deleted))
    has_died = ~draft.live[rows]
    ends = np.where(has_died, deleted[rows], draft.now)
    lived = np.maximum((ends - draft.column("created_at")[rows]) / _DAY, 0.0)
    kinds = draft.column("kind")[rows]
    order = np.argsort(kinds, kind="stable")
    sizes = np.bincount(kinds, minlength=len(draft.source.kinds))
    ends_of = np.cumsum(sizes)
    found: dict[str, float | None] = {}
    for code in np.argsort(-sizes, kind="stable")[:_KINDS].tolist():
        if sizes[code]:
            mine = order[ends_of[code] - sizes[code] : ends_of[code]]
            found[draft.source.kinds[code]] = half_life_days(lived[mine], has_died[mine])
    return found


def _most_recalled(draft: Draft, rows: Column, counts: Column) -> list[int]:
    used = np.flatnonzero(counts)
    if len(used) > TOP:
        least = np.partition(counts[used], len(used) - TOP)[len(used) - TOP]
        used = used[counts[used] >= least]
    accessed = np.nan_to_num(draft.column("last_accessed_at")[rows[used]], nan=-np.inf)
    order = np.lexsort((-accessed, -counts[used].astype(np.int64)))
    best: list[int] = rows[used[order[:TOP]]].tolist()
    return best


def _distance(one: set[str], other: set[str]) -> float:
    either = one | other
    return 1.0 - len(one & other) / len(either) if either else 0.0
