"""Scores of whole columns without a query: a compiled profile is run over the rows in blocks.

Source: docs/systems/README.md, "Scoring without a query".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.model.fields import COLUMN_DEFAULTS
from oneiros.runtime.dataclasses import NamedTuple
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
    """The allowed range of the values of a column."""

    values: Array
    low: float
    high: float
    may_be_nan: bool
    must_be_whole: bool


BLOCK: Final = 2**20
"""Rows per call into the core: a few milliseconds, after which Ctrl-C takes effect."""


def blocks(size: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each block of rows, for ``size`` rows in all."""
    for start in range(0, size, BLOCK):
        yield start, min(start + BLOCK, size)


def columns_read(compiled: CompiledProfile) -> tuple[str, ...]:
    """Return the columns and signals that the profile reads, including those of its functions."""
    names = compiled.program.input_names
    if not compiled.has_functions:
        return tuple(names)
    return tuple(dict.fromkeys((*names, *fields_of(compiled.profile.factors))))


def score_rows(
    compiled: CompiledProfile,
    columns: Mapping[str, Array | float],
    *,
    now: float,
    out: Array,
    threads: int,
) -> int:
    """Write each row's score into ``out``: all factors over a relevance of 1.

    Args:
        compiled: the profile.
        columns: field -> values, ``len(out)`` rows or one number for all rows; kinds as the codes
            that the profile was compiled with. A missing field has its default.
        now: seconds since the epoch.
        out: float32 or float64; its dtype is that of the computation.
        threads: number of threads of the core.

    Returns:
        The number of rows with times after ``now``, which count as age 0.
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
    """Write the values of some registers of the profile's program; else as :func:`score_rows`."""
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
    """Write the values of some registers; check ranges of columns while they are in the cache.

    Args:
        compiled: the profile.
        registers: registers of its program.
        columns: as in :func:`score_rows`.
        ranges: columns to check, ``len(out[0])`` rows each; the profile need not read them.
        now: seconds since the epoch.
        out: float32 or float64, one per register.
        threads: number of threads of the core.
        whole_size: number of rows of the whole table; scores too large for the cache bypass it.

    Returns:
        The number of rows with times after ``now``, and whether all values are in their ranges.
        Values out of range are computed all the same.
    """
    program, size = compiled.program, len(out[0])
    inputs: Mapping[str, Array | float] = columns
    if compiled.has_functions:
        signals = signals_of(
            compiled.profile.factors,
            lambda name: _column(name, columns.get(name), size),
            lambda: compiled.kinds,
            now,
            size,
        )
        inputs = {**columns, **signals}
    _, future_count, is_within = program.run_and_judge(
        operands={name: inputs[name] for name in program.input_names if name in inputs},
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
    """Return a column as an array of ``size`` rows, words as codes, for Python functions."""
    if not isinstance(values, np.ndarray):
        values = np.full(size, COLUMN_DEFAULTS[name] if values is None else values)
    return values.astype(np.intp) if name in WORD_FIELDS else values
