"""The tutorial and the how-tos do what they show; what the site computes can be computed.

Each page is a program of its own, in an empty folder. ``python``, ``text`` and ``console`` blocks are run
and compared as those of the guide are (tests/test_readme.py). ``py`` blocks need a package or a model that
may be absent: they are compiled, and their imports from Oneiros must exist. tests/ray runs those of Ray.
``{run}`` and ``{plot}`` blocks are what the site computes.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import re
from pathlib import Path

import pytest

import oneiros
from docs.site.outside_pages import DOCS
from oneiros.scoring import profiles
from tests.test_readme import Block, blocks_of, command_folder, run_console, run_python

PAGES = (DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md")))
COMPUTED = re.compile(r"^```\{(run|plot)\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMPUTING = tuple(
    page for page in sorted(DOCS.rglob("*.md")) if COMPUTED.search(page.read_text(encoding="utf-8"))
)


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).with_suffix("").as_posix()


def require_sound(page: Path, block: Block) -> None:
    """Compile a block that is not run, and import what it takes from Oneiros."""
    tree = ast.parse(block.body, f"{page.name}:{block.line}")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("oneiros"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name), f"{page.name}:{block.line}: {alias.name}"


@pytest.fixture(autouse=True)
def _known_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the profiles that a page registers."""
    assert profiles.names()  # all are loaded
    monkeypatch.setattr(profiles, "_profiles", profiles._profiles.copy())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_does_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    path = f"{command_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}"
    package = str(Path(oneiros.__file__).parent.parent)
    environment = os.environ | {"PATH": path, "PYTHONPATH": package, "COLUMNS": "120"}
    namespace: dict[str, object] = {"__name__": "page"}
    before = ""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            run_python(page, block, namespace)
        elif block.kind == "console":
            run_console(block, environment)
        elif block.kind == "py":
            require_sound(page, block)
        elif block.kind == "text":
            assert before == "py", f"{page}:{block.line}"  # what a block that is not run prints
        else:
            assert block.kind in ("bash", "toml", "json"), f"{page}:{block.line}"
        before = block.kind


@pytest.mark.parametrize("page", COMPUTING, ids=name_of)
def test_what_the_site_computes_can_be_computed(page: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    pieces = COMPUTED.findall(page.read_text(encoding="utf-8"))
    assert pieces
    namespace: dict[str, object] = {"__name__": "page"}
    for kind, code in pieces:
        axes = figure.Figure().add_subplot()
        namespace["axes"] = axes
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(page), "exec"), namespace)  # noqa: S102 - the site's own pages
        if kind == "run":
            assert out.getvalue().strip()
        else:
            assert axes.lines or axes.patches or axes.collections
