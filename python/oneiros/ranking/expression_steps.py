"""An expression as steps, each reading only earlier ones: what the parser makes and programs run.

Equal steps are one step, and what does not depend on a memory is computed here, by the core's own
kernels.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.fields import ENUMS
from oneiros.numpy_on_use import np
from oneiros.ranking.expression_names import register_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from oneiros.ranking.program import ProgramBuilder

    Read: TypeAlias = Callable[[str, ProgramBuilder], int]

__all__ = ["Call", "Constant", "IsOneOf", "Name", "Step", "Steps", "emit"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """What a name of :mod:`oneiros.ranking.expression_names` stands for."""

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
