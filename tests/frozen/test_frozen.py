"""Profiles, error messages and search results equal the record.

``python -m tests.frozen.record --help`` lists how to find a difference and how to record a part again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oneiros import _core
from tests.frozen.messages import messages
from tests.frozen.record import (
    MESSAGES,
    PROFILES,
    SEARCHES,
    differences,
    digests_of_profiles,
    recorded,
)
from tests.frozen.scenarios import SCENARIOS, SEQUENCES, WORLDS, World

OTHER_PATHS = tuple(path for path in _core.simd_paths() if path != _core.simd_path())
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def record() -> dict[str, dict[str, Any]]:
    return recorded()


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    world = WORLDS[request.param]
    yield world
    world.close()


def test_profiles_and_their_programs_are_as_recorded() -> None:
    assert digests_of_profiles() == json.loads(PROFILES.read_text())


def test_wrong_arguments_are_refused_as_recorded() -> None:
    expected, found = json.loads(MESSAGES.read_text()), messages()
    assert list(found) == list(expected)
    assert [
        (call, raised, expected[call]) for call, raised in found.items() if raised != expected[call]
    ] == []


def test_the_record_is_whole_and_small(record: dict[str, dict[str, Any]]) -> None:
    assert list(record) == list(SCENARIOS)
    assert all(list(of_worlds) == list(WORLDS) for of_worlds in record.values())
    assert sum(len(one) for of_worlds in record.values() for one in of_worlds.values()) >= 10_000
    assert SEARCHES.stat().st_size < 250_000


def test_searches_answer_as_recorded(world: World, record: dict[str, dict[str, Any]]) -> None:
    assert differences(world, record) == []


@pytest.mark.parametrize("path", OTHER_PATHS)
def test_a_sample_of_searches_answers_so_on_every_path(
    world: World, record: dict[str, dict[str, Any]], path: str
) -> None:
    before = _core.simd_path()
    names = [name for name in SCENARIOS if name not in SEQUENCES]
    _core.use_simd_path(name=path)
    try:
        assert differences(world, record, every=10, names=names) == []
    finally:
        _core.use_simd_path(name=before)


@pytest.mark.parametrize("path", OTHER_PATHS)
def test_a_sample_of_searches_answers_so_under_other_settings(path: str) -> None:
    """Stores are made and searched on one path, with the libraries' code for older machines."""
    settings = {
        "ONEIROS_SIMD": path,
        "OPENBLAS_CORETYPE": "Haswell",
        "FAISS_SIMD_LEVEL": "NONE",
        "PYTHONHASHSEED": "1",
        "TZ": "Asia/Kathmandu",
    }
    command = ["-m", "tests.frozen.record", "--compare", "--every", "10"]
    profiles = ["--profile", "oneiros", "--profile", "omega"]
    done = subprocess.run(
        [sys.executable, *command, *profiles],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "0 searches differ\n", done.stderr
