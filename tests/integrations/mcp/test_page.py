"""The page docs/integrations/mcp.md: its programs run, and print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oneiros

pytest.importorskip("mcp", reason="needs mcp: pip install 'oneiros[mcp]'")

from oneiros.integrations.mcp_tools import MemoryTools
from tests.integrations.mcp.conftest import environment

PAGE = Path(__file__).parents[3] / "docs/integrations/mcp.md"
BLOCK = re.compile(r"```(python|text|json)\n(.*?)```", re.DOTALL)


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    client, serving = [code for kind, code in BLOCK.findall(PAGE.read_text()) if kind == "python"]
    (printed,) = [code for kind, code in BLOCK.findall(PAGE.read_text()) if kind == "text"]
    # The client passes on few variables, so the command finds the package by itself.
    found = os.environ.get("PYTHONPATH", "")
    command = tmp_path / "bin" / "oneiros"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{found}" exec "{sys.executable}" -m oneiros "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", client],
        env=environment() | {"PATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == printed
    with oneiros.Engine(tmp_path / "agent.db") as engine:
        assert [memory.user for memory in engine.list()] == ["ada"]
    ended = subprocess.run(
        [sys.executable, "-c", f"{serving}\nserve()"],
        env=environment(),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ended.returncode == 0


def test_the_page_names_every_tool() -> None:
    page = PAGE.read_text()
    with oneiros.Engine(":memory:") as engine:
        for name in MemoryTools(engine, dreams=engine).declarations:
            assert f"`{name}`" in page
