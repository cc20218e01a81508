"""Programs: the factors of a profile as one list of kernels over the rows of columns.

A program is data for the core. Factors add to it through a :class:`ProgramBuilder`; subexpressions
that several factors share are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from oneiros import _core
from oneiros.model.fields import COLUMN_DEFAULTS, FIELDS
from oneiros.runtime.dataclasses import dataclass

__all__ = [
    "QUESTION_FEEDBACK",
    "UNHELPFUL_FOR_QUESTIONS",
    "Input",
    "Instruction",
    "Parameter",
    "ProgramBuilder",
    "ProgramText",
    "Unit",
]

Parameter: TypeAlias = float | list[float]
Input: TypeAlias = tuple[str, str, float] | tuple[str, list[str], float]
Instruction: TypeAlias = tuple[str, list[int], dict[str, Parameter]]
Unit: TypeAlias = Literal["days", "hours"]

QUESTION_FEEDBACK: Final = "question_feedback"
"""Name of the signal with the sum of a memory's verdicts, each by how alike its question is. H19."""
UNHELPFUL_FOR_QUESTIONS: Final = "unhelpful_for_questions"
"""Name of the signal with the plain sum of a memory's bad verdicts that have a question. H19."""

_SECONDS: Mapping[Unit, float] = {"days": 86_400.0, "hours": 3_600.0}
_TIME_COLUMNS = tuple(
    name for name, field in FIELDS.items() if field.kind == "time" and field.column is not None
)
_MOST_INPUTS = 2**16


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A finished program: inputs are registers 0 to I - 1, instruction j writes register I + j."""

    inputs: tuple[Input, ...]
    instructions: tuple[Instruction, ...]

    def compiled(self) -> _core.Program:
        """Return the program ready to run."""
        return _core.Program(inputs=list(self.inputs), instructions=list(self.instructions))


class ProgramBuilder:
    """Collects the inputs and kernels of a program.

    Methods return registers, numbers to pass to :meth:`call`. Equal inputs or calls share one
    register. :meth:`numbers` translates registers into those of the finished program.

    Args:
        kinds: the words of the column ``kind``, by code; code 0 stands for none.
    """

    def __init__(self, kinds: Sequence[str] = ()) -> None:
        self.kinds = tuple(kinds)
        self._inputs: dict[tuple[object, ...], Input] = {}
        self._instructions: dict[tuple[object, ...], Instruction] = {}
        self._registers: dict[tuple[object, ...], int] = {}
        self._relevance: int | None = None
        self._best: list[str] = []
        self.reads_kinds = False
        """Whether a value depends on the words of ``kind``, for any ``kinds``."""

    @property
    def relevance(self) -> int:
        """The register of the fused relevance; 1 for every row without a query.

        A fusion that adds to the core's relevance sets it, once.
        """
        if self._relevance is None:
            self._relevance = self.signal("relevance", 1.0)
        return self._relevance

    @relevance.setter
    def relevance(self, register: int) -> None:
        if self._relevance is not None:
            msg = "relevance: already read or set"
            raise ValueError(msg)
        self._relevance = register

    @property
    def is_asked(self) -> int:
        """The register of 1 in a search, 0 in a rescoring without a query."""
        return self.call("less_equal", self.constant(0.0), self.signal("relevance", -1.0))

    @property
    def best_relevance(self) -> int:
        """The register of the largest relevance, including the signals of :meth:`join_best`."""
        best = self.signal("best_relevance", 1.0)
        for name in self._best:
            best = self.call("maximum", best, self.signal(name, -math.inf))
        return best

    def join_best(self, signal: str) -> None:
        """Include a signal in the best relevance: the largest value joined by the maximum."""
        self._best.append(signal)

    def add_to_relevance(self, register: int) -> None:
        """Add a term to the relevance; only the fusion may have read it before."""
        self._relevance = self.call("add", self.relevance, register)

    def column(self, name: str, default: float | None = None) -> int:
        """Return the register of a column.

        Args:
            name: a column of docs/systems/fields.md, or ``superseded``. Words are codes, in the
                order of that page; booleans are 0 and 1; times are seconds, NaN for none.
            default: the value of all rows if the column is missing; None: the field's default.

        Raises:
            ValueError: no such column.
        """
        if name not in COLUMN_DEFAULTS:
            msg = f"column: none is called {name!r}; known: {', '.join(COLUMN_DEFAULTS)}"
            raise ValueError(msg)
        return self._value(name, COLUMN_DEFAULTS[name] if default is None else default)

    def age(self, *times: str, unit: Unit = "days") -> int:
        """Return the register of the age: the time since the first of ``times`` that a row has.

        A time after ``now`` gives 0, a row without any of them NaN.

        Args:
            *times: columns of times, in order of preference.
            unit: "days" or "hours".

        Raises:
            ValueError: no column, a column that is not a time, or another unit.
        """
        if not times or any(name not in _TIME_COLUMNS for name in times):
            msg = f"age: expected columns of times ({', '.join(_TIME_COLUMNS)}), got {times!r}"
            raise ValueError(msg)
        if unit not in _SECONDS:
            msg = f"unit: must be days or hours, got {unit!r}"
            raise ValueError(msg)
        seconds = _SECONDS[unit]
        return self._input(("age", times, seconds), ("age", list(times), seconds))

    def feedback(self, *, ignores_questions: bool | None) -> int:
        """Return the register of the feedback on a memory.

        Args:
            ignores_questions: leave out the bad verdicts that were given for a question.
        """
        feedback = self.column("feedback")
        if not ignores_questions:
            return feedback
        return self.call("subtract", feedback, self.signal(UNHELPFUL_FOR_QUESTIONS, 0.0))

    def signal(self, name: str, neutral: float) -> int:
        """Return the register of a signal: a value that a query gives each candidate.

        Args:
            name: any name that is not a column's.
            neutral: the value of all rows if the signal is missing.

        Raises:
            ValueError: a column has this name.
        """
        if name in COLUMN_DEFAULTS:
            msg = f"signal: {name!r} is a column"
            raise ValueError(msg)
        return self._value(name, neutral)

    def constant(self, value: float) -> int:
        """Return the register of one number for all rows."""
        return self._value(f"constant {float(value)!r}", value)

    def call(self, kernel: str, *registers: int, **parameters: float | Sequence[float]) -> int:
        """Return the register of a kernel's value.

        Args:
            kernel: its name in the core.
            *registers: the registers of its arguments, in order.
            **parameters: its parameters; a table as a sequence.
        """
        plain = {name: _plain(value) for name, value in parameters.items()}
        key = (kernel, registers, *((name, repr(plain[name])) for name in sorted(plain)))
        if key not in self._registers:
            self._registers[key] = _MOST_INPUTS + len(self._instructions)
            self._instructions[key] = (kernel, list(registers), plain)
        return self._registers[key]

    def by_kind(self, table: Mapping[str, float], otherwise: float) -> int:
        """Return the register of a table's value for the kind of each row.

        Args:
            table: values by kind, without aliases, which :func:`oneiros.model.fields.table_of`
                adds.
            otherwise: the value of a kind that is not in the table.
        """
        self.reads_kinds |= any(value != otherwise for value in table.values())
        values = [table.get(kind, otherwise) for kind in self.kinds]
        while values and values[-1] == otherwise:
            values.pop()
        if not values:
            return self.constant(otherwise)
        return self.call("lookup", self.column("kind"), table=values, otherwise=otherwise)

    def build(self) -> ProgramText:
        """Return the program built so far."""
        return ProgramText(
            tuple(self._inputs.values()),
            tuple(
                (kernel, self.numbers(arguments), dict(parameters))
                for kernel, arguments, parameters in self._instructions.values()
            ),
        )

    def numbers(self, registers: Sequence[int]) -> list[int]:
        """Return the numbers of registers in the program built so far."""
        shift = len(self._inputs) - _MOST_INPUTS
        return [register if register < _MOST_INPUTS else register + shift for register in registers]

    def _value(self, name: str, default: float) -> int:
        number = float(default)
        return self._input(("value", name, repr(number)), ("value", name, number))

    def _input(self, key: tuple[object, ...], entry: Input) -> int:
        if key not in self._registers:
            self._registers[key] = len(self._inputs)
            self._inputs[key] = entry
        return self._registers[key]


def _plain(value: float | Sequence[float]) -> Parameter:
    if isinstance(value, int | float):
        number = float(value)
        if math.isnan(number):
            msg = "parameters: NaN is no parameter"
            raise ValueError(msg)
        return number
    return [float(item) for item in value]
