"""Calls of the system that fail, or are the last, under an engine's operations: nothing is half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash import failing_calls, system_calls

STEP = 15
"""``python -m tests.campaigns failing_calls`` and ``kill_points`` take every call of every operation."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return system_calls.compiled(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize(
    ("operation", "failure"),
    [
        ("add", "EIO"),
        ("snapshot", "ENOSPC"),
        ("export", "EINTR"),
        ("backup", "short"),
        ("dream", "EIO"),
        ("add", "killed before"),
        ("forget", "killed after"),
        ("undo", "killed before"),
        ("snapshot", "killed after"),
    ],
)
def test_a_failed_call_is_typed_and_nothing_is_half_done(
    tmp_path: Path, library: Path, operation: str, failure: str
) -> None:
    step = 2 if operation == "export" else STEP  # it makes 5 such calls since Python 3.14
    found = system_calls.run(tmp_path, library, operation, failure, step=step)
    assert found.problems == []
    assert found.failed > 1


class NoCalls:
    """Stands in for the library: says that the armed call has failed, or that none has."""

    def __init__(self, *, has_failed: bool) -> None:
        self._has_failed = has_failed

    def arm_failing_call(self, at: int, mode: int) -> None: ...
    def disarm_failing_call(self) -> None: ...
    def has_failed(self) -> bool:
        return self._has_failed


def swept(tmp_path: Path, operation: str) -> failing_calls.Sweep:
    tmp_path.mkdir(exist_ok=True)
    sweep = failing_calls.Sweep.__new__(failing_calls.Sweep)
    sweep.folder, sweep.name, sweep.failure, sweep.problems = tmp_path, operation, "EIO", []
    failing_calls.base(tmp_path / "base.db")
    sweep.before = failing_calls.records(tmp_path / "base.db", sweep.problems, "before")
    sweep.after = sweep._sound()
    assert sweep.problems == []
    return sweep


def test_the_harness_sees_what_is_half_done_untyped_and_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = swept(tmp_path, "add")

    def half(engine: failing_calls.oneiros.Engine, folder: Path) -> None:
        engine.add_many(failing_calls.NEW[:3])
        (folder / "stray").write_text("x")
        raise KeyError

    monkeypatch.setitem(failing_calls.OPERATIONS, "add", half)
    sweep.calls = NoCalls(has_failed=True)  # type: ignore[assignment]
    assert sweep.fail(1)
    said = " / ".join(sweep.problems)
    assert "KeyError" in said
    assert "neither as before nor as after" in said
    assert "left ['stray']" in said


def test_the_harness_sees_an_error_without_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = swept(tmp_path, "change")

    def refuse(_engine: failing_calls.oneiros.Engine, _folder: Path) -> None:
        raise OSError

    monkeypatch.setitem(failing_calls.OPERATIONS, "change", refuse)
    sweep.calls = NoCalls(has_failed=False)  # type: ignore[assignment]
    assert not sweep.fail(1)
    assert sweep.problems == ["change, EIO at call 1: an error without a fault"]


def test_the_harness_sees_what_a_killed_process_lost(tmp_path: Path, library: Path) -> None:
    found = system_calls.run(tmp_path, library, "change", "killed after")
    assert found.problems == []
    sweep = swept(tmp_path / "again", "change")
    sweep.after, sweep.failure = sweep.before, "killed after"  # as if the change were not made
    sweep.__class__ = failing_calls.KillSweep
    sweep.calls = NoCalls(has_failed=False)  # type: ignore[assignment]
    assert not sweep.fail(1)
    assert sweep.problems == [
        "change, killed after call 1: neither as before nor as after, done: True"
    ]


def test_the_harness_sees_a_process_that_ends_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = swept(tmp_path, "change")
    sweep.__class__ = failing_calls.KillSweep
    sweep.failure = "killed before"
    sweep.calls = NoCalls(has_failed=False)  # type: ignore[assignment]
    monkeypatch.setitem(
        failing_calls.OPERATIONS, "change", lambda engine, _folder: engine.get("no")
    )
    assert not sweep.fail(1)
    assert sweep.problems[0] == "change, killed before call 1: exit code 2"
