"""One formula, as each rival wants it: NumPy, numexpr, numba, polars and DuckDB from one text.

A formula is an expression in Python's syntax over columns, with ``exp log log1p log2 sqrt min max
where`` and tables, written ``NAME(code)``. Each ``*_form`` returns a function without arguments that
computes the formula over all rows as float32; making it (compiling, handing the columns over) is
not measured.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Columns = Mapping[str, Array]
Tables = Mapping[str, Array]
Form = Callable[[], Array]

BLOCK = 1 << 14
_NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])")


def is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def numpy_functions(tables: Tables) -> dict[str, Callable[..., Any]]:
    return {
        "exp": np.exp,
        "log": np.log,
        "log1p": np.log1p,
        "log2": np.log2,
        "sqrt": np.sqrt,
        "where": _where_float32,
        "min": np.minimum,
        "max": np.maximum,
        **{name: table.take for name, table in tables.items()},
    }


def numpy_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    """Whole arrays, one operation after another; NumPy has one thread."""
    assert threads == 1
    code = compile(text, text, "eval")
    functions = numpy_functions(tables)
    names = dict(columns)
    return lambda: eval(code, functions, names).astype(np.float32, copy=False)


def numpy_block_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    """Blocks that stay in the cache; threads take the rows by halves."""
    code = compile(text, text, "eval")
    functions = numpy_functions(tables)
    rows = len(next(iter(columns.values())))
    out = np.empty(rows, np.float32)
    pool = ThreadPoolExecutor(threads)
    bounds = np.linspace(0, rows, threads + 1).astype(int)

    def part(start: int, end: int) -> None:
        for low in range(start, end, BLOCK):
            high = min(low + BLOCK, end)
            names = {name: column[low:high] for name, column in columns.items()}
            out[low:high] = eval(code, functions, names)

    def whole() -> Array:
        list(pool.map(part, bounds[:-1], bounds[1:]))
        return out

    return whole


def numexpr_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    numexpr = importlib.import_module("numexpr")
    assert not tables, "numexpr has no tables"
    constants: dict[str, np.float32] = {}

    def constant(match: re.Match[str]) -> str:  # a Python float would make it compute in float64
        name = f"number_{len(constants)}"
        constants[name] = np.float32(match.group())
        return name

    written = _NUMBER.sub(constant, text).replace("min(", "minimum(").replace("max(", "maximum(")
    names = {**columns, **constants}
    out = np.empty(len(next(iter(columns.values()))), np.float32)
    numexpr.evaluate(written, names, out=out, casting="same_kind")

    def whole() -> Array:
        numexpr.set_num_threads(threads)
        numexpr.re_evaluate(names)
        return out

    return whole


def numba_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    """A loop compiled with fast math, in parallel."""
    numba = importlib.import_module("numba")
    row = re.sub(rf"\b({'|'.join(columns)})\b", r"\1[i]", _NUMBER.sub(r"f32(\1)", text))
    for name in tables:
        row = re.sub(rf"\b{name}\((\w+\[i\])\)", rf"{name}[\1]", row)
    source = f"""
def loop({", ".join(columns)}, out):
    for i in prange(len(out)):
        out[i] = {row}
"""
    names = {
        "prange": numba.prange,
        "f32": np.float32,
        "exp": math.exp,
        "log": math.log,
        "log1p": math.log1p,
        "log2": math.log2,
        "sqrt": math.sqrt,
        "where": numba.njit(_where, fastmath=True, inline="always"),
        **tables,
    }
    exec(source, names)  # noqa: S102 - our own formulas
    loop = numba.njit(names["loop"], parallel=True, fastmath=True)
    out = np.empty(len(next(iter(columns.values()))), np.float32)

    def whole() -> Array:
        numba.set_num_threads(threads)
        loop(*columns.values(), out)
        return out

    whole()
    return whole


def polars_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    """A lazy frame of the columns; polars takes its threads when it is imported."""
    pl = importlib.import_module("polars")
    assert threads == polars_threads()
    frame = pl.DataFrame(dict(columns)).lazy()

    def method(name: str) -> Callable[[Any], Any]:
        return lambda value: getattr(value, name)()

    functions = {
        **{name: method(name) for name in ("exp", "log", "log1p", "sqrt")},
        "log2": lambda value: value.log(2.0),
        "where": lambda test, yes, no: pl.when(test).then(yes).otherwise(no),
        "min": pl.min_horizontal,
        "max": pl.max_horizontal,
        **{
            name: lambda code, table=table: pl.lit(pl.Series(table)).gather(code)
            for name, table in tables.items()
        },
    }
    names = {name: pl.col(name) for name in columns}
    expression = eval(text, functions, names).cast(pl.Float32).alias("out")
    query = frame.select(expression)

    def whole() -> Array:
        return query.collect()["out"].to_numpy()

    return whole


def polars_threads() -> int:
    threads: int = importlib.import_module("polars").thread_pool_size()
    return threads


def duckdb_form(text: str, columns: Columns, tables: Tables, threads: int) -> Form:
    """SQL over a table in memory; the answer comes back as Arrow."""
    duckdb = importlib.import_module("duckdb")
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.register("given", importlib.import_module("pyarrow").table(dict(columns)))
    connection.execute("CREATE TABLE memory AS SELECT * FROM given")
    for macro in (
        "log1p(a) AS ln(1::FLOAT + a)",
        "min2(a, b) AS least(a, b)",
        "max2(a, b) AS greatest(a, b)",
        "where3(test, yes, no) AS CASE WHEN test THEN yes ELSE no END",
    ):
        connection.execute(f"CREATE MACRO {macro}")
    for name, table in tables.items():
        listed = ", ".join(f"{value}::FLOAT" for value in table.tolist())
        connection.execute(f"CREATE MACRO {name}(code) AS ([{listed}])[code + 1]")
    renamed = {"min(": "min2(", "max(": "max2(", "where(": "where3(", "==": "="}
    written = text
    for python, sql in renamed.items():
        written = written.replace(python, sql)
    written = re.sub(r"\blog\(", "ln(", _NUMBER.sub(r"\1::FLOAT", written))
    query = f"SELECT ({written})::FLOAT AS out FROM memory"

    def whole() -> Array:
        answer = connection.sql(query).to_arrow_table()
        chunks = answer["out"].chunks
        return np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks])

    return whole


def _where_float32(test: Array, yes: Any, no: Any) -> Array:
    """Choose without widening: NumPy would take two Python numbers for float64."""
    return np.where(test, *(np.float32(v) if isinstance(v, float) else v for v in (yes, no)))


def _where(test: bool, yes: float, no: float) -> float:
    return yes if test else no


def triad_numpy_form(columns: Columns, threads: int) -> Form:
    """Move the same bytes and compute next to nothing: no formula can be much faster."""
    first, second, *others = columns.values()
    out = np.empty(len(first), np.float32)
    pool = ThreadPoolExecutor(threads)
    bounds = np.linspace(0, len(out), threads + 1).astype(int)

    def part(start: int, end: int) -> None:
        np.add(first[start:end], second[start:end], out=out[start:end], casting="same_kind")
        for other in others:
            other[start:end].max()

    def whole() -> Array:
        list(pool.map(part, bounds[:-1], bounds[1:]))
        return out

    return whole


def triad_numba_form(columns: Columns, threads: int) -> Form:
    """Add all columns up: the same bytes through one compiled loop."""
    return numba_form(" + ".join(columns), columns, {}, threads)
