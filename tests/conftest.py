"""What every test may ask for."""

from __future__ import annotations

import signal
import sysconfig
from collections.abc import Generator, Iterator
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

import oneiros

NOW = 1_750_000_000.0

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile(
    "untimed",
    settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("untimed")

# A shell that starts this in the background has it ignore these, and so would the processes of tests.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    """An empty store in memory under "reverie", words only, at a standing clock."""
    with oneiros.Engine(
        ":memory:", profile="reverie", analyzer="simple", clock=lambda: NOW
    ) as engine:
        yield engine


# Packages without wheels for every free-threaded interpreter. There, and only there, a test that
# needs a missing one is skipped: modules that import it, and tests that it fails, in a child too.
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
OPTIONAL_THERE = (
    "apsw",
    "faiss",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "Stemmer",
    "typer",
    "yaml",
)
OWN_WORDS = {"Stemmer": "needs PyStemmer, which is not installed"}
MISSING = [name for name in OPTIONAL_THERE if IS_FREE_THREADED and find_spec(name) is None]


def _skip_what_needs_a_missing_package(report: pytest.CollectReport | pytest.TestReport) -> None:
    text = f"{report.longreprtext}\n{report.capstderr}" if MISSING and report.failed else ""
    for name in MISSING:
        own = OWN_WORDS.get(name, f"{name} is not installed; run: pip install")
        if f"No module named '{name}" in text or own in text:
            reason = f"Skipped: needs {name}, which this free-threaded Python does not have"
            path, line, _ = getattr(report, "location", None) or (report.nodeid, 0, "")
            report.outcome = "skipped"
            report.longrepr = (path, line or 0, reason)
            return


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _skip_what_needs_a_missing_package(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _skip_what_needs_a_missing_package(report)
    return report
