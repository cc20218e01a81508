"""mem0 with an engine as its store: a real ``Memory`` with a local embedder and a scripted model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import oneiros

WHY = "needs mem0: pip install -r tests/integrations/mem0/requirements.txt"
pytest.importorskip("langchain_core", reason=WHY)
if find_spec("mem0") is None:  # imported by a fixture, once its folder is set
    pytest.skip(WHY, allow_module_level=True)

from langchain_core.embeddings import Embeddings

from oneiros.integrations.langchain import OneirosVectorStore

# mem0's provider imports it; whether an import by mem0 has changed the filters depends on earlier tests.
pytestmark = pytest.mark.filterwarnings("ignore:.langchain-community. is being sunset")

WORDS = ("ada", "grace", "tea", "coffee", "green", "zurich", "lives", "likes")


class Counts(Embeddings):
    """Counts a few words: near texts share words."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        words = re.findall(r"\w+", text.lower())
        return [float(words.count(word)) for word in WORDS] + [0.1]


class Mem0Embedder:
    """The same embeddings with mem0's methods."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return Counts().embed_query(text)

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class Script:
    """A model that finds one fact in each sentence of the last message."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def generate_response(self, messages: list[dict[str, str]], **_: Any) -> str:
        self.prompts.append(messages[-1]["content"])
        spoken = re.findall(r"FACT: ([^.\n\"]+)\.", messages[-1]["content"])
        return json.dumps({"memory": [{"text": text} for text in dict.fromkeys(spoken)]})


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(tmp_path / "agent.db") as engine:
        yield engine


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    return import_module("mem0")


@pytest.fixture
def config(engine: oneiros.Engine, tmp_path: Path) -> dict[str, Any]:
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    client = OneirosVectorStore(engine, Counts())
    return {
        "vector_store": {"provider": "langchain", "config": {"client": client}},
        "llm": unused,
        "embedder": unused,
        "history_db_path": str(tmp_path / "history.db"),
    }


@pytest.fixture
def memory(mem0: Any, config: dict[str, Any], script: Script) -> Iterator[Any]:
    made = mem0.Memory.from_config(config)
    made.embedding_model, made.llm = Mem0Embedder(), script
    yield made
    made.close()


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def found(memory: Any, query: str, **filters: Any) -> list[str]:
    results = memory.search(query, filters=filters)["results"]
    return [result["memory"] for result in results]


def test_facts_are_found_by_meaning_and_user(memory: Any, engine: oneiros.Engine) -> None:
    added = memory.add(said("FACT: Ada likes tea. FACT: Ada lives in Zurich."), user_id="ada")
    assert [one["memory"] for one in added["results"]] == ["Ada likes tea", "Ada lives in Zurich"]
    memory.add(said("FACT: Grace likes coffee."), user_id="grace")

    assert found(memory, "Ada and tea", user_id="ada") == ["Ada likes tea", "Ada lives in Zurich"]
    assert found(memory, "likes", user_id="grace") == ["Grace likes coffee"]
    assert found(memory, "likes", user_id="nobody") == []
    (best, _) = memory.search("Ada likes tea", filters={"user_id": "ada"})["results"]
    assert best["score"] == pytest.approx(1.0)

    stored = engine.get(added["results"][0]["id"])
    assert (stored.text, stored.metadata["user_id"]) == ("Ada likes tea", "ada")
    assert engine.search("tea", where=oneiros.meta("user_id") == "ada").ids == [stored.id]


def test_the_model_sees_what_is_known(memory: Any, script: Script) -> None:
    memory.add(said("FACT: Ada likes tea."), user_id="ada")
    memory.add(said("FACT: Ada lives in Zurich."), user_id="ada")
    assert "Ada likes tea" not in script.prompts[0].replace("FACT: Ada likes tea", "")
    assert "Ada likes tea" in script.prompts[1].replace("FACT: Ada likes tea", "")


def test_a_fact_is_stored_once(memory: Any, engine: oneiros.Engine) -> None:
    memory.add(said("FACT: Ada likes tea."), user_id="ada")
    assert memory.add(said("FACT: Ada likes tea."), user_id="ada")["results"] == []
    assert len(engine) == 1


def test_update_get_history_and_delete(memory: Any, engine: oneiros.Engine) -> None:
    (added,) = memory.add(said("FACT: Ada likes tea."), user_id="ada")["results"]
    memory.update(added["id"], "Ada likes green tea")
    assert memory.get(added["id"])["memory"] == "Ada likes green tea"
    assert engine.get(added["id"]).text == "Ada likes green tea"
    assert found(memory, "green", user_id="ada") == ["Ada likes green tea"]
    assert [event["event"] for event in memory.history(added["id"])] == ["ADD", "UPDATE"]

    memory.delete(added["id"])
    assert memory.get(added["id"]) is None
    assert found(memory, "green", user_id="ada") == []
    assert engine.get_deleted([added["id"]]) == [None]


def test_messages_without_inference(memory: Any) -> None:
    added = memory.add(said("Ada drinks tea at four"), user_id="ada", infer=False)
    assert [one["event"] for one in added["results"]] == ["ADD"]
    assert found(memory, "tea", user_id="ada") == ["Ada drinks tea at four"]


def test_metadata_filters_use_the_stores_operators(memory: Any) -> None:
    for year in (2024, 2025):
        memory.add(said(f"tea of {year}"), user_id="ada", infer=False, metadata={"year": year})
    assert found(memory, "tea", user_id="ada", year={"$gte": 2025}) == ["tea of 2025"]
    assert found(memory, "tea", user_id="ada", year=2024) == ["tea of 2024"]


def test_a_second_process_finds_them(memory: Any, tmp_path: Path) -> None:
    memory.add(said("FACT: Ada likes tea."), user_id="ada")
    with oneiros.Engine(tmp_path / "agent.db", read_only=True) as reader:
        assert reader.search("tea").texts == ["Ada likes tea"]


def test_reset_erases_all(memory: Any, engine: oneiros.Engine) -> None:
    memory.add(said("FACT: Ada likes tea."), user_id="ada")
    memory.reset()
    assert len(engine) == 0
    assert engine.verify_erased("Ada likes tea")


def test_get_all_lists_the_memories_of_a_user(memory: Any) -> None:
    for user in ("ada", "grace"):
        memory.add(said(f"tea of {user}"), user_id=user, infer=False, metadata={"year": 2025})
        memory.add(said(f"rum of {user}"), user_id=user, agent_id="bar", infer=False)

    def listed(**filters: Any) -> list[str]:
        results = memory.get_all(filters=filters, top_k=10)["results"]
        return [result["memory"] for result in results]

    assert listed(user_id="ada") == ["tea of ada", "rum of ada"]
    assert listed(agent_id="bar") == ["rum of ada", "rum of grace"]
    assert listed(user_id="grace", agent_id="bar") == ["rum of grace"]
    assert listed(user_id="ada", year=2025) == ["tea of ada"]
    assert listed(user_id="nobody") == []
    (first,) = memory.get_all(filters={"user_id": "ada"}, top_k=1)["results"]
    known = memory.get(first["id"])
    assert {key: known[key] for key in first} == first


def test_delete_all_erases_the_memories_of_a_user(
    memory: Any, engine: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("mem0.memory.main"), "DELETE_ALL_BATCH_SIZE", 3)
    vector = Counts().embed_query("tea")
    metadata = {"user_id": "ada", "data": "tea"}
    engine.add_many(
        {"text": f"tea {number}", "embedding": vector, "metadata": metadata} for number in range(7)
    )
    memory.add(said("rum"), user_id="grace", infer=False)
    memory.delete_all(user_id="ada")
    assert [one.text for one in engine.list()] == ["rum"]
    assert memory.get_all(filters={"user_id": "ada"})["results"] == []
    assert engine.verify_erased("tea 0")
    memory.delete_all(user_id="ada")  # nothing is left


def test_async_memories_are_listed_and_deleted_too(mem0: Any, config: dict[str, Any]) -> None:
    async def run() -> None:
        memory = mem0.AsyncMemory.from_config(config)
        memory.embedding_model = Mem0Embedder()
        await memory.add(said("tea"), user_id="ada", infer=False)
        listed = await memory.get_all(filters={"user_id": "ada"})
        assert [one["memory"] for one in listed["results"]] == ["tea"]
        await memory.delete_all(user_id="ada")
        assert (await memory.get_all(filters={"user_id": "ada"}))["results"] == []

    asyncio.run(run())
