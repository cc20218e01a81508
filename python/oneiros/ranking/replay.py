"""What a replay in the dream cycle adds to a memory's strength."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import LARGEST_WEIGHT, require_number, settle
from oneiros.ranking.strict import Real, strict_values

__all__ = ["Replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Strengthen what is replayed soon, and with many peers.

    ``delta = clamp(max_delta / (1 + max(age_hours, 0)) * ln(1 + peers), 0, max_delta)``.

    Source: docs/systems/reverie.md R11, R17.
    """

    max_delta: float = 0.1
    """The greatest gain of one replay, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle(
            self,
            "max_delta",
            require_number("max_delta", self.max_delta, low=0.0, high=LARGEST_WEIGHT),
        )

    def values(
        self, peer_count: npt.NDArray[Real], age_hours: npt.NDArray[Real]
    ) -> npt.NDArray[Real]:
        """Return the gain in strength of each memory.

        Args:
            peer_count: memories replayed with it, shape (n,), contiguous, >= 0.
            age_hours: hours since creation, the same shape and dtype; below 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``peer_count``, in [0, max_delta]; NaN where either is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or the two differ.
            ValueError: another shape, not contiguous, or a count below 0 or infinite.
        """
        return strict_values(
            "replay_delta",
            {"max_delta": self.max_delta},
            peer_count=peer_count,
            age_hours=age_hours,
        )
