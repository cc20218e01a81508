"""The docstrings and the page do what they show, and Ray is imported on use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.site.outside_pages import DOCS
from tests.test_doctests import check_examples, modules_with_examples
from tests.test_readme import agrees

pytest.importorskip("ray", reason="needs Ray: nox -s ray")

BLOCK = re.compile(r"^```(py|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULES = [name for name in modules_with_examples() if name.startswith("oneiros.ray.")]


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_examples(name, monkeypatch)


def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    """The page is one program; what it prints is compared block by block."""
    page = (DOCS / "howto" / "ray.md").read_text(encoding="utf-8")
    program, shown = "", []
    for kind, body in BLOCK.findall(page):
        if kind == "py":
            program += f"{body}print('---')\n"
            shown.append("")
        else:
            shown[-1] = body
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split("---\n")[:-1]
    assert len(printed) == len(shown) > 5
    for output, expected in zip(printed, shown, strict=True):
        assert agrees(output, expected), f"{output}\nis not\n{expected}"


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
