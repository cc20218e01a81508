"""The docstrings and the page do what they show, and Ray is imported on use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_doctests import check_examples, modules_with_examples

pytest.importorskip("ray", reason="needs Ray: nox -s ray")

MODULES = [name for name in modules_with_examples() if name.startswith("oneiros.ray.")]


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_examples(name, monkeypatch)


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ray_is_imported_on_use() -> None:
    program = """
import sys
import oneiros
from oneiros.cli.application import application
from oneiros.ray import batches, cluster
print([name for name in sys.modules if name.partition(".")[0] == "ray"])
"""
    assert run(program) == "[]\n"


def test_a_missing_ray_is_named() -> None:
    program = """
import sys
sys.modules["ray"] = None
import oneiros.ray
try:
    oneiros.ray.rescore("in", "out")
except ImportError as error:
    print(error)
"""
    assert "pip install 'oneiros[ray]'" in run(program)
