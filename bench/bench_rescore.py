"""Whole tables rescored: the batch formulas beside what people use for such work.

Each formula runs over the same float32 columns (codes and flags narrower) in every form; a triad
that moves the same bytes says what the memory allows. ``test_in_turns`` measures all forms in turns
(bench/turns.py) and prints nanoseconds a row and shares of the triad.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench import dialects, turns
from bench.formula import Array, Form, Work
from bench.formulas import FORMULAS
from bench.programs import expression_form, profile_form
from bench.turns import RIVALS, ROUNDS, ROWS, TRIADS, fastest, require_right
from oneiros import rescore

NOW = 1_750_000_000.0
FORMS = ("oneiros", "oneiros expression", *TRIADS, *RIVALS)


@lru_cache(maxsize=1)
def work(name: str) -> Work:
    return FORMULAS[name].work(ROWS)


@lru_cache(maxsize=1)
def wanted(name: str) -> Array:
    return turns.wanted(work(name))


def made(name: str, form: str) -> Form:
    """Return the form, ready to run."""
    if form == "oneiros":
        return profile_form(FORMULAS[name], work(name))
    if form == "oneiros expression":
        return expression_form(work(name))
    return turns.made(form, work(name))


def why_left_out(name: str, form: str, threads: int) -> str:
    """Return why a form cannot take part; empty where it can."""
    if form == "oneiros expression":
        return "tables by kind are no part of expressions" if FORMULAS[name].tables else ""
    return "" if form == "oneiros" else turns.why_left_out(form, threads, work(name))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FORMULAS)
def test_rescore(benchmark: BenchmarkFixture, name: str, threads: int, form: str) -> None:
    benchmark.group = f"{name}, {ROWS:,} rows, {threads} threads"
    if reason := why_left_out(name, form, threads):
        pytest.skip(f"LEFT OUT: {form}: {reason}")
    run = partial(made(name, form), threads)
    answer = benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    if form not in TRIADS:
        require_right(answer, work(name), wanted(name))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FORMULAS)
def test_in_turns(name: str, threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    runs: dict[str, Callable[[], Array]] = {}
    lines = []
    for form in FORMS:
        if reason := why_left_out(name, form, threads):
            lines.append(f"  LEFT OUT: {form}: {reason}")
            continue
        runs[form] = partial(made(name, form), threads)
        work(name).out.fill(0)  # so that no form is checked on another's results
        answer = runs[form]()
        if form not in TRIADS:
            require_right(answer, work(name), wanted(name))
    best = fastest(runs)
    with capsys.disabled():
        head = f"{name}, {ROWS:,} rows of {work(name).row_bytes()} bytes, {threads} threads"
        sys.stdout.write("\n".join(["", head, *table(best), *lines, ""]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [100_000, ROWS])
def test_tables(rows: int, threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way: ``oneiros.rescore`` of a dict of arrays, judged, its ages made of times."""
    columns = FORMULAS["ciar"].drawn(rows)
    columns["created_at"] = NOW - 86_400.0 * columns.pop("age_days").astype(np.float64)
    out = np.zeros(rows, np.float32)

    def scores(**options: Any) -> Array:
        found: Array = rescore(columns, "ciar", now=NOW, threads=threads, **options)["score"]
        return found

    given = Work(text="", columns=columns, tables={}, out=np.empty(rows, np.float32))
    runs: dict[str, Callable[[], Array]] = {
        "rescore": scores,
        "rescore, out": lambda: scores(out=out),
        **{
            form: partial(turns.made(form, given), threads)
            for form in TRIADS
            if dialects.is_installed(TRIADS[form][0])
        },
    }
    assert np.array_equal(runs["rescore"](), runs["rescore, out"]())
    for run in runs.values():
        run()
    best = fastest(runs, rows, max(ROUNDS, 10**7 // rows))
    triad = min(best[form] for form in TRIADS if form in best)
    row_bytes = sum(values.itemsize for values in columns.values()) + out.itemsize
    with capsys.disabled():
        head = f"tables: ciar, {rows:,} rows of {row_bytes} bytes, {threads} threads"
        lines = [f"  {form:20} {value:9.2f} {triad / value:8.2f}x" for form, value in best.items()]
        sys.stdout.write("\n".join(["", head, f"  {'':20} ns a row  of triad", *lines, ""]))


def table(best: dict[str, float]) -> Iterator[str]:
    triad = min(best[form] for form in TRIADS if form in best)
    rival = min(best[form] for form in RIVALS if form in best)
    yield f"  {'':20} {'ns a row':>9} {'of triad':>9} {'of best rival':>14}"
    for form, value in best.items():
        yield f"  {form:20} {value:9.2f} {triad / value:8.2f}x {value / rival:13.2f}x"
