"""Protocols of factors and candidate filters, and the base of factors that are one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from oneiros.model.validation import settle_numbers, settle_optional_flags
from oneiros.runtime.dataclasses import fields
from oneiros.scoring.program import Parameter, ProgramBuilder, Unit
from oneiros.scoring.tables import Range

__all__ = [
    "Factor",
    "HasBase",
    "KeepRule",
    "KernelFactor",
    "Operation",
    "base_of",
    "is_function",
    "operation_of",
]


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


class KernelFactor:
    """The base of factors that are one kernel with their fields as its parameters.

    A field ``damping`` is not a parameter: it damps the kernel's value (docs/systems/house.md H6).
    """

    __slots__ = ()

    kernel: ClassVar[str]
    """Name of the kernel in the core."""

    times: ClassVar[tuple[str, ...]] = ()
    """Columns of times, in order of preference, of the age that is its first argument."""

    unit: ClassVar[Unit] = "days"
    """Unit of that age."""

    columns: ClassVar[tuple[str, ...]] = ()
    """Columns that are its other arguments."""

    ranges: ClassVar[Mapping[str, Range]] = {}
    """Fields that are numbers -> their ranges."""

    flags: ClassVar[tuple[str, ...]] = ()
    """Fields that are True or None, and are not parameters of the kernel; False is None."""

    others: ClassVar[tuple[str, ...]] = ()
    """Further fields that are not parameters of the kernel."""

    def __post_init__(self) -> None:
        settle_numbers(self, **self.ranges)
        settle_optional_flags(self, *self.flags)

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of the kernel."""
        declared: Any = self
        left_out = ("damping", *self.flags, *self.others)
        names = (field.name for field in fields(declared) if field.name not in left_out)
        values = {name: getattr(self, name) for name in names}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        """Return the registers of the kernel's arguments."""
        ages = (program.age(*self.times, unit=self.unit),) if self.times else ()
        return (*ages, *map(program.column, self.columns))

    def emit(self, program: ProgramBuilder) -> int:
        """Add the factor to ``program`` and return the register of its value."""
        base = self.emit_base(program)
        damping: float = getattr(self, "damping", 1.0)
        return base if damping == 1.0 else program.call("damp", base, amount=damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the value before damping."""
        return program.call(self.kernel, *self.operands(program), **self.parameters())


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
