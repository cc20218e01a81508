"""The names and steps of an expression: the parser's output, which is written into programs."""

from __future__ import annotations

import math
from math import isfinite, isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.model.calls import nearest
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.runtime.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from oneiros.scoring.program import ProgramBuilder, Unit

__all__ = [
    "AGES",
    "COLUMNS",
    "CONSTANTS",
    "NUMBERS",
    "RELEVANCE",
    "SCORES",
    "WORD_FIELDS",
    "Call",
    "Constant",
    "IsOneOf",
    "Name",
    "Step",
    "Steps",
    "emit",
    "likely",
    "register_of",
]


_NUMERIC: Final = ("time", "seconds", "float32", "int", "bool")

_UNITS: Final[tuple[Unit, ...]] = ("days", "hours")

COLUMNS: Final = tuple(
    name for name, field in FIELDS.items() if field.column and field.kind in _NUMERIC
)
"""Numeric fields. Times are seconds since the Unix epoch, NaN for none; flags are 1 or 0."""

WORD_FIELDS: Final = ("kind", *ENUMS)
"""Word fields, which can be compared with words only."""

AGES: Final[Mapping[str, tuple[tuple[str, ...], Unit]]] = MappingProxyType(
    {
        f"{name}_{unit}": (columns, unit)
        for name, columns in (
            ("age", ("created_at",)),
            ("updated", ("updated_at", "created_at")),
            ("idle", ("last_accessed_at", "created_at")),
        )
        for unit in _UNITS
    }
)
"""Time since the first of these columns that has a value; negative ages count as 0."""

SCORES: Final = MappingProxyType({"bm25": "score:lexical", "cosine": "score:vector"})
"""Raw scores of channels -> signal; 1 without a query or the channel, 0 if that has no score."""

RELEVANCE: Final = "relevance"
"""The fused score; 1 without a query."""

NUMBERS: Final = (*COLUMNS, *AGES, RELEVANCE, *SCORES)
"""All names that are numbers."""

CONSTANTS: Final = MappingProxyType({"inf": math.inf, "nan": math.nan})


def likely(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the nearest of ``known``, or all of them."""
    names = sorted(known)
    near = nearest(name, names)
    return f"did you mean {near}?" if near else f"known: {', '.join(names)}"


def register_of(name: str, program: ProgramBuilder) -> int:
    """Return the register of a name's value.

    Args:
        name: one of :data:`NUMBERS`.
        program: the program that reads it.
    """
    if name in AGES:
        columns, unit = AGES[name]
        return program.age(*columns, unit=unit)
    if name == RELEVANCE:
        return program.relevance
    if name in SCORES:
        score = program.signal(SCORES[name], 1.0)
        return program.call("select", program.call("is_nan", score), program.constant(0.0), score)
    return program.column(name)


if TYPE_CHECKING:
    Read: TypeAlias = Callable[[str, ProgramBuilder], int]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a name, one of :data:`NUMBERS`."""

    name: str


@dataclass(frozen=True, slots=True)
class IsOneOf:
    """1 if the memory's word is one of these, else 0."""

    field: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A kernel of the core over earlier steps."""

    kernel: str
    operands: tuple[int, ...]
    parameters: tuple[tuple[str, float], ...] = ()


Step = Constant | Name | IsOneOf | Call


class Steps:
    """Collects steps; each method returns the number of the step with the value."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._number_of: dict[object, int] = {}

    def constant(self, value: float) -> int:
        return self._append(Constant(value), value.hex())  # -0.0 is not 0.0, and nan is nan

    def name(self, name: str) -> int:
        return self._append(Name(name), name)

    def is_one_of(self, field: str, words: tuple[str, ...]) -> int:
        step = IsOneOf(field, tuple(sorted(set(words))))
        return self._append(step, step)

    def call(self, kernel: str, *operands: int) -> int:
        """Apply a kernel; constant operands are folded, and x ** 2 becomes x * x."""
        if kernel == "power" and self._steps[operands[1]] == Constant(2.0):
            kernel, operands = "multiply", (operands[0], operands[0])
        inputs = [self._steps[operand] for operand in operands]
        values = [step.value for step in inputs if isinstance(step, Constant)]
        if kernel == "select" and isinstance(inputs[0], Constant):
            return operands[1] if inputs[0].value != 0 else operands[2]  # NaN is true, as in Python
        if len(values) == len(operands):
            return self.constant(_computed(kernel, values))
        step = self._scaling(kernel, operands) or Call(kernel, operands)
        return self._append(step, step)

    def clip(self, value: int, low: int, high: int) -> int:
        """Limit to a range, whose bounds may vary; a value equal to a bound is unchanged."""
        bounds = [self._steps[bound] for bound in (low, high)]
        numbers = [step.value for step in bounds if isinstance(step, Constant)]
        if len(numbers) < 2 or any(map(isnan, numbers)) or isinstance(self._steps[value], Constant):
            return self.call("minimum", high, self.call("maximum", low, value))
        step = Call("clip", (value,), (("low", numbers[0]), ("high", numbers[1])))
        return self._append(step, step)

    def _scaling(self, kernel: str, operands: tuple[int, ...]) -> Call | None:
        """Return ``factor * x + offset`` as one call with the same bits; None for other forms."""
        if kernel not in ("add", "subtract"):
            return None
        for product, offset in (operands, operands[::-1]):
            parts, constant = self._product(product), self._steps[offset]
            if parts is None or not isinstance(constant, Constant) or not isfinite(constant.value):
                continue
            value, factor, shift = *parts, constant.value
            if kernel == "subtract":  # x - c, or c - x
                factor, shift = (factor, -shift) if offset == operands[1] else (-factor, shift)
            return Call("scale", (value,), (("factor", factor), ("offset", shift)))
        return None

    def _product(self, number: int) -> tuple[int, float] | None:
        """Return operand and finite constant of a product; None for other steps."""
        step = self._steps[number]
        if not isinstance(step, Call) or step.kernel != "multiply":
            return None
        for value, other in (step.operands, step.operands[::-1]):
            constant = self._steps[other]
            if isinstance(constant, Constant) and isfinite(constant.value):
                return value, constant.value
        return None

    def up_to(self, last: int) -> tuple[Step, ...]:
        """Return the steps that ``last`` depends on, renumbered, ``last`` at the end."""
        needed = {last}
        for number in range(last, -1, -1):
            step = self._steps[number]
            if number in needed and isinstance(step, Call):
                needed.update(step.operands)
        numbers = {old: new for new, old in enumerate(sorted(needed))}
        return tuple(_renumbered(self._steps[old], numbers) for old in numbers)

    def _append(self, step: Step, key: object) -> int:
        number = self._number_of.setdefault(key, len(self._steps))
        if number == len(self._steps):
            self._steps.append(step)
        return number


def emit(steps: tuple[Step, ...], program: ProgramBuilder, read: Read = register_of) -> int:
    """Add the steps to a program and return the register of the last one.

    Args:
        steps: each reads only earlier ones.
        program: the program.
        read: returns the register of a name.
    """
    registers: list[int] = []
    for step in steps:
        match step:
            case Constant(value=value):
                register = program.constant(value)
            case Name(name=name):
                register = read(name, program)
            case IsOneOf(field=field, words=words):
                register = _is_one_of(field, words, program)
            case Call(kernel=kernel, operands=operands, parameters=parameters):
                inputs = [registers[operand] for operand in operands]
                register = program.call(kernel, *inputs, **dict(parameters))
        registers.append(register)
    return registers[-1]


def _is_one_of(field: str, words: tuple[str, ...], program: ProgramBuilder) -> int:
    table = dict.fromkeys(words, 1.0)
    if field == "kind":
        return program.by_kind(table, 0.0)
    values = [table.get(word, 0.0) for word in ENUMS[field]]
    return program.call("lookup", program.column(field), table=values, otherwise=0.0)


def _computed(kernel: str, values: list[float]) -> float:
    result = _core.evaluate(
        kernel=kernel,
        inputs=[np.array([value]) for value in values],
        parameters={},
        dtype="float64",
        out=None,
        threads=1,
    )
    return float(result[0])


def _renumbered(step: Step, numbers: dict[int, int]) -> Step:
    if not isinstance(step, Call):
        return step
    return replace(step, operands=tuple(numbers[operand] for operand in step.operands))
