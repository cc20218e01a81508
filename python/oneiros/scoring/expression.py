"""Custom factors written as formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

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


OPERATIONS = ("multiply", "add")

Real = TypeVar("Real", "np.float32", "np.float64")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A factor given by a formula over a memory's fields, its ages and the query's scores.

    >>> from oneiros import Engine, Expression, Profile
    >>> boost = "1.5 if kind in ('decision', 'constraint') and age_days < 90 else 1.0"
    >>> fresh = Expression("exp(-age_days / 30) * (1 + 0.1 * log1p(access_count))", name="fresh")
    >>> fresh.names
    ('age_days', 'access_count')
    >>> profile = Profile(name="custom", factors=(Expression(boost, name="boost"), fresh))
    >>> engine = Engine(":memory:", profile=profile)

    The syntax is Python's, but the text is never run as Python: it is checked and compiled to
    kernels of the core, for search, rescoring and explanations. It may contain

    - the numeric fields of docs/systems/fields.md, with the defaults given there;
    - ``age_days``, ``updated_days`` and ``idle_days`` since creation, the last update, the last
      access (creation if never), and the same as ``_hours``; 0 for a time after now;
    - ``relevance`` (the fused score), ``bm25`` and ``cosine`` (raw), all 1 without a query; a
      missing raw score is 0, and under a weighted sum or mean also that of a memory which the
      channel itself did not find;
    - ``+ - * / **``, comparisons (1 or 0, also chained), ``and or not``, ``a if b else c``;
    - ``exp log log1p log2 sqrt pow abs floor min max clip where isnan``, ``inf`` and ``nan``;
    - ``kind``, ``category``, ``status``, ``tier``, ``veracity``, ``importance_tag`` and
      ``canonical_layer`` compared with words: ``kind == "fact"``, ``tier in ("hot", "cold")``.

    Arithmetic is NumPy's float64 (float32 in a float32 batch): x / 0 is infinite or NaN, ``min``
    and ``max`` propagate NaN, and a memory whose score is NaN is not returned.
    """

    text: str
    """At most 4 KiB, 256 nodes (values, operations, calls) and brackets 64 deep."""

    name: str = "expression"
    """Name in explanations: a lower case letter, then up to 63 letters, digits or underscores."""

    operation: Operation = "multiply"
    """"multiply" the score by the value, or "add" the value to it."""

    is_lifecycle: bool = field(default=False, kw_only=True)
    """Whether the value is part of the retention score, and ``lifecycle=False`` leaves it out."""

    _steps: tuple[Step, ...] = field(init=False, repr=False, compare=False, default=())

    discriminator: ClassVar[str] = "text"
    """The field by which a record of an expression differs from those of other factors."""

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
        names = (_name_of(step) for step in self._steps)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def emit(self, program: ProgramBuilder) -> int:
        """Add the formula to a program and return the register of its value."""
        return emit(self._steps, program)

    def values(
        self, names: Mapping[str, npt.NDArray[Real]], kinds: Sequence[str] = ()
    ) -> npt.NDArray[Real]:
        """Return the formula's value for each memory.

        >>> import numpy as np
        >>> from oneiros import Expression
        >>> Expression("1 / (1 + age_days)").values({"age_days": np.array([0.0, 1.0, 3.0])})
        array([1.  , 0.5 , 0.25])

        Args:
            names: an array of shape (n,), contiguous, for every name in :attr:`names`; word fields
                as codes.
            kinds: the words of ``kind``, by code.

        Returns:
            Shape (n,), the dtype of the arrays.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or two dtypes differ.
            ValueError: a name is missing or unknown, another shape, or not contiguous.
        """
        dtype, size = _require_arrays(self.names, names)
        builder = ProgramBuilder(kinds)
        register = emit(self._steps, builder, lambda name, to: to.signal(f"given {name}", nan))
        (result,), _ = (
            builder.build()
            .compiled()
            .run(
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
    names: tuple[str, ...], arrays: Mapping[str, npt.NDArray[Any]]
) -> tuple[Literal["float32", "float64"], int]:
    """Check the arrays and return their common dtype and length."""
    if set(arrays) != set(names) or not arrays:
        msg = f"names: expected {', '.join(names) or 'a formula that names something'}, got "
        raise ValueError(msg + (", ".join(arrays) or "none"))
    first = next(iter(arrays.values()))
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float64) or array.dtype != first.dtype:
            msg = f"{name}: expected float32 or float64, all alike, got {array.dtype}"
            raise TypeError(msg)
        if array.ndim != 1 or len(array) != len(first):
            msg = f"{name}: expected shape (n,), all alike, got {array.shape}"
            raise ValueError(msg)
    return ("float32" if first.dtype == np.float32 else "float64"), len(first)


def require_name(name: object) -> None:
    """Check the name of a custom factor.

    Raises:
        TypeError: not a str.
        ValueError: not a lower case letter and up to 63 letters, digits or underscores.
    """
    if not isinstance(name, str):
        msg = f"name: expected str, got {type(name).__name__} {name!r}"
        raise TypeError(msg)
    if not _NAME.fullmatch(name):
        msg = f"name: must match {_NAME.pattern}, got {name!r}"
        raise ValueError(msg)
