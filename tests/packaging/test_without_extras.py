"""What a bare ``pip install oneiros`` does: all of the library but graphs, the command and bars."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rich.cells import cell_len

import oneiros
from oneiros.display.tables import columns_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Installed:
    @staticmethod
    def find_spec(name, *rest):
        if name.partition(".")[0] in ("faiss", "typer", "rich", "click", "shellingham"):
            return None
        return PathFinder.find_spec(name, *rest)

sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
"""


def run_bare(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where FAISS, typer and rich cannot be imported."""
    folder = tmp_path / "without"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(WITHOUT)
    paths = (str(folder), str(Path(oneiros.__file__).parents[1]))
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
    )


def printed(tmp_path: Path, code: str) -> str:
    done = run_bare(tmp_path, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_packages_of_the_extras_are_out_of_reach(tmp_path: Path) -> None:
    for module in ("faiss", "typer", "rich"):
        assert f"No module named '{module}'" in run_bare(tmp_path, "-c", f"import {module}").stderr


WORDS = """
import oneiros
from oneiros import profiles

for name in profiles.names():
    with oneiros.Engine(":memory:", profile=name) as engine:
        engine.add("Ada likes her coffee black", id="coffee")
        engine.add_many([{"text": "Grace drinks tea", "id": "tea"}, {"text": "日本の緑茶", "id": "緑茶"}])
        response = engine.search("black coffee", k=2)
        if name not in ("cosine", "dense"):  # of vectors alone
            assert response.ids[0] == "coffee", name
            assert "coffee" in repr(response) and "coffee" in response._repr_html_()
        assert "緑茶" in repr(engine.list()) + repr(engine.search("日本の緑茶"))
        assert str(engine.why_not("black coffee", "tea").verdict)
        assert repr(engine.dream(dry_run=True))
        assert engine.undo_dream(engine.dream().id).undoes
print("searched and dreamed")
"""


def test_words_dreams_and_profiles_need_no_extra(tmp_path: Path) -> None:
    assert printed(tmp_path, WORDS) == "searched and dreamed\n"


VECTORS = """
import logging
import numpy as np
import oneiros

logging.basicConfig(format="%(message)s")
vectors = np.random.default_rng(0).standard_normal((11_000, 8))
with oneiros.Engine(":memory:") as engine:
    engine.add_many({"id": f"m{n}", "text": f"note {n}", "embedding": v} for n, v in enumerate(vectors))
    index = engine._scope.services.read_model.indexes.vectors
    assert index.settle(60) and not index.has_graph
    for n in (0, 4_321, 5_999):
        assert engine.search("zzz", k=1, embedding=vectors[n]).ids == [f"m{n}"]
with oneiros.Engine(":memory:", embedder="hashing", vector_index="flat") as engine:
    engine.add("Ada likes her coffee black")
    assert engine.search("cofee").ids
"""


def test_vectors_are_searched_exactly_without_faiss_and_one_warning_names_the_extra(
    tmp_path: Path,
) -> None:
    done = run_bare(tmp_path, "-c", VECTORS)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("vector index: a new graph of all vectors failed, searching without: ")
    assert line.endswith("faiss is not installed; run: pip install 'oneiros[faiss]'")


def test_an_engine_with_a_graph_without_faiss_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    code = """
import oneiros
try:
    oneiros.Engine("agent.db", vector_index="hnsw")
except ImportError as error:
    print(error.name, error)
"""
    want = "faiss faiss is not installed; run: pip install 'oneiros[faiss]'\n"
    assert printed(tmp_path, code) == want
    assert not (tmp_path / "agent.db").exists()


@pytest.mark.parametrize(
    "call",
    [
        "oneiros.Engine(':memory:').add_many([{'text': 'tea'}], progress=True)",
        "oneiros.Engine(':memory:', embedder='hashing').reembed('hashing:64', progress=True)",
    ],
    ids=["add_many", "reembed"],
)
def test_a_bar_without_rich_is_refused_and_names_the_extra(tmp_path: Path, call: str) -> None:
    code = f"import oneiros\ntry:\n    {call}\nexcept ImportError as error:\n    print(error)"
    want = "rich is not installed; run: pip install 'oneiros[cli]'\n"
    assert printed(tmp_path, code) == want


@pytest.mark.parametrize("module", ["oneiros", "oneiros.cli"])
def test_the_command_without_its_packages_fails_in_one_line(tmp_path: Path, module: str) -> None:
    done = run_bare(tmp_path, "-m", module, "search", "tea")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: typer is not installed; run: pip install 'oneiros[cli]'\n"


@pytest.mark.parametrize(
    "text",
    [
        "Ada",
        "naïve",
        "Straße",
        "日本の緑茶",
        "한국어",
        "\u1112\u1161\u11ab\u1100\u116e\u11a8",  # decomposed
        "\uff21\uff22",
        "привет",
        "שלום",
        "é",
        "🙂 tea",
        "…→×",
    ],
)
def test_widths_are_those_of_the_commands_tables(text: str) -> None:
    assert columns_of(text) == cell_len(text)


def packages_of(extra: str) -> set[str]:
    """Return the packages of an extra, those of the extras that it names included."""
    found: set[str] = set()
    for one in PROJECT["optional-dependencies"][extra]:
        own = re.fullmatch(r"oneiros\[(.+)\]", one)
        if own is None:
            found.add(re.split(r"[<>=!~;\[ ]", one)[0])
        else:
            found = found.union(*map(packages_of, own[1].split(",")))
    return found


def test_models_and_stores_of_vectors_bring_faiss() -> None:
    models = ("sentence-transformers", "model2vec", "onnx")
    stores = ("autogen", "crewai", "haystack", "langchain", "langgraph", "llamaindex", "mcp")
    for extra in (*models, *stores, "test", "docs", "bench"):
        assert "faiss-cpu" in packages_of(extra), extra


def test_what_runs_the_command_brings_its_packages() -> None:
    for extra in ("cli", "mcp", "test", "docs", "bench"):
        assert {"typer", "rich"} <= packages_of(extra), extra


def test_the_readme_installs_the_command_that_it_runs() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    (extras,) = re.findall(r"pip install '\.\[(.+)\]' && \.venv/bin/oneiros demo", text)
    assert set(extras.split(",")) == {"cli", "faiss"}
