"""The protocols of factors and candidate filters, and damping. Source: docs/systems/house.md H6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "Factor",
    "HasBase",
    "KeepRule",
    "Operation",
    "base_of",
    "damped",
    "damped_values",
    "is_function",
    "operation_of",
]


def damped(program: ProgramBuilder, register: int, amount: float) -> int:
    """Return the register of ``1 - amount + amount * factor``; at an amount of 1, the factor's."""
    return register if amount == 1.0 else program.call("damp", register, amount=amount)


def damped_values(factor: npt.NDArray[Real], amount: float) -> npt.NDArray[Real]:
    """Return what :func:`damped` computes, over an array."""
    return factor if amount == 1.0 else strict_values("damp", {"amount": amount}, factor=factor)


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
