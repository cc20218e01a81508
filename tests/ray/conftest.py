"""One small cluster for all tests of Ray: two CPUs, no dashboard, no usage statistics."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

VARIABLES = {  # before Ray is imported
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
os.environ |= VARIABLES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "ray":  # Ray's own warnings are not ours to mend
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """Start Ray, and end it after the last test."""
    ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
    ray.init(
        num_cpus=2,
        object_store_memory=100 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        # Ray ends workers that are idle for a second, and to start one takes seconds.
        _system_config={"idle_worker_killing_time_threshold_ms": 60_000},
    )
    data = pytest.importorskip("ray.data", reason="needs ray[data]: nox -s ray")
    data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    yield
    ray.shutdown()
