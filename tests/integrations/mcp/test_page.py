"""The page docs/integrations/mcp.md: its server runs, and it leaves out no tool."""

from __future__ import annotations

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


def test_the_server_of_the_page_ends_with_its_input(tmp_path: Path) -> None:
    (serving,) = re.findall(r"```python\n([^`]*serve_stdio.*?)```", PAGE.read_text(), re.DOTALL)
    ended = subprocess.run(
        [sys.executable, "-c", f"{serving}\nserve()"],
        env=environment(),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ended.returncode == 0
    assert (tmp_path / "agent.db").exists()


def test_the_page_names_every_tool() -> None:
    page = PAGE.read_text()
    with oneiros.Engine(":memory:") as engine:
        for name in MemoryTools(engine, dreams=engine).declarations:
            assert f"`{name}`" in page
