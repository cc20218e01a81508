"""``oneiros dream --watch``: cycles by themselves on a store that others use, until it is ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oneiros.cli.dream import schedule_of
from oneiros.dream.lock import Begun, CycleLock
from oneiros.dream.schedule import DreamSchedule
from oneiros.engine import Engine
from tests.cli.conftest import Run

NOW = 1_750_000_000.0
DAY = 86_400.0
LONGEST = 120.0  # seconds; a watcher that says nothing by then is killed, and its test fails


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "watched.db"
    with Engine(path) as mind:
        mind.add("long forgotten", id="old", now=NOW - 800 * DAY)
    return path


@contextmanager
def watching(store: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run a watcher; the block begins once it said that it watches."""
    command = [sys.executable, "-m", "oneiros.cli", "dream", "--watch", "--yes", "-s", str(store)]
    with subprocess.Popen(
        [*command, "--profile", "reverie", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(LONGEST, process.kill)
        watchdog.start()
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "watching; Ctrl-C ends it\n"
            yield process
        finally:
            watchdog.cancel()
            process.kill()


@pytest.mark.parametrize(
    ("ending", "code", "words"),
    [(signal.SIGINT, 130, "error: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_it_dreams_of_what_others_add_and_ends_when_told(
    store: Path, ending: signal.Signals, code: int, words: str
) -> None:
    with watching(store, "--every", "never", "--after-new", "2", "--json") as watcher:
        with Engine(store) as mind:
            mind.add("one")
            mind.add("two")
        assert watcher.stdout is not None
        told = json.loads(watcher.stdout.readline())
        watcher.send_signal(ending)
        assert watcher.communicate() == ("", words)
        assert watcher.returncode == code
    with Engine(store) as mind:
        assert [report.id for report in mind.dreams()] == [told["id"]]
        assert (told["profile"], told["live_before"], told["live_after"]) == ("reverie", 3, 2)
        assert mind.interrupted_dream() is None


def test_another_cycle_is_told_and_waited_for(store: Path) -> None:
    lock = CycleLock(str(store))
    with watching(store, "--every", "1s") as watcher:
        assert watcher.stderr is not None
        assert watcher.stdout is not None
        with lock.held(Begun("theirs", NOW)):
            waits = "another dream cycle runs on this store; waiting for its end\n"
            assert watcher.stderr.readline() == waits
        line = watcher.stdout.readline()
        watcher.send_signal(signal.SIGTERM)
        rest, _ = watcher.communicate()
    with Engine(store) as mind:
        first = mind.dreams()[-1]
    counts = f"changed {first.change_count} fields, 1 -> 0 memories; removed: 1 deleted"
    assert line.endswith(f"Z dream {first.id} (reverie): {counts}\n")
    assert all(" dream " in one for one in rest.splitlines())  # of a second that was over meanwhile


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [("n\n", 1, "no cycle ran"), ("", 2, "--yes: needed where stdin has no answer; no cycle ran")],
)
def test_without_a_yes_at_the_start_no_cycle_runs(
    run: Run, store: Path, answer: str, code: int, words: str
) -> None:
    outcome = run("dream", "--watch", "-s", store, stdin=answer)
    assert (outcome.exit_code, outcome.stdout) == (code, "")
    assert outcome.stderr.startswith("let every cycle remove memories without asking? [y/N] ")
    assert outcome.stderr.endswith(f"error: {words}\n")
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_the_schedule_is_what_was_asked_for() -> None:
    assert schedule_of(None, None) == DreamSchedule(min_gap=1_800.0)
    assert schedule_of("2d", 5) == DreamSchedule(every="2d", after_new=5, min_gap=1_800.0)
    assert schedule_of("90s", 0) == DreamSchedule(every="90s", after_new=None, min_gap=90.0)
    assert schedule_of("never", None) == DreamSchedule(every=None, min_gap=1_800.0)
