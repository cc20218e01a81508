"""Rivals of our batch formulas, and all of them measured in turns over the same rows.

In turns, load on the machine strikes all alike. ONEIROS_BENCH_ROWS sets the rows (10,000,000),
ONEIROS_BENCH_ROUNDS the turns (7).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from bench import dialects
from bench.formula import CHECKED, Array, Form, Work
from bench.polars_process import polars_form

Key = TypeVar("Key", bound=Hashable)

ROWS = int(os.environ.get("ONEIROS_BENCH_ROWS", "10000000"))
ROUNDS = int(os.environ.get("ONEIROS_BENCH_ROUNDS", "7"))
RTOL = {"float32": 1e-5, "float64": 1e-11}

RIVALS: dict[str, tuple[str, Callable[[Work], Form]]] = {  # form -> its module, and how to make it
    "numpy": ("numpy", dialects.numpy_form),
    "numpy in blocks": ("numpy", dialects.numpy_block_form),
    "numexpr": ("numexpr", dialects.numexpr_form),
    "numba": ("numba", dialects.numba_form),
    "polars": ("polars", polars_form),
    "duckdb": ("duckdb", dialects.duckdb_form),
}
TRIADS: dict[str, tuple[str, Callable[[Work], Form]]] = {
    "triad, numpy": ("numpy", dialects.triad_numpy_form),
    "triad, numba": ("numba", dialects.triad_numba_form),
}


def why_left_out(form: str, threads: int, work: Work) -> str:
    """Return why a rival or a triad cannot take part; empty where it can."""
    module = (TRIADS | RIVALS)[form][0]
    if not dialects.is_installed(module):
        return f"{module} IS NOT INSTALLED (pip install 'oneiros[bench]')"
    if form == "numpy" and threads > 1:
        return "one thread is all it has"
    largest = max(map(len, work.tables.values()), default=0)
    if form == "numexpr" and largest > dialects.MOST_CASES:
        return f"it has no tables, and {largest} cases are too many to write out"
    return ""


def made(form: str, work: Work) -> Form:
    """Return a rival or a triad, ready to run."""
    return (TRIADS | RIVALS)[form][1](work)


def wanted(work: Work) -> Array:
    """Return the answer of the first rows, in float64."""
    text, of_the_list = work.by_row()
    names: dict[str, Any] = {
        name: values[:CHECKED].astype(np.float64) if values.dtype.kind == "f" else values[:CHECKED]
        for name, values in work.columns.items()
    }
    tables = {name: values.astype(np.float64) for name, values in work.tables.items()}
    functions = dialects.numpy_functions(tables, np.float64)
    names |= {name: np.float64(value) for name, value in of_the_list().items()}
    answer: Array = eval(text, functions, names)
    return answer


def require_right(answer: Array, work: Work, want: Array) -> None:
    """Assert that an answer has the rows and the dtype that the work asks for, and is right."""
    assert (len(answer), answer.dtype) == (len(work.out), work.out.dtype)
    rtol = RTOL[np.dtype(work.real()).name]
    np.testing.assert_allclose(answer[:CHECKED], want, rtol=rtol, err_msg=work.text)


def fastest(
    runs: Mapping[Key, Callable[[], Array]], rows: int = ROWS, rounds: int = ROUNDS
) -> dict[Key, float]:
    """Return the least nanoseconds a row of each, taken in turns; each has run once before."""
    seconds: dict[Key, list[float]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            started = perf_counter()
            run()
            seconds[key].append(perf_counter() - started)
    return {key: min(times) / rows * 1e9 for key, times in seconds.items()}
