"""Factors that are Python functions, for formulas that an expression cannot describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from oneiros import _core
from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.model.validation import (
    require_callable,
    require_choice,
    settle,
    settle_flags,
    unmasked,
)
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
    """A factor computed by a Python function.

    >>> import numpy as np
    >>> from oneiros import CallableFactor, profiles
    >>> def weekend(created_at):
    ...     return np.where((created_at // 86_400 + 3) % 7 >= 5, 0.5, 1.0)
    >>> factor = CallableFactor(weekend, name="weekend", columns=("created_at",))
    >>> factor.values({"created_at": np.array([0.0, 172_800.0])})  # a Thursday, a Saturday
    array([1. , 0.5])
    >>> reverie = profiles.get("reverie")
    >>> weekdays = reverie.replace(name="weekdays", factors=(*reverie.factors, factor))

    The function takes one array of shape (n,) per column and returns the values of n memories. Each
    search calls it once with all candidates, if there are any. Its values must not depend on the
    number or order of the candidates or on a clock, or equal queries get different results. It runs
    under the GIL; an :class:`~oneiros.scoring.expression.Expression` is much faster.

    A profile with such a factor has no TOML. Its hash covers the function's qualified name, not its
    code.
    """

    is_function: ClassVar[bool] = True

    function: Callable[..., npt.ArrayLike]
    """Takes arrays in the order of ``columns``, returns finite numbers of shape (n,)."""

    name: str
    """Name in explanations: a lower case letter, then up to 63 letters, digits or underscores."""

    columns: tuple[str, ...] = ()
    """Columns passed to the function, at least one: numeric fields and ages as in expressions, as
    float64, and word fields, as arrays of str."""

    operation: Operation = "multiply"
    """"multiply" the score by the value, or "add" the value to it."""

    is_lifecycle: bool = field(default=False, kw_only=True)
    """Whether the value is part of the retention score, and ``lifecycle=False`` leaves it out."""

    discriminator: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        function: object = self.function
        if not callable(function):
            msg = (
                f"function: expected a function, got {type(function).__name__} {function!r}; "
                "a function can be given in Python only, not in TOML"
            )
            raise TypeError(msg)
        require_callable("function", function, "a function")
        require_name(self.name)
        settle_flags(self, "is_lifecycle")
        require_choice("operation", self.operation, OPERATIONS)
        settle(self, "columns", _checked_columns(self.columns))

    @property
    def function_name(self) -> str:
        """Module and qualified name of the function, or of the class of a callable object."""
        source = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{source.__module__}.{source.__qualname__}"

    @property
    def signal(self) -> str:
        """The signal that carries the values to the core."""
        return f"function:{self.name}"

    def record(self) -> dict[str, object]:
        """Return the fields that the profile's hash covers."""
        return {
            "name": self.name,
            "function": self.function_name,
            "columns": list(self.columns),
            "operation": self.operation,
            "is_lifecycle": self.is_lifecycle,
        }

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the values; without values, it leaves scores unchanged."""
        return program.signal(self.signal, 1.0 if self.operation == "multiply" else 0.0)

    def values(self, arrays: Mapping[str, Array]) -> npt.NDArray[np.float64]:
        """Call the function.

        Args:
            arrays: one array of shape (n,) per column.

        Returns:
            Finite values, shape (n,).

        Raises:
            TypeError: the function did not return an array of real numbers.
            ValueError: another shape, or a value that is not finite; the message has its position.
            Exception: any error of the function, with a note that names the factor.
        """
        arguments = [arrays[name] for name in self.columns]
        if not arguments[0].size:
            return np.empty(0)
        try:
            values = np.asarray(unmasked(self.function(*arguments)))
        except Exception as error:
            error.add_note(f"raised by {self.function_name}, the function of factor {self.name!r}")
            raise
        return _checked_values(values, self.name, arguments[0].shape)


def fields_of(factors: tuple[Factor, ...]) -> tuple[str, ...]:
    """Return the columns that the functions among ``factors`` need."""
    names = _columns_of(_functions(factors))
    program, _ = _reader(tuple(name for name in names if name not in WORD_FIELDS))
    words = [name for name in names if name in WORD_FIELDS]
    return tuple(dict.fromkeys((*program.input_names, *words)))


def signals_of(
    factors: tuple[Factor, ...],
    read: Callable[[str], Array],
    kinds: Callable[[], tuple[str, ...]],
    now_seconds: float,
    size: int,
) -> Signals:
    """Call the functions among ``factors`` and return their values by signal.

    Args:
        factors: the factors of a profile.
        read: returns a column of the memories, shape (n,); words as codes.
        kinds: returns the words of the column ``kind``, by code; called after the column is read,
            since others may add a kind meanwhile.
        now_seconds: the time from which ages are computed, seconds since the epoch.
        size: n, the number of memories.

    Raises:
        As :meth:`CallableFactor.values`.
    """
    functions = _functions(factors)
    if not functions:
        return {}
    arrays = _arrays(_columns_of(functions), read, kinds, now_seconds, size)
    # Each has copies of its own, which it may change or return.
    return {
        factor.signal: factor.values({name: arrays[name].copy() for name in factor.columns})
        for factor in functions
    }


def _functions(factors: tuple[Factor, ...]) -> list[CallableFactor]:
    return [factor for factor in factors if isinstance(factor, CallableFactor)]


def _columns_of(functions: list[CallableFactor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for factor in functions for name in factor.columns))


def _arrays(
    names: tuple[str, ...],
    read: Callable[[str], Array],
    kinds: Callable[[], tuple[str, ...]],
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
        known = kinds() if name == "kind" else ENUMS[name]
        arrays[name] = np.array(known, dtype=np.str_)[codes]
    return arrays


@lru_cache(maxsize=256)
def _reader(names: tuple[str, ...]) -> tuple[_core.Program, list[int]]:
    """Return a program that reads these names, and their registers."""
    builder = ProgramBuilder()
    registers = [register_of(name, builder) for name in names]
    return builder.build().compiled(), builder.numbers(registers)


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


def _checked_values(values: Array, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    if values.dtype.kind not in "fiub":
        msg = f"factor {name!r}: expected an array of real numbers, got dtype {values.dtype}"
        raise TypeError(msg)
    if values.shape != shape:
        msg = f"factor {name!r}: expected shape {shape}, got {values.shape}"
        raise ValueError(msg)
    numbers = np.ascontiguousarray(values, np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        msg = f"factor {name!r}: value {wrong[0]} must be finite, got {numbers[wrong[0]]}"
        raise ValueError(msg)
    return numbers
