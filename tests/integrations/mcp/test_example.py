"""The example examples/mcp_client.py: what three runs over one store print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import oneiros

pytest.importorskip("mcp", reason="needs mcp: pip install 'oneiros[mcp]'")

EXAMPLE = Path(__file__).parents[3] / "examples/mcp_client.py"


def test_it_remembers_across_runs(tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    package = Path(oneiros.__file__).parents[1]

    def run() -> str:
        # The client of mcp passes on few variables; the package is found in the working directory.
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), str(store)],
            cwd=package,
            env=os.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert run() == "When do deploys happen? nothing known\n"
    assert run() == (
        "When do deploys happen? Deploys happen on Tuesdays\n"
        "the former answer is now hidden: superseded\n"
    )
    assert run() == "When do deploys happen? Deploys happen on Fridays now\n"
    with oneiros.Engine(store) as engine:
        assert [memory.text for memory in engine.list()] == [
            "Deploys happen on Tuesdays",
            "Deploys happen on Fridays now",
        ]
        assert {(memory.user, memory.project) for memory in engine.list()} == {("ada", "atlas")}
