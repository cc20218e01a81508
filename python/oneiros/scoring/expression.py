"""A factor of the user's own, written as a formula."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from oneiros import _core
from oneiros._lazy import np
from oneiros.model.validation import require_choice, settle, settle_flags
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.scoring.expression_parser import parse
from oneiros.scoring.expression_steps import WORD_FIELDS, IsOneOf, Name, Step, emit
from oneiros.scoring.factor import Operation
from oneiros.scoring.program import ProgramBuilder

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["OPERATIONS", "Expression", "require_name"]

if TYPE_CHECKING:
    Real = TypeVar("Real", np.float32, np.float64)
else:  # at run time nobody asks which types, and NumPy may not be there yet
    Real = TypeVar("Real")

OPERATIONS = ("multiply", "add")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula over a memory's fields, its ages and what the channels gave.

    ::

        Expression("strength * exp(-age_days / 30) * (1 + 0.1 * log1p(access_count))")
        Expression("1.5 if kind in ('decision', 'constraint') and age_days < 90 else 1.0")

    The text is Python's syntax, but never run as Python: it is checked and compiled to kernels of
    the core, which search, re-scoring and explanations all run. It has

    - the numeric fields of docs/systems/fields.md, with the defaults given there;
    - ``age_days``, ``updated_days`` and ``idle_days`` since creation, the last update, the last
      access (creation if never), and the same as ``_hours``; 0 for a time after now;
    - ``relevance`` (what fusion gave), ``bm25`` and ``cosine`` (raw), all 1 where nothing is asked;
      a raw score is 0 where there is none, under a weighted sum or mean also for what its channel
      did not find by itself;
    - ``+ - * / **``, comparisons (1 or 0, chained ones too), ``and or not``, ``a if b else c``;
    - ``exp log log1p log2 sqrt pow abs floor min max clip where isnan``, ``inf`` and ``nan``;
    - ``kind``, ``category``, ``status``, ``tier``, ``veracity``, ``importance_tag`` and
      ``canonical_layer`` beside words: ``kind == "fact"``, ``status in ("staged", "archived")``.

    Numbers are NumPy's float64 (float32 in a batch of float32): x / 0 is infinite or NaN, ``min``
    and ``max`` hand NaN on, and a memory whose score is NaN is not returned.
    """

    text: str
    """At most 4 KiB, 256 nodes (values, operations, calls) and brackets 64 deep."""

    name: str = "expression"
    """Its name in explanations: lower case letters, digits and underscores, at most 64."""

    operation: Operation = "multiply"
    """Whether the score is multiplied by the value, or the value added to it."""

    is_lifecycle: bool = field(default=False, kw_only=True)
    """Whether the value counts to the retention score, and ``lifecycle=False`` leaves it out."""

    _steps: tuple[Step, ...] = field(init=False, repr=False, compare=False, default=())

    discriminator: ClassVar[str] = "text"
    """The field that tells an expression from other factors in a record."""

    def __post_init__(self) -> None:
        text: object = self.text
        if not isinstance(text, str):
            msg = f"text: expected str, got {type(text).__name__} {text!r}"
            raise TypeError(msg)
        require_name(self.name)
        settle_flags(self, "is_lifecycle")
        require_choice("operation", self.operation, OPERATIONS)
        settle(self, "_steps", parse(text))

    @property
    def names(self) -> tuple[str, ...]:
        """The fields, ages and scores that the formula reads."""
        read = (_name_of(step) for step in self._steps)
        return tuple(dict.fromkeys(name for name in read if name is not None))

    def emit(self, program: ProgramBuilder) -> int:
        """Write the formula into a program and return the register of its value."""
        return emit(self._steps, program)

    def values(
        self, names: Mapping[str, npt.NDArray[Real]], kinds: Sequence[str] = ()
    ) -> npt.NDArray[Real]:
        """Return the value of each memory.

        Args:
            names: every name of :attr:`names`, as it stands in the formula, each of shape (n,),
                contiguous; fields of words as codes.
            kinds: the words for the codes of ``kind``.

        Returns:
            Shape (n,), the dtype of the arrays.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or two differ.
            ValueError: a name is missing or surplus, another shape, or not contiguous.
        """
        dtype, size = _require_arrays(self.names, names)
        builder = ProgramBuilder(kinds)
        register = emit(self._steps, builder, lambda name, to: to.signal(f"given {name}", nan))
        text = builder.build()
        program = _core.Program(inputs=list(text.inputs), instructions=list(text.instructions))
        (result,), _ = program.run(
            operands={
                name if name in WORD_FIELDS else f"given {name}": array
                for name, array in names.items()
            },
            now_seconds=0.0,
            size=size,
            outputs=builder.numbers([register]),
            dtype=dtype,
            out=None,
            threads=1,
        )
        return result


def _name_of(step: Step) -> str | None:
    match step:
        case Name(name=name):
            return name
        case IsOneOf(field=name):
            return name
    return None


def _require_arrays(
    wanted: tuple[str, ...], given: Mapping[str, npt.NDArray[Any]]
) -> tuple[Literal["float32", "float64"], int]:
    """Return the dtype and length that all arrays share."""
    if set(given) != set(wanted) or not given:
        msg = f"names: expected {', '.join(wanted) or 'a formula that names something'}, got "
        raise ValueError(msg + (", ".join(given) or "none"))
    first = next(iter(given))
    for name, array in given.items():
        if array.dtype not in (np.float32, np.float64) or array.dtype != given[first].dtype:
            msg = f"{name}: expected float32 or float64, all alike, got {array.dtype}"
            raise TypeError(msg)
        if array.ndim != 1 or len(array) != len(given[first]):
            msg = f"{name}: expected shape (n,), all alike, got {array.shape}"
            raise ValueError(msg)
    return ("float32" if given[first].dtype == np.float32 else "float64"), len(given[first])


def require_name(name: object) -> None:
    """Refuse what cannot name a factor of the user's own.

    Raises:
        TypeError: no text.
        ValueError: another form, naming it.
    """
    if not isinstance(name, str):
        msg = f"name: expected str, got {type(name).__name__} {name!r}"
        raise TypeError(msg)
    if not _NAME.fullmatch(name):
        msg = f"name: must match {_NAME.pattern}, got {name!r}"
        raise ValueError(msg)
