"""Export of memories and links to networkx and rustworkx, and import of links from them.

Both libraries are optional: ``pip install 'oneiros[graphs]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any

from oneiros._lazy import needed
from oneiros.engine.memories import Memories
from oneiros.integrations.opening import all_memories
from oneiros.model.validation import require_instance, require_utf8, shown
from oneiros.runtime.dataclasses import asdict

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.filters import Where
    from oneiros.graph import Link

__all__ = ["add_links", "to_networkx", "to_rustworkx"]

_EXTRA = "graphs"


def to_networkx(mind: Memories, *, where: Where | None = None, now: Time | None = None) -> Any:
    """Return memories and the links between them as a ``networkx.Graph``.

    Nodes are ids, with ``kind`` and ``created_at`` (seconds UTC). Edges have ``weight`` (decayed to
    ``now``), ``kind``, ``created_at`` and, if both were retrieved together, ``co_retrieved_at``.
    ``networkx.write_graphml`` accepts the result.

    Args:
        mind: an engine, or a scope of one.
        where: the memories to export; default: all.
        now: time for the decay of weights, as in ``mind.add``.

    Raises:
        ImportError: networkx is not installed.
        TypeError, ValueError: an invalid argument.
    """
    _require_mind(mind)
    graph = needed("networkx", _EXTRA).Graph()
    graph.add_nodes_from(_nodes(mind, where))
    graph.add_edges_from((a, link.id, _edge(link)) for a, link in mind.links(where, now=now))
    return graph


def to_rustworkx(mind: Memories, *, where: Where | None = None, now: Time | None = None) -> Any:
    """Return memories and the links between them as a ``rustworkx.PyGraph``.

    The payload of a node is ``{"id": ..., "kind": ..., "created_at": ...}``; that of an edge is a
    dict of the attributes in :func:`to_networkx`.

    Args:
        mind: an engine, or a scope of one.
        where: the memories to export; default: all.
        now: time for the decay of weights, as in ``mind.add``.

    Raises:
        ImportError: rustworkx is not installed.
        TypeError, ValueError: an invalid argument.
    """
    _require_mind(mind)
    graph = needed("rustworkx", _EXTRA).PyGraph(multigraph=False)
    nodes = dict(_nodes(mind, where))
    numbers = graph.add_nodes_from([{"id": id, **fields} for id, fields in nodes.items()])
    number_of = dict(zip(nodes, numbers, strict=True))
    edges = [
        (number_of[a], number_of[link.id], _edge(link)) for a, link in mind.links(where, now=now)
    ]
    graph.add_edges_from(edges)
    return graph


def add_links(mind: Memories, graph: Any, *, weight: str = "weight", kind: str = "kind") -> int:
    """Link memories by the edges of a graph, in one transaction.

    Args:
        mind: an engine, or a scope of one, that contains the memories.
        graph: a networkx graph whose nodes are ids, or a rustworkx graph whose nodes are ids or
            mappings with ``"id"``, and whose edges are dicts of attributes, weights or None.
            Self-loops are refused; of parallel edges the last counts.
        weight: attribute with an edge's weight, in (0, 1]; 0.5 if an edge has none.
        kind: attribute with an edge's kind; "explicit" if an edge has none.

    Returns:
        The number of links created or replaced.

    Raises:
        UnknownMemory: no live memory has the id.
        TypeError, ValueError: not a graph of these libraries, or an invalid edge.
    """
    _require_mind(mind)
    require_utf8("weight", weight)
    require_utf8("kind", kind)
    edges = (
        (a, b, attributes.get(weight, 0.5), attributes.get(kind, "explicit"))
        for a, b, attributes in _edges(graph, weight)
    )
    return mind.link_many(edges)


def _require_mind(mind: object) -> None:
    require_instance("mind", mind, (Memories,), "an Engine or a scope of one")


def _nodes(mind: Memories, where: Where | None) -> Iterator[tuple[str, dict[str, Any]]]:
    for memory in all_memories(mind, where):
        yield memory.id, {"kind": memory.kind, "created_at": memory.created_at}


def _edge(link: Link) -> dict[str, Any]:
    """Return an edge's attributes, without None values, which GraphML cannot represent."""
    attributes = {name: value for name, value in asdict(link).items() if value is not None}
    del attributes["id"]
    return attributes


def _edges(graph: Any, weight: str) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    library = type(graph).__module__.partition(".")[0]
    if library == "networkx":
        yield from graph.edges(data=True)
    elif library == "rustworkx":
        ids = dict(zip(graph.node_indices(), map(_id_of, graph.nodes()), strict=True))
        for a, b, payload in graph.weighted_edge_list():
            yield ids[a], ids[b], _attributes(payload, weight)
    else:
        msg = f"graph: expected one of networkx or rustworkx, got {type(graph).__name__}"
        raise TypeError(msg)


def _attributes(payload: object, weight: str) -> dict[str, Any]:
    """Return the attributes of an edge of rustworkx, of which a number is the weight."""
    if payload is None:
        return {}
    if isinstance(payload, dict):
        return payload
    if isinstance(payload, Real):
        return {weight: payload}
    msg = f"graph: edges must be dicts of attributes, weights or None, got {shown(payload)}"
    raise TypeError(msg)


def _id_of(payload: Any) -> Any:
    return payload.get("id") if isinstance(payload, dict) else payload
