"""The backend by CrewAI's protocol, next to CrewAI's own backend, and under CrewAI's Memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WHY = "needs crewai: nox -s 'integrations(name=\"crewai\")'"
pytest.importorskip("crewai", reason=WHY)

# CrewAI and its own backend use what they or Python deprecate.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

from crewai import BaseLLM
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

import oneiros
from oneiros.integrations.crewai import OneirosStorage
from tests.integrations.forgetting import forgets_after_searches

JUNE = datetime(2025, 6, 1, 12, 30, 15, 123456)  # in UTC, as CrewAI has times
DAY = timedelta(days=1)


def records() -> list[MemoryRecord]:
    def record(id: str, scope: str, vector: list[float] | None, age: int, **more: Any) -> Any:
        made = JUNE - age * DAY
        given = {"id": id, "content": f"the {id}", "scope": scope, "embedding": vector}
        return MemoryRecord(**given, created_at=made, last_accessed=made, **more)

    return [
        record("tea", "/acme/ada", [1.0, 0.0, 0.0], 3, categories=["drink"], metadata={"n": 1}),
        record("milk", "/acme/bob", [0.8, 0.6, 0.0], 1, categories=["drink", "white"]),
        record("pool", "/acme", [0.0, 0.0, 1.0], 2, metadata={"n": 2, "deep": {"x": [1]}}),
        record("odd", "/other", [0.6, 0.8, 0.0], 4, importance=0.9, source="ada", private=True),
        record("root", "/", [0.0, 1.0, 0.0], 5, metadata={"n": 1, "at": None}),
    ]


@pytest.fixture(params=["lancedb", "memory", "file", "soft", "scope"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "agent.db"
    other = None
    match request.param:
        case "lancedb":
            made: Any = LanceDBStorage(tmp_path / "lance")
        case "memory":
            made = OneirosStorage()
        case "file":
            made = OneirosStorage(path)
        case "soft":
            made = OneirosStorage(soft_delete=True)
        case _:
            made = OneirosStorage(path, scope={"user": "ada"})
            other = OneirosStorage(path, scope={"user": "bob"})
            other.save([MemoryRecord(id="bob's", content="bob's", scope="/acme/bob's")])
    made.save(records())
    yield made
    if other is not None:
        assert other.count() == 1
        other.close()
    if request.param != "lancedb":
        made.close()


def found(storage: Any, vector: list[float], **options: Any) -> list[str]:
    return [record.id for record, _ in storage.search(vector, **options)]


def listed(storage: Any, **options: Any) -> list[str]:
    return [record.id for record in storage.list_records(**options)]


def test_a_record_erased_after_the_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with oneiros.Engine(":memory:") as engine:
        storage = OneirosStorage.over(engine)
        storage.save([MemoryRecord(id=id, content=id, embedding=[1.0, 0.0]) for id in ("a", "b")])
        forgets_after_searches(engine, "a", monkeypatch)
        assert [record.id for record, _ in storage.search([1.0, 0.0])] == ["b"]


def test_it_is_a_backend(storage: Any) -> None:
    assert isinstance(storage, StorageBackend)


def test_records_come_back_as_they_were(storage: Any) -> None:
    for record in records():
        back = storage.get_record(record.id)
        given, got = record.model_dump(), back.model_dump()
        assert got.pop("importance") == pytest.approx(given.pop("importance"), abs=1e-7)
        assert got == given
        np.testing.assert_allclose(back.embedding, record.embedding, atol=1e-6)
    assert storage.get_record("none") is None


def test_the_nearest_come_first(storage: Any) -> None:
    assert found(storage, [1.0, 0.1, 0.0])[:3] == ["tea", "milk", "odd"]
    assert found(storage, [1.0, 0.1, 0.0], limit=2) == ["tea", "milk"]
    scores = [score for _, score in storage.search([1.0, 0.1, 0.0])]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.000001 for score in scores)
    assert found(storage, [1.0, 0.0, 0.0], min_score=0.999) == ["tea"]


def test_a_scope_holds_what_is_below_it_and_no_more(storage: Any) -> None:
    assert set(found(storage, [1.0, 0.0, 0.0], scope_prefix="/acme")) == {"tea", "milk", "pool"}
    assert found(storage, [1.0, 0.0, 0.0], scope_prefix="/acme/ada/") == ["tea"]
    assert len(found(storage, [1.0, 0.0, 0.0], scope_prefix="/")) == 5
    assert found(storage, [1.0, 0.0, 0.0], scope_prefix="/none") == []


def test_categories_and_metadata_narrow_a_search(storage: Any) -> None:
    query = [0.0, 0.0, 1.0]
    assert set(found(storage, query, categories=["drink"])) == {"tea", "milk"}
    assert set(found(storage, query, categories=["white", "none"])) == {"milk"}
    assert len(found(storage, query, categories=[], metadata_filter={})) == 5
    assert set(found(storage, query, metadata_filter={"n": 1})) == {"tea", "root"}
    assert found(storage, query, metadata_filter={"n": 1}, categories=["drink"]) == ["tea"]
    assert found(storage, query, metadata_filter={"n": 1, "at": None}, scope_prefix="/acme") == [
        "tea"
    ]


def test_lists_are_newest_first(storage: Any) -> None:
    assert listed(storage) == ["milk", "pool", "tea", "odd", "root"]
    assert listed(storage, limit=2, offset=1) == ["pool", "tea"]
    assert listed(storage, scope_prefix="/acme") == ["milk", "pool", "tea"]
    assert listed(storage, limit=0) == []


def test_scopes_and_categories(storage: Any) -> None:
    info = storage.get_scope_info("/acme")
    assert info.path == "/acme"
    assert info.record_count == storage.count("/acme") == 3
    assert info.categories == ["drink", "white"]
    assert (info.oldest_record, info.newest_record) == (JUNE - 3 * DAY, JUNE - DAY)
    assert info.child_scopes == ["/acme/ada", "/acme/bob"]
    assert storage.list_scopes() == ["/acme", "/other"]
    assert storage.list_scopes("/acme/") == ["/acme/ada", "/acme/bob"]
    assert storage.list_scopes("/acme/ada") == []
    nothing = storage.get_scope_info("/none")
    assert (nothing.record_count, nothing.oldest_record) == (0, None)
    assert storage.list_categories() == {"drink": 2, "white": 1}
    assert storage.list_categories("/acme/ada") == {"drink": 1}
    assert storage.count() == storage.count("/") == 5


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"record_ids": ["tea", "none"]}, ["milk", "pool", "odd", "root"]),
        ({"categories": ["drink"]}, ["pool", "odd", "root"]),
        ({"metadata_filter": {"n": 1}}, ["milk", "pool", "odd"]),
        ({"scope_prefix": "/acme", "categories": ["white"]}, ["pool", "tea", "odd", "root"]),
        ({"older_than": JUNE - 3 * DAY}, ["milk", "pool", "tea"]),
        ({}, []),
    ],
)
def test_delete(storage: Any, options: Any, left: list[str]) -> None:
    assert storage.delete(**options) == 5 - len(left)
    assert listed(storage) == left
    assert set(found(storage, [1.0, 0.0, 0.0])) == set(left)
    storage.save(records()[:1])
    assert storage.get_record("tea") is not None


def test_update_and_reset(storage: Any) -> None:
    tea = storage.get_record("tea")
    changes = {"content": "no tea", "scope": "/", "categories": [], "embedding": [0.0, 0.0, -1.0]}
    storage.update(tea.model_copy(update=changes))
    back = storage.get_record("tea")
    assert (back.content, back.scope, back.categories) == ("no tea", "/", [])
    assert back.created_at == tea.created_at
    assert storage.count("/acme") == 2
    assert found(storage, [0.0, 0.0, -1.0])[0] == "tea"
    storage.reset("/acme")
    assert listed(storage) == ["tea", "odd", "root"]
    storage.reset()
    assert storage.count() == 0


def test_async_twins(storage: Any) -> None:
    async def run() -> None:
        await storage.asave([MemoryRecord(id="oats", content="oats", embedding=[-1.0, 0.0, 0.0])])
        (first, *_) = await storage.asearch([-1.0, 0.0, 0.0], limit=1)
        assert first[0].id == "oats"
        assert await storage.adelete(record_ids=["oats"]) == 1

    asyncio.run(run())
    assert storage.count() == 5


# -- beyond CrewAI's own backend -------------------------------------------------------------------


def test_a_scope_is_matched_by_whole_segments() -> None:
    storage = OneirosStorage()
    for scope in ("/acme", "/acmeter", "acme//eu/"):
        storage.save([MemoryRecord(id=scope, content=scope, scope=scope, embedding=[1.0])])
    assert set(found(storage, [1.0], scope_prefix="/acme")) == {"/acme", "acme//eu/"}
    assert storage.list_scopes() == ["/acme", "/acmeter"]
    assert storage.list_scopes("acme") == ["/acme/eu"]


def test_conditions_of_a_deletion_all_count() -> None:
    storage = OneirosStorage()
    storage.save(records())
    assert storage.delete(record_ids=[]) == 0
    assert storage.delete(record_ids=["tea", "pool"], scope_prefix="/acme/ada") == 1
    assert storage.delete(scope_prefix="/acme", older_than=(JUNE - DAY).replace(tzinfo=UTC)) == 1
    assert listed(storage) == ["milk", "odd", "root"]


def test_searches_count_as_no_use_and_times_may_have_zones() -> None:
    storage = OneirosStorage()
    aware = JUNE.replace(tzinfo=UTC) + timedelta(hours=0)
    storage.save([MemoryRecord(id="a", content="a", created_at=aware, embedding=[1.0, 0.0])])
    assert found(storage, [1.0, 0.0]) == ["a"]
    assert storage.memories.get("a").access_count == 0
    back = storage.get_record("a")
    assert back is not None
    assert back.created_at == JUNE


def test_soft_deleted_records_stay_in_the_store() -> None:
    for soft in (True, False):
        storage = OneirosStorage(soft_delete=soft)
        storage.save(records())
        storage.reset("/acme")
        assert [one is not None for one in storage.memories.get_deleted(["tea"])] == [soft]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="scope: must not bound namespace"):
        OneirosStorage(scope={"namespace": "acme"})
    with (
        oneiros.Engine(":memory:") as engine,
        pytest.raises(ValueError, match="memories: must not bound namespace"),
    ):
        OneirosStorage.over(engine.scope(namespace="acme"))
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosStorage.over("agent.db")  # type: ignore[arg-type]
    storage = OneirosStorage()
    storage.save(records()[:1])
    for bad, error, message in (
        (MemoryRecord(content="x", metadata={"_crewai": 1}), ValueError, "'_crewai' is reserved"),
        (MemoryRecord(content="x", embedding=[1.0]), ValueError, "embedding"),
        (MemoryRecord(content="x", scope="/a" * 17), ValueError, "namespace"),
        (MemoryRecord(content="x", metadata={"x": {1}}), TypeError, "metadata"),
    ):
        with pytest.raises(error, match=message):
            storage.save([records()[1], bad])
    for call, message in (
        (lambda: storage.save(records()[1]), "records: expected a list of records"),
        (lambda: storage.save(["x"]), "record: expected CrewAI's MemoryRecord, got str"),
        (lambda: storage.count(3), "scope: expected str, got int"),
        (lambda: storage.delete(older_than="2024"), "older_than: expected a datetime, got str"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(TypeError, match="metadata"):
        storage.search([1.0, 0.0, 0.0], metadata_filter={"deep": {"x": 1}})
    assert storage.count() == 1


class Unused(BaseLLM):
    """A model that must not be called: the fields of a record are all given."""

    def call(self, *_: Any, **__: Any) -> Any:
        raise AssertionError


def embed(texts: list[str]) -> list[list[float]]:
    return [[float("tea" in text), float("pool" in text), 0.1] for text in texts]


def test_memory_of_crewai_remembers_across_processes(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    known = {"categories": ["fact"], "importance": 0.7, "metadata": {"by": "ada"}}
    for text, scope in (("Ada drinks tea", "/ada"), ("The pool is dry", "/ops")):
        storage = OneirosStorage(path)
        memory = Memory(storage=storage, embedder=embed, llm=Unused(model="none"))
        memory.remember(text, scope=scope, **known)
        memory.close()
        storage.close()
    storage = OneirosStorage(path)
    memory = Memory(storage=storage, embedder=embed, llm=Unused(model="none"))
    matches = memory.recall("which tea?", depth="shallow")
    assert [match.record.content for match in matches] == ["Ada drinks tea", "The pool is dry"]
    only = memory.recall("which tea?", scope="/ops", depth="shallow")
    assert [match.record.content for match in only] == ["The pool is dry"]
    updated = memory.update(matches[0].record.id, content="Ada drinks no tea", scope="/past")
    assert storage.get_record(updated.id) is not None
    assert memory.list_scopes("/") == ["/ops", "/past"]
    assert memory.forget(scope="/past") == 1
    assert [record.content for record in memory.list_records()] == ["The pool is dry"]
    memory.close()
    storage.close()


def test_an_engine_can_be_shared() -> None:
    with oneiros.Engine(":memory:") as engine:
        storage = OneirosStorage.over(engine.scope(user="ada"))
        storage.save(records()[:1])
        engine.add("of nobody", labels=["drink"])
        assert storage.list_categories() == {"drink": 1}
        assert storage.get_scope_info("/").record_count == 1
        storage.close()
        assert engine.count() == 2
