"""The site's own extensions, in a site of one page; needs ``pip install '.[docs]'``."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.site.outside_pages import ROOT

WHY = "needs the packages of the site: pip install '.[docs]'"
for package in ("sphinx", "myst_parser", "latex2mathml", "matplotlib"):
    pytest.importorskip(package, reason=WHY)

CONF = """
import sys
sys.path.insert(0, {root!r})
extensions = ["myst_parser", "docs.site.computed", "docs.site.docstrings", "docs.site.licences",
              "docs.site.mathml", "docs.site.references"]
nitpicky = True
myst_fence_as_directive = ["math"]
html_theme = "basic"
"""


def build(folder: Path, text: str, suffix: str = "md") -> subprocess.CompletedProcess[str]:
    (folder / "conf.py").write_text(CONF.format(root=str(ROOT)))
    (folder / f"index.{suffix}").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ".", "out"]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)


def page_of(folder: Path, text: str, suffix: str = "md") -> str:
    done = build(folder, text, suffix)
    assert done.returncode == 0, done.stderr
    return (folder / "out" / "index.html").read_text(encoding="utf-8")


def test_formulas_are_mathml_and_load_nothing(tmp_path: Path) -> None:
    page = page_of(tmp_path, "# T\n\n```math\n\\frac{a}{b}\n```\n")
    assert re.search(r'<math [^>]*display="block"[^>]*><mrow><mfrac>', page)
    assert "mathjax" not in page.lower()


def test_pieces_of_a_page_share_names_and_show_what_they_print(tmp_path: Path) -> None:
    page = page_of(tmp_path, "# T\n\n```{run}\na = 6 * 7\n```\n\n```{run}\nprint(f'<{a}>')\n```\n")
    assert "&lt;42&gt;" in page


def test_plots_take_the_colour_of_the_text(tmp_path: Path) -> None:
    piece = "```{plot} A line.\naxes.plot([0, 1], [0, 1], label='l')\naxes.legend()\n```\n"
    page = page_of(tmp_path, f"# T\n\n{piece}\n{piece}")
    assert page.count('class="plot" role="img"') == 2
    assert "currentColor" in page
    assert "#010203" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)


def test_a_piece_that_fails_stops_the_build(tmp_path: Path) -> None:
    done = build(tmp_path, "# T\n\n```{run}\n1 / 0\n```\n")
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr


def test_names_of_docstrings_lead_to_what_is_documented(tmp_path: Path) -> None:
    text = "T\n=\n\n.. autoclass:: oneiros.UnknownMemory\n   :members:\n\n:class:`UnknownMemory`\n"
    page = page_of(tmp_path, text, "rst")
    assert page.count('href="#oneiros.UnknownMemory"') >= 2


def test_licences_are_those_of_the_packages_installed_here(tmp_path: Path) -> None:
    page = page_of(tmp_path, "# T\n\n```{licences} cli\n```\n")
    rows = {
        cells[0]: cells[1:]
        for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)
        if (cells := re.findall(r"<td><p>(.*?)</p></td>", row))
    }
    assert rows["numpy"][0] == importlib.metadata.version("numpy")
    assert "BSD" in rows["numpy"][1]
    assert rows["numpy"][2] == "oneiros"
    assert rows["typer"][1:] == ["MIT", "oneiros[cli]"]
    assert rows["shellingham"][2] == "typer"
    assert "faiss-cpu" not in rows
    assert all(licence != "not declared" for _, licence, _ in rows.values())


def test_licences_of_an_extra_that_there_is_not_are_an_error(tmp_path: Path) -> None:
    done = build(tmp_path, "# T\n\n```{licences} tea\n```\n")
    assert done.returncode != 0
    assert "tea" in done.stderr


def test_a_name_that_nothing_has_is_a_complaint(tmp_path: Path) -> None:
    done = build(tmp_path, "T\n=\n\n:class:`oneiros.NoSuchThing`\n", "rst")
    assert done.returncode != 0
    assert "oneiros.NoSuchThing" in done.stderr
