"""The penalty for what only deep recall returns. Source: docs/systems/cognitive.md C4, C6, C7."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    from oneiros.ranking.program import ProgramBuilder

__all__ = ["LAPSED", "DeepRecall"]

LAPSED: Final = "lapsed"
"""The signal: 1 for an expired memory that deep recall returns."""


@dataclass(frozen=True, slots=True)
class DeepRecall:
    """Multiply by the penalty once for a superseded memory, and once for an expired one.

    A deep search adds this factor after those of the profile; no profile holds one. The signal
    ``lapsed`` marks the expired memories.

    Source: docs/systems/cognitive.md C6, C7.
    """

    name: ClassVar[str] = "deep_recall"
    is_lifecycle: ClassVar[bool] = False

    penalty: float
    """The profile's ``deep_recall_penalty``, 0 to 1."""

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        one, penalty = program.constant(1.0), program.constant(self.penalty)
        replaced = program.call("select", program.column("superseded"), penalty, one)
        late = program.call("select", program.signal(LAPSED, 0.0), penalty, one)
        return program.call("multiply", replaced, late)
