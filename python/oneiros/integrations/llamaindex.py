"""A vector store and a memory block for LlamaIndex. Install ``oneiros[llamaindex]``.

A node is a memory: its content is the text, its metadata the metadata, its reference document the
``source_ref``.

    >>> from llama_index.core.schema import TextNode
    >>> from llama_index.core.vector_stores import VectorStoreQuery
    >>> from oneiros.integrations.llamaindex import OneirosVectorStore
    >>> store = OneirosVectorStore(":memory:")
    >>> store.add([TextNode(id_="coffee", text="Ada likes her coffee black")])
    ['coffee']
    >>> query = VectorStoreQuery(query_str="coffee", mode="text_search", similarity_top_k=1)
    >>> store.query(query).nodes[0].text
    'Ada likes her coffee black'
"""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from oneiros._lazy import needed
from oneiros.engine.memories import Memories
from oneiros.filters import Where, meta, where
from oneiros.filters.conditions import And, Or, joined
from oneiros.integrations.messages import found_by_message
from oneiros.integrations.metadata_times import Compare, compared, naive_times, time_of
from oneiros.integrations.opening import Opening, all_memories, remove
from oneiros.model.validation import require_flag, require_instance
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.fusion import Blend, ReciprocalRankFusion, WeightedMean
from oneiros.scoring.profiles import resolved
from oneiros.search.records import kept

needed("llama_index.core", "llamaindex")  # names the extra if it is missing

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.schema import BaseNode, MetadataMode, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.scoring.profile import Profile
    from oneiros.search.response import SearchResponse

__all__ = ["OneirosMemoryBlock", "OneirosVectorStore"]

_OWN: Final = "_llamaindex"
"""The key of metadata with what a node has besides."""
_TIMES: Final = "times"
"""Below it: times without an offset, as times in UTC."""
_EMPTY: Final = "empty"
"""Below it: the keys whose values are empty lists, which the engine has no comparison for."""
_REFERENCES: Final = ("ref_doc_id", "doc_id", "document_id")
"""Names by which filters compare the reference document of a node."""
_NOTHING: Final = ~where()


# -- filters ---------------------------------------------------------------------------------------


def _condition(filters: MetadataFilters | None) -> Where:
    """Return LlamaIndex's filters as a filter of the engine.

    Raises:
        ValueError, TypeError: a value does not suit its operator.
    """
    if filters is None or not filters.filters:
        return where()
    parts = [
        _condition(one) if isinstance(one, MetadataFilters) else _comparison(one)
        for one in filters.filters
    ]
    match filters.condition or FilterCondition.AND:
        case FilterCondition.AND:
            return joined(And, parts)
        case FilterCondition.OR:
            return joined(Or, parts)
        case _:  # NOT: none of them matches
            return ~joined(Or, parts)


def _comparison(one: MetadataFilter) -> Where:
    compare = _COMPARISONS[one.operator]
    try:
        if one.key in _REFERENCES:
            return _of_reference(one)
        return compare(one.key, one.value)
    except (TypeError, ValueError) as error:
        msg = f"filters: {one.operator.value} at {one.key!r}: {error}"
        raise type(error)(msg) from error


def _of_reference(one: MetadataFilter) -> Where:
    values: Any = [one.value] if isinstance(one.value, str) else one.value
    found = where(source_ref=values)
    match one.operator:
        case FilterOperator.EQ | FilterOperator.IN:
            return found
        case FilterOperator.NE | FilterOperator.NIN:
            return ~found
        case _:
            msg = "a reference document is compared by ==, !=, in and nin"
            raise ValueError(msg)


def _equal(key: str, value: object) -> Where:
    """Match an equal value; null equals nothing. 0 and 1 equal false and true, as in Python."""
    if value is None:
        return _NOTHING
    found = meta(key) == value
    return found | (meta(key) == bool(value)) if value in (0, 1) else found


def _in(key: str, value: object) -> Where:
    values = [one for one in _listed(value) if one is not None]
    return meta(key).in_([*values, *(bool(one) for one in values if one in (0, 1))])


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        msg = f"expected a list, got {value!r}"
        raise TypeError(msg)
    return value


def _ordered(compare: Compare) -> Callable[[str, Any], Where]:
    def condition(key: str, value: object) -> Where:
        if isinstance(value, int | float):
            return compare(meta(key), value)
        moment = time_of(value)
        if moment is None:
            msg = f"expected a number or a time in ISO 8601, got {value!r}"
            raise ValueError(msg)
        found = compared((key, (_OWN, _TIMES, key)), compare, moment)
        if "." not in key:
            return found
        # As for the engine's paths: a key with dots in it comes before a path through objects.
        below = compare(meta((_OWN, _TIMES, *key.split("."))), moment)
        return found | (below & ~meta((key,)).exists())

    return condition


def _empty(key: str, _: object) -> Where:
    path = meta(key)
    without = ~path.exists() | path.is_null() | (path == "")
    return without | meta((_OWN, _EMPTY)).contains(key)


def _all(key: str, value: object) -> Where:
    return meta(key).contains_all(_listed(value)) & meta(key).exists() & ~meta(key).is_null()


_COMPARISONS: Final[Mapping[FilterOperator, Callable[[str, Any], Where]]] = {
    FilterOperator.EQ: _equal,
    FilterOperator.NE: lambda key, value: ~_equal(key, value),
    FilterOperator.GT: _ordered(operator.gt),
    FilterOperator.GTE: _ordered(operator.ge),
    FilterOperator.LT: _ordered(operator.lt),
    FilterOperator.LTE: _ordered(operator.le),
    FilterOperator.IN: _in,
    FilterOperator.NIN: lambda key, value: ~_in(key, value),
    FilterOperator.ANY: lambda key, value: meta(key).contains_any(_listed(value)),
    FilterOperator.ALL: _all,
    FilterOperator.CONTAINS: lambda key, value: meta(key).contains(value),
    FilterOperator.TEXT_MATCH: lambda key, value: meta(key).substring(value),
    FilterOperator.TEXT_MATCH_INSENSITIVE: lambda key, value: meta(key).substring(
        value, ignore_case=True
    ),
    FilterOperator.IS_EMPTY: _empty,
}


# -- nodes -----------------------------------------------------------------------------------------


def _record(node: BaseNode) -> dict[str, Any]:
    """Return a node as the fields of a memory."""
    require_instance("node", node, (BaseNode,), "LlamaIndex's BaseNode")
    stored = node_to_metadata_dict(node, remove_text=True)
    content = json.loads(stored["_node_content"])
    metadata = content.pop("metadata")
    if _OWN in metadata:
        msg = f"metadata: the key {_OWN!r} is reserved, but node {node.node_id!r} has it"
        raise ValueError(msg)
    own: dict[str, object] = {"type": stored["_node_type"], "content": content}
    if times := naive_times(metadata):
        own[_TIMES] = times
    if empty := [key for key, value in metadata.items() if value == []]:
        own[_EMPTY] = empty
    return {
        "id": node.node_id,
        "text": node.get_content(metadata_mode=MetadataMode.NONE),
        "metadata": {**metadata, _OWN: own},
        "embedding": node.embedding,
        "source": "document",
        "source_ref": node.ref_doc_id,
    }


def _node(memory: Memory) -> BaseNode:
    """Return a memory as a node, a plain text node if another adapter or program added it."""
    metadata = {key: value for key, value in memory.metadata.items() if key != _OWN}
    own = memory.metadata.get(_OWN)
    if not isinstance(own, Mapping) or not isinstance(content := own.get("content"), Mapping):
        return TextNode(id_=memory.id, text=memory.text, metadata=metadata)
    # A memory that was copied with its metadata has an id of its own.
    node = {**content, "id_": memory.id, "metadata": metadata}
    stored = {"_node_content": json.dumps(node), "_node_type": own.get("type")}
    return metadata_dict_to_node(stored, text=memory.text or None)


# -- the store -------------------------------------------------------------------------------------


class OneirosVectorStore(BasePydanticVectorStore):
    """A LlamaIndex vector store over an Oneiros store.

    The file is opened by the first call that reads or writes; several vector stores may open one
    file. Awaitable methods run on a thread. All 14 operators and three conditions of filters run in
    the engine, nested ones too.

    Query modes: DEFAULT ranks by cosine, SPARSE and TEXT_SEARCH by BM25, HYBRID by ``profile``, with
    ``alpha`` as the weight of the vectors. Others raise a ValueError, as does ``alpha`` under a
    profile that does not join words and vectors by two weights.

    Args:
        path: the store's file, created if it does not exist; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``: the vector store
            sees only this scope, and what it writes belongs to it.
        soft_delete: hide deleted nodes instead of erasing them, so that
            :meth:`oneiros.Engine.restore` brings them back.
        profile: the ranking of HYBRID: "rrf" joins BM25 and cosine by reciprocal ranks and returns
            as many nodes as asked for; "oneiros" ranks by use, age and trust, too, and may return
            fewer.
        reinforce: whether queries of the mode HYBRID count as a use of the nodes that they return.
            It needs a profile with reinforcement, such as "oneiros". Other modes never count.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> from llama_index.core.schema import TextNode
        >>> store = OneirosVectorStore(":memory:")
        >>> store.add([TextNode(id_="tea", text="tea", embedding=[1.0, 0.0])])
        ['tea']
        >>> store.get_nodes(["tea"])[0].text
        'tea'
    """

    stores_text: bool = True
    path: str | None = None
    scope: dict[str, str] = Field(default_factory=dict)
    soft_delete: bool = False
    profile: str = "rrf"
    reinforce: bool = False
    _opening: Opening = PrivateAttr()

    def __init__(
        self,
        path: str = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
        soft_delete: bool = False,
        profile: str = "rrf",
        reinforce: bool = False,
        **fields: Any,
    ) -> None:
        opening = Opening(path, scope)
        resolved(profile)
        fields |= {
            "path": opening.path,
            "scope": opening.scope,
            "soft_delete": require_flag("soft_delete", soft_delete),
            "profile": profile,
            "reinforce": require_flag("reinforce", reinforce),
        }
        super().__init__(**fields)
        self._opening = opening

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serializes this class."""
        return "OneirosVectorStore"

    @classmethod
    def over(
        cls,
        memories: Memories,
        *,
        soft_delete: bool = False,
        profile: str = "rrf",
        reinforce: bool = False,
    ) -> Self:
        """Return a vector store over an open engine or a scope of one, whose owner closes it.

        Such a vector store cannot be serialized: its ``path`` is None.

        Args:
            memories: an engine, or a scope of one.
            soft_delete: as in the constructor, as the others.
            profile: the ranking of HYBRID.
            reinforce: whether HYBRID counts as a use.

        Raises:
            TypeError, ValueError: an argument breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosVectorStore.over(engine.scope(user="ada")).get_nodes()
            []
        """
        opening = Opening.over(memories)
        store = cls(soft_delete=soft_delete, profile=profile, reinforce=reinforce)
        store._opening, store.path = opening, None
        return store

    def __getstate__(self) -> dict[str, Any]:
        if self.path is None:
            msg = "pickle: a vector store over an open engine cannot be serialized"
            raise TypeError(msg)
        state: dict[str, Any] = super().__getstate__()
        return state

    @property
    def client(self) -> Memories:
        """The engine, or the scope of it, that holds the nodes."""
        return self._opening.memories

    def close(self) -> None:
        """Close the file if this vector store opened it. The next call opens it again."""
        self._opening.close()

    # -- nodes -------------------------------------------------------------------------------------

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add nodes in one transaction, and replace those whose ids exist.

        Args:
            nodes: with an embedding or without; an engine with an embedder makes those that lack.

        Returns:
            Their ids.

        Raises:
            ValueError, TypeError: a value that the engine refuses, such as a vector of another
                dimension. Nothing is written.
        """
        require_instance("nodes", nodes, (Sequence,), "a list of nodes")
        self.client.add_many([_record(node) for node in nodes], on_conflict="replace")
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete the nodes of a reference document.

        Args:
            ref_doc_id: its id; nothing happens if no node has it.
        """
        remove(self.client, where(source_ref=ref_doc_id), erases=not self.soft_delete)

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **_: Any,
    ) -> None:
        """Delete nodes by their ids, by filters, or those that match both.

        Args:
            node_ids: ids; unknown ones are ignored.
            filters: LlamaIndex's filters.

        Raises:
            ValueError: neither is given; :meth:`clear` deletes all nodes. Or a bad filter.
        """
        condition = _selected(node_ids, filters)
        if condition == where():
            msg = "delete_nodes: give node_ids or filters; clear() deletes all nodes"
            raise ValueError(msg)
        remove(self.client, condition, erases=not self.soft_delete)

    def clear(self) -> None:
        """Delete all nodes: of a scope, those of the scope."""
        remove(self.client, erases=not self.soft_delete)

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Return nodes by their ids, by filters, or those that match both.

        Args:
            node_ids: ids; unknown ones are left out. Default: all.
            filters: LlamaIndex's filters. Default: all.

        Returns:
            Nodes without embeddings, in the order of ``node_ids``, else in that of insertion.

        Raises:
            ValueError, TypeError: a bad filter.
        """
        nodes = [
            _node(memory) for memory in all_memories(self.client, _selected(node_ids, filters))
        ]
        if node_ids is not None:
            place = {id: number for number, id in enumerate(node_ids)}
            nodes.sort(key=lambda node: place[node.node_id])
        return nodes

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Return the best nodes for a query, best first.

        ``similarities`` are cosines in DEFAULT, BM25 in SPARSE and TEXT_SEARCH, and in HYBRID the
        scores of the profile.

        Args:
            query: with ``query_embedding``, ``query_str`` or both, as its mode needs.
                ``sparse_top_k`` and ``hybrid_top_k`` replace ``similarity_top_k`` in their modes.
                Empty ``node_ids`` and ``doc_ids`` bound nothing, as an index passes them.

        Raises:
            ValueError, TypeError: an unsupported mode, a missing embedding or text, or a bad filter.
        """
        require_instance("query", query, (VectorStoreQuery,), "a VectorStoreQuery")
        condition = _selected(query.node_ids or None, query.filters)
        if query.doc_ids:
            condition &= where(source_ref=query.doc_ids)
        response = self._searched(query, where=condition)
        found = kept(response)
        return VectorStoreQueryResult(
            nodes=[_node(memory) for memory, _ in found],
            similarities=[score for _, score in found],
            ids=[memory.id for memory, _ in found],
        )

    def _searched(self, query: VectorStoreQuery, **options: Any) -> SearchResponse:
        text, vector, k = query.query_str, query.query_embedding, query.similarity_top_k
        match query.mode:
            case VectorStoreQueryMode.DEFAULT:
                if vector is None:
                    raise ValueError(_missing("query_embedding", query.mode))
                return self.client.search("", k, embedding=vector, profile="cosine", **options)
            case VectorStoreQueryMode.SPARSE | VectorStoreQueryMode.TEXT_SEARCH:
                if text is None:
                    raise ValueError(_missing("query_str", query.mode))
                if query.mode == VectorStoreQueryMode.SPARSE and query.sparse_top_k is not None:
                    k = query.sparse_top_k
                return found_by_message(self.client, text, k=k, profile="bm25", **options)
            case VectorStoreQueryMode.HYBRID:
                if text is None:
                    raise ValueError(_missing("query_str", query.mode))
                return found_by_message(
                    self.client,
                    text,
                    k=k if query.hybrid_top_k is None else query.hybrid_top_k,
                    embedding=vector,
                    profile=self._hybrid(query.alpha),
                    reinforce=self.reinforce,
                    **options,
                )
            case mode:
                msg = (
                    f"mode: {getattr(mode, 'value', mode)!r} is not supported; use default, "
                    "sparse, text_search or hybrid"
                )
                raise ValueError(msg)

    def _hybrid(self, alpha: float | None) -> Any:
        """Return the profile of HYBRID with ``alpha`` as the weight of vectors."""
        profile = resolved(self.profile)
        if alpha is None:
            return profile
        if not 0 <= alpha <= 1:
            msg = f"alpha: must be in [0, 1], got {alpha!r}"
            raise ValueError(msg)
        return _weighing_vectors(profile, alpha)

    # -- asyncio -----------------------------------------------------------------------------------

    async def async_add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Await :meth:`add`."""
        return await asyncio.to_thread(self.add, nodes)

    async def adelete(self, ref_doc_id: str, **_: Any) -> None:
        """Await :meth:`delete`."""
        await asyncio.to_thread(self.delete, ref_doc_id)

    async def adelete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **_: Any,
    ) -> None:
        """Await :meth:`delete_nodes`."""
        await asyncio.to_thread(self.delete_nodes, node_ids, filters)

    async def aclear(self) -> None:
        """Await :meth:`clear`."""
        await asyncio.to_thread(self.clear)

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Await :meth:`get_nodes`."""
        return await asyncio.to_thread(self.get_nodes, node_ids, filters)

    async def aquery(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Await :meth:`query`."""
        return await asyncio.to_thread(self.query, query)


def _selected(node_ids: list[str] | None, filters: MetadataFilters | None) -> Where:
    condition = _condition(filters)
    return condition if node_ids is None else where(id=node_ids) & condition


def _weighing_vectors(profile: Profile, alpha: float) -> Profile:
    """Return a profile in which vectors have the weight ``alpha`` and words the rest.

    Raises:
        ValueError: the profile has other weights than these two, or none.
    """
    fusion = profile.fusion
    if isinstance(fusion, Blend):
        return profile.replace(fusion=replace(fusion, weight=1 - alpha))
    shares = {"lexical": 1 - alpha, "vector": alpha}
    names = [channel.name for channel in profile.channels]
    if {*names} == {*shares} and isinstance(fusion, ReciprocalRankFusion | WeightedMean):
        return profile.replace(weights=[shares[name] for name in names])
    msg = (
        f"alpha: needs a profile that joins words and vectors by their weights alone, such as 'rrf' "
        f"or 'oneiros', got {profile.name!r}"
    )
    raise ValueError(msg)


def _missing(name: str, mode: str) -> str:
    return f"{name}: the mode {VectorStoreQueryMode(mode).value} needs it"


# -- memory ----------------------------------------------------------------------------------------

_SOURCES: Final[Mapping[str, str]] = {"user": "user", "assistant": "agent", "tool": "tool"}


class OneirosMemoryBlock(BaseMemoryBlock[str]):
    """Long-term memory for LlamaIndex's ``Memory``: it stores messages and recalls them by relevance.

    The messages that leave the chat history are stored, each as a memory with its role as ``source``
    and its session. For each turn, the memories that match the last messages are inserted as lines
    of text, those of other sessions too. To keep users apart, give a scope of the engine.

    Args:
        memories: an engine, or a scope of one, such as ``engine.scope(user="ada")``.
        k: most memories to recall, >= 0.
        context_messages: how many of the last messages make up the query, >= 1.
        recall_profile: the ranking. Default: that of the engine.
        reinforce: whether recalled memories count as used, since they are put before the model.
            Default: as the profile says.
        name: the tag around the recalled text.
        description: as in ``BaseMemoryBlock``, as are the remaining fields.

    Raises:
        ValueError: a field breaks its rule (pydantic's error).

    Examples:
        >>> import asyncio, oneiros
        >>> from llama_index.core.llms import ChatMessage
        >>> block = OneirosMemoryBlock(memories=oneiros.Engine(":memory:"))
        >>> asyncio.run(block.aput([ChatMessage(role="user", content="I drink tea")]))
        >>> asyncio.run(block.aget([ChatMessage(role="user", content="Which tea?")]))
        '- user: I drink tea'
    """

    name: str = "OneirosMemory"
    memories: Memories
    k: Annotated[int, Field(ge=0)] = 5
    context_messages: Annotated[int, Field(ge=1)] = 1
    recall_profile: str | None = None
    reinforce: bool | None = None

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **_: Any,
    ) -> str:
        """Return the memories that match the last messages, a line each, best first."""
        texts = [message.content or "" for message in (messages or [])[-self.context_messages :]]
        query = " ".join(filter(None, texts))
        if not query:
            return ""
        found = await asyncio.to_thread(self._recalled, query, session_id)
        return "\n".join(_line(memory) for memory in found)

    def _recalled(self, query: str, session: str | None) -> list[Memory]:
        given = {"session": session, "reinforce": self.reinforce}
        options: Any = {name: value for name, value in given.items() if value is not None}
        options |= {"k": self.k, "profile": self.recall_profile}
        response = found_by_message(self.memories, query, **options)
        return [memory for memory, _ in kept(response)]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store the messages that have a text, in one transaction."""
        records = [_remembered(message) for message in messages if message.content]
        await asyncio.to_thread(self.memories.add_many, records)


def _remembered(message: ChatMessage) -> dict[str, Any]:
    role = message.role.value
    return {
        "text": message.content,
        "kind": "message",
        "source": _SOURCES.get(role),
        "session": message.additional_kwargs.get("session_id"),
        "metadata": {"role": role},
    }


def _line(memory: Memory) -> str:
    role = memory.metadata.get("role")
    return f"- {role}: {memory.text}" if isinstance(role, str) else f"- {memory.text}"
