"""One formula over columns: its text, where the columns' values come from, and the work of computing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Draw = Callable[[np.random.Generator, int], Array]
Form = Callable[[int], Array]
"""Computes a formula over all rows, with so many threads."""

CHECKED = 10_000
"""Rows whose answers are compared."""

_SEED = 7
_OF_THE_LIST = re.compile(r"\b(lowest|highest)\((\w+)\)")


def real_of(columns: Mapping[str, Array]) -> type[Any]:
    """Return the widest float of the columns, float64 where none is one."""
    floats = [values.dtype for values in columns.values() if values.dtype.kind == "f"]
    real: type[Any] = (np.result_type(*floats) if floats else np.dtype(np.float64)).type
    return real


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A formula with the rows to compute it over; all who compute it write into one place."""

    text: str
    columns: Mapping[str, Array]
    tables: Mapping[str, Array]
    out: Array
    """Holds the answer, one value a row."""

    def real(self) -> type[Any]:
        """Return what is computed in."""
        return real_of(self.columns)

    def moved(self) -> list[Array]:
        """Return what is read: every column, once more if something of all of it comes first."""
        twice = dict.fromkeys(of for _, of in _OF_THE_LIST.findall(self.text))
        return [*self.columns.values(), *(self.columns[name].copy() for name in twice)]

    def row_bytes(self) -> int:
        """Bytes read and written a row."""
        return sum(values.itemsize for values in self.moved()) + self.out.itemsize

    def by_row(self) -> tuple[str, Callable[[], dict[str, Any]]]:
        """Return the text with names for ``lowest(x)`` and ``highest(x)``, and what finds these."""
        found = set(_OF_THE_LIST.findall(self.text))
        functions = {"lowest": np.min, "highest": np.max}

        def of_the_list() -> dict[str, Any]:
            return {f"{name}_{of}": functions[name](self.columns[of]) for name, of in found}

        return _OF_THE_LIST.sub(r"\1_\2", self.text), of_the_list


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """One formula over columns."""

    text: str
    """In the syntax of ``bench.dialects``."""
    columns: dict[str, Draw]
    """Where each column's values come from."""
    tables: Mapping[str, Array] = field(default_factory=dict)
    is_verdict: bool = False
    """Whether the answer is true or false."""

    def drawn(self, rows: int, real: type[Any] = np.float32) -> dict[str, Array]:
        """Return the columns, the same ones every time; what is no code is ``real``."""
        random = np.random.default_rng(_SEED)
        drawn = {name: draw(random, rows) for name, draw in self.columns.items()}
        return {
            name: values.astype(real) if values.dtype.kind == "f" else values
            for name, values in drawn.items()
        }

    def work(self, rows: int, real: type[Any] = np.float32) -> Work:
        """Return the formula with so many rows, an answer to each as wide as the widest column."""
        columns = self.drawn(rows, real)
        widest = real_of(columns)
        return Work(
            text=self.text,
            columns=columns,
            tables={name: values.astype(widest) for name, values in self.tables.items()},
            out=np.empty(rows, np.bool_ if self.is_verdict else widest),
        )


def uniform(low: float, high: float) -> Draw:
    return lambda random, rows: random.uniform(low, high, rows)


def whole(low: int, high: int, dtype: type[Any] = np.float32) -> Draw:
    """Whole numbers from ``low`` to ``high``, as codes of ``dtype`` or as any float."""
    return lambda random, rows: random.integers(low, high, rows, endpoint=True).astype(dtype)


SHARE = uniform(0.01, 1.0)
DAYS = uniform(0.0, 365.0)
HOURS = uniform(0.0, 2000.0)
COUNT = whole(0, 50)
STABILITY = uniform(0.1, 3.0)
