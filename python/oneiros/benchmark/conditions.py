"""The conditions of a run: no figure without them."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["busy_seconds", "conditions", "distribution_version", "load"]


def distribution_version(distribution: str) -> str:
    """Return the version of an installed distribution."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def _oneiros_version() -> str:
    found = distribution_version("oneiros")
    if found != "absent":
        return found
    import oneiros  # noqa: PLC0415 (built in place, it is not a distribution)

    return oneiros.__version__


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


def load() -> str:
    """Return the machine's load over 1, 5 and 15 minutes."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def busy_seconds() -> float:
    """Return how long the machine's cores have worked, all added up; 0 where nothing tells."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, *others = map(int, first.split()[1:9])
    return (user + nice + system + sum(others)) / os.sysconf("SC_CLK_TCK")


def conditions(distributions: tuple[str, ...]) -> dict[str, str]:
    """Return what the figures of this run depend on, by name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {distribution_version(name)}" for name in distributions)
    return {
        "cpu": f"{_field('/proc/cpuinfo', 'model name')}, {cores} cores, {_widest_vectors()}",
        "memory": _field("/proc/meminfo", "MemTotal"),
        "load (1, 5, 15 min)": load(),
        "system": f"{platform.platform()}, Python {platform.python_version()}",
        "versions": f"oneiros {_oneiros_version()}, {versions}",
        "threads": _threads() or "as the libraries choose",
    }
