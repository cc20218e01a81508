"""Filters that remove candidates regardless of their score."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KeepRule
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import SHARE

__all__ = ["KEEP_RULES", "FeedbackAbove", "RelevanceGate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackAbove:
    """Remove memories that were rated unhelpful too often.

    Source: docs/systems/omega.md O12; published: feedback of -3 or below is removed.
    """

    name: ClassVar[str] = "feedback"

    leaves_at: float = -3.0
    """The greatest feedback that is removed, -32,768 to 0."""

    def __post_init__(self) -> None:
        leaves_at = require_number("leaves_at", self.leaves_at, low=-32_768.0, high=0.0)
        settle(self, "leaves_at", leaves_at)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for a memory that passes, 0 for others."""
        return program.call("greater", program.column("feedback"), program.constant(self.leaves_at))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceGate:
    """Remove memories with too few of the query's words and too low a cosine.

    Signals: ``lexical_share``, the share of the query's words found in the text, and
    ``query_words``, their number. Without these signals, if the query has no words, every memory
    passes.

    Source: docs/systems/mnemosyne.md M8.
    """

    name: ClassVar[str] = "relevance_gate"
    reads_texts: ClassVar[bool] = True

    short: float = 0.15
    """Least share for queries of up to 2 words, 0 to 1."""

    middle: float = 0.5
    """Least share for queries of 3 words, 0 to 1."""

    long: float = 0.3
    """Least share for longer queries, 0 to 1."""

    cosine: float = 0.65
    """Memories with at least this cosine pass whatever their words, -1 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, short=SHARE, middle=SHARE, long=SHARE, cosine=(-1.0, 1.0, False))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for a memory that passes, 0 for others."""
        words = program.signal("query_words", 0.0)
        short, middle, long = map(program.constant, (self.short, self.middle, self.long))
        is_short, is_middle = (
            program.call("less_equal", words, program.constant(most)) for most in (2.0, 3.0)
        )
        needed = program.call(
            "select", is_short, short, program.call("select", is_middle, middle, long)
        )
        shared = program.call("greater_equal", program.signal("lexical_share", 1.0), needed)
        near = program.call(
            "greater_equal", program.signal("score:vector", 0.0), program.constant(self.cosine)
        )
        return program.call("maximum", shared, near)


KEEP_RULES: tuple[type[KeepRule], ...] = (FeedbackAbove, RelevanceGate)
"""Filters that TOML can name."""
