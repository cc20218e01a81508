"""Every kernel over whole columns, 1 and 2 threads, beside its rivals and a triad of the same bytes.

``test_in_turns`` measures one kernel, one dtype, all forms and both numbers of threads in turns
(bench/turns.py), and prints nanoseconds a row and shares; at the end stands a table of all kernels.
``-k float32`` or ``-k float64`` takes one dtype, ``-k "in_turns and ciar"`` one kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from bench import turns
from bench.formula import Array
from bench.kernel_formulas import KERNELS, LEFT_OUT, kernel_form
from bench.turns import RIVALS, ROUNDS, ROWS, TRIADS, fastest, require_right, why_left_out
from oneiros import kernels

THREADS = (1, 2)
FORMS = ("oneiros", *TRIADS, *RIVALS)
IN_CACHE = (256, 4_096)
"""Rows that stand in the first cache; their difference is rows without a call."""

Best = dict[tuple[str, int], float]
"""Nanoseconds a row by form and threads."""


def test_every_name_is_measured_or_named_as_left_out() -> None:
    assert sorted([*KERNELS, *LEFT_OUT]) == sorted(kernels.__all__)


@pytest.fixture(scope="module")
def summary(request: pytest.FixtureRequest) -> Iterator[dict[str, list[str]]]:
    """Lines of a table by dtype, written once all kernels have added theirs."""
    lines: dict[str, list[str]] = {}
    yield lines
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        for real, rows in lines.items():
            sys.stdout.write("\n".join(["", f"{real}, {ROWS:,} rows", "", *HEAD, *rows, ""]))


@pytest.mark.parametrize("real", ["float32", "float64"])
@pytest.mark.parametrize("name", KERNELS)
def test_in_turns(
    name: str, real: str, summary: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    dtype = np.dtype(real).type
    work = KERNELS[name].work(ROWS, dtype)
    want = turns.wanted(work)
    runs: dict[tuple[str, int], Callable[[], Array]] = {}
    reasons = []
    for form in FORMS:
        why_not = {
            threads: "" if form == "oneiros" else why_left_out(form, threads, work)
            for threads in THREADS
        }
        reasons += [
            f"  LEFT OUT: {form}, {threads} threads: {why}"
            for threads, why in why_not.items()
            if why
        ]
        if all(why_not.values()):
            continue
        run = kernel_form(name, work) if form == "oneiros" else turns.made(form, work)
        for threads in THREADS:
            if why_not[threads]:
                continue
            runs[form, threads] = partial(run, threads)
            work.out.fill(0)  # so that no form is checked on another's results
            answer = run(threads)
            if form not in TRIADS:
                require_right(answer, work, want)
    best = fastest(runs)
    in_cache = nanoseconds_in_cache(name, dtype)
    summary.setdefault(real, []).append(row_of(name, work.row_bytes(), in_cache, best))
    with capsys.disabled():
        head = f"{name}, {ROWS:,} rows of {work.row_bytes()} bytes, {real}, in cache {in_cache:.2f}"
        sys.stdout.write("\n".join(["", head, *table(best), *reasons, ""]))


def nanoseconds_in_cache(name: str, real: type[Any]) -> float:
    """Return what the processor takes for a row whose columns stand in its first cache."""
    seconds = dict.fromkeys(IN_CACHE, float("inf"))
    for _ in range(10):  # new arrays: where they lie changes the figure
        runs = {rows: kernel_form(name, KERNELS[name].work(rows, real)) for rows in IN_CACHE}
        for _, (rows, run) in product(range(10 * ROUNDS), runs.items()):
            started = perf_counter()
            run(1)
            seconds[rows] = min(seconds[rows], perf_counter() - started)
    few, many = IN_CACHE
    return (seconds[many] - seconds[few]) / (many - few) * 1e9


def least(best: Best, forms: dict[str, Any], threads: int) -> tuple[float, str]:
    """Return the fastest of some forms, and its name."""
    return min((best[form, threads], form) for form in forms if (form, threads) in best)


def table(best: Best) -> Iterator[str]:
    """Lines of all forms: figures for 1 and for 2 threads."""
    yield f"  {'':20} {'ns a row':>14} {'of triad':>14} {'of best rival':>16}"
    for form in dict.fromkeys(form for form, _ in best):
        taken = [best.get((form, threads)) for threads in THREADS]
        triads = [least(best, TRIADS, threads)[0] for threads in THREADS]
        rivals = [least(best, RIVALS, threads)[0] for threads in THREADS]
        shares = [_pair(b / t if t else None for t, b in zip(taken, triads, strict=True))]
        shares += [_pair(t / b if t else None for t, b in zip(taken, rivals, strict=True))]
        yield f"  {form:20} {_pair(taken):>14} {shares[0]:>14} {shares[1]:>16}"


HEAD = (
    "| kernel, bytes a row | ours, ns | in cache | of the triad | best rival | of it |",
    "| --- | --- | --- | --- | --- | --- |",
)


def row_of(name: str, row_bytes: int, in_cache: float, best: Best) -> str:
    """Return a kernel's line of the table: 1 / 2 threads."""
    ours = [best["oneiros", threads] for threads in THREADS]
    triads = [least(best, TRIADS, threads)[0] for threads in THREADS]
    rivals = [least(best, RIVALS, threads) for threads in THREADS]
    names = " / ".join(dict.fromkeys(form for _, form in rivals))
    cells = (
        f"{name}, {row_bytes}",
        _pair(ours),
        f"{in_cache:.2f}",
        _pair(triad / our for triad, our in zip(triads, ours, strict=True)),
        f"{names} {_pair(rival for rival, _ in rivals)}",
        _pair(our / rival for our, (rival, _) in zip(ours, rivals, strict=True)),
    )
    return f"| {' | '.join(cells)} |"


def _pair(values: Any) -> str:
    return " / ".join("-" if value is None else f"{value:.2f}" for value in values)
