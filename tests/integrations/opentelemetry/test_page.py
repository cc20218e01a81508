"""The page docs/integrations/opentelemetry.md and Prometheus: nothing is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

import oneiros
from oneiros.engine.memories import Memories

PAGE = Path(__file__).parents[3] / "docs/integrations/opentelemetry.md"
WHY = "needs opentelemetry-exporter-prometheus"


def test_the_page_names_every_method_that_writes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    watched = {
        name
        for cls in (Memories, oneiros.Engine)
        for name, member in vars(cls).items()
        if hasattr(getattr(member, "_plain", member), "__wrapped__")
        and not name.startswith("_")
        and callable(member)
    }
    assert {"add", "forget", "undo_dream", "reembed", "supersede"} <= watched
    for name in watched - {"search", "search_many", "why_not"}:
        assert f"`{name}`" in page, name


def test_prometheus_reads_every_instrument() -> None:
    metrics = pytest.importorskip("opentelemetry.sdk.metrics", reason="needs opentelemetry-sdk")
    exporter = pytest.importorskip("opentelemetry.exporter.prometheus", reason=WHY)
    client = pytest.importorskip("prometheus_client", reason=WHY)
    from oneiros.integrations.metrics import Metrics  # noqa: PLC0415

    provider = metrics.MeterProvider(metric_readers=[exporter.PrometheusMetricReader()])
    measuring = Metrics(provider.get_meter("test"))
    with oneiros.Engine(":memory:", watch=measuring, profile="reverie") as engine:
        measuring.observe(engine)
        engine.add("stale", now="2020-01-01T00:00:00Z")
        engine.search("stale", reinforce=False)
        engine.dream()
        text = client.generate_latest().decode()
    provider.shutdown()
    for instrument in (
        "gen_ai_client_operation_duration_seconds_bucket",
        "oneiros_search_candidates_sum",
        "oneiros_search_results_count",
        "oneiros_dream_cycles_total",
        "oneiros_dream_changes_total",
        "oneiros_dream_removed_total",
        "oneiros_store_memories",
        "oneiros_lexical_resident_bytes",
        "oneiros_waiting_uses",
    ):
        assert f"\n{instrument}{{" in text, instrument
