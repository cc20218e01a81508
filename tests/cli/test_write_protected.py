"""Commands over a store that can only be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture(params=["file", "folder"])
def protected(request: pytest.FixtureRequest, store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = store if request.param == "file" else store.parent
    access = os.access

    def without_writing(of: str | Path, mode: int) -> bool:
        return access(of, mode) and not (mode & os.W_OK and Path(of) == path)

    monkeypatch.setattr(os, "access", without_writing)
    return store


@pytest.mark.parametrize(
    "arguments",
    [("search", "tea"), ("list",), ("get", "m1"), ("last",), ("stats",), ("history", "m1")],
)
def test_what_reads_works_and_writes_nothing(
    run: Run, protected: Path, arguments: tuple[str, ...]
) -> None:
    before = protected.read_bytes()
    outcome = run(*arguments, "-s", protected)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout
    assert protected.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "tea"),
        ("update", "m1", "--set", "priority=1"),
        ("feedback", "m1", "helpful"),
        ("search", "tea", "--reinforce"),
    ],
)
def test_what_writes_says_why_it_cannot(
    run: Run, protected: Path, arguments: tuple[str, ...]
) -> None:
    before = protected.read_bytes()
    outcome = run(*arguments, "-s", protected)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == f"error: {protected}: the file or its folder cannot be written\n"
    assert protected.read_bytes() == before
