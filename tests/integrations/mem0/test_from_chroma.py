"""``examples/from_chroma.py`` copies the collections of a real Chroma folder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import oneiros

WHY = "needs Chroma: pip install -r tests/integrations/mem0/requirements.txt"
chromadb = pytest.importorskip("chromadb", reason=WHY)

SCRIPT = Path(__file__).parents[3] / "examples" / "from_chroma.py"
COUNT = 1_203  # several pages


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("from_chroma", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chroma")
    client = chromadb.PersistentClient(str(path))
    facts = client.create_collection("facts", embedding_function=None)
    facts.add(
        ids=["a", "b", "c"],
        documents=["Ada likes her coffee black", "Grace drinks tea", None],
        metadatas=[{"user_id": "ada", "year": 2024}, {"user_id": "grace"}, {"user_id": "ada"}],
        embeddings=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]],
    )
    many = client.create_collection("many", embedding_function=None)
    many.add(
        ids=[str(number) for number in range(COUNT)],
        documents=[f"Fact number {number}" for number in range(COUNT)],
        embeddings=[[1.0, float(number)] for number in range(COUNT)],
    )
    return path


def copy(folder: Path, store: Path, *options: str) -> str:
    command = [sys.executable, str(SCRIPT), str(folder), str(store), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_every_document_is_copied_with_its_metadata(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    printed = copy(folder, store, "--user-key", "user_id")
    assert printed == f"facts: 2 new, 0 updated\nmany: {COUNT} new, 0 updated\n"
    with oneiros.Engine(store) as engine:
        assert engine.count() == COUNT + 2
        memory = engine.get("facts/a")
        assert (memory.text, memory.user, memory.namespace) == (
            "Ada likes her coffee black",
            "ada",
            "facts",
        )
        assert memory.metadata == {"user_id": "ada", "year": 2024}
        assert engine.search("tea", where=oneiros.where(user="grace")).ids == ["facts/b"]
        assert engine.search("coffee", where=oneiros.meta("year") == 2024).ids == ["facts/a"]
        assert engine.stats()["vectors"] == 0


def test_a_second_run_updates(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    copy(folder, store, "--collection", "facts")
    with oneiros.Engine(store) as engine:
        engine.update("facts/b", text="Grace drank tea")
    assert copy(folder, store, "--collection", "facts") == "facts: 0 new, 2 updated\n"
    with oneiros.Engine(store) as engine:
        assert engine.count() == 2
        assert engine.get("facts/b").text == "Grace drinks tea"


def test_vectors_are_copied_if_asked_for(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    copy(folder, store, "--collection", "facts", "--vectors")
    with oneiros.Engine(store, profile="cosine") as engine:
        assert engine.stats()["vectors"] == 2
        (best,) = engine.search("", embedding=[1.0, 0.1], k=1).results
        assert best.id == "facts/a"
        assert best.score == pytest.approx(1.0 / 1.01**0.5, abs=1e-6)


def test_collections_are_listed(script: ModuleType, folder: Path) -> None:
    assert script.collections(str(folder)) == ["facts", "many"]


def test_a_misspelt_folder_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path / "typo"), str(tmp_path / "agent.db")]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode == 2
    assert f"no folder of a chromadb.PersistentClient: {tmp_path / 'typo'}" in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_record_whose_owner_is_empty_belongs_to_none(tmp_path: Path) -> None:
    facts = chromadb.PersistentClient(str(tmp_path / "chroma")).create_collection(
        "facts", embedding_function=None
    )
    facts.add(
        ids=["a", "b", "c"],
        documents=["tea", "milk", "water"],
        metadatas=[{"user_id": ""}, {"user_id": 7}, {"year": 2024}],
        embeddings=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]],
    )
    store = tmp_path / "agent.db"
    assert copy(tmp_path / "chroma", store, "--user-key", "user_id") == "facts: 3 new, 0 updated\n"
    with oneiros.Engine(store) as engine:
        assert [memory.user for memory in engine.list()] == [None, "7", None]
