"""Which candidates stay, whatever their score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from oneiros.ranking.declaration import require_number, settle
from oneiros.ranking.factor import KeepRule
from oneiros.ranking.program import ProgramBuilder

__all__ = ["KEEP_RULES", "FeedbackAbove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackAbove:
    """Leave out what was judged unhelpful too often.

    Source: docs/systems/omega.md O12; published: a feedback of -3 or below leaves all results.
    """

    name: ClassVar[str] = "feedback"

    leaves_at: float = -3.0
    """The greatest feedback that leaves, at most 0."""

    def __post_init__(self) -> None:
        leaves_at = require_number("leaves_at", self.leaves_at, low=-32_768.0, high=0.0)
        settle(self, "leaves_at", leaves_at)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for what stays, 0 for what leaves."""
        return program.call("greater", program.column("feedback"), program.constant(self.leaves_at))


KEEP_RULES: tuple[type[KeepRule], ...] = (FeedbackAbove,)
"""What TOML knows by name."""
