"""Protocols of factors and candidate filters, and damping. Source: docs/systems/house.md H6."""

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
    """Return the register of ``1 - amount + amount * factor``, of the factor if ``amount`` is 1."""
    return register if amount == 1.0 else program.call("damp", register, amount=amount)


def damped_values(factor: npt.NDArray[Real], amount: float) -> npt.NDArray[Real]:
    """Return ``1 - amount + amount * factor`` for an array."""
    return factor if amount == 1.0 else strict_values("damp", {"amount": amount}, factor=factor)


Operation: TypeAlias = Literal["multiply", "add"]


@runtime_checkable
class Factor(Protocol):
    """One step from relevance to score: ``score * value`` or ``score + value``.

    ``operation: ClassVar[Operation]`` selects which; without it, the value multiplies.
    """

    @property
    def name(self) -> str:
        """Name in explanations and TOML, unique in a profile."""

    @property
    def is_lifecycle(self) -> bool:
        """Whether it depends on a memory's use and age, not on its content or the query."""

    def emit(self, program: ProgramBuilder) -> int:
        """Add the factor to ``program`` and return the register of its value."""


@runtime_checkable
class HasBase(Protocol):
    """A factor with a separate base value for ``retention_score``, such as before damping."""

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the value that ``retention_score`` multiplies."""


@runtime_checkable
class KeepRule(Protocol):
    """A filter of candidates."""

    @property
    def name(self) -> str:
        """Name in TOML, unique in a profile."""

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of 1 for a memory that passes, 0 or NaN for others."""


def is_function(factor: Factor) -> bool:
    """Return whether a Python function computes the factor's value."""
    return bool(getattr(factor, "is_function", False))


def operation_of(factor: Factor) -> Operation:
    """Return whether the factor's value multiplies the score or is added to it."""
    operation: Operation = getattr(factor, "operation", "multiply")
    return operation


def base_of(factor: Factor, program: ProgramBuilder) -> int:
    """Return the register that ``retention_score`` multiplies for this factor."""
    return factor.emit_base(program) if isinstance(factor, HasBase) else factor.emit(program)
