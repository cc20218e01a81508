"""Run coroutines as tests without a mark, as the framework's suite expects."""

from __future__ import annotations

import warnings

import pytest


@pytest.hookimpl(tryfirst=True)  # before pytest-asyncio reads it
def pytest_configure(config: pytest.Config) -> None:
    config.option.asyncio_mode = "auto"
    # pytest-asyncio takes this from a file only, where it is unknown without the plugin.
    warnings.filterwarnings("ignore", "The configuration option .asyncio_default_fixture_loop")
