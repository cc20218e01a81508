"""The factors of OMEGA that need no query: its metadata multipliers. Source: docs/systems/omega.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from oneiros.dataclasses_on_use import dataclass
from oneiros.kinds import kinds_of, table_of
from oneiros.ranking.declaration import LARGEST_WEIGHT, settle, settle_numbers
from oneiros.ranking.factors.damping import damped, damped_values
from oneiros.ranking.factors.omega_tables import KIND_RATES, KIND_WEIGHTS
from oneiros.ranking.program import ProgramBuilder
from oneiros.ranking.strict import Real, numbers_of, strict_values
from oneiros.ranking.tables import Table, require_table, require_words

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Consolidation", "Feedback", "FlooredDecay", "KindWeight", "Priority"]

WEIGHT = (0.0, LARGEST_WEIGHT, False)
SHARE = (0.0, 1.0, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWeight:
    """Weigh by kind.

    Source: docs/systems/omega.md O11, section 7 of the source's inventory.
    """

    name: ClassVar[str] = "kind"
    is_lifecycle: ClassVar[bool] = False

    table: Table = KIND_WEIGHTS
    """By kind, each 0 to 1e6; any mapping is taken."""

    otherwise: float = 1.0
    """Of a kind that the table does not list, 0 to 1e6."""

    def __post_init__(self) -> None:
        table = require_table("table", self.table, low=0.0, high=LARGEST_WEIGHT)
        settle(self, "table", table)
        settle_numbers(self, otherwise=WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.by_kind(self.table, self.otherwise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Weigh by what people said of it.

    Above 0 ``1 + gain * min(feedback, most)``, below 0 ``max(floor, 1 + loss * feedback)``, at 0 1.

    Source: docs/systems/omega.md O12, section 8 of the source's inventory. That a feedback of -3
    leaves all results is :class:`oneiros.ranking.keep_rules.FeedbackAbove`.
    """

    name: ClassVar[str] = "feedback"
    is_lifecycle: ClassVar[bool] = True

    gain: float = 0.15
    """A point above 0, 0 to 1e6."""

    most: float = 10.0
    """The points above 0 that count, 0 to 1e6."""

    loss: float = 0.2
    """A point below 0, 0 to 1e6."""

    floor: float = 0.2
    """The least factor, 0 to 1e6."""

    damping: float = 1.0
    """How much of the factor counts, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=WEIGHT, most=WEIGHT, loss=WEIGHT, floor=WEIGHT, damping=SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return damped(program, self.emit_base(program), self.damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the factor before damping."""
        return program.call("feedback_factor", program.column("feedback"), **numbers_of(self))

    def values(self, feedback: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            feedback: the sum of verdicts, shape (n,), contiguous.

        Returns:
            Shape (n,), the dtype of ``feedback``; NaN where it is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: another shape, or not contiguous.
        """
        factor = strict_values("feedback_factor", numbers_of(self), feedback=feedback)
        return damped_values(factor, self.damping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """Weigh by priority: ``base + step * priority``, the priority clamped to 1 to 5.

    Source: docs/systems/omega.md O13, section 9 of the source's inventory.
    """

    name: ClassVar[str] = "priority"
    is_lifecycle: ClassVar[bool] = True

    base: float = 0.7
    """0 to 1e6."""

    step: float = 0.08
    """0 to 1e6."""

    damping: float = 1.0
    """How much of the factor counts, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, base=WEIGHT, step=WEIGHT, damping=SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return damped(program, self.emit_base(program), self.damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the factor before damping."""
        return program.call("priority_factor", program.column("priority"), **numbers_of(self))

    def values(self, priority: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory, as :meth:`Feedback.values`."""
        factor = strict_values("priority_factor", numbers_of(self), priority=priority)
        return damped_values(factor, self.damping)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlooredDecay:
    """Fade without use, at the rate of the kind, down to a floor.

    ``factor = max(floor, exp(-rate * days))``, days since the last access, creation if never; 1
    without a timestamp. What is of a kind in ``decisions`` fades more slowly the more it is used: at
    ``max(least, rate * base ** min(access_count, most))``.

    Source: docs/systems/omega.md O14, section 10 of the source's inventory.
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "omega"
    is_lifecycle: ClassVar[bool] = True
    reads_aliases: ClassVar[tuple[str, ...]] = ("rates", "decisions")

    rates: Table = KIND_RATES
    """A day, by kind, each 0 to 1e6; any mapping is taken."""

    otherwise: float = 0.02
    """A day, of a kind that the table does not list, 0 to 1e6."""

    floor: float = 0.35
    """Of what was ever accessed, 0 to 1."""

    floor_never_accessed: float = 0.15
    """Of what was not, 0 to 1."""

    decisions: tuple[str, ...] = ("decision",)
    """Kinds whose rate falls with use."""

    base: float = 0.85
    """What an access leaves of the rate of a decision, 0 to 1."""

    most: float = 10.0
    """The accesses that count for a decision, 0 to 1e6."""

    least: float = 0.002
    """The least rate of a decision, 0 to 1e6."""

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
        """Return the register of the factor."""
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
class Consolidation:
    """Boost what was made by consolidation: ``1 + gain * min(quality, most)``, 1 at or below 0.

    Source: docs/systems/omega.md O17, section 11 of the source's inventory.
    """

    name: ClassVar[str] = "consolidation"
    is_lifecycle: ClassVar[bool] = True

    gain: float = 0.1
    """0 to 1e6."""

    most: float = 3.0
    """The quality that counts, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=WEIGHT, most=WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        quality = program.column("consolidation_quality")
        return program.call("consolidation_boost", quality, **numbers_of(self))

    def values(self, quality: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory, as :meth:`Feedback.values`."""
        return strict_values("consolidation_boost", numbers_of(self), quality=quality)
