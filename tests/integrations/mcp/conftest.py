"""A command that serves a store, and official clients of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

TOKEN = "for-tests-0123456789"
COMMAND = (sys.executable, "-m", "oneiros", "mcp")


def environment() -> dict[str, str]:
    """Return the variables that a server's process gets: how to find the package, and no settings."""
    kept = ("PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def stdio() -> Callable[..., Any]:
    """Return a client of a new process that serves a store."""
    mcp = pytest.importorskip("mcp")

    def client(store: Path, *options: str, mode: str = "auto", cwd: Path | None = None) -> Any:
        parameters = mcp.StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "--store", str(store), *options],
            env=environment(),
            cwd=cwd or store.parent,
        )
        return mcp.Client(parameters, mode=mode)

    return client


class Serving:
    """A process that serves a store over HTTP."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        self.lines: list[str] = []
        while not self.lines or not self.lines[-1].startswith("serving "):
            line = process.stderr.readline()
            assert line, f"the server ended: {self.lines}"
            self.lines.append(line)
        self.url = self.lines[-1].split()[1]

    def next_line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)

    @asynccontextmanager
    async def client(self, token: str | None = TOKEN, mode: str = "auto") -> AsyncIterator[Any]:
        """Yield a client that presents a token, or none."""
        httpx2 = pytest.importorskip("httpx2")
        mcp = pytest.importorskip("mcp")
        transport = pytest.importorskip("mcp.client.streamable_http").streamable_http_client
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            mcp.Client(transport(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


@contextmanager
def servers() -> Iterator[Callable[..., Serving]]:
    """Yield a function that starts a server over HTTP, and end all of them."""
    started: list[Serving] = []

    def serve(store: Path, *options: str, token: str | None = TOKEN) -> Serving:
        given = {} if token is None else {"ONEIROS_MCP_TOKEN": token}
        process = subprocess.Popen(
            [*COMMAND, "--store", str(store), "--http", *options],
            env=environment() | given,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=store.parent,
        )
        started.append(Serving(process))
        return started[-1]

    yield serve
    for serving in started:
        if serving.process.poll() is None:
            serving.process.terminate()
            try:
                serving.process.wait(10)
            except subprocess.TimeoutExpired:
                serving.process.kill()
                serving.process.wait()
        assert serving.process.stderr is not None
        serving.process.stderr.close()


@pytest.fixture
def http() -> Iterator[Callable[..., Serving]]:
    """Start servers over HTTP, and end them."""
    with servers() as serve:
        yield serve
