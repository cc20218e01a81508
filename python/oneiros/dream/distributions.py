"""How many live memories lie where, before and after a cycle: counts for its report."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.dream.report import Distribution
from oneiros.fields import COLUMN_DEFAULTS, ENUMS
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.dream.draft import Draft

    Column = npt.NDArray[Any]
    Counts = npt.NDArray[np.int64]

__all__ = ["KINDS", "OTHER_KINDS", "distributions"]

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
    before, after = (_counts(_values(draft, name, side), bounds) for side in sides)
    return Distribution(
        name=name,
        places=tuple(f"{bound:g}" for bound in bounds),
        before=tuple(before.tolist()),
        after=tuple(after.tolist()),
    )


def _values(draft: Draft, name: str, side: _Side) -> Column:
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
