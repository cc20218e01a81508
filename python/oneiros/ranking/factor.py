"""What a profile asks of a factor and of a keep rule: small protocols, for classes of one's own too.

Each is a frozen dataclass. What it computes it writes into a program as calls of the core's kernels;
it holds no formula of its own.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, runtime_checkable

from oneiros.ranking.program import ProgramBuilder

__all__ = ["Factor", "HasBase", "KeepRule", "Operation", "base_of", "is_function", "operation_of"]

Operation: TypeAlias = Literal["multiply", "add"]


@runtime_checkable
class Factor(Protocol):
    """One step from relevance to score: ``score * value``, or ``score + value``.

    ``operation: ClassVar[Operation]`` says which; where it is missing, the value multiplies.
    """

    @property
    def name(self) -> str:
        """How explanations and TOML call it; one of each name in a profile."""

    @property
    def is_lifecycle(self) -> bool:
        """Whether it reads how a memory lived, rather than what it is or what was asked."""

    def emit(self, program: ProgramBuilder) -> int:
        """Write the factor into ``program`` and return the register of its value."""


@runtime_checkable
class HasBase(Protocol):
    """A factor whose value is made of another one that says more on its own."""

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of what ``retention_score`` multiplies in place of the value."""


@runtime_checkable
class KeepRule(Protocol):
    """Which candidates stay."""

    @property
    def name(self) -> str:
        """How TOML calls it; one of each name in a profile."""

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for a memory that stays; 0 or NaN for one that leaves."""


def is_function(factor: Factor) -> bool:
    """Return whether a function of the user's own gives the factor's value."""
    told: bool = getattr(factor, "is_function", False)
    return told


def operation_of(factor: Factor) -> Operation:
    """Return how the factor's value joins the score."""
    operation: Operation = getattr(factor, "operation", "multiply")
    return operation


def base_of(factor: Factor, program: ProgramBuilder) -> int:
    """Return the register that ``retention_score`` multiplies for this factor."""
    return factor.emit_base(program) if isinstance(factor, HasBase) else factor.emit(program)
