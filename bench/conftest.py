"""The conditions of a run, printed above its figures: no figure without them."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

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


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def _field(path: str, name: str) -> str:
    """Return the first value of ``name`` in a file of "name: value" lines, as /proc has them."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    found = (line.split(":", 1)[1].strip() for line in lines if line.startswith(name))
    return next(found, "unknown")


def _widest_vectors() -> str:
    flags = _field("/proc/cpuinfo", "flags").split()
    known = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
    return next((name for flag, name in known.items() if flag in flags), "baseline")


def _threads() -> str:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)


def pytest_report_header() -> list[str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    stack = ", ".join(f"{name} {_version(name)}" for name in STACK)
    return [
        f"cpu: {_field('/proc/cpuinfo', 'model name')}, {cores} cores, {_widest_vectors()}",
        f"memory: {_field('/proc/meminfo', 'MemTotal')}",
        f"load (1, 5, 15 min): {load}",
        f"system: {platform.platform()}, Python {platform.python_version()}",
        f"versions: oneiros {_version('oneiros')}, {stack}",
        f"threads: {_threads() or 'as the libraries choose'}",
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    terminalreporter.write_line(f"load when the last figure was taken: {load}")
