"""How long an answer is given again. Source: docs/systems/omega.md O30."""

from __future__ import annotations

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_int, settle_numbers

__all__ = ["ResponseCache"]

_LONGEST = (0.0, 1e9, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCache:
    """The same question is given the same answer for a while, until a memory is written.

    Source: docs/systems/omega.md O30.
    """

    most: int = 128
    """Answers that are kept, those asked for last, 1 to 100,000."""

    seconds: float = 60.0
    """How long, by the engine's clock, 0 to 1e9."""

    confident_seconds: float = 300.0
    """How long an answer of high confidence is."""

    above_confidence: float = 0.7
    """Confidence is high above this, 0 to 1; a profile without a retry tells of none (O28)."""

    def __post_init__(self) -> None:
        require_int("most", self.most, low=1, high=100_000)
        settle_numbers(
            self,
            seconds=_LONGEST,
            confident_seconds=_LONGEST,
            above_confidence=(0.0, 1.0, False),
        )

    def kept_for(self, confidence: float | None) -> float:
        """Return for how many seconds an answer of this confidence is given again."""
        is_sure = confidence is not None and confidence > self.above_confidence
        return self.confident_seconds if is_sure else self.seconds
