"""What an expression may name: fields of a memory, ages, scores of the channels, functions.

Expressions and functions of the user's own (:class:`~oneiros.ranking.callable_factor.CallableFactor`)
read by the same names.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from oneiros.fields import ENUMS, FIELDS
from oneiros.named_calls import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oneiros.ranking.program import ProgramBuilder, Unit

__all__ = [
    "AGES",
    "COLUMNS",
    "CONSTANTS",
    "NUMBERS",
    "RELEVANCE",
    "SCORES",
    "WORD_FIELDS",
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
