"""The names and the steps of an expression: what the parser makes and programs run."""

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
"""Fields that are numbers. Times are seconds since the Unix epoch, NaN where there is none; flags
are 1 or 0."""

WORD_FIELDS: Final = ("kind", *ENUMS)
"""Fields that are words: they can be compared with words, and nothing else."""

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
"""Time passed since the first of these columns that holds a time; below 0 counts as 0."""

SCORES: Final = MappingProxyType({"bm25": "score:lexical", "cosine": "score:vector"})
"""What the channels gave, by signal: 1 where nothing is asked, 0 where a channel has no score."""

RELEVANCE: Final = "relevance"
"""What fusion gave: 1 where nothing is asked."""

NUMBERS: Final = (*COLUMNS, *AGES, RELEVANCE, *SCORES)
"""Every name that is a number of a memory."""

CONSTANTS: Final = MappingProxyType({"inf": math.inf, "nan": math.nan})


def likely(name: str, known: Iterable[str]) -> str:
    """Return words that say which of ``known`` was meant, or list them all."""
    names = sorted(known)
    near = nearest(name, names)
    return f"did you mean {near}?" if near else f"known: {', '.join(names)}"


def register_of(name: str, program: ProgramBuilder) -> int:
    """Return the register that holds what ``name`` stands for.

    Args:
        name: one of :data:`NUMBERS`.
        program: where it is read.
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
    """What a name of :mod:`oneiros.scoring.expression_steps` stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class IsOneOf:
    """1 where the memory's word is one of these, else 0."""

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
    """Steps in the making; each method returns the number of the step that has the value."""

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
        """Apply a kernel; constants alone give a constant, and x ** 2 is x * x."""
        if kernel == "power" and self._steps[operands[1]] == Constant(2.0):
            kernel, operands = "multiply", (operands[0], operands[0])
        inputs = [self._steps[operand] for operand in operands]
        values = [step.value for step in inputs if isinstance(step, Constant)]
        if kernel == "select" and isinstance(inputs[0], Constant):
            return operands[1] if inputs[0].value != 0 else operands[2]  # NaN holds, as in Python
        if len(values) == len(operands):
            return self.constant(_computed(kernel, values))
        step = self._scaling(kernel, operands) or Call(kernel, operands)
        return self._append(step, step)

    def clip(self, value: int, low: int, high: int) -> int:
        """Bring into a range, whose bounds may be values too; what equals a bound stays as it is."""
        bounds = [self._steps[bound] for bound in (low, high)]
        numbers = [step.value for step in bounds if isinstance(step, Constant)]
        if len(numbers) < 2 or any(map(isnan, numbers)) or isinstance(self._steps[value], Constant):
            return self.call("minimum", high, self.call("maximum", low, value))
        step = Call("clip", (value,), (("low", numbers[0]), ("high", numbers[1])))
        return self._append(step, step)

    def _scaling(self, kernel: str, operands: tuple[int, ...]) -> Call | None:
        """Return ``factor * x + offset`` as one call, the same to the last bit; None of all else."""
        if kernel not in ("add", "subtract"):
            return None
        for product, offset in (operands, operands[::-1]):
            found, constant = self._product(product), self._steps[offset]
            if found is None or not isinstance(constant, Constant) or not isfinite(constant.value):
                continue
            value, factor, shift = *found, constant.value
            if kernel == "subtract":  # x - c, or c - x
                factor, shift = (factor, -shift) if offset == operands[1] else (-factor, shift)
            return Call("scale", (value,), (("factor", factor), ("offset", shift)))
        return None

    def _product(self, number: int) -> tuple[int, float] | None:
        """Return the value and the finite constant whose product a step is; None of all else."""
        step = self._steps[number]
        if not isinstance(step, Call) or step.kernel != "multiply":
            return None
        for value, other in (step.operands, step.operands[::-1]):
            constant = self._steps[other]
            if isinstance(constant, Constant) and isfinite(constant.value):
                return value, constant.value
        return None

    def up_to(self, last: int) -> tuple[Step, ...]:
        """Return the steps that ``last`` depends on, numbered anew, ``last`` at the end."""
        needed = {last}
        for place in range(last, -1, -1):
            step = self._steps[place]
            if place in needed and isinstance(step, Call):
                needed.update(step.operands)
        number = {place: new for new, place in enumerate(sorted(needed))}
        return tuple(_renumbered(self._steps[place], number) for place in number)

    def _append(self, step: Step, key: object) -> int:
        number = self._number_of.setdefault(key, len(self._steps))
        if number == len(self._steps):
            self._steps.append(step)
        return number


def emit(steps: tuple[Step, ...], program: ProgramBuilder, read: Read = register_of) -> int:
    """Write the steps into a program and return the register of the last one.

    Args:
        steps: each reads only earlier ones.
        program: where they are written.
        read: gives the register of a number's name.
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


def _renumbered(step: Step, number: dict[int, int]) -> Step:
    if not isinstance(step, Call):
        return step
    return replace(step, operands=tuple(number[operand] for operand in step.operands))
