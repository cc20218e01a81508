"""The factors of the default profile: recency and trust. Source: docs/systems/house.md."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from typing import ClassVar

from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import QUESTION_FEEDBACK, ProgramBuilder
from oneiros.scoring.tables import POSITIVE, SHARE, WEIGHT, Range

__all__ = ["HalfLifeRecency", "QuestionFeedback", "Trust"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLifeRecency(KernelFactor):
    """Lower the score slightly with age, by a half-life.

    ``recency = max(floor, 2 ** (-age_days / half_life_days))``, age from the later of creation and
    update, and from the last access unless ``ignores_use``; 1 for pinned memories, and for core ones
    unless ``ignores_use``. ``factor = 1 - damping + damping *
    recency``; ``retention_score`` uses the recency without damping.

    Source: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "half_life_decay"
    ranges: ClassVar[Mapping[str, Range]] = {
        "half_life_days": POSITIVE,
        "floor": SHARE,
        "damping": SHARE,
    }
    flags: ClassVar[tuple[str, ...]] = ("ignores_use",)

    half_life_days: float = 90.0
    """Days, > 0."""

    floor: float = 0.5
    """Lower bound of the recency, 0 to 1."""

    damping: float = 0.15
    """Weight of the recency, 0 (no effect) to 1 (full effect)."""

    ignores_use: bool | None = None
    """True: being found by searches makes no memory younger; nor does being core, which searches make
    it. None: both do."""

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the recency."""
        times = ["created_at", "updated_at"]
        if not self.ignores_use:
            times.append("last_accessed_at")
        # Each falls back to the others, so that all are NaN or none is.
        turns = [times[n:] + times[:n] for n in range(len(times))]
        ages = [program.age(*turn) for turn in turns]
        least = reduce(partial(program.call, "minimum"), ages)
        recency = program.call(self.kernel, least, **self.parameters())
        is_exempt = program.column("pinned")
        if not self.ignores_use:
            is_exempt = program.call("maximum", is_exempt, program.column("core"))
        return program.call("select", is_exempt, program.constant(1.0), recency)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFeedback(KernelFactor):
    """Multiply by a factor of the verdicts that were given for questions like this one.

    Each verdict, 1 for "helpful" and -1 for "unhelpful", counts ``max(0, (likeness - least) / (1 -
    least))``, the likeness being the cosine of the two questions. Of their sum f the factor is ``1 +
    gain * min(f, most)`` above 0, ``max(floor, 1 + loss * f)`` below, 1 at 0. Signal:
    ``question_feedback``, the sum.

    Source: docs/systems/house.md H19.
    """

    name: ClassVar[str] = "question_feedback"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "feedback_factor"
    ranges: ClassVar[Mapping[str, Range]] = {
        **dict.fromkeys(("gain", "most", "loss", "floor"), WEIGHT),
        "least": SHARE,
    }
    others: ClassVar[tuple[str, ...]] = ("least",)

    gain: float = 0.15
    """Gain per verdict above 0, 0 to 1e6."""

    most: float = 3.0
    """Largest sum that counts, 0 to 1e6."""

    loss: float = 0.3
    """Loss per verdict below 0, 0 to 1e6."""

    floor: float = 0.2
    """Lower bound of the factor, 0 to 1e6."""

    least: float = 0.8
    """Likeness from which verdicts count, 0 to 1."""

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (program.signal(QUESTION_FEEDBACK, 0.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Multiply by the memory's trust, 0 to 1; 1 for a memory without one.

    ``retention_score`` does not read it: what is doubted is not forgotten sooner.

    Source: docs/systems/house.md H11.
    """

    name: ClassVar[str] = "trust"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Add the factor to ``program`` and return the register of its value."""
        return program.column("trust")
