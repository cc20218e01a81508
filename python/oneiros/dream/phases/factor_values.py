"""Factor values of all rows of a draft, computed by the kernels that searches use.

Rules that remove memories count ages from the rails' ``activity_times`` if these are later:
see :meth:`Draft.activity`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.model.fields import COLUMN_DEFAULTS
from oneiros.scoring.factors import Retention
from oneiros.scoring.profile import Profile
from oneiros.scoring.row_scores import blocks, columns_read, values_of_registers

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.dream.draft import Column, Draft
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor

    Values = npt.NDArray[np.float64]

__all__ = ["compiled_factors", "product", "retained", "row_values"]

_AGED_BY: Final = ("created_at", "last_accessed_at")


def product(draft: Draft, *factors: type[Factor]) -> Values:
    """Return the product of the profile's factors of these classes for each row, shape (n,)."""
    compiled = compiled_factors(tuple(map(draft.factor, factors)), draft.source.kinds)
    return row_values(draft, compiled, compiled.score, _active_column(draft))


def retained(draft: Draft) -> Values:
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
) -> Values:
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
