"""When a staged memory is worth keeping: promotion by score."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import require_number, settle

__all__ = ["Promotion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """Promote what scores ``threshold`` or more: from staged to consolidated.

    Source: docs/systems/ciar.md A4; published threshold 0.6.
    """

    threshold: float = 0.6
    """The least score that is promoted, above 0 and at most 1."""

    def __post_init__(self) -> None:
        threshold = require_number("threshold", self.threshold, low=0.0, high=1.0, above_low=True)
        settle(self, "threshold", threshold)
