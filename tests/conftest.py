"""What every test may ask for."""

from __future__ import annotations

from collections.abc import Iterator

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
