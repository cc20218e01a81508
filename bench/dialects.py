"""One formula, as each rival wants it: NumPy, numexpr, numba and DuckDB from one text.

A formula is an expression in Python's syntax over columns, with ``exp log log1p log2 sqrt floor min
max where``, tables, written ``NAME(code)``, and ``lowest highest`` of a whole column. Each ``*_form``
returns a function of the number of threads that computes the formula over all rows; making it
(compiling, handing the columns over) is not measured. polars: bench/polars_process.py.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from bench.formula import Array, Form, Work

BLOCK = 1 << 14
MOST_CASES = 16
"""A table of so many values can be written out where there are no tables."""

_NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])")


def is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def numpy_functions(
    tables: Mapping[str, Array], real: type[Any] = np.float32
) -> dict[str, Callable[..., Any]]:
    def where(test: Array, yes: Any, no: Any) -> Array:
        # NumPy would take two Python numbers for float64.
        chosen: Array = np.where(test, *(real(v) if isinstance(v, float) else v for v in (yes, no)))
        return chosen

    return {
        "exp": np.exp,
        "log": np.log,
        "log1p": np.log1p,
        "log2": np.log2,
        "sqrt": np.sqrt,
        "floor": np.floor,
        "where": where,
        "min": np.minimum,
        "max": np.maximum,
        "lowest": np.min,
        "highest": np.max,
        **{name: table.take for name, table in tables.items()},
    }


def numpy_form(work: Work) -> Form:
    """Whole arrays, one operation after another; NumPy has one thread."""
    code = compile(work.text, work.text, "eval")
    functions = numpy_functions(work.tables, work.real())
    names = dict(work.columns)

    def whole(threads: int) -> Array:
        assert threads == 1
        answer: Array = eval(code, functions, names).astype(work.out.dtype, copy=False)
        return answer

    return whole


def numpy_block_form(work: Work) -> Form:
    """Blocks that stay in the cache; threads take the rows by parts."""
    text, of_the_list = work.by_row()
    code = compile(text, text, "eval")
    functions = numpy_functions(work.tables, work.real())

    def whole(threads: int) -> Array:
        found = of_the_list()

        def part(start: int, end: int) -> None:
            for low in range(start, end, BLOCK):
                high = min(low + BLOCK, end)
                names = {name: column[low:high] for name, column in work.columns.items()}
                work.out[low:high] = eval(code, functions, names | found)

        return _by_parts(part, work.out, threads)

    return whole


@lru_cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def _by_parts(part: Callable[[int, int], None], out: Array, threads: int) -> Array:
    """Return ``out`` once each thread has written its part of the rows."""
    bounds = np.linspace(0, len(out), threads + 1).astype(int)
    list(_pool(threads).map(part, bounds[:-1], bounds[1:]))
    return out


def numexpr_form(work: Work) -> Form:
    numexpr = importlib.import_module("numexpr")
    text, of_the_list = work.by_row()
    for name, table in work.tables.items():
        cases = _cases(r"\1", table)
        text = re.sub(rf"\b{name}\((\w+)\)", cases, text)
    constants: dict[str, Any] = {}

    def constant(match: re.Match[str]) -> str:  # a Python float would make it compute in float64
        name = "number_" + re.sub(r"\W", "_", match.group())
        constants[name] = work.real()(match.group())
        return name

    written = _NUMBER.sub(constant, text).replace("min(", "minimum(").replace("max(", "maximum(")
    names = {**work.columns, **constants}
    numexpr.evaluate(written, names | of_the_list(), out=work.out, casting="same_kind")

    def whole(threads: int) -> Array:
        numexpr.set_num_threads(threads)
        numexpr.evaluate(written, names | of_the_list(), out=work.out, casting="same_kind")
        return work.out

    return whole


def _cases(code: str, table: Array) -> str:
    """Write a table's look-up as a choice."""
    *others, last = (repr(value).replace("e+", "e") for value in table.tolist())
    cases = "".join(f"where({code} == {i}, {value}, " for i, value in enumerate(others))
    return cases + last + ")" * len(others)


def numba_form(work: Work) -> Form:
    """A loop compiled with fast math, in parallel."""
    numba = importlib.import_module("numba")
    text, of_the_list = work.by_row()
    row = re.sub(rf"\b({'|'.join(work.columns)})\b", r"\1[i]", _NUMBER.sub(r"real(\1)", text))
    for name in work.tables:
        row = re.sub(rf"\b{name}\((\w+\[i\])\)", rf"{name}[\1]", row)
    reduced = of_the_list()
    assignments = [f"{name} = {name.replace('_', '(', 1)})" for name in reduced]
    source = f"""
def loop({", ".join(work.columns)}, out):
    {"; ".join(assignments) or "pass"}
    for i in prange(len(out)):
        out[i] = {row}
"""
    tables = tuple((name, tuple(table.tolist())) for name, table in work.tables.items())
    loop = _compiled(source, np.dtype(work.real()).name, tables)

    def whole(threads: int) -> Array:
        numba.set_num_threads(threads)
        loop(*work.columns.values(), work.out)
        return work.out

    whole(1)
    return whole


@lru_cache
def _compiled(
    source: str, real_name: str, tables: tuple[tuple[str, tuple[float, ...]], ...]
) -> Callable[..., None]:
    numba = importlib.import_module("numba")
    real = np.dtype(real_name).type
    names = {
        "prange": numba.prange,
        "real": real,
        "exp": math.exp,
        "log": math.log,
        "log1p": math.log1p,
        "log2": math.log2,
        "sqrt": math.sqrt,
        "floor": np.floor,
        "lowest": np.min,
        "highest": np.max,
        "where": numba.njit(_where, fastmath=True, inline="always"),
        **{name: np.array(values, real) for name, values in tables},
    }
    exec(source, names)  # noqa: S102 - our own formulas
    loop: Callable[..., None] = numba.njit(names["loop"], parallel=True, fastmath=True)
    return loop


def _where(test: bool, yes: float, no: float) -> float:
    return yes if test else no


def duckdb_form(work: Work) -> Form:
    """SQL over a table in memory; the answer comes back as Arrow."""
    duckdb = importlib.import_module("duckdb")
    connection = duckdb.connect()
    connection.register("given", importlib.import_module("pyarrow").table(dict(work.columns)))
    connection.execute("CREATE TABLE memory AS SELECT * FROM given")
    names = {"float32": "FLOAT", "float64": "DOUBLE", "bool": "BOOLEAN"}
    real, result = names[np.dtype(work.real()).name], names[work.out.dtype.name]
    for macro in (
        f"log1p(a) AS ln(1::{real} + a)",
        "min2(a, b) AS least(a, b)",
        "max2(a, b) AS greatest(a, b)",
        "where3(test, yes, no) AS CASE WHEN test THEN yes ELSE no END",
    ):
        connection.execute(f"CREATE MACRO {macro}")
    for name, table in work.tables.items():
        listed = ", ".join(f"{value}::{real}" for value in table.tolist())
        connection.execute(f"CREATE MACRO {name}(code) AS ([{listed}])[code + 1]")
    renamed = {"min(": "min2(", "max(": "max2(", "where(": "where3(", "==": "="}
    written = work.text
    for python, sql in renamed.items():
        written = written.replace(python, sql)
    written = re.sub(r"\blog\(", "ln(", _NUMBER.sub(rf"\1::{real}", written))
    for python, sql in {"lowest": "min", "highest": "max"}.items():
        written = re.sub(rf"\b{python}\((\w+)\)", rf"(SELECT {sql}(\1) FROM memory)", written)
    query = f"SELECT ({written})::{result} AS out FROM memory"

    def whole(threads: int) -> Array:
        connection.execute(f"SET threads = {threads}")
        chunks = connection.sql(query).to_arrow_table()["out"].chunks
        return np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks])

    return whole


def triad_numpy_form(work: Work) -> Form:
    """Move the same bytes and compute next to nothing: no formula can be much faster."""
    first, *others = work.moved()
    out = work.out

    def part(start: int, end: int) -> None:
        rows = slice(start, end)
        if out.dtype == np.bool_:
            np.greater(first[rows], 0, out=out[rows])
        elif others:
            np.add(first[rows], others[0][rows], out=out[rows], casting="same_kind")
        else:
            np.copyto(out[rows], first[rows])
        for other in others[1:]:
            other[rows].max()

    return lambda threads: _by_parts(part, out, threads)


def triad_numba_form(work: Work) -> Form:
    """Add all columns up: the same bytes through one compiled loop."""
    columns = {f"column_{i}": values for i, values in enumerate(work.moved())}
    text = " + ".join(columns) + (" > 0" if work.out.dtype == np.bool_ else "")
    return numba_form(Work(text=text, columns=columns, tables={}, out=work.out))
