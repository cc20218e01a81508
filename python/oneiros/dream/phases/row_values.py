"""Values of all rows of a draft: factors, by the kernels that searches use, and staleness.

Rules that remove memories count ages from the rails' ``activity_times`` if these are later:
see :meth:`Draft.activity`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from oneiros._lazy import np
from oneiros.model.fields import COLUMN_DEFAULTS, table_of
from oneiros.scoring.factors import Retention
from oneiros.scoring.kernels import reverie as kernels
from oneiros.scoring.profile import Profile
from oneiros.scoring.row_scores import blocks, columns_read, values_of_registers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from oneiros.dream.draft import Column, Draft, Mask
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor

    Reals = npt.NDArray[np.float64]

__all__ = [
    "by_kind",
    "compiled_factors",
    "never_accessed",
    "product",
    "retained",
    "row_values",
    "staleness",
]


_AGED_BY: Final = ("created_at", "last_accessed_at")


def product(draft: Draft, *factors: type[Factor]) -> Reals:
    """Return the product of the profile's factors of these classes for each row, shape (n,)."""
    compiled = compiled_factors(tuple(map(draft.factor, factors)), draft.source.kinds)
    return row_values(draft, compiled, compiled.score, _active_column(draft))


def retained(draft: Draft) -> Reals:
    """Return the retention R of each row, by the profile's factor, shape (n,).

    Source: docs/systems/cognitive.md C1, C2.
    """
    compiled = compiled_factors((draft.factor(Retention),), draft.source.kinds)
    return row_values(draft, compiled, compiled.retention, _active_column(draft))


def _active_column(draft: Draft) -> Callable[[str], Column]:
    return lambda name: draft.activity(name) if name in _AGED_BY else draft.column(name)


@lru_cache(maxsize=16)
def compiled_factors(factors: tuple[Factor, ...], kinds: tuple[str, ...]) -> CompiledProfile:
    """Return a compiled profile of these factors only. Equal arguments share one.

    Args:
        factors: the factors, in order.
        kinds: the words of the codes of the column ``kind``.
    """
    return Profile(name="dream", factors=factors).compile(kinds)


def row_values(
    draft: Draft, compiled: CompiledProfile, register: int, column: Callable[[str], Column]
) -> Reals:
    """Return the value of a register for each row, shape (n,).

    Args:
        draft: the rows and the clock.
        compiled: the factors.
        register: a register of its program.
        column: returns a column of the draft by name.
    """
    names = [name for name in columns_read(compiled) if name in COLUMN_DEFAULTS]
    columns = {name: column(name) for name in names}
    found = np.empty(len(draft), np.float64)
    for start, end in blocks(len(draft)):
        values_of_registers(
            compiled,
            [register],
            {name: values[start:end] for name, values in columns.items()},
            now=draft.now,
            out=[found[start:end]],
            threads=1,
        )
    return found


class _Limited(Protocol):
    @property
    def limits_days(self) -> Mapping[str, float]: ...
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
    stale: Reals = kernels.staleness(draft.staleness_days(now), limits)
    return stale
