"""The factors of OMEGA that need no query. Source: docs/systems/omega.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from oneiros.model.fields import kinds_of, table_of
from oneiros.model.validation import LARGEST_WEIGHT, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor, Operation
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import (
    POSITIVE,
    SHARE,
    WEIGHT,
    Range,
    Table,
    require_table,
    require_words,
)

__all__ = [
    "KIND_RATES",
    "KIND_WEIGHTS",
    "Consolidation",
    "Feedback",
    "FlooredDecay",
    "Freshness",
    "KindWeight",
    "Priority",
    "TieBreak",
]


KIND_WEIGHTS: Final = Table(  # O11
    {
        "constraint": 3.0,
        "reminder": 3.0,
        "checkpoint": 2.5,
        "decision": 2.0,
        "lesson_learned": 2.0,
        "error_pattern": 2.0,
        "user_preference": 2.0,
        "contradiction_detected": 2.0,
        "skill_template": 2.0,
        "advisor_insight": 1.5,
        "public_statement": 1.5,
        "outcome_resolution": 1.5,
        "task_completion": 1.4,
        "sota_research": 1.4,
        "reflexion": 1.3,
        "outcome_evaluation": 1.3,
        "self_reflection": 1.3,
        "research_report": 1.3,
        "benchmark_update": 1.3,
        "session_summary": 1.2,
        "preference_generated": 1.1,
        "advisor_action_outcome": 1.1,
        "sota_scan": 1.1,
        "file_conflict": 1.0,
        "entity_profile_update": 1.0,
        "merge_claim": 0.8,
        "merge_release": 0.8,
        "file_claimed": 0.7,
        "file_released": 0.7,
        "branch_claimed": 0.7,
        "branch_released": 0.7,
        "session_respawn": 0.5,
        "test": 0.4,
        "coordination_snapshot": 0.2,
        "code_chunk": 0.1,
        "file_summary": 0.05,
    }
)

KIND_RATES: Final = Table(  # O14, per day
    {
        "constraint": 0.0,
        "user_preference": 0.0,
        "error_pattern": 0.0,
        "reminder": 0.0,
        "lesson_learned": 0.005,
        "skill_template": 0.01,
        "advisor_insight": 0.015,
        "decision": 0.015,
        "task_completion": 0.015,
        "session_summary": 0.05,
        "coordination_snapshot": 0.10,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBreak(KernelFactor):
    """Break ties within ``window`` of the best relevance by priority, accesses and quality.

    Adds ``priority_gain * (priority - 1) / 4 + access_gain * min(access_count, most_accesses) /
    most_accesses + quality_gain * min(consolidation_quality, most_quality) / most_quality``.

    Source: docs/systems/omega.md O32 (the last term is ours).
    """

    name: ClassVar[str] = "tie_break"
    is_lifecycle: ClassVar[bool] = True
    operation: ClassVar[Operation] = "add"
    kernel: ClassVar[str] = "tie_break"
    columns: ClassVar[tuple[str, ...]] = ("priority", "access_count", "consolidation_quality")
    ranges: ClassVar[Mapping[str, Range]] = {
        "window": WEIGHT,
        "priority_gain": WEIGHT,
        "access_gain": WEIGHT,
        "most_accesses": POSITIVE,
        "quality_gain": WEIGHT,
        "most_quality": POSITIVE,
    }

    window: float = 0.01
    """Distance from the best relevance, 0 to 1e6, like all gains."""

    priority_gain: float = 0.005
    access_gain: float = 0.0025
    most_accesses: float = 3.0
    """Accesses at which the gain is full, > 0."""

    quality_gain: float = 0.0025
    most_quality: float = 3.0
    """Quality at which the gain is full, > 0."""

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        relevances = (program.relevance, program.best_relevance)
        return (*relevances, *map(program.column, self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness(KernelFactor):
    """Add ``gain * exp(-age_days / tau_days)`` for new memories, age from ``created_at``.

    Adds 0 without a timestamp. Source: docs/systems/omega.md O32 (the form is ours).
    """

    name: ClassVar[str] = "freshness"
    is_lifecycle: ClassVar[bool] = True
    operation: ClassVar[Operation] = "add"
    kernel: ClassVar[str] = "freshness"
    times: ClassVar[tuple[str, ...]] = ("created_at",)
    ranges: ClassVar[Mapping[str, Range]] = {"gain": WEIGHT, "tau_days": POSITIVE}

    gain: float = 0.05
    """Gain at age 0, 0 to 1e6."""

    tau_days: float = 30.0
    """Time constant of the gain, days, > 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWeight:
    """Multiply by a weight for the memory's kind.

    Source: docs/systems/omega.md O11, section 7 of the source's inventory.
    """

    name: ClassVar[str] = "kind"
    is_lifecycle: ClassVar[bool] = False

    table: Mapping[str, float] = KIND_WEIGHTS
    """Weights by kind, as any mapping, each 0 to 1e6."""

    otherwise: float = 1.0
    """Weight of unlisted kinds, 0 to 1e6."""

    def __post_init__(self) -> None:
        table = require_table("table", self.table, low=0.0, high=LARGEST_WEIGHT)
        settle(self, "table", table)
        settle_numbers(self, otherwise=WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        return program.by_kind(self.table, self.otherwise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback(KernelFactor):
    """Multiply by a factor of the feedback on a memory.

    ``1 + gain * min(feedback, most)`` above 0, ``max(floor, 1 + loss * feedback)`` below, 1 at 0.

    Source: docs/systems/omega.md O12, section 8 of the source's inventory. The removal of memories
    with a feedback of -3 is :class:`oneiros.scoring.selection.FeedbackAbove`.
    """

    name: ClassVar[str] = "feedback"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "feedback_factor"
    columns: ClassVar[tuple[str, ...]] = ("feedback",)
    ranges: ClassVar[Mapping[str, Range]] = {
        **dict.fromkeys(("gain", "most", "loss", "floor"), WEIGHT),
        "damping": SHARE,
    }
    flags: ClassVar[tuple[str, ...]] = ("ignores_questions",)

    gain: float = 0.15
    """Gain per point above 0, 0 to 1e6."""

    most: float = 10.0
    """Largest feedback that counts, 0 to 1e6."""

    loss: float = 0.2
    """Loss per point below 0, 0 to 1e6."""

    floor: float = 0.2
    """Lower bound of the factor, 0 to 1e6."""

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""

    ignores_questions: bool | None = None
    """True: bad verdicts that were given for a question do not count (docs/systems/house.md H19).
    None: they do."""

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (program.feedback(ignores_questions=self.ignores_questions),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority(KernelFactor):
    """Multiply by ``base + step * priority``, the priority clamped to 1 to 5.

    Source: docs/systems/omega.md O13, section 9 of the source's inventory.
    """

    name: ClassVar[str] = "priority"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "priority_factor"
    columns: ClassVar[tuple[str, ...]] = ("priority",)
    ranges: ClassVar[Mapping[str, Range]] = {"base": WEIGHT, "step": WEIGHT, "damping": SHARE}

    base: float = 0.7
    """Constant term, 0 to 1e6."""

    step: float = 0.08
    """Gain per step of priority, 0 to 1e6."""

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlooredDecay:
    """Exponential decay without use, at a rate per kind, down to a floor.

    ``factor = max(floor, exp(-rate * days))``, days since the last access, or since creation if
    never accessed; 1 without a timestamp. Memories of a kind in ``decisions`` decay more slowly
    with use, at ``max(least, rate * base ** min(access_count, most))``.

    Source: docs/systems/omega.md O14, section 10 of the source's inventory.
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "omega"
    is_lifecycle: ClassVar[bool] = True
    reads_aliases: ClassVar[tuple[str, ...]] = ("rates", "decisions")

    rates: Mapping[str, float] = KIND_RATES
    """Rates per day by kind, as any mapping, each 0 to 1e6."""

    otherwise: float = 0.02
    """Rate per day of unlisted kinds, 0 to 1e6."""

    floor: float = 0.35
    """Lower bound for memories that were accessed, 0 to 1."""

    floor_never_accessed: float = 0.15
    """Lower bound for memories that were never accessed, 0 to 1."""

    decisions: tuple[str, ...] = ("decision",)
    """Kinds whose rate falls with use."""

    base: float = 0.85
    """Factor on the rate of a decision per access, 0 to 1."""

    most: float = 10.0
    """Largest number of accesses that counts for a decision, 0 to 1e6."""

    least: float = 0.002
    """Lower bound of a decision's rate per day, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle(self, "rates", require_table("rates", self.rates, low=0.0, high=LARGEST_WEIGHT))
        settle(self, "decisions", require_words("decisions", self.decisions))
        settle_numbers(
            self,
            otherwise=WEIGHT,
            floor=SHARE,
            floor_never_accessed=SHARE,
            base=SHARE,
            most=WEIGHT,
            least=WEIGHT,
        )

    def emit(self, program: ProgramBuilder) -> int:
        access_count = program.column("access_count")
        floor = program.call(
            "select",
            program.call("greater", access_count, program.constant(0.0)),
            program.constant(self.floor),
            program.constant(self.floor_never_accessed),
        )
        days = program.age("last_accessed_at", "created_at", unit="days")
        return program.call("floored_decay", days, self._emit_rate(program, access_count), floor)

    def _emit_rate(self, program: ProgramBuilder, access_count: int) -> int:
        rate = program.by_kind(table_of(self, "rates"), self.otherwise)
        decisions = kinds_of(self, "decisions")
        if not set(decisions) & set(program.kinds):
            return rate
        decided = program.call(
            "decision_rate", rate, access_count, base=self.base, most=self.most, least=self.least
        )
        is_decision = program.by_kind(dict.fromkeys(decisions, 1.0), 0.0)
        return program.call("select", is_decision, decided, rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation(KernelFactor):
    """Boost consolidated memories: ``1 + gain * min(quality, most)``, 1 at or below 0.

    Source: docs/systems/omega.md O17, section 11 of the source's inventory.
    """

    name: ClassVar[str] = "consolidation"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "consolidation_boost"
    columns: ClassVar[tuple[str, ...]] = ("consolidation_quality",)
    ranges: ClassVar[Mapping[str, Range]] = {"gain": WEIGHT, "most": WEIGHT}

    gain: float = 0.1
    """Gain per unit of quality, 0 to 1e6."""

    most: float = 3.0
    """Largest quality that counts, 0 to 1e6."""
