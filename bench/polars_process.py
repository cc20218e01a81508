"""polars, as many threads as asked: it takes them when it is imported, so each number has a process.

A process holds the rows of one work at a time and computes when asked, in turn with the other
rivals; the few ten microseconds of asking count as polars' own.
"""

from __future__ import annotations

import importlib
import os
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from bench.formula import CHECKED, Array, Form, Work

__all__ = ["polars_form"]

_SETTING = "POLARS_MAX_THREADS"


def polars_form(work: Work) -> Form:
    """A lazy frame of the columns; the rows are handed over before the first answer."""
    return lambda threads: _process(threads).answer(work)


@lru_cache
def _process(threads: int) -> _Process:
    return _Process(threads)


class _Process:
    """Ends with ours."""

    def __init__(self, threads: int) -> None:
        self._work: Work | None = None
        context = get_context("spawn")
        self._pipe, its = context.Pipe()
        before = os.environ.get(_SETTING)
        os.environ[_SETTING] = str(threads)
        try:
            context.Process(target=_serve, args=(its, threads), daemon=True).start()
        finally:
            del os.environ[_SETTING]
            if before is not None:
                os.environ[_SETTING] = before
        its.close()

    def answer(self, work: Work) -> Array:
        """Return as many values as the answer has; of them, the first ``CHECKED`` are its own."""
        if self._work is not work:
            self._work = None
            self._ask((work.text, work.columns, work.tables, work.out.dtype.name))
            self._work = work
        size, first = self._ask(None)
        answer = np.empty(size, first.dtype)
        answer[: len(first)] = first
        return answer

    def _ask(self, question: Any) -> Any:
        self._pipe.send(question)
        reply = self._pipe.recv()
        if isinstance(reply, Exception):
            raise reply
        return reply


def _serve(pipe: Connection, threads: int) -> None:
    """Acknowledge each work and answer each None with its result, until the pipe closes."""
    query: Any = None
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        try:
            if question is not None:
                query = None  # the rows of one work are enough
                query = _query(*question)
                assert _threads() == threads, "polars took another number of threads"
                pipe.send(None)
            else:
                answer = query.collect()["out"].to_numpy()
                pipe.send((len(answer), answer[:CHECKED]))
        except Exception as error:  # noqa: BLE001 - raised by the caller
            pipe.send(error)


def _threads() -> int:
    threads: int = importlib.import_module("polars").thread_pool_size()
    return threads


def _query(text: str, columns: dict[str, Array], tables: dict[str, Array], dtype: str) -> Any:
    pl = importlib.import_module("polars")
    frame = pl.DataFrame(columns).lazy()

    def method(name: str) -> Any:
        return lambda value: getattr(value, name)()

    functions = {
        **{name: method(name) for name in ("exp", "log", "log1p", "sqrt", "floor")},
        "log2": lambda value: value.log(2.0),
        "lowest": method("min"),
        "highest": method("max"),
        "where": lambda test, yes, no: pl.when(test).then(yes).otherwise(no),
        "min": pl.min_horizontal,
        "max": pl.max_horizontal,
        **{
            name: lambda code, table=table: pl.lit(pl.Series(table)).gather(code)
            for name, table in tables.items()
        },
    }
    names = {name: pl.col(name) for name in columns}
    result = {"float32": pl.Float32, "float64": pl.Float64, "bool": pl.Boolean}[dtype]
    return frame.select(eval(text, functions, names).cast(result).alias("out"))
