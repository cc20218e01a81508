"""Each integration: its page runs, its docstrings run, and its framework is imported on use.

Where the framework is not installed, the page and the docstrings are skipped. ``ONEIROS_INTEGRATION=haystack``
restricts the tests to one integration.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_doctests import check_examples, modules_with_examples

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Integration:
    """One integration."""

    name: str
    """The name of its page and of the folder of its tests."""
    extra: str
    packages: tuple[str, ...]
    """The framework, and what else its page imports."""
    modules: tuple[str, ...]
    """Its modules in ``oneiros.integrations``."""
    first_uses: tuple[str, ...] = ()
    """Statements that import the framework; without any, importing the first module does."""

    @property
    def uses(self) -> tuple[str, ...]:
        return self.first_uses or tuple(
            f"import oneiros.integrations.{module}" for module in self.modules[:1]
        )

    @property
    def framework(self) -> str:
        return self.packages[0].partition(".")[0]

    def require(self, packages: tuple[str, ...]) -> None:
        """Skip the test if a package is missing."""
        missing = [name for name in packages if not is_installed(name)]
        if missing:
            pytest.skip(f"needs {', '.join(missing)}: nox -s \"integrations(name='{self.name}')\"")


def is_installed(module: str) -> bool:
    parent = module.rpartition(".")[0]
    return (not parent or is_installed(parent)) and find_spec(module) is not None


EVERY = (
    Integration("autogen", "autogen", ("autogen_core",), ("autogen",)),
    Integration("crewai", "crewai", ("crewai",), ("crewai",)),
    Integration("haystack", "haystack", ("haystack",), ("haystack",)),
    Integration("langchain", "langchain", ("langchain_core",), ("langchain",)),
    Integration("langgraph", "langgraph", ("langgraph.store.base",), ("langgraph",)),
    Integration("llamaindex", "llamaindex", ("llama_index.core",), ("llamaindex",)),
    Integration("mcp", "mcp", ("mcp",), ("mcp", "mcp_tools")),
    Integration("mem0", "langchain", ("langchain_core", "langchain", "mem0"), ("langchain",)),
    Integration("openai_agents", "openai-agents", ("agents",), ("openai_agents",)),
    Integration(
        "opentelemetry",
        "tracing",
        ("opentelemetry.sdk", "opentelemetry.exporter.prometheus"),
        ("tracing", "metrics", "operations"),
        (
            "from oneiros.integrations.tracing import Spans; Spans()",
            "from oneiros.integrations.metrics import Metrics; Metrics()",
        ),
    ),
    Integration("pydantic_ai", "pydantic-ai", ("pydantic_ai",), ("pydantic_ai",)),
)
ONLY = os.environ.get("ONEIROS_INTEGRATION")
CHOSEN = [one for one in EVERY if ONLY in (None, one.name)]
NEUTRAL = ("graphs", "metadata_times", "mcp_tools", "metrics", "opening", "operations", "tracing")
"""Modules that import no framework until they are used."""


def examples() -> Iterator[tuple[Integration | None, str]]:
    """Yield the modules with examples, each with an integration that has it, or with None."""
    owners = {module: one for one in reversed(CHOSEN) for module in one.modules}
    for name in modules_with_examples():
        package, _, module = name.rpartition(".")
        if package == "oneiros.integrations" and (ONLY is None or module in owners):
            yield owners.get(module), name


def named(given: Iterable[Integration]) -> list[object]:
    return [pytest.param(one, id=one.name) for one in given]


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder where the command ``oneiros`` is on the path.

    Warnings that its own lines cause are errors.
    """
    command = folder / "bin" / "oneiros"
    command.parent.mkdir()
    # A framework may start the command with few variables: it finds the package by itself.
    found = os.environ.get("PYTHONPATH", "")
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{found}" exec "{sys.executable}" -m oneiros "$@"\n')
    command.chmod(0o755)
    return subprocess.run(
        [sys.executable, "-W", "error:::__main__", "-c", program],
        env=os.environ | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_folder_of_tests_is_here() -> None:
    folders = (ROOT / "tests" / "integrations").glob("*/requirements.txt")
    assert sorted(path.parent.name for path in folders) == [one.name for one in EVERY]
    pages = (ROOT / "docs" / "integrations").glob("*.md")
    assert {path.stem for path in pages} - {"README"} == {one.name for one in EVERY}
    assert CHOSEN, f"ONEIROS_INTEGRATION: no integration {ONLY!r}"


@pytest.mark.parametrize("one", named(CHOSEN))
def test_the_page_does_what_it_shows(one: Integration, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "integrations" / f"{one.name}.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    program = "".join(code for kind, code in blocks if kind == "python")
    shown = "".join(code for kind, code in blocks if kind == "text")
    assert program
    assert shown
    assert f"oneiros[{one.extra}]" in page
    one.require(one.packages)
    done = run(program, tmp_path)
    assert done.stdout == shown, done.stderr
    assert done.returncode == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ImportWarning")  # frameworks'
@pytest.mark.parametrize(
    ("owner", "module"), [pytest.param(*pair, id=pair[1]) for pair in examples()]
)
def test_the_examples_of_docstrings_run(
    owner: Integration | None, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if owner is not None:
        owner.require(owner.packages[:1])
    monkeypatch.chdir(tmp_path)
    check_examples(module, monkeypatch)


@pytest.mark.parametrize("one", named(CHOSEN))
def test_the_framework_is_imported_on_use(one: Integration, tmp_path: Path) -> None:
    one.require(one.packages[:1])
    program = f"""
import sys
import oneiros
with oneiros.Engine(":memory:") as engine:
    engine.add("ant")
    engine.search("ant")
    engine.search_many(["ant"])
from oneiros.integrations import {", ".join(NEUTRAL)}
print([name for name in sys.modules if name.partition(".")[0] == {one.framework!r}])
"""
    done = run(program, tmp_path)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("one", "use"),
    [
        pytest.param(one, use, id=f"{one.name}-{number}")
        for one in CHOSEN
        for number, use in enumerate(one.uses)
    ],
)
def test_a_missing_framework_is_named(one: Integration, use: str, tmp_path: Path) -> None:
    program = f"""
import sys

class Blocker:
    @staticmethod
    def find_spec(name, *_):
        if name.partition(".")[0] == {one.framework!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Blocker)
try:
    {use}
except ImportError as error:
    print(error)
"""
    done = run(program, tmp_path)
    assert f"pip install 'oneiros[{one.extra}]'" in done.stdout, done.stderr
