"""LangGraph: a long-term store over an engine.

LangGraph is optional: ``pip install 'oneiros[langgraph]'``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import needed
from oneiros.engine.memories import Memories
from oneiros.errors import EngineReadOnly, UnknownMemory
from oneiros.filters import Where, where
from oneiros.filters.metadata import meta
from oneiros.integrations.messages import found_by_message
from oneiros.integrations.opening import remove
from oneiros.model.fields import FIELDS
from oneiros.model.validation import count, number, require_flag, require_instance, texts
from oneiros.models.embedders import one_each
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from oneiros.model.memory import Memory

needed("langgraph.store.base", "langgraph")  # names the extra where it is missing

from langchain_core.runnables import run_in_executor
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

__all__ = ["OneirosStore"]

_ITEM: Final = "langgraph"
"""The label of an item."""
_VECTOR: Final = "langgraph:vector"
"""The label of a memory that holds a further vector of an item."""
_HELD: Final = meta("key").exists() & meta("value").exists()
"""Memories with a key and a value. A label alone, such as other programs may set, makes no item."""
_ITEMS: Final = where(labels=_ITEM) & _HELD
_STATUSES: Final = ("staged", "consolidated", "archived")
_PAGE: Final = 1_000
_KNOWN: Final = {
    "index": ("dims", "embed", "fields"),
    "ttl": ("default_ttl", "refresh_on_read", "omit_expired"),
}
"""The keys of the configurations that a store takes."""
_MINUTE: Final = 60.0
_LARGEST: Final = sys.float_info.max

Namespace = tuple[str, ...]
Vectors = dict[str, Sequence[float]]


class OneirosStore(BaseStore):  # type: ignore[misc]  # Any where LangGraph is absent
    """A LangGraph store whose items are memories of an engine or a scope of one.

    The memory of an item has the item's namespace, and as text what is indexed of its value. Its
    metadata are ``{"key": ..., "value": ..., "ttl": ..., "lists": ..., "vectors": ...}``, so that
    ``oneiros.meta("value.color") == "red"`` finds items from outside of LangGraph. Searches of the
    engine find items as any memory.

    Reads never count as a use. An item that expired is never returned.

    Args:
        memories: an engine, or a scope of one by user, agent, project, session or topic, which
            then bounds all calls. A scope by namespace cannot hold items.
        index: what a search with a query compares. ``fields`` are the paths of the texts, by
            default ``["$"]``, the whole value as JSON. With ``embed`` (LangChain's ``Embeddings``
            or a function) each text has a vector, the best one counts, and the score is the cosine.
            Without it items are searched by words, and by the vectors of the engine's embedder if
            it has one, and the score is a sum of reciprocal ranks. ``dims`` is not needed: the
            engine takes the dimension of the first vector, and refuses others.
        ttl: ``default_ttl`` in minutes, and ``refresh_on_read``, True by default. Default: items do
            not expire unless :meth:`put` says so. ``omit_expired`` may only be True, and
            ``sweep_interval_minutes`` is refused, since nothing runs in the background.
        erases: whether deleting an item erases it for good, as ``forget`` does, or soft-deletes it,
            as ``delete`` does, which ``restore`` undoes.

    Raises:
        TypeError, ValueError: an argument breaks its rule, or ``index`` or ``ttl`` has a key that
            is not named above.

    Examples:
        >>> import oneiros
        >>> from oneiros.integrations.langgraph import OneirosStore
        >>> store = OneirosStore(oneiros.Engine(":memory:"))
        >>> store.put(("users", "ada"), "drink", {"text": "Ada likes her coffee black"})
        >>> store.get(("users", "ada"), "drink").value
        {'text': 'Ada likes her coffee black'}
        >>> [item.key for item in store.search(("users",), query="coffee")]
        ['drink']
    """

    supports_ttl = True

    def __init__(
        self,
        memories: Memories,
        *,
        index: Mapping[str, Any] | None = None,
        ttl: Mapping[str, Any] | None = None,
        erases: bool = True,
    ) -> None:
        require_instance("memories", memories, (Memories,), "an Engine or a scope of one")
        for name, given in (("index", index), ("ttl", ttl)):
            if given is not None:
                require_instance(name, given, (Mapping,), "a dict")
                _require_known(name, given)
        if ttl is not None:
            _minutes("default_ttl", ttl.get("default_ttl"))
            require_flag("refresh_on_read", ttl.get("refresh_on_read", True))
        self.memories = memories
        self.index_config: dict[str, Any] | None = None if index is None else dict(index)
        self.embeddings: Embeddings | None = (
            None
            if index is None or index.get("embed") is None
            else ensure_embeddings(index["embed"])
        )
        self.ttl_config: dict[str, Any] | None = None if ttl is None else dict(ttl)
        self._erases = require_flag("erases", erases)
        self._writing = threading.Lock()  # a put reads whether the item exists
        fields = None if index is None else index.get("fields")
        self._paths = _paths(["$"] if fields is None else fields)

    # -- operations --------------------------------------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: first the reads, then the last ``PutOp`` of each item.

        New items are added in one transaction; changing and deleting items takes more.

        Args:
            ops: ``GetOp``, ``SearchOp``, ``ListNamespacesOp`` and ``PutOp``.

        Returns:
            One result for each operation, in their order; None for a ``PutOp``.

        Raises:
            InvalidNamespaceError: a label breaks LangGraph's rules; nothing was run.
            ValueError, TypeError: an unknown operation, or a value or filter that breaks a rule.
        """
        batch = self._planned(ops)
        if self.embeddings is not None and batch.texts:
            batch.hold(self.embeddings.embed_documents(batch.texts))
        if self.embeddings is not None:
            for query in batch.queries:
                batch.query_vectors[query] = self.embeddings.embed_query(query)
        return self._run(batch)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations, as :meth:`batch`, on a thread, with the async methods of ``embed``."""
        batch = self._planned(ops)
        if self.embeddings is not None and batch.texts:
            batch.hold(await self.embeddings.aembed_documents(batch.texts))
        if self.embeddings is not None:
            for query in batch.queries:
                batch.query_vectors[query] = await self.embeddings.aembed_query(query)
        results: list[Result] = await run_in_executor(None, self._run, batch)
        return results

    def sweep_ttl(self) -> int:
        """Delete the items that expired; they are hidden in any case.

        It soft-deletes them, so that ``purge`` of the engine erases them later.

        Returns:
            The number of items.
        """
        self.memories.sweep_expired(where(labels=_VECTOR))
        return self.memories.sweep_expired(where(labels=_ITEM))

    def _planned(self, ops: Iterable[Op]) -> _Batch:
        listed = list(ops)
        puts: dict[str, _Put] = {}
        for op in listed:
            if not isinstance(op, GetOp | SearchOp | ListNamespacesOp | PutOp):
                msg = f"ops: unknown operation {type(op).__name__}"
                raise ValueError(msg)  # noqa: TRY004 - as the stores of LangGraph
            _require_names(op)
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                if op.value is not None:
                    require_instance("value", op.value, (Mapping,), "a mapping or None")
                id = self._id(op.namespace, op.key)
                puts[id] = _Put(id, op, self._texts(op))
        queries = [
            op.query
            for op in listed
            if isinstance(op, SearchOp) and op.query and self.embeddings is not None
        ]
        texts: list[str] = []
        if self.embeddings is not None:
            texts = [text for put in puts.values() for text in put.texts]
        return _Batch(listed, puts, list(dict.fromkeys(texts)), list(dict.fromkeys(queries)))

    def _texts(self, op: PutOp) -> list[str]:
        """Return the texts of a value that are indexed."""
        if op.value is None or op.index is False:
            return []
        paths = self._paths if op.index is None else _paths(op.index)
        value = dict(op.value)
        try:
            return [text for path in paths for text in get_text_at_path(value, path)]
        except TypeError:
            FIELDS["metadata"].check({"value": value})  # names what is not JSON
            raise

    def _run(self, batch: _Batch) -> list[Result]:
        results: list[Result] = []
        for op in batch.ops:
            if isinstance(op, GetOp):
                results.append(self._got(op))
            elif isinstance(op, SearchOp):
                results.append(self._found(op, batch.query_vectors))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                results.append(None)
        if batch.puts:
            with self._writing:
                self._put(batch)
        return results

    # -- read --------------------------------------------------------------------------------------

    def _got(self, op: GetOp) -> Item | None:
        memories = self._items(where(id=self._id(op.namespace, op.key)), 0, 1)
        self._refresh(memories, is_refreshed=op.refresh_ttl)
        return Item(**_fields(memories[0])) if memories else None

    def _items(self, condition: Where, offset: int, limit: int) -> list[Memory]:
        """Return items in order of insertion."""
        current = _ITEMS & condition
        return list(self.memories.list(current, offset=offset, limit=limit, include_expired=False))

    def _found(self, op: SearchOp, query_vectors: Vectors) -> list[SearchItem]:
        offset, limit = count("offset", op.offset), count("limit", op.limit)
        condition = _within(op.namespace_prefix) & _condition(op.filter)
        scores: dict[str, float] = {}
        if op.query:
            vector = query_vectors.get(op.query)
            scores = self._scores(op.query, vector, condition, offset + limit)
        ranked = list(scores)[offset : offset + limit]
        memories = [memory for memory in self.memories.get_many(ranked) if memory is not None]
        if (missing := limit - len(ranked)) > 0:  # the rest without a score
            rest = condition & ~where(id=list(scores)) if scores else condition
            memories += self._items(rest, max(offset - len(scores), 0), missing)
        self._refresh(memories, is_refreshed=op.refresh_ttl)
        return [SearchItem(**_fields(memory), score=scores.get(memory.id)) for memory in memories]

    def _scores(
        self, query: str, vector: Sequence[float] | None, condition: Where, needed: int
    ) -> dict[str, float]:
        """Return the ids of the best ``needed`` items with their scores, the best first."""
        if vector is None:
            items = _ITEMS & condition
            response = found_by_message(self.memories, query, k=needed, where=items, profile="rrf")
            return dict(zip(response.ids, response.scores, strict=True))
        archived = where(labels=_ITEM, status="archived")
        vectors = where(labels=[_ITEM, _VECTOR]) & _HELD & condition & ~archived
        fetched = needed
        while True:
            response = self.memories.search(
                "", fetched, embedding=vector, where=vectors, profile="cosine", status=_STATUSES
            )
            found = set(response.ids)
            best: dict[str, float] = {}
            for id, score in zip(response.ids, response.scores, strict=True):
                best.setdefault(id.partition(":")[0], score)
            # A further vector may have outlived its item, or the item may be archived.
            unsure = [id for id in best if id not in found]
            live = {
                memory.id
                for first in range(0, len(unsure), _PAGE)
                for memory in self._items(
                    where(id=unsure[first : first + _PAGE], status=_STATUSES[:2]), 0, _PAGE
                )
            }
            scores = {id: score for id, score in best.items() if id in found or id in live}
            if len(scores) >= needed or len(response.ids) < fetched:
                return dict(list(scores.items())[:needed])
            fetched *= 2

    def _refresh(self, memories: Sequence[Memory], *, is_refreshed: bool) -> None:
        """Let items with a lifetime live as long again, but those deleted since they were read."""
        if not is_refreshed:
            return
        lifetimes: dict[str, float] = {}
        for memory in memories:
            minutes: Any = memory.metadata.get("ttl")
            if minutes is not None:
                parts = _parts(memory.id, memory.metadata)
                lifetimes |= dict.fromkeys(parts, minutes * _MINUTE)
        if lifetimes:
            with contextlib.suppress(EngineReadOnly):  # their owner refreshes them
                self.memories._touch(lifetimes)

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        offset, limit = count("offset", op.offset), count("limit", op.limit)
        values = self.memories.values("namespace", _ITEMS, include_expired=False)
        found = {
            namespace[: op.max_depth]
            for namespace in map(_decoded, values)
            if all(_matches(condition, namespace) for condition in op.match_conditions or ())
        }
        return sorted(found)[offset : offset + limit]

    # -- write -------------------------------------------------------------------------------------

    def _put(self, batch: _Batch) -> None:
        puts = batch.puts
        existing = {
            memory.id: memory for memory in self.memories.get_many(list(puts)) if memory is not None
        }
        gone = [part for memory in existing.values() for part in _parts(memory.id, memory.metadata)]
        records: list[dict[str, Any]] = []
        kept: set[str] = set()
        for put in puts.values():
            made = self._records(put, batch.text_vectors)
            if put.id in existing and made and self._replaced(existing[put.id], made[0]):
                kept.add(put.id)
                del made[0]
            records += made
        kept |= {record["id"] for record in records}
        if records:
            self.memories.add_many(records, on_conflict="replace")
        if removed := [id for id in gone if id not in kept]:
            remove(self.memories, where(id=removed), erases=self._erases)

    def _records(self, put: _Put, text_vectors: Vectors) -> list[dict[str, Any]]:
        """Return the record of an item, then those of its further vectors; none to delete it."""
        op = put.op
        if op.value is None:
            return []
        vectors = [text_vectors[text] for text in put.texts if text in text_vectors]
        minutes = _minutes("ttl", op.ttl)
        metadata = {
            "key": op.key,
            "value": dict(op.value),
            "ttl": minutes,
            "lists": _lists(op.value),
            "vectors": max(len(vectors) - 1, 0),
        }
        common = {
            "namespace": _encoded(op.namespace) or None,
            "metadata": metadata,
            "ttl": None if minutes is None else minutes * _MINUTE,
        }
        item = {
            **common,
            "id": put.id,
            "text": "\n".join(put.texts),
            "labels": [_ITEM],
            "embedding": vectors[0] if vectors else None,
        }
        further = [
            {
                **common,
                "id": f"{put.id}:{place}",
                "text": "",
                "labels": [_VECTOR],
                "embedding": vector,
                "derived_from": [put.id],
                "status": "archived",  # searches of the engine leave it out
            }
            for place, vector in enumerate(vectors[1:], start=1)
        ]
        return [item, *further]

    def _replaced(self, memory: Memory, record: dict[str, Any]) -> bool:
        """Change an item in place, so that it keeps its creation, links, verdicts and use.

        Returns:
            False if another process deleted it meanwhile.
        """
        changes = {"text": record["text"], "metadata": record["metadata"]}
        if self.embeddings is not None:  # otherwise the engine's embedder makes it
            changes["embedding"] = record["embedding"]
        if memory.status == "archived":
            changes["status"] = "staged"
        if memory.superseded_by is not None:
            changes["superseded_by"] = None
        lifetime = record["ttl"]
        try:
            self.memories.update(memory.id, **changes)
            if lifetime is not None or memory.ttl is not None or memory.valid_until is not None:
                self.memories.touch(memory.id, ttl=lifetime)
        except UnknownMemory:
            return False
        return True

    def _id(self, namespace: Namespace, key: str) -> str:
        """Return the id of an item: a digest, so that it says nothing about a person."""
        bounds = sorted(self.memories.bounds.items())
        address = json.dumps([bounds, list(namespace), key])
        return hashlib.sha256(address.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Put:
    """The last ``PutOp`` of an item in a batch, with the texts to index."""

    id: str
    op: PutOp
    texts: list[str]


class _Batch:
    """The operations of a batch, and the vectors that they need."""

    def __init__(
        self, ops: list[Op], puts: dict[str, _Put], texts: list[str], queries: list[str]
    ) -> None:
        self.ops = ops
        self.puts = puts
        self.texts = texts
        self.queries = queries
        self.text_vectors: Vectors = {}
        self.query_vectors: Vectors = {}

    def hold(self, vectors: Sequence[Sequence[float]]) -> None:
        self.text_vectors = dict(zip(self.texts, one_each(vectors, self.texts), strict=True))


def _require_names(op: Op) -> None:
    """Raise TypeError for a str in the place of a namespace, which would be one label a letter."""
    for name in ("namespace", "namespace_prefix"):
        if (given := getattr(op, name, None)) is not None:
            require_instance(name, given, (tuple, list), "a tuple of labels")


def _paths(fields: Sequence[str]) -> list[Any]:
    named = texts("fields", fields)
    return [path if path == "$" else tokenize_path(path) for path in named]


def _parts(id: str, metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield the id of an item's memory and those of its further vectors."""
    yield id
    for place in range(metadata.get("vectors", 0)):
        yield f"{id}:{place + 1}"


def _fields(memory: Memory) -> dict[str, Any]:
    return {
        "value": memory.metadata["value"],
        "key": memory.metadata["key"],
        "namespace": _decoded(memory.namespace),
        "created_at": datetime.fromtimestamp(memory.created_at, UTC),
        "updated_at": datetime.fromtimestamp(memory.updated_at, UTC),
    }


def _require_known(name: str, given: Mapping[str, Any]) -> None:
    """Refuse a configuration with a key that would have no effect."""
    known = _KNOWN[name]
    for key in given:
        if key not in known:
            msg = f"{name}: must have no other keys than {', '.join(known)}, got {key!r}"
            raise ValueError(msg)
    if not given.get("omit_expired", True):
        is_set = given["omit_expired"]
        msg = f"{name}: omit_expired must be True: expired items are never returned, got {is_set!r}"
        raise ValueError(msg)


def _minutes(name: str, ttl: object) -> float | None:
    """Return a lifetime in minutes.

    Raises:
        TypeError, ValueError: not a finite number >= 0 or None.
    """
    rule = "a finite number of minutes >= 0 or None"
    return None if ttl is None else number(name, low=0, high=_LARGEST, rule=rule)(ttl)


# -- namespaces ------------------------------------------------------------------------------------


def _encoded(namespace: Sequence[str]) -> str:
    """Return a namespace of the engine. A slash in a label becomes "%2F", a percent sign "%25"."""
    return "/".join(label.replace("%", "%25").replace("/", "%2F") for label in namespace)


def _decoded(namespace: str | None) -> Namespace:
    if not namespace:
        return ()
    return tuple(label.replace("%2F", "/").replace("%25", "%") for label in namespace.split("/"))


def _within(prefix: Sequence[str]) -> Where:
    return where(namespace=_encoded(prefix)) if prefix else where()


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        msg = f"match_type: must be prefix or suffix, got {condition.match_type!r}"
        raise ValueError(msg)
    if len(namespace) < len(path):
        return False
    is_prefix = condition.match_type == "prefix"
    labels = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, labels, strict=True))


# -- filters ---------------------------------------------------------------------------------------


def _condition(filter: Mapping[str, Any] | None) -> Where:
    """Return the condition of a filter on values."""
    condition = where()
    if filter is not None:
        require_instance("filter", filter, (Mapping,), "a dict")
    for key, wanted in (filter or {}).items():
        condition &= _on_key((key,), wanted)
    return condition


def _on_key(path: tuple[str, ...], wanted: object) -> Where:
    condition = _compared(path, wanted)
    dotted = [part for key in path for part in key.split(".")]
    if len(dotted) == len(path) or not all(dotted):
        return condition
    # As for the engine's paths: a key with dots in it comes before a path through objects.
    return condition | (~meta(["value", *path]).exists() & _compared(tuple(dotted), wanted))


def _compared(path: tuple[str, ...], wanted: object) -> Where:
    if not isinstance(wanted, Mapping):
        return _equal(path, wanted)
    if not wanted:
        return _is_object(path)
    condition = where()
    operators = [str(word).startswith("$") for word in wanted]
    if not any(operators):
        for key, below in wanted.items():
            condition &= _compared((*path, key), below)
        return condition
    for name, value in wanted.items():
        condition &= _operation(path, name, value)
    return condition


def _operation(path: tuple[str, ...], name: str, value: Any) -> Where:
    at = meta(["value", *path])
    if name == "$eq":
        return _equal(path, value)
    if name == "$ne":
        return ~_equal(path, value)
    if name not in ("$gt", "$gte", "$lt", "$lte"):
        msg = f"filter: {'.'.join(path)}: unknown operator {name!r}; known: $eq, $ne, $gt, $gte, "
        raise ValueError(msg + "$lt, $lte")
    condition: Where
    if isinstance(value, float) and not math.isfinite(value):
        is_far = (value > 0) if name in ("$lt", "$lte") else (value < 0)
        condition = ((at >= 0) | (at < 0)) if is_far else _nothing()
    elif name == "$gt":
        condition = at > value
    elif name == "$gte":
        condition = at >= value
    else:
        condition = at < value if name == "$lt" else at <= value
    return condition


def _equal(path: tuple[str, ...], value: Any) -> Where:
    if isinstance(value, list | tuple):
        return meta(["lists", *path]) == _digest(value)
    if isinstance(value, Mapping):
        return _compared(path, value)
    if isinstance(value, float) and not math.isfinite(value):
        return _nothing()
    condition: Where = meta(["value", *path]) == value
    return condition


def _is_object(path: tuple[str, ...]) -> Where:
    """Match an object, whatever it has: a value that is nothing else."""
    at = meta(["value", *path])
    is_plain = at.is_null() | at.in_([True, False]) | at.prefix("") | (at >= 0) | (at < 0)
    is_list = meta(["lists", *path]).prefix("")  # a digest; that of an object is an object
    condition: Where = at.exists() & ~is_plain & ~is_list
    return condition


def _nothing() -> Where:
    return where(id=[])


def _lists(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digests of the lists in a value, each at its path.

    The engine's filters look into lists but do not compare them whole.
    """
    found: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, list | tuple):
            found[key] = _digest(item)
        elif isinstance(item, Mapping) and (below := _lists(item)):
            found[key] = below
    return found


def _digest(value: list[Any] | tuple[Any, ...]) -> str:
    """Return a digest that is the same for equal lists of JSON, such as [1] and [1.0]."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
