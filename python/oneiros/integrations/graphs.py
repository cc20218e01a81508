"""The graph of memories in networkx and rustworkx, there and back; GraphML by way of networkx.

Both libraries are optional: ``pip install 'oneiros[graphs]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oneiros._lazy import needed
from oneiros.engine.memories import Memories
from oneiros.model.validation import require_instance, require_utf8
from oneiros.runtime.dataclasses import asdict

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.filters import Where
    from oneiros.graph import Link

__all__ = ["add_links", "to_networkx", "to_rustworkx"]

_EXTRA = "graphs"


def to_networkx(mind: Memories, *, where: Where | None = None, now: Time | None = None) -> Any:
    """Return memories and the links between them as a ``networkx.Graph``.

    Nodes are ids, with ``kind`` and ``created_at`` (seconds UTC); edges have ``weight`` (what is
    left of it), ``kind``, ``created_at`` and, where the two were found together,
    ``co_retrieved_at``. ``networkx.write_graphml`` takes it as it is.

    Args:
        mind: an engine, or a scope of one.
        where: which memories; default: all.
        now: for what is left of the weights, as in ``mind.add``.

    Raises:
        ImportError: networkx is not installed.
        TypeError, ValueError: another argument breaks its rule.
    """
    _require_mind(mind)
    graph = needed("networkx", _EXTRA).Graph()
    graph.add_nodes_from(_nodes(mind, where))
    graph.add_edges_from((a, link.id, _edge(link)) for a, link in mind.links(where, now=now))
    return graph


def to_rustworkx(mind: Memories, *, where: Where | None = None, now: Time | None = None) -> Any:
    """Return memories and the links between them as a ``rustworkx.PyGraph``.

    The payload of a node is ``{"id": ..., "kind": ..., "created_at": ...}``, that of an edge what
    :func:`to_networkx` says.

    Args:
        mind: an engine, or a scope of one.
        where: which memories; default: all.
        now: for what is left of the weights.

    Raises:
        ImportError: rustworkx is not installed.
        TypeError, ValueError: another argument breaks its rule.
    """
    _require_mind(mind)
    graph = needed("rustworkx", _EXTRA).PyGraph(multigraph=False)
    nodes = dict(_nodes(mind, where))
    numbers = graph.add_nodes_from([{"id": id, **held} for id, held in nodes.items()])
    number_of = dict(zip(nodes, numbers, strict=True))
    edges = [
        (number_of[a], number_of[link.id], _edge(link)) for a, link in mind.links(where, now=now)
    ]
    graph.add_edges_from(edges)
    return graph


def add_links(mind: Memories, graph: Any, *, weight: str = "weight", kind: str = "kind") -> int:
    """Link memories as a graph's edges do, in one transaction: all of them or none.

    Args:
        mind: an engine, or a scope of one; it has the memories already.
        graph: of networkx, its nodes ids; or of rustworkx, its nodes ids or mappings with ``"id"``.
            Edges from a node to itself are refused; of several between two the last counts.
        weight: the attribute that holds an edge's weight, in (0, 1]; 0.5 where there is none.
        kind: the attribute that holds its kind; "explicit" where there is none.

    Returns:
        How many links were made, or made anew.

    Raises:
        UnknownMemory: no live memory has the id.
        TypeError, ValueError: no graph of these libraries, or an edge breaks a link's rules.
    """
    _require_mind(mind)
    require_utf8("weight", weight)
    require_utf8("kind", kind)
    edges = (
        (a, b, held.get(weight, 0.5), held.get(kind, "explicit")) for a, b, held in _edges(graph)
    )
    return mind.link_many(edges)


def _require_mind(mind: object) -> None:
    require_instance("mind", mind, (Memories,), "an Engine or a scope of one")


def _nodes(mind: Memories, where: Where | None) -> Iterator[tuple[str, dict[str, Any]]]:
    after: str | None = None
    while page := mind.list(where, after=after, limit=1_000):
        for memory in page:
            yield memory.id, {"kind": memory.kind, "created_at": memory.created_at}
        after = page[-1].id


def _edge(link: Link) -> dict[str, Any]:
    """An edge's attributes; none that is not there, which GraphML could not hold."""
    held = {name: value for name, value in asdict(link).items() if value is not None}
    del held["id"]
    return held


def _edges(graph: Any) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    library = type(graph).__module__.partition(".")[0]
    if library == "networkx":
        for a, b, held in graph.edges(data=True):
            yield a, b, held
    elif library == "rustworkx":
        ids = dict(zip(graph.node_indices(), map(_id_of, graph.nodes()), strict=True))
        for a, b, held in graph.weighted_edge_list():
            yield ids[a], ids[b], held if isinstance(held, dict) else {}
    else:
        msg = f"graph: expected one of networkx or rustworkx, got {type(graph).__name__}"
        raise TypeError(msg)


def _id_of(payload: Any) -> Any:
    return payload.get("id") if isinstance(payload, dict) else payload
