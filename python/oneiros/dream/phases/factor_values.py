"""The factors of every memory of a draft, for rules that take away, by the kernels of searches.

Ages count from the rails' ``activity_times`` where these are later: :meth:`Draft.activity`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.model.fields import COLUMN_DEFAULTS
from oneiros.scoring.factors import Retention
from oneiros.scoring.profile import Profile
from oneiros.scoring.row_scores import blocks, columns_read, values_of_registers

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.draft import Draft
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor

    Values = npt.NDArray[np.float64]

__all__ = ["product", "retained"]

_AGED_BY: Final = ("created_at", "last_accessed_at")


def product(draft: Draft, *factors: type[Factor]) -> Values:
    """Return the product of factors, those of the profile, of every row, shape (n,)."""
    compiled = _compiled(draft, *factors)
    return _values(draft, compiled, compiled.score)


def retained(draft: Draft) -> Values:
    """Return R, that of the profile's factor, of every row, shape (n,).

    Source: docs/systems/cognitive.md C1, C2.
    """
    compiled = _compiled(draft, Retention)
    return _values(draft, compiled, compiled.retention)


def _compiled(draft: Draft, *kinds: type[Factor]) -> CompiledProfile:
    factors = tuple(map(draft.factor, kinds))
    return Profile(name="dream", factors=factors).compile(draft.source.kinds)


def _values(draft: Draft, compiled: CompiledProfile, register: int) -> Values:
    names = [name for name in columns_read(compiled) if name in COLUMN_DEFAULTS]
    columns = {
        name: draft.activity(name) if name in _AGED_BY else draft.column(name) for name in names
    }
    found = np.empty(len(draft), np.float64)
    for start, end in blocks(len(draft)):
        values_of_registers(
            compiled,
            [register],
            {name: column[start:end] for name, column in columns.items()},
            now=draft.now,
            out=[found[start:end]],
            threads=1,
        )
    return found
