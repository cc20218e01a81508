"""Memories that a profile hides from recall, and candidates it removes, whatever their score."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import (
    require_number,
    settle,
    settle_flags,
    settle_numbers,
    settle_optional_flags,
)
from oneiros.model.validation import text as text_check
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KeepRule
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import SHARE

__all__ = ["KEEP_RULES", "FeedbackAbove", "RelevanceGate", "Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Rules for the memories that recall may return.

    Deleted memories are never returned, archived ones only if the caller passes ``status=``.

    Source: docs/systems/fields.md, "Hidden from recall".
    """

    reads_aliases: ClassVar[tuple[str, ...]] = ("expiring_kinds",)

    hide_superseded: bool = True
    """Hide memories that a newer one has replaced."""

    hide_expired: bool = True
    """Hide memories of expiring kinds whose ``valid_until`` or ``ttl`` is past at ``now``."""

    expiring_kinds: tuple[str, ...] = ()
    """The kinds that expire, including their aliases; empty: every kind. ``valid_until`` and
    ``ttl`` of other kinds are ignored. Source: docs/systems/cognitive.md C7."""

    hide_cold: bool = False
    """Hide memories outside of the hot tier. Source: docs/systems/cognitive.md C4."""

    hidden_kinds: tuple[str, ...] = ()
    """Kinds that are hidden unless the filter or scope names kinds. Source: docs/systems/omega.md
    O23."""

    def __post_init__(self) -> None:
        for field in ("hidden_kinds", "expiring_kinds"):
            settle(self, field, checked_kinds(field, getattr(self, field)))
        settle_flags(self, "hide_superseded", "hide_expired", "hide_cold")

    def record(self) -> dict[str, object]:
        """Return the fields; newer ones only if they are set, which keeps older hashes valid."""
        record: dict[str, object] = {
            "hide_superseded": self.hide_superseded,
            "hide_expired": self.hide_expired,
        }
        if self.hide_cold:
            record["hide_cold"] = True
        if self.hidden_kinds:
            record["hidden_kinds"] = list(self.hidden_kinds)
        if self.expiring_kinds:
            record["expiring_kinds"] = list(self.expiring_kinds)
        return record


def checked_kinds(field: str, kinds: object) -> tuple[str, ...]:
    """Return kinds as a tuple.

    Raises:
        TypeError, ValueError: not a list of strings of 1 to 64 bytes.
    """
    if not isinstance(kinds, (list, tuple)):
        msg = f"{field}: expected a list of kinds, got {kinds!r}"
        raise TypeError(msg)
    check = text_check(field, low=1, high=64)
    for kind in kinds:
        check(kind)
    return tuple(kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackAbove:
    """Remove memories that were rated unhelpful too often.

    Source: docs/systems/omega.md O12; published: feedback of -3 or below is removed.
    """

    name: ClassVar[str] = "feedback"

    leaves_at: float = -3.0
    """The greatest feedback that is removed, -32,768 to 0."""

    ignores_questions: bool | None = None
    """True: bad verdicts that were given for a question do not count (docs/systems/house.md H19).
    None: they do."""

    def __post_init__(self) -> None:
        leaves_at = require_number("leaves_at", self.leaves_at, low=-32_768.0, high=0.0)
        settle(self, "leaves_at", leaves_at)
        settle_optional_flags(self, "ignores_questions")

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for a memory that passes, 0 for others."""
        feedback = program.feedback(ignores_questions=self.ignores_questions)
        return program.call("greater", feedback, program.constant(self.leaves_at))


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
