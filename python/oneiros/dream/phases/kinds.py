"""How stale rows are by their kind, and which nobody used. Source: docs/systems/reverie.md R13."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from oneiros._lazy import np
from oneiros.model.fields import table_of
from oneiros.scoring.strict import strict_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from oneiros.dream.draft import Draft, Mask
    from oneiros.scoring.tables import Table

    Reals = npt.NDArray[np.float64]

__all__ = ["by_kind", "never_accessed", "staleness"]


class _Limited(Protocol):
    @property
    def limits_days(self) -> Table: ...
    @property
    def other_limit_days(self) -> float: ...


def by_kind(draft: Draft, table: Mapping[str, float], otherwise: float) -> Reals:
    """Return a table's number for the kind of every row, shape (n,).

    Args:
        draft: whose rows.
        table: numbers by kind, read literally; :func:`oneiros.model.fields.table_of` adds other words.
        otherwise: of a kind that it does not list.
    """
    numbers = np.array([table.get(kind, otherwise) for kind in draft.source.kinds] or [otherwise])
    found: Reals = numbers[draft.column("kind")]
    return found


def never_accessed(draft: Draft) -> Mask:
    """Return which rows nobody recalled, nor restored, which counts no access and dates one."""
    never: Mask = (draft.column("access_count") == 0) & np.isnan(draft.column("last_accessed_at"))
    return never


def staleness(draft: Draft, phase: _Limited, now: float | None = None) -> Reals:
    """Return how stale every row is, shape (n,): 1 at the limit of its kind.

    Args:
        draft: whose rows.
        phase: the limits.
        now: as of then, seconds; None: the cycle's clock.
    """
    limits = by_kind(draft, table_of(phase, "limits_days"), phase.other_limit_days)
    return strict_values("staleness", {}, idle_days=draft.staleness_days(now), limit_days=limits)
