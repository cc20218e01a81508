"""The README and the guide do what they say: their blocks are run in order, their output is compared.

A ``python`` block shares one namespace with the others; a ``text`` block right after it is what it
prints. A ``console`` block holds commands after ``$ `` and what they print. ``...`` stands for
anything. ``bash`` blocks are set-up commands, which ``.ci/run`` runs. ``py`` blocks need a model, which
``tests/models/test_onnx_rerankers.py`` gives them.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import oneiros
from oneiros import profiles
from oneiros.evaluation.collection import read
from oneiros.evaluation.tasks import BASELINES, measure, task_of

DATA = Path(os.environ.get("ONEIROS_DATA") or Path(__file__).parents[2] / "shared" / "data")
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


def figures_of(text: str, column: str) -> dict[str, list[str]]:
    """Return the figures of a table's column by what its rows name in backticks."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {column}"))
    table = itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    found = {}
    for line in table:
        name = re.search(r"`([\w.-]+)`", line)
        if name is not None:
            found[name[1]] = re.findall(r"(?<!\d)\.\d{3}", line)
    return found


@pytest.fixture
def gains() -> dict[str, list[str]]:
    """Return nDCG@10 and recall@5 on LoCoMo by profile, as the README's first table has them."""
    return figures_of(README.read_text(encoding="utf-8"), "| nDCG@10")


def test_the_first_figures_are_those_of_the_page_on_quality(gains: dict[str, list[str]]) -> None:
    assert list(gains) == ["bm25", "dense", "rrf", "oneiros"]
    page = (README.parent / "docs" / "retrieval_quality.md").read_text(encoding="utf-8")
    for name, figures in gains.items():
        whole = re.search(rf"^\| `{name}` \| all \| 1018 \| (\S+) \| (\S+) ", page, re.MULTILINE)
        assert whole is not None
        assert figures == list(whole.groups())


def test_the_first_figures_are_what_evaluate_prints(gains: dict[str, list[str]]) -> None:
    if not (DATA / "locomo-dev").is_dir():
        pytest.skip(f"NO DATA: locomo-dev is not under ONEIROS_DATA ({DATA})")
    task = task_of(read(DATA / "locomo-dev"))
    chosen = {**BASELINES, "oneiros": profiles.get("oneiros")}
    for name, figures in gains.items():
        scores = measure(task, chosen[name]).overall
        assert [f"{value:.3f}".lstrip("0") for value in (scores.ndcg, scores.recall)] == figures


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a  \nb", "a\nb", True),
        ("took 3.2 s", "took ... s", True),
        ("a\nb\nc", "a\n...\nc", True),
        ("a\nb", "a", False),
        ("a", "", False),
        ("a.b", "a.c", False),
    ],
)
def test_what_agrees(printed: str, shown: str, same: bool) -> None:
    assert agrees(printed, shown) is same
