"""Responses as dicts, JSON and Arrow tables; short reprs of everything public."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import oneiros
from oneiros import profiles
from oneiros.evaluation.run import evaluate
from oneiros.evaluation.tasks import demo_task
from oneiros.model.fields import FIELDS
from tests.engine.embedders import LetterCounts

NOW = 1_750_000_000.0


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", embedder=LetterCounts(), clock=lambda: NOW) as engine:
        engine.add(
            "ant \x1b[2J bee \u202e",
            id="a",
            tags=["x", "y"],
            metadata={"n": 1, "nested": {"a": None}},
            created_at="2025-06-01T00:00:00Z",
            event_at=-1e15,
            session="s",
        )
        engine.add("ant", id="b", valid_until="9999-12-31T23:59:59Z")
        yield engine


def test_a_dict_has_the_figures_of_the_response(engine: oneiros.Engine) -> None:
    response = engine.search("ant", explain=True)
    record = response.to_dict()
    assert record["query"] == "ant"
    assert record["now"] == "2025-06-15T15:06:40+00:00"
    assert record["profile_hash"] == response.profile_hash
    assert [one["rank"] for one in record["results"]] == [1, 2]
    for one, result in zip(record["results"], response, strict=True):
        assert (one["id"], one["score"]) == (result.id, result.score)
        assert one["channels"] == result.channels
        assert result.explanation is not None
        assert one["explanation"]["score"] == result.explanation.score
        assert one["memory"]["text"] == result.memory.text
        assert one["memory"]["embedding_dimension"] == 8
        assert "embedding" not in one["memory"]
    times = {one["id"]: one["memory"]["created_at"] for one in record["results"]}
    assert times["a"] == "2025-06-01T00:00:00+00:00"
    assert [stage["name"] for stage in record["trace"]["stages"]] == [
        stage.name for stage in response.trace.stages
    ]


def test_json_is_the_dict(engine: oneiros.Engine) -> None:
    for options in ({}, {"explain": True}, {"profile": "omega"}, {"k": 0}):
        response = engine.search("ant", reinforce=False, **options)  # type: ignore[arg-type]
        assert json.loads(response.to_json()) == response.to_dict()
        assert json.loads(response.to_json(indent=2)) == response.to_dict()
        assert "\n" not in response.to_json()


def test_the_command_prints_the_same_shape(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path) as engine:
        engine.add("ant bee", id="a", created_at=NOW)
    arguments = ["search", "ant", "--store", str(path), "--json", "--no-reinforce"]
    arguments += ["--now", str(NOW + 5), "--profile", "bm25", "--explain"]
    printed = subprocess.run(
        [sys.executable, "-m", "oneiros", *arguments], capture_output=True, text=True, check=True
    )
    with oneiros.Engine(path) as engine:
        response = engine.search("ant", profile="bm25", now=NOW + 5, explain=True)
        expected = response.to_dict()
    found = json.loads(printed.stdout)
    for record in (found, expected):
        for stage in record["trace"]["stages"]:
            stage["duration_ms"] = 0
        record["trace"]["total_ms"] = 0
    envelope = {"command": "search", "store": str(path), "count": 1}
    assert found == expected | envelope


def test_an_arrow_table_has_every_field(engine: oneiros.Engine) -> None:
    response = engine.search("ant", reinforce=False)
    table = response.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.num_rows == 2
    assert set(table.column_names) == {
        *(name for name in FIELDS if name != "embedding"),
        *("rank", "score", "relevance_score", "retention_score", "channels"),
    }
    rows = table.to_pylist()
    assert [(row["id"], row["score"]) for row in rows] == list(
        zip(response.ids, response.scores, strict=True)
    )
    assert [dict(row["channels"]) for row in rows] == [result.channels for result in response]
    row = next(row for row in rows if row["id"] == "a")
    assert row["created_at"] == datetime(2025, 6, 1, tzinfo=UTC)
    assert row["tags"] == ["x", "y"]
    assert row["sessions"] == ["s"]
    assert json.loads(row["metadata"]) == {"n": 1, "nested": {"a": None}}
    assert row["event_at"] is None  # 64 bits of microseconds cannot hold it
    assert row["project"] is None
    for row, result in zip(rows, response, strict=True):
        for name in ("importance", "priority", "pinned", "kind", "status", "text", "ttl"):
            assert row[name] == getattr(result.memory, name)


def test_an_empty_table_has_the_same_columns(engine: oneiros.Engine) -> None:
    empty = engine.search("", profile="bm25").to_arrow()
    assert empty.num_rows == 0
    assert empty.schema == engine.search("ant", reinforce=False).to_arrow().schema


def test_a_memory_that_was_forgotten_since_is_null(engine: oneiros.Engine) -> None:
    response = engine.search("ant", reinforce=False)
    engine.forget("b")
    record = {one["id"]: one for one in response.to_dict()["results"]}
    assert record["b"]["memory"] is None
    assert record["a"]["memory"]["id"] == "a"
    row = next(row for row in response.to_arrow().to_pylist() if row["id"] == "b")
    assert row["text"] is None
    assert row["score"] > 0


def test_arrow_is_loaded_on_use_only() -> None:
    code = (
        "import sys, oneiros\n"
        "with oneiros.Engine(':memory:') as engine:\n"
        "    engine.add('ant'); engine.search('ant').to_json()\n"
        "print('pyarrow' in sys.modules, 'numpy' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"


# -- reprs -----------------------------------------------------------------------------------------


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield one of everything public, each as large as it gets."""
    with oneiros.Engine(":memory:", embedder=LetterCounts(), clock=lambda: NOW) as engine:
        records = [
            {"id": f"{n:03}" * 80, "text": f"ant {n} " * 500, "tags": ["t" * 90] * 50, "kind": "k" * 60}
            for n in range(200)
        ]  # fmt: skip
        yield "AddReport", engine.add_many(records, on_conflict="update")
        engine.add("ant", id="a", metadata={"key": "x" * 10_000})
        engine.add("bee", id="b", title="t" * 5_000)
        engine.link("a", "b")
        response = engine.search("ant " * 5_000, 100, explain=True, profile="omega")
        yield "SearchResponse", response
        yield "SearchResult", response[0]
        yield "SearchTrace", response.trace
        yield "Explanation", response[0].explanation
        yield "WhyNot", engine.why_not("ant " * 5_000, "a")
        yield "Memory", engine.get("a")
        yield "Memory", engine.get("b")
        yield "Page", engine.list()
        yield "Rescored", engine.rescore()
        yield "PromotionReport", engine.promote(threshold=0.0001)
        plan = engine.dream(dry_run=True, profile="reverie")
        yield "DreamPlan", plan
        with engine.keep_dreaming() as dreamer:
            yield "Dreamer", dreamer
        yield "Impact", plan.impact(["ant"])
        yield "DreamReport", plan.apply()
        yield "Drift", engine.drift()
        yield "Link", engine.neighbours("a")[0]
        yield "Similar", engine.similar("ant")[0]
        yield "Engine", engine
        yield "Scope", engine.scope(project="p" * 200)
        yield "stats", engine.stats()
    yield "Context", oneiros.Context(file="f" * 4_000, tags=["t" * 200] * 90, project="p" * 250)
    yield "DreamSchedule", oneiros.DreamSchedule()
    index = oneiros.LexicalIndex()
    yield "LexicalIndex", index
    for n in range(300):
        index.add(f"{n:03}" * 80, "ant")
    yield "Hits", index.search("ant", 300)
    yield "Hits", index.search("nothing")
    task = demo_task()
    yield "Task", task
    yield "Report", evaluate(lambda _: [], task.questions)
    for name in profiles.names():
        yield f"Profile {name}", profiles.get(name)


def test_every_repr_is_short() -> None:
    found = {name: repr(value) for name, value in public_objects()}
    most = {"stats": 700}  # a dict of Python's own with the settings of words and vectors
    lengths = {name: len(shown) for name, shown in found.items()}
    assert {name: n for name, n in lengths.items() if n > most.get(name, 500)} == {}
    assert {name for name, shown in found.items() if "\n" in shown} == set()
    assert {name for name, shown in found.items() if " object at 0x" in shown} == set()


def test_the_reprs_of_profiles_and_traces_name_their_parts(engine: oneiros.Engine) -> None:
    assert repr(profiles.get("bm25")) == "<Profile 'bm25': channels: lexical; fusion: weighted_sum>"
    assert "factors: time_decay, strength, depth, spread, stability; phases: scan" in repr(
        profiles.get("reverie")
    )
    assert repr(engine.search("ant", profile="bm25").trace).startswith("<SearchTrace: ")
    assert repr(oneiros.Context(tags=["x"])) == "Context(tags=('x',))"
    assert repr(engine.list(limit=1)) == f"[{engine.get('a')!r}]"


def test_an_awaited_response_is_a_record_too() -> None:
    async def record() -> dict[str, Any]:
        async with oneiros.AsyncEngine(":memory:") as engine:
            await engine.add("ant", id="a")
            return (await engine.search("ant")).to_dict()

    assert asyncio.run(record())["results"][0]["id"] == "a"
