"""Memory operations as spans of OpenTelemetry: what they hold, how they hang together, and when there are none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.integrations.tracing import Spans
from oneiros.search.trace import SearchTrace, StageTrace
from tests.search import responses

NOW = 1_750_000_000.0
WHY = "needs opentelemetry-sdk: pip install 'oneiros[test]'"


@pytest.fixture
def spans() -> Iterator[tuple[Any, Any]]:
    """A tracer, and what it made, in order of the ends."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason=WHY)
    export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=WHY)
    memory = pytest.importorskip(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter", reason=WHY
    )
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    yield provider.get_tracer("test"), exporter
    provider.shutdown()


def test_a_search_is_a_span_with_its_stages_below(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans

    class Traced:
        name = "traced"

        def __call__(self, texts: list[str]) -> Any:
            with tracer.start_as_current_span("embed"):
                return np.ones((len(texts), 2), np.float32)

    with oneiros.Engine(":memory:", embedder=Traced(), watch=Spans(tracer)) as mind:
        mind.add("ant", project="p")
        exporter.clear()
        response = mind.scope(project="p").search("ant")
    made = exporter.get_finished_spans()
    (whole,) = [span for span in made if span.name == "search_memory"]
    assert dict(whole.attributes) == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.record.count": 1,
        "oneiros.method": "search",
        "oneiros.profile": "oneiros",
        "oneiros.profile_hash": response.profile_hash,
        "oneiros.abstained": False,
    }
    assert whole.kind.name == "INTERNAL"
    below = [span for span in made if span is not whole]
    assert all(span.parent.span_id == whole.context.span_id for span in below)
    assert [span.name for span in below] == [
        "embed",
        *(f"oneiros.{stage.name}" for stage in response.trace.stages),
    ]
    at = whole.start_time
    for span, stage in zip(below[1:], response.trace.stages, strict=True):
        assert at <= span.start_time <= span.end_time <= whole.end_time
        assert span.attributes["oneiros.candidates"] == stage.candidate_count
        assert span.attributes["oneiros.survivors"] == stage.survivor_count
        assert span.attributes.get("oneiros.note", "") == stage.note
        at = span.end_time


def test_tokens_are_told_as_others_tell_them(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    stages = (StageTrace("rerank", 9, 9, 1e9, 120, 7), StageTrace("last", 9, 9, 0.0))
    response = responses.response("q", now=NOW, trace=SearchTrace(stages, 1e9))
    with Spans(tracer, with_query=True).searching("search") as tell:
        tell([response])
    rerank, last, whole = exporter.get_finished_spans()
    assert rerank.attributes["gen_ai.usage.input_tokens"] == 120
    assert rerank.attributes["gen_ai.usage.output_tokens"] == 7
    assert "gen_ai.usage.input_tokens" not in last.attributes
    assert whole.attributes["gen_ai.memory.query.text"] == "q"
    assert whole.start_time <= rerank.start_time  # whatever a trace says of its length


def test_many_searches_are_one_span_each_below_one(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    with oneiros.Engine(":memory:", watch=Spans(tracer)) as mind:
        mind.add("ant")
        exporter.clear()
        responses = mind.search_many(["ant", "bee"])
    made = exporter.get_finished_spans()
    found = [span for span in made if span.name == "search_memory"]
    (whole,) = [span for span in found if span.attributes["oneiros.method"] == "search_many"]
    each = [span for span in found if span is not whole]
    assert whole.attributes["oneiros.queries"] == 2
    assert whole.attributes["gen_ai.memory.record.count"] == 1
    assert [span.attributes["gen_ai.memory.record.count"] for span in each] == [1, 0]
    assert {span.parent.span_id for span in each} == {whole.context.span_id}
    stages = [span for span in made if span not in (whole, *each)]
    assert len(stages) == sum(len(response.trace.stages) for response in responses)
    assert {span.parent.span_id for span in stages} == {span.context.span_id for span in each}


def test_a_search_that_fails_says_so(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    with oneiros.Engine(":memory:", watch=Spans(tracer)) as mind:
        exporter.clear()
        with pytest.raises(ValueError, match="k: "):
            mind.search("ant", k=-1)
        with pytest.raises(oneiros.UnknownMemory):
            mind.feedback("ant", "helpful")
    for span, error in zip(
        exporter.get_finished_spans(), ("ValueError", "UnknownMemory"), strict=True
    ):
        assert not span.status.is_ok
        assert span.attributes["error.type"] == error
        assert [event.name for event in span.events] == ["exception"]


def test_it_hangs_below_the_callers_span_on_asyncio_too(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans

    async def asked() -> None:
        async with oneiros.AsyncEngine(":memory:", watch=Spans(tracer)) as mind:
            with tracer.start_as_current_span("request"):
                await mind.search("ant")

    asyncio.run(asked())
    made = {span.name: span for span in exporter.get_finished_spans()}
    assert made["search_memory"].parent.span_id == made["request"].context.span_id


@pytest.mark.parametrize("watch", ["spans", Spans, print, False])
def test_what_is_no_watch_is_refused(watch: Any) -> None:
    with pytest.raises(TypeError, match="watch: expected an object with searching"):
        oneiros.Engine(":memory:", watch=watch)


def test_what_is_no_flag_is_refused() -> None:
    pytest.importorskip("opentelemetry.trace", reason=WHY)
    for option in ("with_query", "with_records", "store_id"):
        with pytest.raises(TypeError, match=option):
            Spans(**{option: 1})


def described(spans: tuple[Any, Any]) -> list[tuple[str, str, int | None, str | None]]:
    """Return operation, method, count and id of the finished spans, and forget them."""
    _, exporter = spans
    made = [span for span in exporter.get_finished_spans() if "oneiros.method" in span.attributes]
    exporter.clear()
    for span in made:
        assert span.attributes["gen_ai.operation.name"] == span.name
        assert span.attributes["gen_ai.memory.store.id"] == "team"
        assert span.kind.name == "INTERNAL"
        assert span.start_time <= span.end_time
    return [
        (
            span.name,
            span.attributes["oneiros.method"],
            span.attributes.get("gen_ai.memory.record.count"),
            span.attributes.get("gen_ai.memory.record.id"),
        )
        for span in made
    ]


def test_every_operation_is_a_span(spans: tuple[Any, Any]) -> None:
    tracer, _ = spans
    watch = Spans(tracer, store_id="team")
    with oneiros.Engine(":memory:", watch=watch, clock=lambda: NOW, profile="reverie") as mind:
        assert described(spans) == [("create_memory_store", "open", None, None)]
        mind.add("stale", id="s", now="2020-01-01T00:00:00Z")
        mind.add("ant", id="a")
        mind.add("ant", id="a", on_conflict="update")
        mind.scope(user="ada").add_many([{"id": "b", "text": "b"}, {"id": "c", "text": "c"}])
        mind.update("b", importance=0.9)
        mind.feedback("b", "helpful")
        mind.supersede("c", "b")
        mind.link("b", "c")
        mind.delete("c")
        mind.restore("c")
        mind.forget_many(["c"])
        mind.sweep_expired()
        assert described(spans) == [
            ("create_memory", "add", 1, "s"),
            ("create_memory", "add", 1, "a"),
            ("upsert_memory", "add", 1, "a"),
            ("create_memory", "add_many", 2, None),
            ("update_memory", "update", 1, "b"),
            ("update_memory", "feedback", 1, "b"),
            ("update_memory", "supersede", 1, "c"),
            ("update_memory", "link", 2, None),
            ("delete_memory", "delete", 1, "c"),
            ("update_memory", "restore", 1, "c"),
            ("delete_memory", "forget_many", 1, "c"),
            ("delete_memory", "sweep_expired", 0, None),
        ]
        plan = mind.dream(dry_run=True)
        report = plan.apply()
        mind.undo_dream(report.id)
        _, exporter = spans
        dry, applied, undone = [
            dict(span.attributes)
            for span in exporter.get_finished_spans()
            if "oneiros.method" in span.attributes
        ]
        assert (dry["oneiros.dream.dry_run"], applied["oneiros.dream.dry_run"]) == (True, False)
        for attributes in (dry, applied):
            assert attributes["oneiros.dream.id"] == report.id
            assert attributes["oneiros.dream.changes"] == report.change_count > 0
            assert attributes["oneiros.dream.removed"] == report.taken_away == 1
            assert attributes["oneiros.profile"] == "reverie"
        assert undone["oneiros.dream.changes"] > 0
        assert [name for name, *_ in described(spans)] == [
            "oneiros.dream",
            "oneiros.dream",
            "oneiros.undo_dream",
        ]


def test_content_is_recorded_only_if_it_is_wanted(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    for options in ({}, {"with_query": True}, {"with_records": True}):
        with oneiros.Engine(":memory:", watch=Spans(tracer, **options)) as mind:
            mind.add("a secret ant", id="a", tags=["private"], title="hidden")
            mind.update("a", text="a secret bee")
            response = mind.search("which secret")
            mind.forget("a")
        made = exporter.get_finished_spans()
        exporter.clear()
        (search,) = [span for span in made if span.name == "search_memory"]
        query = search.attributes.get("gen_ai.memory.query.text")
        records = search.attributes.get("gen_ai.memory.records")
        assert query == ("which secret" if "with_query" in options else None)
        if "with_records" in options:
            assert json.loads(records) == [
                {"id": "a", "content": "a secret bee", "score": response.scores[0]}
            ]
        else:
            assert records is None
        shown = json.dumps([dict(span.attributes) for span in made])
        assert ("secret" in shown) == bool(options)
        assert not {"private", "hidden"} & set(shown.split('"'))


def test_an_embedder_s_spans_are_children_of_the_addition(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans

    class Traced:
        name = "traced"

        def __call__(self, texts: list[str]) -> Any:
            with tracer.start_as_current_span("embed"):
                return np.ones((len(texts), 2), np.float32)

    with oneiros.Engine(":memory:", embedder=Traced(), watch=Spans(tracer)) as mind:
        mind.add("ant")
        mind.reembed(Traced())
    made = {span.name: span for span in exporter.get_finished_spans()}
    assert made["oneiros.embed"].attributes["oneiros.method"] == "reembed"
    parents = {
        span.parent.span_id for span in exporter.get_finished_spans() if span.name == "embed"
    }
    assert made["create_memory"].context.span_id in parents
    assert made["oneiros.embed"].context.span_id in parents


def test_a_store_that_cannot_be_opened_is_an_error(spans: tuple[Any, Any], tmp_path: Any) -> None:
    tracer, exporter = spans
    (tmp_path / "no.db").write_bytes(b"no store" * 1_000)
    with pytest.raises(oneiros.StoreCorrupt):
        oneiros.Engine(tmp_path / "no.db", watch=Spans(tracer))
    (span,) = exporter.get_finished_spans()
    assert (span.name, span.attributes["error.type"]) == ("create_memory_store", "StoreCorrupt")
