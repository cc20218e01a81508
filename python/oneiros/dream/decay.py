"""How memories fade under a profile, kind by kind, and where those of the store stand.

Source: docs/systems/reverie.md R19 (ours).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.dream.distributions import AGE_BOUNDS
from oneiros.dream.report import DecayCurve, Standing
from oneiros.fields import COLUMN_DEFAULTS
from oneiros.numpy_on_use import np
from oneiros.ranking.factor import is_function
from oneiros.ranking.profile import Profile
from oneiros.ranking.row_scores import blocks, columns_read, score_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.draft import Draft
    from oneiros.ranking.compiled import CompiledProfile

    Reals = npt.NDArray[np.float64]

__all__ = ["CURVE_DAYS", "MOST_KINDS", "decay_curves"]

CURVE_DAYS: Final = (
    *(0.0, 1.0, 2.0, 4.0, 7.0, 14.0, 21.0, 30.0, 45.0, 60.0, 90.0, 120.0),
    *(150.0, 180.0, 240.0, 300.0, 365.0, 545.0, 730.0, 1095.0),
)
"""The ages at which a curve is told, days."""
MOST_KINDS: Final = 6
"""Kinds that have a curve: those with the most memories."""

_DAY: Final = 86_400.0


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
    values = _values(draft, compiled)[rows]
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


def _values(draft: Draft, compiled: CompiledProfile) -> Reals:
    """What the factors make of every row."""
    names = [name for name in columns_read(compiled) if name in COLUMN_DEFAULTS]
    columns = {name: draft.column(name) for name in names}
    found = np.empty(len(draft))
    for start, end in blocks(len(draft)):
        held = {name: column[start:end] for name, column in columns.items()}
        score_rows(compiled, held, now=draft.now, out=found[start:end], threads=1)
    return found


def _standing(idle: Reals, values: Reals) -> tuple[Standing, ...]:
    kept = np.isfinite(idle) & np.isfinite(values)
    idle, values = idle[kept], values[kept]
    bins = np.searchsorted(AGE_BOUNDS, idle, side="right") - 1
    counts = np.bincount(bins, minlength=len(AGE_BOUNDS))
    held = np.maximum(counts, 1)
    days = _short(np.bincount(bins, idle, len(AGE_BOUNDS)) / held)
    means = _short(np.bincount(bins, values, len(AGE_BOUNDS)) / held)
    return tuple(
        Standing(days=day, value=mean, memories=count)
        for day, mean, count in zip(days, means, counts.tolist(), strict=True)
        if count
    )


def _short(values: Reals) -> list[float]:
    """Six digits: a report is kept for good, and nobody reads more off a curve."""
    return [float(f"{value:.6g}") for value in values.tolist()]
