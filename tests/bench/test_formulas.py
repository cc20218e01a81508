"""The formulas that benchmarks compute are those of the kernels and profiles, in every dialect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench import bench_kernels, turns
from bench.formula import CHECKED, Formula, uniform
from bench.formulas import FORMULAS
from bench.kernel_formulas import KERNELS, LEFT_OUT, kernel_form
from bench.programs import profile_form
from oneiros import kernels, profiles

ROWS = 1_000
RIVALS = [form for form in turns.RIVALS if form != "numba"]
"""numba takes a second to compile a formula."""


def test_every_kernel_is_measured_or_named_as_left_out() -> None:
    bench_kernels.test_every_name_is_measured_or_named_as_left_out()
    assert not KERNELS.keys() & LEFT_OUT.keys()
    assert all(callable(getattr(kernels, name)) for name in KERNELS)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_computes_its_text(name: str, real: type[np.floating], threads: int) -> None:
    work = KERNELS[name].work(ROWS, real)
    turns.require_right(kernel_form(name, work)(threads), work, turns.wanted(work))


@pytest.mark.parametrize("name", FORMULAS)
def test_a_profile_computes_its_text(name: str) -> None:
    work = FORMULAS[name].work(ROWS)
    turns.require_right(profile_form(FORMULAS[name], work)(1), work, turns.wanted(work))


SCORED = [name for name in profiles.names() if profiles.get(name).factors]


@pytest.mark.parametrize("profile", SCORED)
def test_every_profile_has_a_chain(profile: str) -> None:
    """All of it: what a chain leaves out is 1 where nothing was asked."""
    chains = [chain for chain in FORMULAS.values() if chain.profile == profile]
    assert chains
    for chain in chains:
        work = chain.work(ROWS)
        answer = profile_form(replace(chain, factors=None), work)(1)
        turns.require_right(answer, work, turns.wanted(work))


@pytest.mark.parametrize("form", RIVALS)
def test_a_rival_computes_every_text(form: str) -> None:
    pytest.importorskip(turns.RIVALS[form][0])
    for formula in (KERNELS | FORMULAS).values():
        work = formula.work(ROWS)
        assert not turns.why_left_out(form, 1, work), work.text
        turns.require_right(turns.made(form, work)(1), work, turns.wanted(work))


def test_numba_computes_the_text() -> None:
    pytest.importorskip("numba")
    work = KERNELS["minmax_floor"].work(ROWS)
    turns.require_right(turns.made("numba", work)(1), work, turns.wanted(work))


@pytest.mark.parametrize("column", ["x", "y"])
def test_a_wrong_answer_is_none(column: str) -> None:
    formula = Formula(text="x + y", columns={"x": uniform(1.0, 2.0), "y": uniform(1.0, 2.0)})
    work = formula.work(ROWS)
    with pytest.raises(AssertionError):
        turns.require_right(work.columns[column], work, turns.wanted(work))
    with pytest.raises(AssertionError):
        turns.require_right(turns.wanted(work), work, turns.wanted(work))  # float64


def test_what_is_read_twice_counts_twice() -> None:
    work = KERNELS["blend"].work(2 * CHECKED)
    assert work.row_bytes() == 3 * 4 + 4
    assert len(work.moved()) == 3
