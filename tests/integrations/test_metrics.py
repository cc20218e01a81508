"""Metrics of OpenTelemetry: latencies, candidates, cycles, and figures of stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.integrations.metrics import Metrics
from oneiros.integrations.tracing import Spans

NOW = 1_750_000_000.0
WHY = "needs opentelemetry-sdk: pip install 'oneiros[test]'"

Points = dict[tuple[str, tuple[tuple[str, Any], ...]], Any]


@pytest.fixture
def measured() -> Iterator[Any]:
    """A meter, and a function that returns what it measured, by name and attributes."""
    sdk = pytest.importorskip("opentelemetry.sdk.metrics", reason=WHY)
    export = pytest.importorskip("opentelemetry.sdk.metrics.export", reason=WHY)
    reader = export.InMemoryMetricReader()
    provider = sdk.MeterProvider(metric_readers=[reader])

    def points() -> Points:
        data = reader.get_metrics_data()
        return {
            (metric.name, tuple(sorted(point.attributes.items()))): point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        }

    yield provider.get_meter("test"), points
    provider.shutdown()


def durations(points: Points) -> dict[tuple[str, str, str | None], int]:
    """Return the number of calls by operation, method and error."""
    found = {}
    for (name, pairs), point in points.items():
        if name == "gen_ai.client.operation.duration":
            attributes = dict(pairs)
            key = attributes["gen_ai.operation.name"], attributes["oneiros.method"]
            found[*key, attributes.get("error.type")] = point.count
            assert 0 < point.min <= point.max < 60
            assert point.sum >= point.max
    return found


def test_each_call_has_a_duration(measured: Any) -> None:
    meter, points = measured
    with oneiros.Engine(":memory:", watch=Metrics(meter)) as mind:
        mind.add("ant", id="a")
        mind.add("ant", id="a", on_conflict="update")
        mind.add("bee", id="b")
        mind.search("ant")
        mind.search_many(["ant", "bee"])
        mind.forget("a")
        with pytest.raises(oneiros.UnknownMemory):
            mind.update("a", text="ant")
        with pytest.raises(ValueError, match="k: "):
            mind.search("ant", k=-1)
    assert durations(points()) == {
        ("create_memory_store", "open", None): 1,
        ("create_memory", "add", None): 2,
        ("upsert_memory", "add", None): 1,
        ("search_memory", "search", None): 1,
        ("search_memory", "search_many", None): 1,
        ("delete_memory", "forget", None): 1,
        ("update_memory", "update", "UnknownMemory"): 1,
        ("search_memory", "search", "ValueError"): 1,
    }


@pytest.mark.parametrize("profile", ["oneiros", "bm25", "omega"])
def test_candidates_and_results_are_counted(measured: Any, profile: str) -> None:
    meter, points = measured
    with oneiros.Engine(":memory:", watch=Metrics(meter), profile=profile) as mind:
        mind.add_many([{"text": f"ant {number}"} for number in range(30)])
        mind.search("ant", 10)
        mind.search_many(["ant", "nothing of it"], 4)
    attributes = (("oneiros.profile", profile),)
    found = points()
    results = found["oneiros.search.results", attributes]
    candidates = found["oneiros.search.candidates", attributes]
    assert (results.count, results.min, results.max, results.sum) == (3, 0, 10, 14)
    assert (candidates.count, candidates.min, candidates.max) == (3, 0, 30)


def test_a_candidate_of_two_channels_is_counted_once(measured: Any) -> None:
    meter, points = measured
    with oneiros.Engine(":memory:", watch=Metrics(meter), embedder="hashing") as mind:
        mind.add_many([{"text": f"ant {number}"} for number in range(5)])
        assert [set(one.channels) for one in mind.search("ant")] == [{"lexical", "vector"}] * 5
    attributes = (("oneiros.profile", "oneiros"),)
    assert points()["oneiros.search.candidates", attributes].sum == 5


def test_cycles_are_counted_once_they_are_applied(measured: Any) -> None:
    meter, points = measured
    with oneiros.Engine(
        ":memory:", watch=Metrics(meter), clock=lambda: NOW, profile="reverie"
    ) as mind:
        mind.add("stale", id="s", now="2020-01-01T00:00:00Z")
        mind.add("fresh", id="f")
        plan = mind.dream(dry_run=True)
        dreams = [name for name, _ in points() if name.startswith("oneiros.dream")]
        assert dreams == []
        report = plan.apply()
        undone = mind.undo_dream(report.id)
    found = points()

    def counted(name: str, method: str) -> int:
        pairs = (("oneiros.method", method), ("oneiros.profile", "reverie"))
        value: int = found[f"oneiros.dream.{name}", pairs].value
        return value

    assert counted("cycles", "apply") == counted("cycles", "undo_dream") == 1
    assert counted("changes", "apply") == report.change_count > 0
    assert counted("changes", "undo_dream") == undone.change_count
    assert found["oneiros.dream.removed", (("oneiros.removal", "deleted"),)].value == 1
    assert durations(found)["oneiros.dream", "dream", None] == 1


def test_gauges_are_those_of_the_store(measured: Any, tmp_path: Path) -> None:
    meter, points = measured
    metrics = Metrics(meter)
    engine = oneiros.Engine(tmp_path / "store.db", watch=metrics)
    other = oneiros.Engine(":memory:")
    metrics.observe(engine, store_id="team")
    metrics.observe(other, store_id="other")
    engine.add_many([{"id": id, "text": id} for id in ("ant", "bee", "cat")])
    engine.link("ant", "bee")
    engine.delete("cat")
    engine.search("ant")
    attributes = (("gen_ai.memory.store.id", "team"),)
    found = {name: point.value for (name, pairs), point in points().items() if pairs == attributes}
    stats = engine.stats()
    resident = found.pop("oneiros.lexical.resident")
    assert resident == stats["lexical"]["resident_bytes"] > 0
    assert found.pop("oneiros.store.file") >= (tmp_path / "store.db").stat().st_size > 0
    assert found.pop("oneiros.waiting.uses") in (0, 1, 2)  # written behind
    assert found == {
        "oneiros.store.memories": 2,
        "oneiros.store.deleted": 1,
        "oneiros.store.damaged": 0,
        "oneiros.store.vectors": 0,
        "oneiros.store.without_vector": 2,
        "oneiros.store.links": 1,
        "oneiros.waiting.writes": 0,
    }
    assert points()["oneiros.store.memories", (("gen_ai.memory.store.id", "other"),)].value == 0
    engine.close()
    other.close()


def test_a_closed_engine_has_no_gauges_and_fails_no_collection(measured: Any) -> None:
    meter, points = measured
    metrics = Metrics(meter)
    engine = oneiros.Engine(":memory:")
    metrics.observe(engine)
    engine.close()
    assert [name for name, _ in points() if name.startswith("oneiros.store")] == []
    del engine
    assert [name for name, _ in points() if name.startswith("oneiros.store")] == []


def test_the_size_of_a_store_is_that_of_its_files(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "store.db") as mind:
        mind.add("ant " * 10_000)
        sizes = [(tmp_path / name).stat().st_size for name in ("store.db", "store.db-wal")]
        assert mind.stats()["file_bytes"] == sum(sizes) > 40_000
    with oneiros.Engine(":memory:") as mind:
        assert mind.stats()["file_bytes"] == 0


def test_use_that_waits_is_counted() -> None:
    with oneiros.Engine(":memory:") as mind:
        mind.add("ant", id="a")
        assert mind.stats()["waiting"] == {"writes": 0, "uses": 0}
        mind.flush()
        mind.search("ant")
        assert mind.stats()["waiting"]["uses"] in (0, 1)  # written behind, at any moment
        mind.flush()
        assert mind.stats()["waiting"] == {"writes": 0, "uses": 0}


def test_spans_and_metrics_go_together(measured: Any) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason=WHY)
    memory = pytest.importorskip(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter", reason=WHY
    )
    export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=WHY)
    meter, points = measured
    exporter = memory.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    watch = [Spans(provider.get_tracer("test")), Metrics(meter)]
    with oneiros.Engine(":memory:", watch=watch) as mind:
        mind.add("ant")
        mind.search("ant")
    spans = [
        span.name for span in exporter.get_finished_spans() if "oneiros.method" in span.attributes
    ]
    assert spans == ["create_memory_store", "create_memory", "search_memory"]
    assert set(durations(points())) == {
        ("create_memory_store", "open", None),
        ("create_memory", "add", None),
        ("search_memory", "search", None),
    }
    provider.shutdown()


def test_wrong_arguments_are_refused(measured: Any) -> None:
    meter, _ = measured
    with pytest.raises(TypeError, match="engine: "):
        Metrics(meter).observe("store.db")  # type: ignore[arg-type]
    with (
        oneiros.Engine(":memory:") as mind,
        pytest.raises(TypeError, match="store_id"),
    ):
        Metrics(meter).observe(mind, store_id=1)  # type: ignore[arg-type]
