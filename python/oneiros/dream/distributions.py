"""Distributions of live memories before and after a cycle, and decay curves by kind."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros._lazy import np
from oneiros.dream.report import DecayCurve, Distribution, KindAgeGroup
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS
from oneiros.scoring.factor import is_function
from oneiros.scoring.profile import Profile
from oneiros.scoring.row_scores import blocks, columns_read, score_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.dream.draft import Draft
    from oneiros.scoring.compiled import CompiledProfile

__all__ = ["CURVE_DAYS", "KINDS", "MOST_KINDS", "OTHER_KINDS", "decay_curves", "distributions"]


if TYPE_CHECKING:
    Column = npt.NDArray[Any]
    Counts = npt.NDArray[np.int64]


STRENGTH_BOUNDS: Final = tuple(step / 10 for step in range(10))
STABILITY_BOUNDS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
AGE_BOUNDS: Final = (0.0, 1.0, 7.0, 30.0, 90.0, 180.0, 365.0, 730.0)
"""Days."""
KINDS: Final = 30
"""Kinds counted each for itself, the most frequent ones; the others are one place."""
OTHER_KINDS: Final = "(others)"

_DAY: Final = 86_400.0
_NOTE: Final = "note"  # a memory's kind where none is given, docs/systems/fields.md


class _Side(NamedTuple):
    """The live memories before the cycle, or after it."""

    column: Callable[[str], Column]
    """Values of all rows."""
    live: Column
    """Which of them count; rising numbers of rows, or one truth value a row."""
    is_after: bool


def distributions(draft: Draft) -> tuple[Distribution, ...]:
    """Count the live memories by strength, stability, age, kind, status, tier and depth.

    Of numbers the places are bins, each from its bound up to the next, the last one open; a value on
    a bound belongs to the bin that it begins. The age is that since creation, in days. What the
    cycle adds counts after it. Of kinds the 30 most frequent are counted each for itself, the others
    together as "(others)".

    Args:
        draft: when all phases ran.
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
    found += [_coded(draft, name, ENUMS[name], sides) for name in ("status", "tier")]
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
    """Return the values that count, in the column's dtype; an age that lies ahead is 0."""
    field = "created_at" if name == "age_days" else name
    values = _live(side, field)
    if side.is_after and draft.added:
        default = draft.now if field == "created_at" else COLUMN_DEFAULTS[field]
        added = [_number(one.record.get(field), default) for one in draft.added]
        values = np.concatenate([values, np.array(added, values.dtype)])
    return values if field == name else np.maximum((draft.now - values) / _DAY, 0.0)


def _live(side: _Side, field: str) -> Column:
    values: Column = side.column(field)[: len(side.live)] if side.is_after else side.column(field)
    return values[side.live]


def _counts(values: Column, bounds: Sequence[float]) -> Counts:
    """Count the values from each bound up to the next; as many as there are, but for NaN.

    A bound is rounded as the values are: a float32 that was 0.7 lies in the bin that 0.7 begins.
    """
    edges = np.array(bounds, values.dtype)
    at_least = [int(np.count_nonzero(values >= edge)) for edge in edges] + [0]
    return np.array([low - high for low, high in pairwise(at_least)], np.int64)


def _coded(
    draft: Draft, name: str, words: Sequence[str], sides: Sequence[_Side], *, first: int = 0
) -> Distribution:
    """Count small codes.

    Args:
        draft: what it is made of.
        name: of the column.
        words: by code.
        sides: before and after.
        first: the code of the first word.
    """
    counted = []
    for side in sides:
        counts = np.bincount(_live(side, name), minlength=first + len(words))[first:]
        for one in draft.added if side.is_after else ():
            given = one.record.get(name)
            default = words[int(COLUMN_DEFAULTS[name]) - first]
            counts[words.index(default if given is None else str(given))] += 1
        counted.append(tuple(counts.tolist()))
    return Distribution(name=name, places=tuple(words), before=counted[0], after=counted[1])


def _kinds(draft: Draft, sides: Sequence[_Side]) -> Distribution:
    words = draft.source.kinds
    counted = []
    for side in sides:
        codes = np.bincount(_live(side, "kind"), minlength=len(words)).tolist()
        counts = {words[code]: number for code, number in enumerate(codes) if number}
        for one in draft.added if side.is_after else ():
            kind = str(one.record.get("kind") or _NOTE)
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


if TYPE_CHECKING:
    Reals = npt.NDArray[np.float64]


CURVE_DAYS: Final = (
    *(0.0, 1.0, 2.0, 4.0, 7.0, 14.0, 21.0, 30.0, 45.0, 60.0, 90.0, 120.0),
    *(150.0, 180.0, 240.0, 300.0, 365.0, 545.0, 730.0, 1095.0),
)
"""The ages at which a curve is told, days."""
MOST_KINDS: Final = 6
"""Kinds that have a curve: those with the most memories."""


def decay_curves(draft: Draft, profile: Profile) -> tuple[DecayCurve, ...]:
    """Return the curves of the six kinds with the most live memories, the most first.

    A value is what the profile's factors make of a relevance of 1; those that are functions of the
    user's own are left out. A curve is that of a memory of the kind which nobody ever recalled and
    which differs from others in nothing (docs/systems/fields.md), by the days since it was added.
    Where memories stand is the mean of their own values, by the days since they were last accessed
    (never accessed: created), in the bins of the distribution of ages. A value that is not finite
    counts nowhere, and a curve that has one is not told.

    Args:
        draft: when all phases ran; what it adds is left out.
        profile: whose factors.
    """
    factors = tuple(one for one in profile.factors if not is_function(one))
    compiled = Profile(name="dream", factors=factors).compile(draft.source.kinds)
    rows = np.flatnonzero(draft.live)
    kinds = draft.column("kind")[rows]
    sizes = np.bincount(kinds, minlength=len(draft.source.kinds))
    chosen = [code for code in np.argsort(-sizes, kind="stable")[:MOST_KINDS] if sizes[code]]
    values = _decayed_values(draft, compiled)[rows]
    idle = draft.idle_days()[rows]
    found = []
    for code in chosen:
        curve = _curve(draft, compiled, code)
        if np.isfinite(curve).all():
            mine = kinds == code
            found.append(
                DecayCurve(
                    kind=draft.source.kinds[code],
                    days=CURVE_DAYS,
                    values=tuple(_short(curve)),
                    standing=_standing(idle[mine], values[mine]),
                )
            )
    return tuple(found)


def _curve(draft: Draft, compiled: CompiledProfile, code: int) -> Reals:
    """What the factors make of a memory of a kind, added and left alone since, by its age."""
    added = draft.now - np.array(CURVE_DAYS) * _DAY
    kind = np.full(len(added), code, draft.column("kind").dtype)
    columns = {"kind": kind, "created_at": added, "updated_at": added}
    out = np.empty(len(added))
    score_rows(compiled, columns, now=draft.now, out=out, threads=1)
    return out


def _decayed_values(draft: Draft, compiled: CompiledProfile) -> Reals:
    """What the factors make of every row."""
    names = [name for name in columns_read(compiled) if name in COLUMN_DEFAULTS]
    columns = {name: draft.column(name) for name in names}
    found = np.empty(len(draft))
    for start, end in blocks(len(draft)):
        held = {name: column[start:end] for name, column in columns.items()}
        score_rows(compiled, held, now=draft.now, out=found[start:end], threads=1)
    return found


def _standing(idle: Reals, values: Reals) -> tuple[KindAgeGroup, ...]:
    kept = np.isfinite(idle) & np.isfinite(values)
    idle, values = idle[kept], values[kept]
    bins = np.searchsorted(AGE_BOUNDS, idle, side="right") - 1
    counts = np.bincount(bins, minlength=len(AGE_BOUNDS))
    held = np.maximum(counts, 1)
    days = _short(np.bincount(bins, idle, len(AGE_BOUNDS)) / held)
    means = _short(np.bincount(bins, values, len(AGE_BOUNDS)) / held)
    return tuple(
        KindAgeGroup(days=day, value=mean, memories=count)
        for day, mean, count in zip(days, means, counts.tolist(), strict=True)
        if count
    )


def _short(values: Reals) -> list[float]:
    """Six digits: a report is kept for good, and nobody reads more off a curve."""
    return [float(f"{value:.6g}") for value in values.tolist()]
