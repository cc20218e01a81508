"""``oneiros inspect`` as a process: the address, Ctrl-C, what it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import oneiros
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.inspection.conftest import NOW

COMMAND = (sys.executable, "-m", "oneiros", "inspect")


class Serving:
    """A process that serves a store."""

    def __init__(self, store: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--store", str(store), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stderr is not None
        self.line = self.process.stderr.readline()
        found = re.match(r"serving (http://127\.0\.0\.1:\d+/[\w-]{43}/) ", self.line)
        assert found, self.line + self.process.stderr.read()
        self.url = found[1]

    def get(self, name: str) -> Any:
        with urllib.request.urlopen(self.url + name, timeout=60) as response:
            return json.load(response)

    def post(self, name: str, **value: object) -> Any:
        origin = self.url.rpartition("/")[0].rpartition("/")[0]
        request = urllib.request.Request(
            f"{self.url}api/{name}",
            json.dumps(value).encode(),
            {"Content-Type": "application/json", "Origin": origin},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what was printed after the first line."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def started() -> Iterator[list[Serving]]:
    """Collect processes, and end those that still run."""
    found: list[Serving] = []
    yield found
    for serving in found:
        if serving.process.poll() is None:
            serving.process.kill()
        serving.process.communicate()


def test_it_serves_until_a_signal(store: Path, started: list[Serving]) -> None:
    before = store.read_bytes()
    for number in (signal.SIGINT, signal.SIGTERM):
        serving = Serving(store)
        started.append(serving)
        assert "read only" in serving.line
        assert serving.get("api/memory?id=coffee")["id"] == "coffee"
        with pytest.raises(urllib.error.HTTPError) as refused:
            serving.post("delete", id="coffee")
        assert refused.value.code == 403
        refused.value.close()
        assert serving.end(number) == (0, "", "")
    assert store.read_bytes() == before
    assert list(store.parent.iterdir()) == [store]


def test_changes_are_in_the_store_when_it_ends(store: Path, started: list[Serving]) -> None:
    serving = Serving(store, "--write")
    started.append(serving)
    assert "changes allowed" in serving.line
    serving.post("pin", id="coffee", pinned=True)
    assert serving.end() == (0, "", "")
    with oneiros.Engine(store, clock=lambda: NOW) as engine:
        assert engine.get("coffee").pinned


def test_a_signal_under_load_ends_it_cleanly(store: Path, started: list[Serving]) -> None:
    serving = Serving(store, "--write")
    started.append(serving)
    answered = threading.Semaphore(0)
    kept = 0

    def ask(_: int) -> int:
        count = 0
        with suppress(OSError, ValueError):  # the server ends
            while True:
                serving.post("feedback", id="coffee", verdict="helpful")
                count += 1
                serving.get("api/search?q=coffee")
                answered.release()
        return count

    idle = socket.create_connection(("127.0.0.1", int(serving.url.split(":")[2].split("/")[0])))
    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, number) for number in range(4)]
        try:
            for _ in range(12):
                assert answered.acquire(timeout=60)
            code, out, err = serving.end()
        finally:
            serving.process.kill()  # or the threads would ask for ever
        kept = sum(each.result() for each in asking)
    idle.close()
    assert (code, out, err) == (0, "", "")
    with oneiros.Engine(store, clock=lambda: NOW) as engine:
        assert engine.check(deep=True) == []
        assert kept <= engine.get("coffee").feedback <= kept + 4  # an answer may be lost, no write


def test_a_port_in_use_is_named(store: Path, started: list[Serving]) -> None:
    serving = Serving(store)
    started.append(serving)
    port = serving.url.split(":")[2].split("/")[0]
    done = subprocess.run(
        [*COMMAND, "--store", str(store), "--port", port],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: 127.0.0.1:{port}: ")
    assert "in use" in done.stderr
    assert done.stderr.count("\n") == 1


def test_two_processes_look_at_once(store: Path, started: list[Serving]) -> None:
    writer, reader = Serving(store, "--write"), Serving(store)
    started += [writer, reader]
    writer.post("pin", id="coffee", pinned=True)
    assert reader.get("api/memory?id=coffee")["pinned"] is True
    assert reader.end() == (0, "", "")
    assert writer.end() == (0, "", "")


def test_a_missing_store_is_an_error_and_is_not_created(run: Any, tmp_path: Path) -> None:
    for options in ([], ["--write"]):
        done = run("inspect", "--store", tmp_path / "absent.db", *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "no such store" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_wrong_options_are_named(run: Any, store: Path) -> None:
    assert "--port" in run("inspect", "--store", store, "--port", "70000").stderr
    assert "--profile" in run("inspect", "--store", store, "--profile", "none").stderr
    text = run("inspect", "--help").stdout
    for option in ("--store", "--port", "--write", "--profile", "--embedder"):
        assert option in text
