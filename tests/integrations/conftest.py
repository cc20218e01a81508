"""Settings of the frameworks' suites: nothing leaves the machine, and coroutines run as tests."""

from __future__ import annotations

import os
import warnings

import pytest

os.environ |= {  # before any framework is imported
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "MEM0_TELEMETRY": "False",
}


@pytest.hookimpl(tryfirst=True)  # before pytest-asyncio reads it
def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("asyncio"):
        config.option.asyncio_mode = "auto"  # without a mark, as these suites expect
        # pytest-asyncio takes this from a file only, where it is unknown without the plugin.
        warnings.filterwarnings("ignore", "The configuration option .asyncio_default_fixture_loop")
