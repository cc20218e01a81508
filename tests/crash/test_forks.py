"""Forked processes are watched as if each had been started on its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.crash.forks import Child, Forks, forks

WRITER = "tests.crash.kill_writer"


def writer(folder: Path, server: Forks, seed: str = "1") -> Child:
    said = folder / f"said{seed}.jsonl"
    return server.start(WRITER, [str(folder / f"{seed}.db"), seed, "0", "normal"], said)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_process_has_printed_whole_lines(tmp_path: Path) -> None:
    child = writer(tmp_path, forks())
    child.await_lines(4)
    assert child.poll() is None
    assert child.kill() == -signal.SIGKILL
    assert child.exit_code == child.poll() == child.kill() == -signal.SIGKILL
    said = child.lines()
    assert len(said) >= 4
    assert (said[0], said[2]) == ("open", "done")
    assert list((tmp_path / "said1.errors").read_bytes()) == []


def test_a_process_that_ends_by_itself_is_not_taken_for_a_killed_one(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    child = forks().start(WRITER, [str(tmp_path / "1.db"), "no number", "0", "normal"], said)
    with pytest.raises(
        RuntimeError, match=r"(?s)said\.jsonl: ended or silent, with 1: .*no number"
    ):
        child.await_lines(9)
    assert child.kill() == 1


def test_processes_end_with_their_server(tmp_path: Path) -> None:
    server = Forks([WRITER])
    children = [writer(tmp_path, server, seed) for seed in "12"]
    for child in children:
        child.await_lines(1)
    children[0].kill()
    assert not is_running(children[0].pid)
    assert is_running(children[1].pid)
    server.close()
    assert not is_running(children[1].pid)


def test_a_server_whose_module_cannot_be_imported_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="the server of forks ended with 1"):
        Forks(["tests.crash.no_such_module"])
