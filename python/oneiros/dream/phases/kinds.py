"""Staleness of rows by kind, and rows that were never used. Source: docs/systems/reverie.md R13."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from oneiros._lazy import np
from oneiros.model.fields import table_of
from oneiros.scoring.kernels import reverie

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
    """Return a table's number for the kind of each row, shape (n,).

    Args:
        draft: the rows.
        table: numbers by kind, without aliases; :func:`oneiros.model.fields.table_of` adds them.
        otherwise: the number of kinds that are not in the table.
    """
    numbers = np.array([table.get(kind, otherwise) for kind in draft.source.kinds] or [otherwise])
    found: Reals = numbers[draft.column("kind")]
    return found


def never_accessed(draft: Draft) -> Mask:
    """Return the mask of rows that were never recalled or restored.

    Restoring sets the time of the last access, but does not raise the count.
    """
    never: Mask = (draft.column("access_count") == 0) & np.isnan(draft.column("last_accessed_at"))
    return never


def staleness(draft: Draft, phase: _Limited, now: float | None = None) -> Reals:
    """Return the staleness of each row, shape (n,): 1 at the limit of its kind.

    Args:
        draft: the rows.
        phase: sets the limits in days by kind.
        now: reference time, seconds; None: the cycle's clock.
    """
    limits = by_kind(draft, table_of(phase, "limits_days"), phase.other_limit_days)
    stale: Reals = reverie.staleness(draft.staleness_days(now), limits)
    return stale
