"""Scores of whole columns without a query: the compiled profile over every row, a block at a time.

Source: docs/systems/README.md, "Scoring without a query".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros._lazy import np
from oneiros.model.fields import COLUMN_DEFAULTS
from oneiros.scoring.callable_factor import fields_of, signals_of
from oneiros.scoring.expression_steps import WORD_FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.scoring.compiled import CompiledProfile

    Array = npt.NDArray[Any]

__all__ = [
    "BLOCK",
    "ColumnRange",
    "blocks",
    "columns_read",
    "judged_values",
    "score_rows",
    "values_of_registers",
]


class ColumnRange(NamedTuple):
    """What the values of a column ought to be."""

    values: Array
    low: float
    high: float
    may_be_nan: bool
    must_be_whole: bool


BLOCK: Final = 2**20
"""Rows a call into the core: a few milliseconds, between which Ctrl-C is heard."""


def blocks(size: int) -> Iterator[tuple[int, int]]:
    """Yield first row and end of each block of ``size`` rows."""
    for start in range(0, size, BLOCK):
        yield start, min(start + BLOCK, size)


def columns_read(compiled: CompiledProfile) -> tuple[str, ...]:
    """Return the columns and signals that the profile reads, those of its functions too."""
    names = compiled.program.input_names
    return tuple(dict.fromkeys((*names, *fields_of(compiled.profile.factors))))


def score_rows(
    compiled: CompiledProfile,
    columns: Mapping[str, Array | float],
    *,
    now: float,
    out: Array,
    threads: int,
) -> int:
    """Write each row's score: all factors over a relevance of 1.

    Args:
        compiled: the profile.
        columns: field to values, each of ``len(out)`` rows or one number for all; of kinds, codes
            as the profile was compiled with. An absent field has its default.
        now: seconds since the epoch.
        out: float32 or float64, in which is computed.
        threads: of the core.

    Returns:
        How many rows hold times after ``now``, taken as age 0.
    """
    return values_of_registers(
        compiled, [compiled.score], columns, now=now, out=[out], threads=threads
    )


def values_of_registers(
    compiled: CompiledProfile,
    registers: Sequence[int],
    columns: Mapping[str, Array | float],
    *,
    now: float,
    out: Sequence[Array],
    threads: int,
) -> int:
    """Write the values of some registers of the profile's program, as :func:`score_rows` does."""
    future_count, _ = judged_values(
        compiled,
        registers,
        columns,
        (),
        now=now,
        out=out,
        threads=threads,
        whole_size=len(out[0]),
    )
    return future_count


def judged_values(
    compiled: CompiledProfile,
    registers: Sequence[int],
    columns: Mapping[str, Array | float],
    ranges: Sequence[ColumnRange],
    *,
    now: float,
    out: Sequence[Array],
    threads: int,
    whole_size: int,
) -> tuple[int, bool]:
    """Write the values of some registers and judge columns while they are in the cache.

    Args:
        compiled: the profile.
        registers: of its program.
        columns: as in :func:`score_rows`.
        ranges: columns to judge, of ``len(out[0])`` rows each; the profile need not read them.
        now: seconds since the epoch.
        out: float32 or float64, one a register.
        threads: of the core.
        whole_size: rows of the table that these are some of; scores that the cache could not hold
            go past it.

    Returns:
        How many rows hold times after ``now``, and whether every value lies in its range; what
        does not is computed like any other.
    """
    program, size = compiled.program, len(out[0])
    told = signals_of(
        compiled.profile.factors,
        lambda name: _column(name, columns.get(name), size),
        compiled.kinds,
        now,
        size,
    )
    held = {**columns, **told}
    _, future_count, is_within = program.run_and_judge(
        operands={name: held[name] for name in program.input_names if name in held},
        now_seconds=now,
        size=size,
        outputs=list(registers),
        dtype="float32" if out[0].itemsize == 4 else "float64",
        out=list(out),
        threads=threads,
        ranges=list(ranges),
        whole_size=whole_size,
    )
    return future_count, is_within


def _column(name: str, values: Array | float | None, size: int) -> Array:
    """Return a column as functions of the user's own get it: whole, words as codes."""
    if not isinstance(values, np.ndarray):
        values = np.full(size, COLUMN_DEFAULTS[name] if values is None else values)
    return values.astype(np.intp) if name in WORD_FIELDS else values
