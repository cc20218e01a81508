"""A factor that is a function of the user's own: the way out where an expression is not enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from oneiros import _core
from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.model.validation import require_choice, settle, settle_flags
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.scoring.expression import OPERATIONS, require_name
from oneiros.scoring.expression_steps import AGES, COLUMNS, WORD_FIELDS, likely, register_of
from oneiros.scoring.program import ProgramBuilder

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.scoring.factor import Factor, Operation

__all__ = ["CallableFactor", "fields_of", "signals_of"]

Array: TypeAlias = "npt.NDArray[Any]"
Signals: TypeAlias = "dict[str, npt.NDArray[np.float64]]"

_READABLE = (*COLUMNS, *AGES, *WORD_FIELDS)


@dataclass(frozen=True, slots=True)
class CallableFactor:
    """What a Python function says of the candidates, all of them in one call.

    ::

        def weekend(created_at):
            return np.where((created_at // 86_400 + 4) % 7 >= 5, 0.5, 1.0)

        CallableFactor(weekend, name="weekend", columns=("created_at",))

    The function gets one array a column, each of shape (n,), and returns the values of n memories.
    It is called once a search, with every candidate, if there is any; it must not depend on their number or order,
    nor read a clock, or the same question will get other answers. It runs in Python, under the GIL:
    an :class:`~oneiros.scoring.expression.Expression` is much faster.

    A profile with such a factor has no TOML; its hash covers the function's qualified name, not what
    the function does.
    """

    is_function: ClassVar[bool] = True

    function: Callable[..., npt.ArrayLike]
    """Arrays in the order of ``columns`` -> finite numbers, shape (n,)."""

    name: str
    """Its name in explanations: lower case letters, digits and underscores, at most 64."""

    columns: tuple[str, ...] = ()
    """What the function gets, at least one: numeric fields and ages as in expressions, as float64;
    fields of words, as arrays of str."""

    operation: Operation = "multiply"
    """Whether the score is multiplied by the value, or the value added to it."""

    is_lifecycle: bool = field(default=False, kw_only=True)
    """Whether the value counts to the retention score, and ``lifecycle=False`` leaves it out."""

    discriminator: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        function: object = self.function
        if not callable(function):
            msg = (
                f"function: expected a function, got {type(function).__name__} {function!r}; "
                "a function can be given in Python only, not in TOML"
            )
            raise TypeError(msg)
        require_name(self.name)
        settle_flags(self, "is_lifecycle")
        require_choice("operation", self.operation, OPERATIONS)
        settle(self, "columns", _checked_columns(self.columns))

    @property
    def function_name(self) -> str:
        """Module and qualified name of the function, or of the class of a callable object."""
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{named.__module__}.{named.__qualname__}"

    @property
    def signal(self) -> str:
        """The signal that carries the values to the core."""
        return f"function:{self.name}"

    def record(self) -> dict[str, object]:
        """Return what the profile's hash covers."""
        return {
            "name": self.name,
            "function": self.function_name,
            "columns": list(self.columns),
            "operation": self.operation,
            "is_lifecycle": self.is_lifecycle,
        }

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the values; what leaves a score as it is where none are given."""
        return program.signal(self.signal, 1.0 if self.operation == "multiply" else 0.0)

    def values(self, arrays: Mapping[str, Array]) -> npt.NDArray[np.float64]:
        """Call the function.

        Args:
            arrays: one a column, shape (n,).

        Returns:
            Shape (n,), finite.

        Raises:
            TypeError: the function returned something that is no array of real numbers.
            ValueError: another shape, or a value that is not finite, naming its position.
            Exception: whatever the function raises, with a note that names the factor.
        """
        given = [arrays[name] for name in self.columns]
        if not given[0].size:
            return np.empty(0)
        try:
            answer = np.asarray(self.function(*given))
        except Exception as error:
            error.add_note(f"raised by {self.function_name}, the function of factor {self.name!r}")
            raise
        return _checked_values(answer, self.name, given[0].shape)


def fields_of(factors: tuple[Factor, ...]) -> tuple[str, ...]:
    """Return the columns that the functions among ``factors`` need."""
    asked = [factor for factor in factors if isinstance(factor, CallableFactor)]
    names = tuple(dict.fromkeys(name for factor in asked for name in factor.columns))
    program, _ = _reader(tuple(name for name in names if name not in WORD_FIELDS))
    words = [name for name in names if name in WORD_FIELDS]
    return tuple(dict.fromkeys((*program.input_names, *words)))


def signals_of(
    factors: tuple[Factor, ...],
    read: Callable[[str], Array],
    kinds: tuple[str, ...],
    now_seconds: float,
    size: int,
) -> Signals:
    """Call the functions among ``factors`` and return their values, by signal.

    Args:
        factors: a profile's.
        read: gives a column of the memories asked about, shape (n,); words as codes.
        kinds: the words for the codes of the column ``kind``.
        now_seconds: the clock of ages.
        size: n, the number of memories.

    Raises:
        As :meth:`CallableFactor.values`.
    """
    asked = [factor for factor in factors if isinstance(factor, CallableFactor)]
    if not asked:
        return {}
    names = tuple(dict.fromkeys(name for factor in asked for name in factor.columns))
    arrays = _arrays(names, read, kinds, now_seconds, size)
    return {factor.signal: factor.values(arrays) for factor in asked}


def _arrays(
    names: tuple[str, ...],
    read: Callable[[str], Array],
    kinds: tuple[str, ...],
    now: float,
    size: int,
) -> dict[str, Array]:
    numbers = tuple(name for name in names if name not in WORD_FIELDS)
    program, outputs = _reader(numbers)
    operands: dict[str, Array | float] = {name: read(name) for name in program.input_names}
    words = {name: read(name) for name in names if name in WORD_FIELDS}
    values, _ = program.run(
        operands=operands,
        now_seconds=now,
        size=size,
        outputs=outputs,
        dtype="float64",
        out=None,
        threads=1,
    )
    arrays: dict[str, Array] = dict(zip(numbers, values, strict=True))
    for name, codes in words.items():
        known = kinds if name == "kind" else ENUMS[name]
        arrays[name] = np.array(known, dtype=np.str_)[codes]
    return arrays


@lru_cache(maxsize=256)
def _reader(names: tuple[str, ...]) -> tuple[_core.Program, list[int]]:
    """The program that reads these names, and the registers it leaves them in."""
    builder = ProgramBuilder()
    registers = [register_of(name, builder) for name in names]
    text = builder.build()
    program = _core.Program(inputs=list(text.inputs), instructions=list(text.instructions))
    return program, builder.numbers(registers)


def _checked_columns(columns: object) -> tuple[str, ...]:
    if isinstance(columns, str) or not isinstance(columns, tuple | list):
        msg = f"columns: expected a tuple of names, got {type(columns).__name__} {columns!r}"
        raise TypeError(msg)
    if not columns:
        msg = "columns: at least one, got none"
        raise ValueError(msg)
    for index, name in enumerate(columns):
        if name not in _READABLE:
            meant = likely(str(name), _READABLE)
            msg = f"columns[{index}]: nothing a function can read is called {name!r}; {meant}"
            raise ValueError(msg)
    return tuple(columns)


def _checked_values(answer: Array, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    if answer.dtype.kind not in "fiub":
        msg = f"factor {name!r}: expected an array of real numbers, got dtype {answer.dtype}"
        raise TypeError(msg)
    if answer.shape != shape:
        msg = f"factor {name!r}: expected shape {shape}, got {answer.shape}"
        raise ValueError(msg)
    values = np.ascontiguousarray(answer, np.float64)
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        msg = f"factor {name!r}: value {wrong[0]} must be finite, got {values[wrong[0]]}"
        raise ValueError(msg)
    return values
