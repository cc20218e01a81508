"""What the tests of the commands share: a runner, and a small store of memories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from oneiros.cli.application import application
from oneiros.engine import Engine

HOSTILE = "tea \x1b[2J\x9b31m\u202e[bold red]gone[/] \x07"
RECORDS: list[dict[str, Any]] = [
    {"id": "m1", "text": "Ada takes her coffee black", "kind": "user_preference", "project": "x"},
    {"id": "m2", "text": "The coffee machine broke", "kind": "note", "tags": ["kitchen"]},
    {"id": "m3", "text": "Fix ERR_CONN-42 by a restart", "kind": "lesson", "session": "s1"},
    {"id": "m4", "text": HOSTILE, "title": HOSTILE, "project": HOSTILE, "metadata": {"a": HOSTILE}},
]


class Outcome(NamedTuple):
    """What a command left behind."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """Stdout as the one JSON document it must be."""
        document = json.loads(self.stdout)
        assert isinstance(document, dict)
        return document

    @property
    def rows(self) -> list[list[str]]:
        """The cells of the lines of ``--plain`` below the heads."""
        heads, *rows = (line.split("\t") for line in self.stdout.splitlines())
        assert all(len(row) == len(heads) for row in rows)
        return rows


Run = Callable[..., Outcome]


@pytest.fixture
def run() -> Run:
    """Run the command in this process; anything but an exit is the test's own failure."""

    def runner(*arguments: object, stdin: str | None = None) -> Outcome:
        result = CliRunner().invoke(application, [str(one) for one in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return runner


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tables the room to be tables; tests of narrow output set COLUMNS themselves."""
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the path of a store that holds RECORDS, made in January 2025, a day apart."""
    path = tmp_path / "agent.db"
    with Engine(path) as engine:
        for day, record in enumerate(RECORDS, start=1):
            engine.add(**record, created_at=f"2025-01-{day:02}T00:00:00Z")
    return path
