"""``examples/from_mem0.py`` copies the memories of a real ``Memory`` over local folders of Qdrant and Chroma."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import oneiros

WHY = "needs mem0: pip install -r tests/integrations/mem0/requirements.txt"
if find_spec("mem0") is None:  # imported by a fixture, once its folder is set
    pytest.skip(WHY, allow_module_level=True)

SCRIPT = Path(__file__).parents[3] / "examples" / "from_mem0.py"
UNUSED = {"provider": "openai", "config": {"api_key": "unused"}}


class Counts:
    """Counts three letters, with the methods of mem0's embedders."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return [float(text.lower().count(letter)) for letter in "abc"] + [0.1]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


@pytest.fixture
def mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    return import_module("mem0")


@pytest.fixture
def script(mem0: Any) -> ModuleType:
    del mem0  # its folder is set before it is imported
    spec = importlib.util.spec_from_file_location("from_mem0", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def close_store(memory: Any) -> None:
    """Close a local folder of vectors: Qdrant's has one user at a time."""
    close = getattr(memory.vector_store.client, "close", None)
    if close is not None:
        close()


@pytest.fixture(params=["qdrant", "chroma"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    if request.param == "chroma":
        pytest.importorskip("chromadb", reason=WHY)
    place: dict[str, Any] = {"path": str(tmp_path / "vectors"), "collection_name": "mem0"}
    if request.param == "qdrant":
        place |= {"embedding_model_dims": 4, "on_disk": True}
    return {
        "vector_store": {"provider": request.param, "config": place},
        "llm": UNUSED,
        "embedder": UNUSED,
        "history_db_path": str(tmp_path / "history.db"),
    }


@pytest.fixture
def memory(mem0: Any, config: dict[str, Any]) -> Iterator[Any]:
    made = mem0.Memory.from_config(config)
    made.embedding_model = Counts()
    for text, owner in (
        ("Ada likes her coffee black", {"user_id": "ada", "metadata": {"topic": "drinks"}}),
        ("Ada lives in Zurich", {"user_id": "ada", "agent_id": "helper", "run_id": "monday"}),
        ("Grace drinks tea", {"user_id": "grace"}),
    ):
        made.add([{"role": "user", "content": text}], infer=False, **owner)
    yield made
    made.close()
    close_store(made)


def test_memories_come_with_owner_times_and_metadata(script: ModuleType, memory: Any) -> None:
    with oneiros.Engine(":memory:", timezone="UTC") as engine:
        report = engine.add_many(script.records(memory, user_id="ada"))
        assert len(report.ids) == 2
        by_text = {each.text: each for each in engine.list()}
        coffee = by_text["Ada likes her coffee black"]
        assert (coffee.user, coffee.metadata["topic"]) == ("ada", "drinks")
        zurich = by_text["Ada lives in Zurich"]
        assert (zurich.user, zurich.agent, zurich.session) == ("ada", "helper", "monday")
        first = memory.get(zurich.id)
        created = datetime.fromisoformat(first["created_at"]).timestamp()
        assert zurich.created_at == pytest.approx(created, abs=1e-3)
        assert engine.search("coffee", where=oneiros.where(user="ada")).ids == [coffee.id]


def test_an_expiration_date_ends_the_validity(script: ModuleType, memory: Any) -> None:
    (entry,) = memory.get_all(filters={"user_id": "grace"})["results"]
    memory.update(entry["id"], "Grace drinks tea", expiration_date="2099-05-01")
    (record,) = script.records(memory, user_id="grace")
    assert record["valid_until"] == "2099-05-02T00:00:00Z"
    with oneiros.Engine(":memory:", timezone="UTC") as engine:
        engine.add_many([record])
        assert engine.search("tea", now="2099-05-01T23:00:00Z").ids == [entry["id"]]
        assert engine.search("tea", now="2099-05-02T00:00:01Z").ids == []


def test_the_last_day_of_the_calendar_is_no_end(script: ModuleType, memory: Any) -> None:
    (entry,) = memory.get_all(filters={"user_id": "grace"})["results"]
    memory.update(entry["id"], "Grace drinks tea", expiration_date="9999-12-31")
    (record,) = script.records(memory, user_id="grace")
    assert "valid_until" not in record


def test_the_command_copies_users_and_updates_on_a_second_run(
    memory: Any, config: dict[str, Any], tmp_path: Path
) -> None:
    close_store(memory)
    written, store = tmp_path / "mem0.json", tmp_path / "agent.db"
    written.write_text(json.dumps(config))
    command = [sys.executable, str(SCRIPT), str(written), str(store), "--user", "ada"]
    for expected in ("user ada: 2 new, 0 updated\n", "user ada: 0 new, 2 updated\n"):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected
    with oneiros.Engine(store) as engine:
        assert engine.values("user") == {"ada": 2}


def test_a_second_run_takes_over_that_an_expiration_date_was_removed(
    memory: Any, config: dict[str, Any], tmp_path: Path
) -> None:
    (entry,) = memory.get_all(filters={"user_id": "grace"})["results"]
    written, store = tmp_path / "mem0.json", tmp_path / "agent.db"
    written.write_text(json.dumps(config))
    command = [sys.executable, str(SCRIPT), str(written), str(store), "--user", "grace"]
    for expiration, found in (("2020-05-01", []), (None, [entry["id"]])):
        memory.update(entry["id"], "Grace drinks tea", expiration_date=expiration)
        close_store(memory)
        subprocess.run(command, check=True, capture_output=True)
        with oneiros.Engine(store) as engine:
            assert engine.search("tea").ids == found
        memory = import_module("mem0").Memory.from_config(config)
        memory.embedding_model = Counts()
    memory.close()
    close_store(memory)


def test_a_run_without_an_owner_is_refused_and_makes_no_store(mem0: Any, tmp_path: Path) -> None:
    del mem0  # its folder is set
    store = tmp_path / "agent.db"
    command = [sys.executable, str(SCRIPT), str(tmp_path / "mem0.json"), str(store)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "give --user, --agent or --run" in done.stderr
    assert not store.exists()
