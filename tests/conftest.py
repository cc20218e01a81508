"""What every test may ask for."""

from __future__ import annotations

import sysconfig
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

import oneiros

NOW = 1_750_000_000.0

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    """An empty store in memory under "reverie", words only, at a standing clock."""
    with oneiros.Engine(
        ":memory:", profile="reverie", analyzer="simple", clock=lambda: NOW
    ) as engine:
        yield engine


# Packages without wheels for every free-threaded interpreter. There, and only there, a test that
# imports a missing one is skipped: test modules that import it, and tests that come to need it.
OPTIONAL_WITHOUT_LOCK = frozenset(
    {"apsw", "faiss", "matplotlib", "pandas", "polars", "pyarrow", "Stemmer", "yaml"}
)
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _missing(call: pytest.CallInfo[object] | None) -> str | None:
    """Return the reason to skip: the optional package that an import did not find."""
    error = call.excinfo.value if call is not None and call.excinfo is not None else None
    while IS_FREE_THREADED and error is not None:
        if isinstance(error, ImportError) and error.name in OPTIONAL_WITHOUT_LOCK:
            return f"needs {error.name}, which is not installed for this free-threaded Python"
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if reason := _missing(getattr(report, "call", None)):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {reason}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (reason := _missing(call)):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {reason}")
    return report
