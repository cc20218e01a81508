"""The conditions of a run, printed above its figures: no figure without them."""

from __future__ import annotations

import pytest

from oneiros.benchmark.conditions import conditions, load

STACK = (
    "numpy",
    "faiss-cpu",
    "pyroaring",
    "apsw",
    "PyStemmer",
    "bm25s",
    "numba",
    "numexpr",
    "polars",
    "duckdb",
    "pyarrow",
)


def pytest_report_header() -> list[str]:
    return [f"{name}: {value}" for name, value in conditions(STACK).items()]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"load when the last figure was taken: {load()}")
