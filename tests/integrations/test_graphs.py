"""The graph of memories in other libraries, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.integrations.graphs import add_links, to_networkx, to_rustworkx

networkx = pytest.importorskip("networkx")
rustworkx = pytest.importorskip("rustworkx")

NOW = 1_750_000_000.0
DAY = 86_400.0


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        for id in "abcd":
            engine.add(f"ant {id}", id=id, kind="fact", project="p" if id != "d" else "q")
        engine.link("b", "a", 0.9)
        engine.link("c", "d", 0.3, kind="relation")
        yield engine


def test_links_fade_and_stay_within_the_scope(mind: oneiros.Engine) -> None:
    mind.search("ant", k=2, where=oneiros.where(project="p"))  # a and b are found together
    told = mind.links(now=NOW + 90 * DAY)
    assert [(a, link.id, link.kind) for a, link in told] == [
        ("a", "b", "explicit"),
        ("c", "d", "relation"),
    ]
    assert told[0][1].weight == pytest.approx(1.0 / 2.718281828)  # 0.9 + 0.1, C13, C16
    assert told[0][1].co_retrieved_at == NOW
    assert told[1][1].weight == pytest.approx(0.3)
    assert [a for a, _ in mind.scope(project="p").links()] == ["a"]
    assert mind.links(oneiros.where(project="q")) == []
    mind.delete("b")
    assert [a for a, _ in mind.links()] == ["c"]


def test_many_links_are_made_or_none(mind: oneiros.Engine) -> None:
    assert mind.link_many([("a", "c"), ("c", "a", 0.25), ("b", "c", 1.0, "summary")]) == 2
    assert [(link.id, link.weight) for link in mind.neighbours("c")] == [
        ("b", 1.0),
        ("d", pytest.approx(0.3)),
        ("a", 0.25),
    ]
    before = mind.links()
    for wrong, error, match in (
        ([("a", "d"), ("a", "a")], ValueError, r"links\[1\]: b: must be another"),
        ([("a", "d"), ("a", "b", 0.0)], ValueError, r"links\[1\]: weight"),
        ([("a", "d"), ("a", "b", 0.5, "friend")], ValueError, r"links\[1\]: kind"),
        ([("a", "d"), ("a", "nobody")], oneiros.UnknownMemory, "nobody"),
        ([("a",)], TypeError, r"links\[0\]"),
        ("ab", TypeError, "links"),
        (7, TypeError, "links"),
    ):
        with pytest.raises(error, match=match):
            mind.link_many(wrong)  # type: ignore[arg-type]
    assert mind.links() == before
    assert mind.link_many([]) == 0


def edges(mind: oneiros.Engine) -> set[tuple[str, str, float, str]]:
    return {(a, link.id, link.weight, link.kind) for a, link in mind.links()}


@pytest.mark.parametrize("convert", [to_networkx, to_rustworkx])
def test_there_and_back(mind: oneiros.Engine, convert: Any) -> None:
    graph = convert(mind)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as other:
        other.add_many([{"id": id, "text": id} for id in "abcd"])
        assert add_links(other, graph) == 2
        assert edges(other) == edges(mind)


def test_graphml_holds_all_of_it(mind: oneiros.Engine, tmp_path: Path) -> None:
    mind.search("ant", k=2)
    graph = to_networkx(mind)
    assert graph.nodes["a"] == {"kind": "fact", "created_at": NOW}
    assert graph.number_of_nodes() == 4
    networkx.write_graphml(graph, tmp_path / "links.graphml")
    read = networkx.read_graphml(tmp_path / "links.graphml")
    assert dict(read.nodes(data=True)) == dict(graph.nodes(data=True))
    assert list(read.edges(data=True)) == list(graph.edges(data=True))
    assert add_links(mind, read) == graph.number_of_edges()


def test_a_part_of_the_memories(mind: oneiros.Engine) -> None:
    graph = to_rustworkx(mind, where=oneiros.where(project="p"))
    assert [node["id"] for node in graph.nodes()] == ["a", "b", "c"]
    assert len(graph.edges()) == 1


def test_what_is_no_graph_or_engine_is_refused(mind: oneiros.Engine) -> None:
    with pytest.raises(TypeError, match="graph: expected one of networkx or rustworkx"):
        add_links(mind, {"a": "b"})
    with pytest.raises(TypeError, match="mind: "):
        to_networkx("mind")
    graph = networkx.Graph([("a", "nobody")])
    with pytest.raises(oneiros.UnknownMemory, match="nobody"):
        add_links(mind, graph)
    assert add_links(mind, networkx.Graph([("a", "d")])) == 1
    assert mind.neighbours("a")[-1].weight == 0.5


def test_edges_of_rustworkx_are_weights_dicts_or_none() -> None:
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(["a", "b", {"id": "c"}, "d"])
    payloads = (0.75, {"weight": 0.25}, None)
    graph.add_edges_from([(place, place + 1, payload) for place, payload in enumerate(payloads)])
    with oneiros.Engine(":memory:", clock=lambda: NOW) as other:
        other.add_many([{"id": id, "text": id} for id in "abcd"])
        assert add_links(other, graph) == 3
        assert [weight for _, _, weight, _ in sorted(edges(other))] == [0.75, 0.25, 0.5]
        graph.add_edge(0, 2, "strong")
        with pytest.raises(TypeError, match="graph: edges must be dicts of attributes, weights or"):
            add_links(other, graph)
