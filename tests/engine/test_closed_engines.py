"""What a closed engine lets go of at once, without waiting for a collection of reference cycles."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import oneiros


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def used(path: Path | str) -> weakref.ref[object]:
    """Return a reference to the columns of an engine that was used and closed."""
    with oneiros.Engine(path) as engine:
        engine.add("the gate is green", id="a", embedding=[1.0, 0.0], on_conflict="update")
        engine.update("a", importance=0.9)
        engine.scope(project="x").add("another", embedding=[0.0, 1.0])
        engine.search("green gate", embedding=[1.0, 0.0], where=oneiros.where(metadata={"n": 1}))
        engine.dream()
        return weakref.ref(engine._parts.read_model.lifecycle)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("name", [":memory:", "mind.db"])
def test_the_columns_of_a_closed_engine_are_gone(tmp_path: Path, name: str) -> None:
    path = name if name == ":memory:" else tmp_path / name
    assert used(path)() is None
    assert used(path)() is None  # a file is opened again from its snapshot


@pytest.mark.usefixtures("uncollected")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_engines_one_after_the_other_need_the_addresses_of_one(tmp_path: Path) -> None:
    def addresses() -> int:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmSize:"))

    used(tmp_path / "mind.db")
    before = addresses()
    for _ in range(5):
        used(tmp_path / "mind.db")
    assert addresses() < before + 8 * 2**20  # kibibytes; one engine reserves 48 GiB
