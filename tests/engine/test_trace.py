"""The trace as people read it: one row a stage, all that it says, and nothing that is obeyed."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.scoring.channels import VectorChannel
from oneiros.scoring.profile import Profile
from oneiros.search.trace import Duplicate, SearchTrace, StageTrace
from oneiros.vector_index import Walked
from tests.vector_index.vectors import clustered

TRACE = SearchTrace(
    stages=(
        StageTrace("bm25_search", 1_000, 12, 0.5),
        StageTrace("rerank", 12, 12, 250.0, 900, 24, "2 of 12 have no finite score"),
    ),
    total_ms=250.5,
    notes=("a\x1b[2J note",),
    duplicates=(Duplicate("b", "a"),),
)


def test_a_trace_is_printed_as_a_table_with_its_tokens() -> None:
    assert str(TRACE).splitlines() == [
        "stage          in  out       ms  prompt tokens  completion tokens  note",
        "bm25_search  1000   12  0.50000              0                  0",
        f"rerank         12   12   250.00            900                 24  {TRACE.stages[1].note}",
        "total           -    -   250.50            900                 24",
        "a␛[2J note",
        "left out: b is like a",
    ]
    assert TRACE.total_tokens == 924
    html = TRACE._repr_html_()
    assert html.count("<tr>") == 4
    assert html.endswith("<p>a␛[2J note</p><p>left out: b is like a</p>")
    assert str(replace(TRACE, stages=(), notes=(), duplicates=())).splitlines()[1].split() == [
        *("total", "-", "-", "250.50", "0", "0")
    ]


def test_a_search_of_every_profile_prints_each_of_its_stages() -> None:
    with oneiros.Engine(":memory:") as mind:
        mind.add("ant")
        for profile in oneiros.profiles.names():
            trace = mind.search("ant", profile=profile).trace
            shown = str(trace).splitlines()
            assert [line.split()[0] for line in shown[1 : len(trace.stages) + 1]] == [
                stage.name for stage in trace.stages
            ]
            assert shown[len(trace.stages) + 1].startswith("total")


def test_the_walk_of_a_graph_is_time_of_the_vector_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(7).standard_normal((100, 8)).astype(np.float32)
    with oneiros.Engine(":memory:") as engine:
        engine.add_many([{"text": f"t{n}", "embedding": v} for n, v in enumerate(vectors)])
        index = engine._scope.services.read_model.indexes.vectors
        assert index is not None

        def walk(*arguments: Any) -> Walked:
            time.sleep(0.05)
            return Walked(index.search(*arguments), 200)

        monkeypatch.setattr(index, "walk", walk)
        trace = engine.search("t1", embedding=vectors[1]).trace
        times = {stage.name: stage.duration_ms for stage in trace.stages}
        assert 50 <= times["vector_search"] <= trace.total_ms
        assert times["bm25_search"] < times["vector_search"]


def note_of_vectors(response: oneiros.SearchResponse) -> str:
    return {stage.name: stage.note for stage in response.trace.stages}["vector_search"]


def test_the_trace_says_which_vectors_were_searched_approximately() -> None:
    vectors = clustered(14_000, 256, 3)
    nearest = Profile(name="nearest", channels=(VectorChannel(depth=10),))
    with oneiros.Engine(":memory:", profile=nearest, vector_index="hnsw") as engine:
        engine.add_many(
            [
                {"text": f"t{n}", "embedding": v, "project": "few" if n % 100 == 0 else "many"}
                for n, v in enumerate(vectors)
            ]
        )
        index = engine._scope.services.read_model.indexes.vectors
        assert index is not None
        assert index.settle(120)
        assert index.has_graph
        one = engine.search("t1", embedding=vectors[1], reinforce=False)
        many = engine.search_many(["t1", "t2"], embeddings=vectors[1:3], reinforce=False)
        recall = engine.stats()["vector_search"]["top_10"]["recall"]
        said = re.fullmatch(
            r"approximate: HNSW, breadth (\d+), measured recall ([.\d]+)", note_of_vectors(one)
        )
        assert said is not None
        assert 96 <= int(said[1]) < 200  # wider where some vectors left the graph
        assert int(said[1]) == engine.stats()["vector_search"]["top_10"]["breadth"]
        assert float(said[2]) == recall >= 0.98
        assert list(map(note_of_vectors, many)) == [note_of_vectors(one)] * 2
        few = engine.scope(project="few").search("t1", embedding=vectors[1], reinforce=False)
        assert note_of_vectors(few) == ""  # all of so few are compared


def test_stats_say_how_vectors_are_searched() -> None:
    with oneiros.Engine(":memory:", vector_index="hnsw", vector_recall=0.9) as engine:
        engine.add("no vector")
        assert engine.stats()["vector_search"] is None
        vectors = clustered(100, 8, 3)
        engine.add_many([{"text": f"t{n}", "embedding": v} for n, v in enumerate(vectors)])
        exact = {"method": "exact", "target_recall": 0.9}
        assert engine.stats()["vector_search"] == exact
        vectors = clustered(1_000, 8, 4)
        engine.add_many([{"text": f"u{n}", "embedding": v} for n, v in enumerate(vectors)])
        index = engine._scope.services.read_model.indexes.vectors
        assert index is not None
        assert index.settle(120)
        found = engine.stats()["vector_search"]
        assert (found["method"], found["target_recall"], found["bits"]) == ("hnsw", 0.9, 16)
        assert found["top_10"]["recall"] > 0.9
        assert found["top_10"]["breadth"] == found["top_100"]["breadth"] == 0  # a scan is faster


@pytest.mark.parametrize("recall", [0, 1.5, float("nan")])
def test_a_share_of_vectors_outside_its_range_is_refused(recall: float) -> None:
    with pytest.raises(ValueError, match="vector_recall: must"):
        oneiros.Engine(":memory:", vector_recall=recall)
