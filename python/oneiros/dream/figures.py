"""The figures of a cycle's report: distributions of live memories, decay curves, and drift."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.dream.phases.row_values import compiled_factors, row_values, staleness
from oneiros.dream.report import DecayCurve, Distribution, KindAgeGroup
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring.factor import is_function
from oneiros.scoring.phases.reverie import Prune
from oneiros.scoring.row_scores import score_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import numpy.typing as npt

    from oneiros.dream.draft import Draft
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.profile import Profile

    Column = npt.NDArray[Any]
    Counts = npt.NDArray[np.int64]
    Reals = npt.NDArray[np.float64]

__all__ = [
    "CURVE_DAYS",
    "KINDS",
    "MOST_KINDS",
    "OTHER_KINDS",
    "TOP",
    "access_gini",
    "decay_curves",
    "distributions",
    "drift_of",
    "half_life_days",
]


_STATUSES: Final = ENUMS["status"][: ENUMS["status"].index("quarantined")]
"""Dreams see no quarantined memory."""
STRENGTH_BOUNDS: Final = tuple(step / 10 for step in range(10))
STABILITY_BOUNDS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
AGE_BOUNDS: Final = (0.0, 1.0, 7.0, 30.0, 90.0, 180.0, 365.0, 730.0)
"""Days."""
KINDS: Final = 30
"""Number of kinds with their own count, the most frequent ones; the others share one."""
OTHER_KINDS: Final = "(others)"
CURVE_DAYS: Final = (
    *(0.0, 1.0, 2.0, 4.0, 7.0, 14.0, 21.0, 30.0, 45.0, 60.0, 90.0, 120.0),
    *(150.0, 180.0, 240.0, 300.0, 365.0, 545.0, 730.0, 1095.0),
)
"""The ages of the points of a decay curve, days."""
MOST_KINDS: Final = 6
"""Number of kinds with a decay curve: those with the most memories."""

_DAY: Final = 86_400.0
_NOTE: Final = "note"  # the default kind of a memory, docs/systems/fields.md


class _Side(NamedTuple):
    """The live memories before or after the cycle."""

    column: Callable[[str], Column]
    """Returns the values of all rows."""
    live: Column
    """The live rows: ascending row numbers, or a mask."""
    is_after: bool


def distributions(draft: Draft) -> tuple[Distribution, ...]:
    """Count the live memories by strength, stability, age, kind, status, tier and depth.

    Numbers are counted in bins from one bound up to the next; a value on a bound belongs to the bin
    above it, and the last bin is open. The age is in days since creation. Memories that the cycle
    adds count on the side after it. The 30 most frequent kinds are counted separately, the others
    together as "(others)".

    Args:
        draft: after all phases.
    """
    sides = (
        _Side(draft.source.column, draft.source.live_rows(), is_after=False),
        _Side(draft.column, draft.live, is_after=True),
    )
    binned = {
        "strength": STRENGTH_BOUNDS,
        "stability": STABILITY_BOUNDS,
        "age_days": AGE_BOUNDS,
    }
    found = [_binned(draft, name, bounds, sides) for name, bounds in binned.items()]
    found.append(_kinds(draft, sides))
    found.append(_coded(draft, "status", _STATUSES, sides))
    found.append(_coded(draft, "tier", ENUMS["tier"], sides))
    found.append(_coded(draft, "depth", ("1", "2", "3"), sides, first=1))
    return tuple(found)


def _binned(
    draft: Draft, name: str, bounds: Sequence[float], sides: Sequence[_Side]
) -> Distribution:
    before, after = (_counts(_column_values(draft, name, side), bounds) for side in sides)
    return Distribution(
        name=name,
        places=tuple(f"{bound:g}" for bound in bounds),
        before=tuple(before.tolist()),
        after=tuple(after.tolist()),
    )


def _column_values(draft: Draft, name: str, side: _Side) -> Column:
    """Return the values of live memories in the column's dtype; negative ages become 0."""
    field = "created_at" if name == "age_days" else name
    values = _live(side, field)
    if side.is_after and draft.added:
        default = draft.now if field == "created_at" else COLUMN_DEFAULTS[field]
        added = [_number(memory.record.get(field), default) for memory in draft.added]
        values = np.concatenate([values, np.array(added, values.dtype)])
    return values if field == name else np.maximum((draft.now - values) / _DAY, 0.0)


def _live(side: _Side, field: str) -> Column:
    values: Column = side.column(field)[: len(side.live)] if side.is_after else side.column(field)
    return values[side.live]


def _counts(values: Column, bounds: Sequence[float]) -> Counts:
    """Count the values from each bound up to the next, without NaN."""
    # In the values' dtype: a float32 of 0.7 lies in the bin that starts at 0.7.
    edges = np.array(bounds, values.dtype)
    at_least = [int(np.count_nonzero(values >= edge)) for edge in edges] + [0]
    return np.array([low - high for low, high in pairwise(at_least)], np.int64)


def _coded(
    draft: Draft, name: str, words: Sequence[str], sides: Sequence[_Side], *, first: int = 0
) -> Distribution:
    """Count a column of small codes; ``first`` is the code of the first word."""
    counted = []
    for side in sides:
        counts = np.bincount(_live(side, name), minlength=first + len(words))[first:]
        for memory in draft.added if side.is_after else ():
            word = memory.record.get(name)
            default = words[int(COLUMN_DEFAULTS[name]) - first]
            counts[words.index(default if word is None else str(word))] += 1
        counted.append(tuple(counts.tolist()))
    return Distribution(name=name, places=tuple(words), before=counted[0], after=counted[1])


def _kinds(draft: Draft, sides: Sequence[_Side]) -> Distribution:
    words = draft.source.kinds
    counted = []
    for side in sides:
        codes = np.bincount(_live(side, "kind"), minlength=len(words)).tolist()
        counts = {words[code]: number for code, number in enumerate(codes) if number}
        for memory in draft.added if side.is_after else ():
            kind = str(memory.record.get("kind") or _NOTE)
            counts[kind] = counts.get(kind, 0) + 1
        counted.append(counts)
    before, after = counted
    total = {kind: before.get(kind, 0) + after.get(kind, 0) for kind in before | after}
    order = sorted(total, key=lambda kind: (-total[kind], kind))
    places = tuple(order[:KINDS])
    shown = [[counts.get(kind, 0) for kind in places] for counts in counted]
    if len(order) > KINDS:
        places = (*places, OTHER_KINDS)
        for row, counts in zip(shown, counted, strict=True):
            row.append(sum(counts.values()) - sum(row))
    return Distribution(name="kind", places=places, before=tuple(shown[0]), after=tuple(shown[1]))


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def decay_curves(draft: Draft, profile: Profile) -> tuple[DecayCurve, ...]:
    """Return the decay curves of the six kinds with the most live memories, the most first.

    A value is the result of the profile's factors at a relevance of 1, without user-defined
    functions. A curve is that of a memory of the kind with default fields (docs/systems/fields.md)
    that is never recalled, by days since it was added. The groups of ``standing`` are the mean
    values of stored memories by days since their last access (or creation), in the bins of the age
    distribution. Values that are not finite are skipped, as are curves that contain one.

    Args:
        draft: after all phases; memories that it adds are skipped.
        profile: the profile with the factors.
    """
    compiled = compiled_factors(profile.factors, draft.source.kinds)
    if compiled.has_functions:
        factors = tuple(factor for factor in profile.factors if not is_function(factor))
        compiled = compiled_factors(factors, draft.source.kinds)
    rows = np.flatnonzero(draft.live)
    kinds = draft.column("kind")[rows]
    sizes = np.bincount(kinds, minlength=len(draft.source.kinds))
    chosen = [code for code in np.argsort(-sizes, kind="stable")[:MOST_KINDS] if sizes[code]]
    values = row_values(draft, compiled, compiled.score, draft.column)[rows]
    idle = draft.idle_days()[rows]
    found = []
    for code in chosen:
        curve = _curve(draft, compiled, code)
        if np.isfinite(curve).all():
            is_kind = kinds == code
            found.append(
                DecayCurve(
                    kind=draft.source.kinds[code],
                    days=CURVE_DAYS,
                    values=tuple(_short(curve)),
                    standing=_standing(idle[is_kind], values[is_kind]),
                )
            )
    return tuple(found)


def _curve(draft: Draft, compiled: CompiledProfile, code: int) -> Reals:
    """Return the value of a memory of a kind that is never used, at each age of a curve."""
    added = draft.now - np.array(CURVE_DAYS) * _DAY
    kind = np.full(len(added), code, draft.column("kind").dtype)
    columns = {"kind": kind, "created_at": added, "updated_at": added}
    out = np.empty(len(added))
    score_rows(compiled, columns, now=draft.now, out=out, threads=1)
    return out


def _standing(idle: Reals, values: Reals) -> tuple[KindAgeGroup, ...]:
    kept = np.isfinite(idle) & np.isfinite(values)
    idle, values = idle[kept], values[kept]
    bins = np.searchsorted(AGE_BOUNDS, idle, side="right") - 1
    counts = np.bincount(bins, minlength=len(AGE_BOUNDS))
    divisors = np.maximum(counts, 1)
    days = _short(np.bincount(bins, idle, len(AGE_BOUNDS)) / divisors)
    means = _short(np.bincount(bins, values, len(AGE_BOUNDS)) / divisors)
    return tuple(
        KindAgeGroup(days=day, value=mean, memories=count)
        for day, mean, count in zip(days, means, counts.tolist(), strict=True)
        if count
    )


def _short(values: Reals) -> list[float]:
    """Round to six significant digits: reports are kept for good, and a curve needs no more."""
    return [float(f"{value:.6g}") for value in values.tolist()]


TOP: Final = 50
"""Number of most recalled memories that a cycle notes, from which the next computes the churn."""

_ROUNDING: Final = 1e-12


def drift_of(
    draft: Draft, prune: Prune | None = None, before: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the drift figures of a cycle for its report, as values for JSON.

    - "live": number of live memories after the cycle.
    - "stale_share": share of the remaining memories that are stale enough to be pruned (R13), 0 to
      1; 0 if none remain.
    - "half_life_days": by kind, for the 30 kinds with the most memories, see
      :func:`half_life_days`; None if more than half are live.
    - "access_gini": see :func:`access_gini`.
    - "top": ids of up to 50 live memories with the most accesses, at least one each. Ties: the last
      accessed first, then the first inserted.
    - "churn": change of "top" since the previous cycle, 0 to 1; None if there was none. The Jaccard
      distance 1 - (in both) / (in either); 0 if both are empty.

    Memories that the cycle adds count in "live" only.

    Args:
        draft: after all phases.
        prune: the profile's phase, for its limits and its staleness threshold; None: the published
            defaults.
        before: "top" of the previous cycle; None: there was none.

    Source: docs/systems/reverie.md R19 (ours).
    """
    rows = np.flatnonzero(draft.live)
    counts = draft.column("access_count")[rows]
    chosen = prune or Prune()
    stale = int(np.count_nonzero(staleness(draft, chosen)[rows] >= chosen.least_staleness))
    ids = draft.source.ids
    recalled = (ids[row] for row in _most_recalled(draft, rows, counts))
    top = [id for id in recalled if id]  # "": erased since the cycle began
    return {
        "live": len(rows) + len(draft.added),
        "stale_share": stale / len(rows) if len(rows) else 0.0,
        "half_life_days": _half_lives(draft),
        "access_gini": access_gini(counts),
        "top": top,
        "churn": None if before is None else _distance(set(before), set(top)),
    }


def access_gini(counts: Column) -> float:
    """Return the Gini coefficient of access counts, 0 (all equal) up to 1 (one has all).

    With the counts in ascending order, x_1 to x_n: sum of (2 i - n - 1) x_i, divided by n times
    their sum. 0 if nothing was accessed.

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


def half_life_days(lived: Reals, has_died: Column) -> float | None:
    """Return the age at which half of the memories ever created are still live.

    The median of the Kaplan-Meier survival curve. At each age of a deletion, the curve falls by the
    share of deletions among all memories that reached this age. Live memories count up to their
    current age.

    Args:
        lived: days from creation to deletion, or to now if live; >= 0.
        has_died: whether the memory was deleted.

    Returns:
        The first age at which the curve is at most 1/2; None if it stays above.
    """
    deaths = np.sort(lived[has_died])
    if not len(deaths):
        return None
    # Deaths of equal age are counted one by one: the product of their shares is the joint share.
    reached = len(lived) - np.searchsorted(np.sort(lived), deaths, side="left")
    within = np.arange(len(deaths)) - np.searchsorted(deaths, deaths, side="left")
    alive = np.cumprod(1.0 - 1.0 / (reached - within))
    halved = np.flatnonzero(alive <= 0.5 + _ROUNDING)
    return float(deaths[halved[0]]) if len(halved) else None


def _half_lives(draft: Draft) -> dict[str, float | None]:
    """Return the half-life of each kind, over live and soft-deleted memories."""
    created, deleted = draft.column("created_at"), draft.column("deleted_at")
    is_erased = np.isnan(created)  # since the cycle began
    rows = np.flatnonzero((draft.live | ~np.isnan(deleted)) & ~is_erased)
    has_died = ~draft.live[rows]
    ends = np.where(has_died, deleted[rows], draft.now)
    lived = np.maximum((ends - created[rows]) / _DAY, 0.0)
    kinds = draft.column("kind")[rows]
    order = np.argsort(kinds, kind="stable")
    sizes = np.bincount(kinds, minlength=len(draft.source.kinds))
    ends_of = np.cumsum(sizes)
    found: dict[str, float | None] = {}
    for code in np.argsort(-sizes, kind="stable")[:KINDS].tolist():
        if sizes[code]:
            of_kind = order[ends_of[code] - sizes[code] : ends_of[code]]
            found[draft.source.kinds[code]] = half_life_days(lived[of_kind], has_died[of_kind])
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


def _distance(first: set[str], second: set[str]) -> float:
    """Return the Jaccard distance of two sets; 0 if both are empty."""
    union = first | second
    return 1.0 - len(first & second) / len(union) if union else 0.0
