"""Searches as spans of OpenTelemetry: what they hold, how they hang together, and when there are none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
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


def test_it_is_imported_only_by_who_asks_for_it() -> None:
    script = """
import sys
import oneiros
with oneiros.Engine(":memory:") as mind:
    mind.add("ant")
    mind.search("ant")
    mind.search_many(["ant"])
import oneiros.integrations.tracing
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocker:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "opentelemetry":
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)

    for name in [one for one in sys.modules if one.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Blocker, *sys.meta_path])
    with pytest.raises(ImportError, match=r"pip install 'oneiros\[tracing\]'"):
        Spans()


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
    (whole,) = [span for span in made if span.name == "oneiros.search"]
    assert dict(whole.attributes) == {
        "oneiros.profile": "oneiros",
        "oneiros.profile_hash": response.profile_hash,
        "oneiros.results": 1,
        "oneiros.abstained": False,
    }
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
    assert whole.attributes["oneiros.search.query"] == "q"
    assert whole.start_time <= rerank.start_time  # whatever a trace says of its length


def test_many_searches_are_one_span_each_below_one(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    with oneiros.Engine(":memory:", watch=Spans(tracer)) as mind:
        mind.add("ant")
        responses = mind.search_many(["ant", "bee"])
    made = exporter.get_finished_spans()
    (whole,) = [span for span in made if span.name == "oneiros.search_many"]
    each = [span for span in made if span.name == "oneiros.search"]
    assert [span.attributes["oneiros.results"] for span in each] == [1, 0]
    assert {span.parent.span_id for span in each} == {whole.context.span_id}
    stages = [span for span in made if span not in (whole, *each)]
    assert len(stages) == sum(len(response.trace.stages) for response in responses)
    assert {span.parent.span_id for span in stages} == {span.context.span_id for span in each}


def test_a_search_that_fails_says_so(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans
    mind = oneiros.Engine(":memory:", watch=Spans(tracer))
    with pytest.raises(ValueError, match="k: "):
        mind.search("ant", k=-1)
    mind.close()
    (span,) = exporter.get_finished_spans()
    assert not span.status.is_ok
    assert [event.name for event in span.events] == ["exception"]


def test_it_hangs_below_the_callers_span_on_asyncio_too(spans: tuple[Any, Any]) -> None:
    tracer, exporter = spans

    async def asked() -> None:
        async with oneiros.AsyncEngine(":memory:", watch=Spans(tracer)) as mind:
            with tracer.start_as_current_span("request"):
                await mind.search("ant")

    asyncio.run(asked())
    made = {span.name: span for span in exporter.get_finished_spans()}
    assert made["oneiros.search"].parent.span_id == made["request"].context.span_id


@pytest.mark.parametrize("watch", ["spans", Spans, print, False])
def test_what_is_no_watch_is_refused(watch: Any) -> None:
    with pytest.raises(TypeError, match="watch: expected an object with searching"):
        oneiros.Engine(":memory:", watch=watch)


def test_what_is_no_flag_is_refused() -> None:
    pytest.importorskip("opentelemetry.trace", reason=WHY)
    with pytest.raises(TypeError, match="with_query"):
        Spans(with_query="yes")  # type: ignore[arg-type]
