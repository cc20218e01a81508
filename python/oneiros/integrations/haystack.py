"""A document store and retrievers for Haystack. Install ``oneiros[haystack]``.

A document is a memory: ``content`` is its text, ``meta`` its metadata, ``embedding`` its vector.

    >>> from haystack import Document
    >>> from oneiros.integrations.haystack import OneirosDocumentStore, OneirosHybridRetriever
    >>> store = OneirosDocumentStore(":memory:")
    >>> store.write_documents([Document(content="Ada likes her coffee black")])
    1
    >>> OneirosHybridRetriever(store).run("coffee")["documents"][0].content
    'Ada likes her coffee black'
"""

from __future__ import annotations

import asyncio
import functools
import operator
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from oneiros._lazy import needed
from oneiros.errors import DuplicateId, QueryTooLarge
from oneiros.filters import Where, meta, where
from oneiros.filters.conditions import And, Or, joined
from oneiros.filters.metadata_paths import MISSING, resolver
from oneiros.integrations.messages import found_by_message
from oneiros.integrations.metadata_times import (
    Compare,
    at,
    compared,
    naive_times,
    naive_times_patch,
    time_of,
)
from oneiros.integrations.opening import Opening, all_memories, remove
from oneiros.model.validation import count, require_flag, require_instance
from oneiros.search.records import kept

needed("haystack", "haystack")  # names the extra if it is missing

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import (
    DuplicatePolicy,
    FilterPolicy,
    apply_filter_policy,
)
from haystack.errors import FilterError

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.model.memory import Memory
    from oneiros.scoring.profile import Profile

__all__ = ["OneirosDocumentStore", "OneirosEmbeddingRetriever", "OneirosHybridRetriever"]

_OWN: Final = "_haystack"
"""The key of metadata with what ``meta`` does not hold."""
_TIMES: Final = "times"
"""Below it: times of ``meta`` without an offset, as times in UTC, at the same paths."""
_NO_CONTENT: Final = "no_content"
"""Below it: true for a document whose content is None."""
_NOTHING: Final = ~where()


_Store = TypeVar("_Store")
_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def _in_thread(
    method: Callable[Concatenate[_Store, _Given], _Returned],
) -> Callable[Concatenate[_Store, _Given], Coroutine[Any, Any, _Returned]]:
    """Return the form of a method for asyncio, which runs the method in a thread."""
    name = method.__name__

    @functools.wraps(method)
    async def awaited(self: _Store, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Returned:
        call: Callable[_Given, _Returned] = getattr(self, name)
        return await asyncio.to_thread(call, *args, **kwargs)

    awaited.__name__ = f"{name}_async"
    awaited.__qualname__ = f"{method.__qualname__}_async"
    awaited.__doc__ = f"Await :meth:`{name}`."
    return awaited


# -- filters ---------------------------------------------------------------------------------------


def _condition(filters: Mapping[str, Any] | None) -> Where | None:
    """Return Haystack's filters as a filter of the engine; None: all documents.

    Raises:
        FilterError: the filters are malformed, or the engine has no such comparison.
    """
    if filters is None or filters == {}:
        return None
    try:
        return _read(filters)
    except QueryTooLarge as error:
        msg = f"filters: {error}"
        raise FilterError(msg) from error


def _read(filters: object) -> Where:
    if not isinstance(filters, Mapping):
        msg = f"filters: expected a dict, got {filters!r}"
        raise FilterError(msg)
    if "operator" not in filters:
        msg = f"filters: the key 'operator' is missing in {filters!r}"
        raise FilterError(msg)
    return _comparison(filters) if "field" in filters else _logical(filters)


def _logical(filters: Mapping[str, Any]) -> Where:
    conditions = filters.get("conditions")
    if not isinstance(conditions, list | tuple):
        msg = f"filters: the key 'conditions' must be a list of filters in {filters!r}"
        raise FilterError(msg)
    parts = [_read(part) for part in conditions]
    match filters["operator"]:
        case "AND":
            return joined(And, parts)
        case "OR":
            return joined(Or, parts)
        case "NOT":
            return ~joined(And, parts)
        case unknown:
            msg = f"filters: operator must be one of AND, OR, NOT, got {unknown!r}"
            raise FilterError(msg)


def _comparison(filters: Mapping[str, Any]) -> Where:
    field, name = filters["field"], filters["operator"]
    compare = _COMPARISONS.get(name) if isinstance(name, str) else None
    if compare is None:
        msg = f"filters: operator must be one of {', '.join(_COMPARISONS)}, got {name!r}"
        raise FilterError(msg)
    if "value" not in filters:
        msg = f"filters: the key 'value' is missing in {filters!r}"
        raise FilterError(msg)
    if not isinstance(field, str):
        msg = f"filters: field must be a text, got {field!r}"
        raise FilterError(msg)
    if field == "id":
        return _of_ids(name, filters["value"])
    if field in ("content", "blob", "score", "embedding", "sparse_embedding", "meta"):
        msg = f"filters: field {field!r} cannot be compared; fields are id and those of meta"
        raise FilterError(msg)
    try:
        return compare(_keys(field), filters["value"])
    except (TypeError, ValueError) as error:
        msg = f"filters: {name} at {field!r}: {error}"
        raise FilterError(msg) from error


def _of_ids(name: str, value: object) -> Where:
    if name not in ("==", "!=", "in", "not in"):
        msg = f"filters: field 'id' is compared by ==, !=, in and not in, got {name!r}"
        raise FilterError(msg)
    values = _listed(value) if name.endswith("in") else [value]
    found = where(id=[one for one in values if isinstance(one, str)])
    return ~found if name in ("!=", "not in") else found


def _keys(field: str) -> tuple[str, ...]:
    """Return the path in the metadata of a field of ``meta``, with or without "meta." before it."""
    return tuple(field.removeprefix("meta.").split("."))


def _paths(keys: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the path of a time, and the one where it is kept if it has no offset."""
    return keys, (_OWN, _TIMES, *keys)


def _equal(keys: tuple[str, ...], value: object) -> Where:
    """Match an equal value; None: null or no value; a time: also the same moment."""
    if value is None:
        return meta(keys).is_null() | ~meta(keys).exists()
    if isinstance(value, datetime):
        return at(_paths(keys), time_of(value))
    found = meta(keys) == value
    moment = time_of(value)
    return found if moment is None else found | at(_paths(keys), moment)


def _in(keys: tuple[str, ...], value: object) -> Where:
    values = _listed(value)
    plain = [one for one in values if time_of(one) is None and one is not None]
    others = [one for one in values if time_of(one) is not None or one is None]
    return joined(Or, [meta(keys).in_(plain), *(_equal(keys, one) for one in others)])


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        msg = f"filters: in and not in take a list, got {value!r}"
        raise FilterError(msg)
    return value


def _ordered(compare: Compare) -> Callable[[tuple[str, ...], object], Where]:
    def condition(keys: tuple[str, ...], value: object) -> Where:
        if value is None:
            return _NOTHING
        if isinstance(value, int | float):
            return compare(meta(keys), value)
        moment = time_of(value)
        if moment is None:
            msg = f"expected a number or a time in ISO 8601, got {value!r}"
            raise TypeError(msg)
        return compared(_paths(keys), compare, moment)

    return condition


_COMPARISONS: Final[Mapping[str, Callable[[tuple[str, ...], Any], Where]]] = {
    "==": _equal,
    "!=": lambda keys, value: ~_equal(keys, value),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    "in": _in,
    "not in": lambda keys, value: ~_in(keys, value),
}


# -- documents -------------------------------------------------------------------------------------


def _record(document: Document) -> dict[str, Any]:
    """Return a document as the fields of a memory."""
    for name in ("blob", "sparse_embedding"):
        if getattr(document, name) is not None:
            msg = f"{name}: cannot be stored, but document {document.id!r} has one"
            raise ValueError(msg)
    if _OWN in document.meta:
        msg = f"meta: the key {_OWN!r} is reserved, but document {document.id!r} has it"
        raise ValueError(msg)
    own: dict[str, object] = {}
    if document.content is None:
        own[_NO_CONTENT] = True
    if times := naive_times(document.meta):
        own[_TIMES] = times
    return {
        "id": document.id,
        "text": document.content or "",
        "metadata": {**document.meta, _OWN: own} if own else document.meta,
        "embedding": document.embedding,
        "source": "document",
    }


def _meta(memory: Memory) -> dict[str, Any]:
    return {key: value for key, value in memory.metadata.items() if key != _OWN}


def _document(
    memory: Memory, score: float | None = None, *, has_embedding: bool = True
) -> Document:
    own = memory.metadata.get(_OWN)
    is_empty = isinstance(own, Mapping) and own.get(_NO_CONTENT) is True and not memory.text
    embedding = memory.embedding if has_embedding else None
    return Document(
        id=memory.id,
        content=None if is_empty else memory.text,
        meta=_meta(memory),
        score=score,
        embedding=None if embedding is None else embedding.tolist(),
    )


def _require_documents(documents: object) -> list[Any]:
    if not isinstance(documents, list):
        msg = f"documents: expected a list of Documents, got {documents!r}"
        raise ValueError(msg)  # noqa: TRY004 - the protocol's error
    for place, document in enumerate(documents):
        if not isinstance(document, Document):
            msg = f"documents[{place}]: expected a Document, got {document!r}"
            raise ValueError(msg)  # noqa: TRY004 - the protocol's error
    return documents


def _duplicate(error: DuplicateId) -> DuplicateDocumentError:
    msg = f"documents: {error}".replace("on_conflict='update'", "DuplicatePolicy.OVERWRITE")
    return DuplicateDocumentError(msg)


# -- the store -------------------------------------------------------------------------------------


class OneirosDocumentStore:
    """A Haystack document store over an Oneiros store.

    The file is opened by the first call that reads or writes. Several document stores may open one
    file. Each method has an awaitable twin with ``_async`` after its name, which runs on a thread.

    Filters run in the engine. They compare ``meta`` fields and ``id``. Times in ``meta`` without an
    offset count as UTC. Embeddings are kept as unit vectors of float32; one of zeros is none.

    Args:
        path: the store's file, created if it does not exist; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``: the document store
            sees only the documents of this scope, and what it writes belongs to it.
        soft_delete: hide deleted documents instead of erasing them, so that
            :meth:`oneiros.Engine.restore` brings them back.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> from haystack import Document
        >>> store = OneirosDocumentStore(":memory:")
        >>> store.write_documents([Document(content="tea", meta={"price": 3})])
        1
        >>> cheap = {"field": "meta.price", "operator": "<", "value": 5}
        >>> [document.content for document in store.filter_documents(cheap)]
        ['tea']
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
        soft_delete: bool = False,
    ) -> None:
        self._opening = Opening(path, scope)
        self._soft_delete = require_flag("soft_delete", soft_delete)

    @classmethod
    def over(cls, memories: Memories, *, soft_delete: bool = False) -> Self:
        """Return a document store over an open engine or a scope of one.

        Use it to share the engine of an application, its embedder included: documents without an
        embedding then get one. Such a document store cannot be serialized, and leaves closing to
        the owner of the engine.

        Args:
            memories: an engine, or a scope of one.
            soft_delete: as in the constructor.

        Raises:
            TypeError: neither an engine nor a scope.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosDocumentStore.over(engine.scope(user="ada")).count_documents()
            0
        """
        store = cls(soft_delete=soft_delete)
        store._opening = Opening.over(memories)
        return store

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, that holds the documents."""
        return self._opening.memories

    def close(self) -> None:
        """Close the file if this document store opened it. The next call opens it again."""
        self._opening.close()

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of the constructor, for pipelines in YAML.

        Raises:
            ValueError: the document store was made by :meth:`over`.
        """
        opening = self._opening
        if opening.path is None:
            msg = "to_dict: a document store over an open engine cannot be serialized"
            raise ValueError(msg)
        data: dict[str, Any] = default_to_dict(
            self, path=opening.path, scope=dict(opening.scope), soft_delete=self._soft_delete
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the document store that :meth:`to_dict` described."""
        store: Self = default_from_dict(cls, data)
        return store

    # -- documents ---------------------------------------------------------------------------------

    def count_documents(self) -> int:
        """Return the number of documents."""
        return self.memories.count()

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that match, in order of insertion.

        Args:
            filters: Haystack's filters; None or {}: all documents.

        Raises:
            FilterError: the filters are malformed, or compare what cannot be compared.
        """
        return [_document(memory) for memory in self._matching(filters)]

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Write documents in one transaction: all of them or none.

        Args:
            documents: with an embedding or without; scores are not stored.
            policy: for an id that exists. NONE and FAIL raise, SKIP keeps the stored document, and
                OVERWRITE replaces it. If an id comes twice, SKIP takes the first, OVERWRITE the last.

        Returns:
            The number of documents written; with OVERWRITE, of documents given.

        Raises:
            DuplicateDocumentError: an id exists; under SKIP, too: a softly deleted document has it;
                under every policy: a document outside of the scope has it.
            ValueError, TypeError: not a list of documents, a document with a blob or a sparse
                embedding, or a value that the engine refuses, such as a vector of another dimension.
        """
        records = [_record(document) for document in _require_documents(documents)]
        require_instance("policy", policy, (DuplicatePolicy,), "a DuplicatePolicy")
        if policy == DuplicatePolicy.SKIP:
            return self._write_new({one["id"]: one for one in reversed(records)})
        on_conflict = "replace" if policy == DuplicatePolicy.OVERWRITE else "raise"
        try:
            self.memories.add_many(records, on_conflict=on_conflict)
        except DuplicateId as error:
            raise _duplicate(error) from error
        return len(records)

    def _write_new(self, records: dict[str, dict[str, Any]]) -> int:
        """Write the documents whose ids do not exist, and return their number."""
        fresh = dict(reversed(records.items()))
        failure: DuplicateId | None = None
        while True:
            stored = self.memories.get_many(list(fresh))
            pairs = zip(fresh.items(), stored, strict=True)
            rest = {id: record for (id, record), memory in pairs if memory is None}
            if failure is not None and len(rest) == len(fresh):  # hidden, or outside the scope
                raise _duplicate(failure) from failure
            fresh = rest
            try:
                self.memories.add_many(list(fresh.values()))
            except DuplicateId as error:  # another writer was faster: look again
                failure = error
            else:
                return len(fresh)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents. Unknown ids are ignored.

        Args:
            document_ids: their ids.
        """
        remove(self.memories, where(id=document_ids), erases=not self._soft_delete)

    def delete_all_documents(self, recreate_index: bool = False) -> None:
        """Delete all documents: of a scope, those of the scope.

        Args:
            recreate_index: leave nothing behind: erase for good under ``soft_delete``, too, and also
                what was deleted softly before. The dimension of the embeddings remains.
        """
        require_flag("recreate_index", recreate_index)
        remove(self.memories, erases=recreate_index or not self._soft_delete)
        if recreate_index:
            self.memories.purge(0)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that match, and return their number.

        Args:
            filters: Haystack's filters. Empty ones are refused; :meth:`delete_all_documents` deletes
                all documents.

        Raises:
            FilterError: as :meth:`filter_documents`, or empty filters.
        """
        return remove(self.memories, _required(filters), erases=not self._soft_delete)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Merge values into the ``meta`` of the documents that match, in one transaction.

        Args:
            filters: Haystack's filters, not empty.
            meta: the values by key. They are merged as JSON merge patch does: None removes a key,
                and objects within are merged, too.

        Returns:
            The number of documents that match.

        Raises:
            FilterError: as :meth:`delete_by_filter`.
            TypeError, ValueError: ``meta`` is not a dict of JSON values, or has a reserved key.
        """
        condition = _required(filters)
        require_instance("meta", meta, (dict,), "a dict of JSON values")
        if _OWN in meta:
            msg = f"meta: the key {_OWN!r} is reserved"
            raise ValueError(msg)
        patch = {**meta, _OWN: {_TIMES: naive_times_patch(meta)}}
        return len(self.memories._merge_metadata(condition, patch))

    # -- metadata ----------------------------------------------------------------------------------

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """Return the number of documents that match.

        Args:
            filters: Haystack's filters; {}: all documents.

        Raises:
            FilterError: as :meth:`filter_documents`.
        """
        return self.memories.count(_condition(filters))

    def count_unique_metadata_by_filter(
        self, filters: dict[str, Any], metadata_fields: list[str]
    ) -> dict[str, int]:
        """Return how many distinct values fields have among the documents that match.

        The documents that match are read.

        Args:
            filters: Haystack's filters; {}: all documents.
            metadata_fields: names, with or without "meta." before them.

        Returns:
            Name, without "meta.", to the number of distinct values other than null.

        Raises:
            FilterError: as :meth:`filter_documents`.
        """
        names = [name.removeprefix("meta.") for name in metadata_fields]
        distinct: dict[str, set[object]] = {name: set() for name in names}
        for memory in self._matching(filters):
            for name, values in distinct.items():
                value = _value_at(memory, name)
                if value is not None:
                    values.add(_hashable(value))
        return {name: len(values) for name, values in distinct.items()}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Return the type of each field of ``meta``: keyword, int, float or boolean.

        All documents are read. If the types of a field differ, that of the newest document counts.
        """
        types: dict[str, str] = {}
        for memory in self._matching(None):
            for name, value in _meta(memory).items():
                if value is not None:
                    types[name] = _TYPES.get(type(value), "keyword")
        return {name: {"type": kind} for name, kind in types.items()}

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """Return the least and the greatest number or text of a field.

        Args:
            metadata_field: its name, with or without "meta." before it.

        Returns:
            ``{"min": ..., "max": ...}``; None twice if no document has a value, or if the field has
            both numbers and texts.
        """
        path = metadata_field.removeprefix("meta.")
        values = [value for value in self.memories.values(f"metadata.{path}") if value is not None]
        try:
            return {"min": min(values, default=None), "max": max(values, default=None)}
        except TypeError:
            return {"min": None, "max": None}

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> tuple[list[Any], int]:
        """Return a page of the distinct values of a field, in alphabetical order.

        The documents that match are read. Values of different types are distinct: 1, 1.0 and "1".

        Args:
            metadata_field: its name, with or without "meta." before it.
            search_term: return only values whose text contains this one, ignoring case.
            from_: number of values to skip.
            size: most values to return.
            filters: Haystack's filters; None: all documents.

        Returns:
            The values, and the number of values on all pages.

        Raises:
            FilterError: as :meth:`filter_documents`.
        """
        path = metadata_field.removeprefix("meta.")
        distinct: dict[tuple[str, object], object] = {}
        for memory in self._matching(filters):
            value = _value_at(memory, path)
            if value is not None:
                distinct.setdefault((type(value).__name__, _hashable(value)), value)
        term = (search_term or "").lower()
        found = [item for item in distinct.items() if term in str(item[1]).lower()]
        found.sort(key=lambda item: (str(item[1]), item[0][0]))
        return [value for _, value in found[from_ : from_ + size]], len(found)

    def _matching(self, filters: Mapping[str, Any] | None) -> Iterator[Memory]:
        return all_memories(self.memories, _condition(filters))

    # -- asyncio -----------------------------------------------------------------------------------

    count_documents_async = _in_thread(count_documents)
    filter_documents_async = _in_thread(filter_documents)
    write_documents_async = _in_thread(write_documents)
    delete_documents_async = _in_thread(delete_documents)
    delete_all_documents_async = _in_thread(delete_all_documents)
    delete_by_filter_async = _in_thread(delete_by_filter)
    update_by_filter_async = _in_thread(update_by_filter)
    count_documents_by_filter_async = _in_thread(count_documents_by_filter)
    count_unique_metadata_by_filter_async = _in_thread(count_unique_metadata_by_filter)
    get_metadata_fields_info_async = _in_thread(get_metadata_fields_info)
    get_metadata_field_min_max_async = _in_thread(get_metadata_field_min_max)
    get_metadata_field_unique_values_async = _in_thread(get_metadata_field_unique_values)


_TYPES: Final[Mapping[type, str]] = {bool: "boolean", int: "int", float: "float"}


def _required(filters: Mapping[str, Any] | None) -> Where:
    condition = _condition(filters)
    if condition is None or condition == where():
        msg = "filters: must not be empty; delete_all_documents deletes all documents"
        raise FilterError(msg)
    return condition


def _value_at(memory: Memory, path: str) -> object:
    """Return a value of ``meta``, None if there is none; a key with dots in it comes first."""
    value = resolver(path)(memory.metadata)
    return None if value is MISSING else value


def _hashable(value: object) -> object:
    """Return a JSON value as one that sets distinguish: 1, 1.0, True and "1" differ."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return type(value), value


# -- retrievers ------------------------------------------------------------------------------------


class _Retriever:
    """Filters, limits and documents of both retrievers."""

    def __init__(
        self,
        document_store: OneirosDocumentStore,
        filters: dict[str, Any] | None,
        top_k: int,
        filter_policy: FilterPolicy | str,
        *,
        return_embedding: bool,
    ) -> None:
        require_instance(
            "document_store", document_store, (OneirosDocumentStore,), "a OneirosDocumentStore"
        )
        count("top_k", top_k, low=1)
        self.document_store = document_store
        self.filters = filters
        self.top_k = top_k
        self.filter_policy = (
            FilterPolicy.from_str(filter_policy)
            if isinstance(filter_policy, str)
            else filter_policy
        )
        self.return_embedding = require_flag("return_embedding", return_embedding)

    def _found(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        **options: Any,
    ) -> dict[str, list[Document]]:
        merged = apply_filter_policy(self.filter_policy, self.filters, filters)
        response = found_by_message(
            self.document_store.memories,
            query,
            k=self.top_k if top_k is None else top_k,
            where=_condition(merged),
            **options,
        )
        documents = [
            _document(memory, score, has_embedding=self.return_embedding)
            for memory, score in kept(response)
        ]
        return {"documents": documents}

    def _to_dict(self, **more: Any) -> dict[str, Any]:
        data: dict[str, Any] = default_to_dict(
            self,
            document_store=self.document_store.to_dict(),
            filters=self.filters,
            top_k=self.top_k,
            filter_policy=self.filter_policy.value,
            return_embedding=self.return_embedding,
            **more,
        )
        return data


@component
class OneirosEmbeddingRetriever(_Retriever):
    """Retrieves the documents whose embeddings are nearest to that of the query.

    It searches under the profile ``cosine``: scores are cosines, -1 to 1, and it returns ``top_k``
    documents if as many with an embedding match. Retrieving never counts as a use of a document.

    Args:
        document_store: the documents.
        filters: Haystack's filters.
        top_k: most documents to return, >= 1.
        filter_policy: REPLACE: filters of a run replace those given here; MERGE: both apply.
        return_embedding: whether documents come with their embedding.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> from haystack import Document
        >>> store = OneirosDocumentStore(":memory:")
        >>> store.write_documents([Document(content="tea", embedding=[1.0, 0.0])])
        1
        >>> OneirosEmbeddingRetriever(store).run([0.6, 0.8])["documents"][0].content
        'tea'
    """

    def __init__(
        self,
        document_store: OneirosDocumentStore,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        filter_policy: FilterPolicy | str = FilterPolicy.REPLACE,
        *,
        return_embedding: bool = False,
    ) -> None:
        _Retriever.__init__(  # @component makes another class, which super() does not know
            self, document_store, filters, top_k, filter_policy, return_embedding=return_embedding
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of the constructor, for pipelines in YAML."""
        return self._to_dict()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OneirosEmbeddingRetriever:
        """Return the retriever that :meth:`to_dict` described."""
        restored: OneirosEmbeddingRetriever = _restored(cls, data)
        return restored

    @component.output_types(documents=list[Document])
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:
        """Return the nearest documents, nearest first, as ``{"documents": [...]}``.

        Args:
            query_embedding: the vector of the query.
            filters: Haystack's filters, applied as ``filter_policy`` says.
            top_k: most documents to return, >= 0. Default: that of the constructor.

        Raises:
            FilterError, ValueError, TypeError: an argument breaks its rule.
        """
        _require_vector(query_embedding)
        return self._found("", filters, top_k, embedding=query_embedding, profile="cosine")

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:
        """Await :meth:`run`."""
        return await asyncio.to_thread(self.run, query_embedding, filters, top_k)


@component
class OneirosHybridRetriever(_Retriever):
    """Retrieves documents by the words of the query and, with an embedding, by its meaning.

    Args:
        document_store: the documents.
        filters: Haystack's filters.
        top_k: most documents to return, >= 1.
        filter_policy: as in :class:`OneirosEmbeddingRetriever`.
        profile: the ranking. "rrf" joins BM25 and cosine by reciprocal ranks, "bm25" searches words
            alone, and "oneiros" ranks by use, age and trust, too. The first two return ``top_k``
            documents if as many match; "oneiros" may return fewer, or none if none is relevant.
        reinforce: whether retrieving counts as a use of the documents. It needs a profile with
            reinforcement, such as "oneiros".
        return_embedding: whether documents come with their embedding.

    Raises:
        TypeError, ValueError: an argument breaks its rule; the profile's when it runs.

    Examples:
        >>> from haystack import Document
        >>> store = OneirosDocumentStore(":memory:")
        >>> store.write_documents([Document(content="Ada likes tea"), Document(content="milk")])
        2
        >>> OneirosHybridRetriever(store, profile="bm25").run("tea")["documents"][0].content
        'Ada likes tea'
    """

    def __init__(
        self,
        document_store: OneirosDocumentStore,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        filter_policy: FilterPolicy | str = FilterPolicy.REPLACE,
        *,
        profile: str | Profile = "rrf",
        reinforce: bool = False,
        return_embedding: bool = False,
    ) -> None:
        _Retriever.__init__(  # @component makes another class, which super() does not know
            self, document_store, filters, top_k, filter_policy, return_embedding=return_embedding
        )
        self.profile = profile
        self.reinforce = require_flag("reinforce", reinforce)

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of the constructor, for pipelines in YAML.

        Raises:
            ValueError: the profile was given as a ``Profile``, not by its name.
        """
        if not isinstance(self.profile, str):
            msg = "to_dict: name the profile, after oneiros.profiles.register, to serialize it"
            raise ValueError(msg)  # noqa: TRY004 - the type is right, only not for this
        return self._to_dict(profile=self.profile, reinforce=self.reinforce)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OneirosHybridRetriever:
        """Return the retriever that :meth:`to_dict` described."""
        restored: OneirosHybridRetriever = _restored(cls, data)
        return restored

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        query_embedding: list[float] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:
        """Return the best documents, best first, as ``{"documents": [...]}``.

        Args:
            query: the question or words.
            query_embedding: its vector. Default: from the embedder of the engine, if it has one.
            filters: Haystack's filters, applied as ``filter_policy`` says.
            top_k: most documents to return, >= 0. Default: that of the constructor.

        Raises:
            FilterError, ValueError, TypeError: an argument breaks its rule.
        """
        return self._found(
            query,
            filters,
            top_k,
            embedding=query_embedding,
            profile=self.profile,
            reinforce=self.reinforce,
        )

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        query_embedding: list[float] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:
        """Await :meth:`run`."""
        return await asyncio.to_thread(self.run, query, query_embedding, filters, top_k)


def _require_vector(embedding: object) -> None:
    if embedding is None:
        msg = "query_embedding: must be a vector, got None, as documents have without an embedding"
        raise TypeError(msg)


def _restored(kind: Any, data: dict[str, Any]) -> Any:
    """Return a retriever from its dict, with the document store in it."""
    parameters = dict(data.get("init_parameters", {}))
    if isinstance(parameters.get("document_store"), Mapping):
        parameters["document_store"] = OneirosDocumentStore.from_dict(parameters["document_store"])
    return default_from_dict(kind, {**data, "init_parameters": parameters})
