"""Options of ``oneiros mcp`` that are refused in one line, before anything is served."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'oneiros[mcp]'")

from tests.integrations.mcp.conftest import COMMAND, environment


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--read-only",), "agent.db: no such store"),
        (("--read-only", "--dream"), "--dream: cannot be used with --read-only"),
        (("--user", ""), "user: must be 1 to 1024 bytes"),
        (("--namespace", "a//b"), "namespace: "),
        (("--profile", "absent"), "--profile: "),
        (("--embedder", "absent:Absent"), "--embedder: "),
        (("--budget", "100"), "--budget"),
        (("--http", "--host", "0.0.0.0"), "host: '0.0.0.0' is not loopback"),
        (("--http", "--token", "short"), "token: must have at least 16 characters"),
        (("--http", "--token", "with a space in the middle"), "token: "),
        (("--http", "--port", "70000"), "--port"),
        (("--port", "8765"), "--port: needs --http"),
        (("--host", "::1"), "--host: needs --http"),
        (("--allow-host", "memory.example"), "--allow-host: needs --http"),
    ],
)
def test_wrong_options_are_one_line(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    store = tmp_path / "agent.db"
    done = subprocess.run(
        [*COMMAND, "--store", str(store), *options],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []  # a wrong call creates no store


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    store.write_bytes(b"not a store" * 1_000)
    done = subprocess.run(
        [*COMMAND, "--store", str(store)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
