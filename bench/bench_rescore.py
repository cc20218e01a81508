"""Whole tables scored anew: the batch formulas beside what people use for such work.

Each formula runs over the same float32 columns (codes and flags narrower) in every form; a triad
that moves the same bytes says what the memory allows. ``test_in_turns`` measures all forms in turns,
so that load on the machine strikes all alike, and prints nanoseconds a row and shares of the triad.
ONEIROS_BENCH_ROWS sets the rows (10,000,000), ONEIROS_BENCH_ROUNDS the turns (7).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench import dialects
from bench.dialects import Form
from bench.formulas import FORMULAS
from bench.programs import expression_form, profile_form
from oneiros import rescore

Array = np.ndarray[Any, Any]
ROWS = int(os.environ.get("ONEIROS_BENCH_ROWS", "10000000"))
ROUNDS = int(os.environ.get("ONEIROS_BENCH_ROUNDS", "7"))
NOW = 1_750_000_000.0
CHECKED = 10_000
"""Rows whose answers are compared."""

RIVALS = {  # form -> the module it needs, and how to make it
    "numpy": ("numpy", dialects.numpy_form),
    "numpy in blocks": ("numpy", dialects.numpy_block_form),
    "numexpr": ("numexpr", dialects.numexpr_form),
    "numba": ("numba", dialects.numba_form),
    "polars": ("polars", dialects.polars_form),
    "duckdb": ("duckdb", dialects.duckdb_form),
}
TRIADS = {
    "triad, numpy": ("numpy", dialects.triad_numpy_form),
    "triad, numba": ("numba", dialects.triad_numba_form),
}
FORMS = ("oneiros", "oneiros expression", *TRIADS, *RIVALS)


@lru_cache(maxsize=1)
def drawn(name: str) -> dict[str, Array]:
    return FORMULAS[name].drawn(ROWS)


@lru_cache(maxsize=1)
def wanted(name: str) -> Array:
    """The answer of the first rows, in float64."""
    formula = FORMULAS[name]
    columns = {
        column: values[:CHECKED].astype(np.float64)
        if values.dtype.kind == "f"
        else values[:CHECKED]
        for column, values in drawn(name).items()
    }
    tables = {table: values.astype(np.float64) for table, values in formula.tables.items()}
    functions = dialects.numpy_functions(tables) | {"where": np.where}
    return eval(formula.text, functions, columns)


def made(name: str, form: str, threads: int) -> Form:
    """Return the form, ready to run."""
    formula, columns = FORMULAS[name], drawn(name)
    if form == "oneiros":
        return profile_form(formula, columns, threads)
    if form == "oneiros expression":
        return expression_form(formula.text, columns, threads)
    if form in TRIADS:
        return TRIADS[form][1](columns, threads)
    return RIVALS[form][1](formula.text, columns, formula.tables, threads)


def why_left_out(name: str, form: str, threads: int) -> str:
    """Return why a form cannot take part; empty where it can."""
    has_tables = bool(FORMULAS[name].tables)
    if form == "oneiros expression":
        return "tables by kind are no part of expressions" if has_tables else ""
    if form == "oneiros":
        return ""
    module = (TRIADS | RIVALS)[form][0]
    if not dialects.is_installed(module):
        return f"{module} IS NOT INSTALLED (pip install 'oneiros[bench]')"
    if form == "numpy" and threads > 1:
        return "one thread is all it has"
    if form == "numexpr" and has_tables:
        return "it has no tables"
    if form == "polars" and threads != dialects.polars_threads():
        return f"it takes its {dialects.polars_threads()} threads on import (POLARS_MAX_THREADS)"
    return ""


def require_right(name: str, answer: Array) -> None:
    assert len(answer) == ROWS
    assert answer.dtype == np.float32
    np.testing.assert_allclose(answer[:CHECKED], wanted(name), rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FORMULAS)
def test_rescore(benchmark: BenchmarkFixture, name: str, threads: int, form: str) -> None:
    benchmark.group = f"{name}, {ROWS:,} rows, {threads} threads"
    if reason := why_left_out(name, form, threads):
        pytest.skip(f"LEFT OUT: {form}: {reason}")
    answer = benchmark.pedantic(made(name, form, threads), rounds=ROUNDS, warmup_rounds=1)
    if form not in TRIADS:
        require_right(name, answer)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FORMULAS)
def test_in_turns(name: str, threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    runs: dict[str, Form] = {}
    lines = []
    for form in FORMS:
        if reason := why_left_out(name, form, threads):
            lines.append(f"  LEFT OUT: {form}: {reason}")
            continue
        runs[form] = made(name, form, threads)
        if form not in TRIADS:
            require_right(name, runs[form]())
    best = fastest(runs)
    with capsys.disabled():
        head = f"{name}, {ROWS:,} rows of {FORMULAS[name].row_bytes()} bytes, {threads} threads"
        sys.stdout.write("\n".join(["", head, *table(best), *lines, ""]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [100_000, ROWS])
def test_tables(rows: int, threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way: ``oneiros.rescore`` of a dict of arrays, judged, its ages made of times."""
    columns = FORMULAS["ciar"].drawn(rows)
    columns["created_at"] = NOW - 86_400.0 * columns.pop("age_days").astype(np.float64)
    out = np.zeros(rows, np.float32)

    def scores(**options: Any) -> Array:
        return rescore(columns, "ciar", now=NOW, threads=threads, **options)["score"]

    runs = {
        "rescore": scores,
        "rescore, out": lambda: scores(out=out),
        **{
            form: TRIADS[form][1](columns, threads)
            for form in TRIADS
            if dialects.is_installed(TRIADS[form][0])
        },
    }
    assert np.array_equal(runs["rescore"](), runs["rescore, out"]())
    best = fastest(runs, rows, max(ROUNDS, 10**7 // rows))
    triad = min(best[form] for form in TRIADS if form in best)
    row_bytes = sum(values.itemsize for values in columns.values()) + out.itemsize
    with capsys.disabled():
        head = f"tables: ciar, {rows:,} rows of {row_bytes} bytes, {threads} threads"
        lines = [f"  {form:20} {value:9.2f} {triad / value:8.2f}x" for form, value in best.items()]
        sys.stdout.write("\n".join(["", head, f"  {'':20} ns a row  of triad", *lines, ""]))


def fastest(runs: Mapping[str, Form], rows: int = ROWS, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least nanoseconds a row of each form, taken in turns."""
    seconds: dict[str, list[float]] = {form: [] for form in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for form, run in runs.items():
            started = perf_counter()
            run()
            seconds[form].append(perf_counter() - started)
    return {form: min(times) / rows * 1e9 for form, times in seconds.items()}


def table(best: dict[str, float]) -> Iterator[str]:
    triad = min(best[form] for form in TRIADS if form in best)
    rival = min(best[form] for form in RIVALS if form in best)
    yield f"  {'':20} {'ns a row':>9} {'of triad':>9} {'of best rival':>14}"
    for form, value in best.items():
        yield f"  {form:20} {value:9.2f} {triad / value:8.2f}x {value / rival:13.2f}x"
