"""The README and the guide do what they say: their blocks are run in order, their output is compared.

A ``python`` block shares one namespace with the others; a ``text`` block right after it is what it
prints. A ``console`` block holds commands after ``$ `` and what they print. ``...`` stands for
anything. ``bash`` blocks are set-up commands, which ``.ci/run`` runs. ``py`` blocks need a model, which
``tests/models/test_onnx_rerankers.py`` gives them.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import oneiros
from bench import gain
from tests.collections_on_disk import folder_of

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
GUIDE = tuple(
    ROOT / "docs" / "guide" / f"{name}.md"
    for name in (
        *("search", "filters", "memories", "history", "scopes", "erasing", "profiles", "models"),
        *("reranking", "batches"),
        *("parts", "dreaming", "changing_facts", "following", "inspecting", "command_line"),
    )
)
"""The pages of the guide, in the order in which they are read: each goes on where the last one ended."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block and the line it begins on."""

    kind: str
    body: str
    line: int
    shown: str | None = None
    """What a python block is said to print."""


def blocks_of(text: str) -> list[Block]:
    """Return the blocks in order, each python block with the text block that follows it at once."""
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        kind, body = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        follows = text[end : match.start()].strip() == ""
        end = match.end()
        if kind == "text" and follows and found and found[-1].kind == "python":
            found[-1] = Block("python", found[-1].body, found[-1].line, body)
        else:
            found.append(Block(kind, body, line))
    return found


def agrees(printed: str, shown: str) -> bool:
    """Whether what was printed is what is shown, ``...`` being anything; line ends do not count."""

    def trimmed(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*?".join(re.escape(part) for part in trimmed(shown).split("..."))
    return re.fullmatch(pattern, trimmed(printed), re.DOTALL) is not None


def commands_of(body: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what it is said to print."""
    parts = re.split(r"^\$ (.+)\n", body, flags=re.MULTILINE)
    assert parts[0] == "", f"a console block begins with a command, got {parts[0]!r}"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> None:
    # Blank lines in front: a traceback shows the page's own line.
    code = compile("\n" * (block.line - 1) + block.body, str(page), "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, namespace)  # noqa: S102 - our own README
    assert agrees(out.getvalue(), block.shown or ""), f"{page.name}:{block.line}:\n{out.getvalue()}"


def run_console(block: Block, environment: dict[str, str]) -> None:
    for command, shown in commands_of(block.body):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert agrees(done.stdout, shown), f"{command}\n{done.stdout}"


def command_folder(tmp_path: Path) -> Path:
    """Return a folder whose ``oneiros`` is the tested one, installed as a command or not."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "oneiros"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m oneiros "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize("pages", [(README,), GUIDE], ids=["readme", "guide"])
def test_every_block_does_what_it_shows(
    pages: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    environment = os.environ | {
        "PATH": f"{command_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(oneiros.__file__).parent.parent),
        "COLUMNS": "120",
    }
    namespace: dict[str, object] = {"__name__": "readme"}
    ran = 0
    for page in pages:
        for block in blocks_of(page.read_text(encoding="utf-8")):
            if block.kind == "python":
                run_python(page, block, namespace)
            elif block.kind == "console":
                run_console(block, environment)
            else:
                assert block.kind in ("bash", "py"), (
                    f"{page.name}:{block.line}: {block.kind} after no code"
                )
                continue
            ran += 1
    assert ran >= len(pages)


def test_every_page_of_the_guide_is_run() -> None:
    assert sorted(GUIDE) == sorted((ROOT / "docs" / "guide").glob("*.md"))


def test_links_lead_to_files() -> None:
    for page in (README, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_ci_finds_its_commands() -> None:
    text = README.read_text(encoding="utf-8")
    marked = re.findall(r"^<!-- ci: (\w+) -->\n```bash\n(.+)\n```$", text, re.MULTILINE)
    assert [name for name, _ in marked] == ["demo", "tests"]


PICTURE = ROOT / "docs" / "images" / "locomo_recall.svg"


@pytest.fixture
def drawn() -> dict[str, str]:
    """Return recall@10 on LoCoMo by profile, as the README's picture has it."""
    return dict(re.findall(r'<text id="(\w+)"[^>]*>(\.\d{3})</text>', PICTURE.read_text("utf-8")))


def test_the_picture_has_the_figures_of_the_page_on_quality(drawn: dict[str, str]) -> None:
    page = (ROOT / "docs" / "retrieval_quality.md").read_text(encoding="utf-8")
    for name in ("oneiros", "bm25", "dense", "rrf", "mnemosyne", "reverie", "ciar"):
        row = re.search(rf"^\| `{name}` \| all \| 1018 \| \S+ \| \S+ \| (\S+) ", page, re.MULTILINE)
        assert row is not None
        assert drawn[name] == row[1]


def test_the_readme_names_the_figures_of_the_picture(drawn: dict[str, str]) -> None:
    text = README.read_text(encoding="utf-8")
    others = sorted(set(drawn.values()) - {drawn["oneiros"], drawn["hashing"]})
    named = f"Oneiros {drawn['oneiros']}, without a model {drawn['hashing']}, "
    assert named in text
    assert f"{others[0]} to {others[-1]}](docs/images/{PICTURE.name})" in text
    assert len(text.encode()) <= 10_000


def test_the_picture_is_what_its_command_draws() -> None:
    assert gain.picture(gain.bars(folder_of("locomo-dev")), 1018) == PICTURE.read_text("utf-8")


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, by WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"], ids=["light", "dark"])
def test_the_picture_is_readable_on_every_page(page: str) -> None:
    svg = PICTURE.read_text("utf-8")
    colours = dict(re.findall(r"^\.?(text|ours|other) .*fill: (#\w{6})", svg, re.MULTILINE))
    text = re.search(r"text \{[^}]*fill: (#\w{6})", svg)
    assert text is not None
    for colour, least in ((text[1], 4.0), (colours["ours"], 2.5), (colours["other"], 2.5)):
        dark, light = sorted((luminance(colour), luminance(page)))
        assert (light + 0.05) / (dark + 0.05) >= least


def modules_of_other_extras() -> set[str]:
    """Return the modules that the README's first command does not install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    installed_extras = re.findall(
        r"install '\.\[([a-z,]+)\]' && \.venv/bin/oneiros", README.read_text()
    )
    names = [name for found in installed_extras for name in found.split(",")]
    wanted = [*project["dependencies"], *(one for name in names for one in extras[name])]
    needed = {re.split(r"[<>=\[;]", one)[0].lower() for one in wanted}
    every = (one for extra in extras.values() for one in extra)
    optional = {re.split(r"[<>=\[;]", one)[0].lower() for one in every} - needed
    installed = importlib.metadata.packages_distributions()
    held = {
        module
        for module, distributions in installed.items()
        if {one.lower() for one in distributions} & optional
    }
    return {one.replace("-", "_") for one in optional} | held


BLOCKER = """
import sys

class Blocker:
    @staticmethod
    def find_spec(name, *_):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker)
"""


def test_the_readme_needs_no_other_extra(tmp_path: Path) -> None:
    modules = modules_of_other_extras() - {"oneiros"}
    assert {"pyarrow", "model2vec", "polars"} <= modules
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(BLOCKER.format(modules=modules))
    paths = (str(folder), str(Path(oneiros.__file__).parent.parent))
    environment = os.environ | {
        "PATH": f"{command_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
        "COLUMNS": "80",
    }
    for name in ("CONFIG", "STORE", "PROFILE", "EMBEDDER", "SCOPE"):
        environment.pop(f"ONEIROS_{name}", None)

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd=tmp_path,
        )

    assert "No module named 'pyarrow'" in run("import pyarrow").stderr
    ran = set()
    for block in blocks_of(README.read_text(encoding="utf-8")):
        if block.kind == "python":
            done = run(block.body)
            assert (done.returncode, done.stderr) == (0, "")
            assert agrees(done.stdout, block.shown or "")
        elif block.kind == "console":
            with contextlib.chdir(tmp_path):
                run_console(block, environment)
        ran.add(block.kind)
    assert ran == {"bash", "console", "python"}
