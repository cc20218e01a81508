"""Rules for memories that are added: their initial stability and their links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import np
from oneiros.model.validation import require_int, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.tables import POSITIVE_SHARE, SHARE, WEIGHT

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["IngestAssociation", "InitialStability"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialStability:
    """Initial stability of a memory added without one: ``base + gain * importance``.

    Source: docs/systems/cognitive.md C3.
    """

    base: float = 0.1
    """Stability at importance 0, 0 to 1e6."""

    gain: float = 0.3
    """Stability added at importance 1, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle_numbers(self, base=WEIGHT, gain=WEIGHT)

    def of(self, importance: float) -> float:
        """Return the stability of a new memory; ``importance`` is in [0, 1]."""
        return self.base + self.gain * importance


_COSINE = (-1.0, 1.0, False)
_MOST_ROWS = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestAssociation:
    """Link similar memories added together; raise the stability of similar existing ones.

    ``weight = min(most_weight, base + slope * (cosine - least_cosine))``.

    Source: docs/systems/cognitive.md C17, C18.
    """

    least_cosine: float = 0.4
    """Least cosine of a linked pair, -1 to 1."""

    base: float = 0.2
    """Weight of a link at ``least_cosine``, above 0, at most 1."""

    slope: float = 0.5
    """Weight added per 1 of cosine, 0 to 1."""

    most_weight: float = 0.5
    """The greatest weight, above 0, at most 1."""

    together: int = 64
    """Number of consecutive memories of a session that are compared, 1 to 1,024."""

    above_cosine: float = 0.75
    """Memories with a higher cosine to a new memory gain stability, -1 to 1."""

    raised_by: float = 0.05
    """Stability gained, 0 to 1; it ends at a stability of 1."""

    most_records: int = 1_000
    """Largest batch that is linked without an explicit request, >= 0."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            least_cosine=_COSINE,
            base=POSITIVE_SHARE,
            slope=SHARE,
            most_weight=POSITIVE_SHARE,
            above_cosine=_COSINE,
            raised_by=SHARE,
        )
        require_int("together", self.together, low=1, high=_MOST_ROWS)
        require_int("most_records", self.most_records, low=0, high=2**31 - 1)

    def weights(self, cosines: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the weight of each pair's link; 0 for no link. C17."""
        weights = self.base + self.slope * (cosines - self.least_cosine)
        return np.where(cosines >= self.least_cosine, np.minimum(self.most_weight, weights), 0.0)

    def raised(self, stability: float, times: int) -> float:
        """Return the stability of a memory near to ``times`` new ones, never a lower one. C18."""
        return max(stability, min(1.0, stability + times * self.raised_by))
