"""The two kinds of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oneiros.store import Store


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = ":memory:" if request.param == "memory" else tmp_path / "mind.db"
    with Store(path) as opened:
        yield opened
