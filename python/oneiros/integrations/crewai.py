"""A storage backend for CrewAI's memory. Install ``oneiros[crewai]``.

A record is a memory: its scope is the ``namespace``, its categories the ``labels``, its source the
``source_ref``.

    >>> from crewai.memory.types import MemoryRecord
    >>> from oneiros.integrations.crewai import OneirosStorage
    >>> storage = OneirosStorage(":memory:")
    >>> storage.save([MemoryRecord(content="Ada likes tea", scope="/ada", embedding=[1.0, 0.0])])
    >>> [record.content for record, score in storage.search([1.0, 0.0], scope_prefix="/ada")]
    ['Ada likes tea']
"""

from __future__ import annotations

import asyncio
import operator
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, Self

from oneiros._lazy import needed
from oneiros.filters import meta, where
from oneiros.integrations.opening import Opening, remove
from oneiros.model.validation import require_flag, require_instance, require_text
from oneiros.search.records import kept

needed("crewai", "crewai")  # names the extra if it is missing

from crewai.memory.types import MemoryRecord, ScopeInfo

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.filters import Where
    from oneiros.model.memory import Memory

__all__ = ["OneirosStorage"]

_OWN: Final = "_crewai"
"""The key of metadata with what no field of a memory holds."""


class OneirosStorage:
    """A storage backend for ``crewai.Memory(storage=OneirosStorage("agent.db"))``.

    Searches rank by cosine under the profile ``cosine``, since CrewAI adds recency and importance
    itself. They never count as a use of a memory. Filters run in the engine. Awaitable methods run
    on a thread.

    Args:
        path: the store's file, opened by the first call; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``; not ``namespace``,
            which holds CrewAI's scopes.
        soft_delete: hide deleted records instead of erasing them.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> storage = OneirosStorage(":memory:", scope={"user": "ada"})
        >>> storage.count()
        0
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
        soft_delete: bool = False,
    ) -> None:
        _require_no_namespace("scope", scope or {})
        self._opening = Opening(path, scope)
        self._soft_delete = require_flag("soft_delete", soft_delete)

    @classmethod
    def over(cls, memories: Memories, *, soft_delete: bool = False) -> Self:
        """Return a backend over an open engine or a scope of one, whose owner closes it.

        Args:
            memories: an engine, or a scope of one without a namespace.
            soft_delete: as in the constructor.

        Raises:
            TypeError: neither an engine nor a scope.
            ValueError: a scope with a namespace.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosStorage.over(engine.scope(user="ada")).list_scopes()
            []
        """
        storage = cls(soft_delete=soft_delete)
        storage._opening = Opening.over(memories)
        _require_no_namespace("memories", memories.bounds)
        return storage

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, that holds the records."""
        return self._opening.memories

    def close(self) -> None:
        """Close the file if this backend opened it. The next call opens it again."""
        self._opening.close()

    # -- records -----------------------------------------------------------------------------------

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records in one transaction, and replace those whose ids exist.

        Args:
            records: with an embedding or without.

        Raises:
            ValueError, TypeError: a value that the engine refuses, such as a vector of another
                dimension or a scope of more than 16 segments. Nothing is written.
        """
        require_instance("records", records, (list, tuple), "a list of records")
        self.memories.add_many([_fields(record) for record in records], on_conflict="replace")

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id, or add it.

        Args:
            record: all its fields count; use recorded by the engine starts again.

        Raises:
            ValueError, TypeError: as :meth:`save`.
        """
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the nearest records with their cosine, 0 for negative ones, nearest first.

        Args:
            query_embedding: the vector of the query.
            scope_prefix: only records of this scope and those below it.
            categories: only records with one of these. None or []: all.
            metadata_filter: only records with these values. None or {}: all.
            limit: most records to return, >= 0.
            min_score: least score.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
        """
        response = self.memories.search(
            "",
            limit,
            embedding=query_embedding,
            profile="cosine",
            where=_selected(scope_prefix, categories, metadata_filter),
        )
        scored = [(_record(memory), max(0.0, score)) for memory, score in kept(response)]
        return [(record, score) for record, score in scored if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that meet all conditions given; without any, all records.

        Args:
            scope_prefix: as in :meth:`search`, as ``categories`` and ``metadata_filter``.
            categories: only records with one of these.
            record_ids: only these; [] matches none.
            older_than: only records created before; in UTC if it has no time zone.
            metadata_filter: only records with these values.

        Returns:
            The number of records deleted.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
        """
        condition = _selected(scope_prefix, categories, metadata_filter)
        if record_ids is not None:
            condition &= where(id=record_ids)
        if older_than is not None:
            require_instance("older_than", older_than, (datetime,), "a datetime")
            condition &= where(created_at=(None, _aware(older_than)))
        chosen = None if condition == where() else condition
        return remove(self.memories, chosen, erases=not self._soft_delete)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, or None for an id that no record has.

        Args:
            record_id: its id.
        """
        (memory,) = self.memories.get_many([record_id])
        return None if memory is None else _record(memory)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return records, newest first.

        Args:
            scope_prefix: as in :meth:`search`.
            limit: most records to return, >= 0.
            offset: number of records to skip, >= 0.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
        """
        page = self.memories.list(_below(scope_prefix), order="newest", limit=limit, offset=offset)
        return [_record(memory) for memory in page]

    def count(self, scope_prefix: str | None = None) -> int:
        """Return the number of records.

        Args:
            scope_prefix: as in :meth:`search`.
        """
        return self.memories.count(_below(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all records, or those of a scope and below it.

        Args:
            scope_prefix: as in :meth:`search`.
        """
        self.delete(scope_prefix)

    # -- scopes and categories ---------------------------------------------------------------------

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return the number of records, the categories, the times and the scopes below a scope.

        Args:
            scope: its path.
        """
        condition, memories = _below(scope), self.memories
        oldest = memories.list(condition, order="oldest", limit=1)
        newest = memories.list(condition, order="newest", limit=1)
        return ScopeInfo(
            path=_path(_namespace(scope)),
            record_count=memories.count(condition),
            categories=sorted(memories.values("labels", condition)),
            oldest_record=_naive(oldest[0].created_at) if oldest else None,
            newest_record=_naive(newest[0].created_at) if newest else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes one level below a scope, in alphabetical order.

        Args:
            parent: its path.
        """
        above = _namespace(parent)
        start = f"{above}/" if above else ""
        namespaces: Iterable[str] = self.memories.values("namespace", _below(parent))
        below = (name.removeprefix(start) for name in namespaces if name.startswith(start))
        children = {name.partition("/")[0] for name in below}
        return sorted(f"/{start}{child}" for child in children)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return category to number of records, the most frequent first.

        Args:
            scope_prefix: as in :meth:`search`.
        """
        return self.memories.values("labels", _below(scope_prefix))

    # -- asyncio -----------------------------------------------------------------------------------

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Await :meth:`save`."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Await :meth:`search`."""
        given = (query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        return await asyncio.to_thread(self.search, *given)

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Await :meth:`delete`."""
        given = (scope_prefix, categories, record_ids, older_than, metadata_filter)
        return await asyncio.to_thread(partial(self.delete, *given))


# -- translation -----------------------------------------------------------------------------------


def _require_no_namespace(name: str, bounds: Mapping[str, str]) -> None:
    if "namespace" in bounds:
        msg = f"{name}: must not bound namespace, which holds the scopes of records"
        raise ValueError(msg)


def _namespace(scope: str | None) -> str | None:
    """Return CrewAI's path ``"/a/b"`` as a namespace ``"a/b"``; None for the root."""
    if scope is None:
        return None
    require_text("scope", scope)
    return "/".join(filter(None, scope.split("/"))) or None


def _path(namespace: str | None) -> str:
    return f"/{namespace or ''}"


def _below(scope: str | None) -> Where:
    namespace = _namespace(scope)
    return where() if namespace is None else where(namespace=namespace)


def _selected(
    scope: str | None, categories: list[str] | None, metadata: dict[str, Any] | None
) -> Where:
    parts = [_below(scope)]
    if categories:
        parts.append(where(labels=categories))
    for key, value in (metadata or {}).items():
        path = meta([key])
        parts.append(path == value if value is not None else ~path.exists() | path.is_null())
    return reduce(operator.and_, parts)


def _aware(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _naive(seconds: float) -> datetime:
    """Return a time as CrewAI has it: in UTC, without a time zone."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _fields(record: MemoryRecord) -> dict[str, Any]:
    require_instance("record", record, (MemoryRecord,), "CrewAI's MemoryRecord")
    if _OWN in record.metadata:
        msg = f"metadata: the key {_OWN!r} is reserved, but record {record.id!r} has it"
        raise ValueError(msg)
    metadata = {**record.metadata, _OWN: {"private": True}} if record.private else record.metadata
    return {
        "id": record.id,
        "text": record.content,
        "namespace": _namespace(record.scope),
        "labels": record.categories,
        "metadata": metadata,
        "importance": record.importance,
        "created_at": _aware(record.created_at),
        "last_accessed_at": _aware(record.last_accessed),
        "embedding": record.embedding or None,
        "source_ref": record.source or None,
    }


def _record(memory: Memory) -> MemoryRecord:
    own = memory.metadata.get(_OWN)
    accessed = memory.last_accessed_at
    return MemoryRecord(
        id=memory.id,
        content=memory.text,
        scope=_path(memory.namespace),
        categories=list(memory.labels),
        metadata={key: value for key, value in memory.metadata.items() if key != _OWN},
        importance=memory.importance,
        created_at=_naive(memory.created_at),
        last_accessed=_naive(memory.created_at if accessed is None else accessed),
        embedding=None if memory.embedding is None else memory.embedding.tolist(),
        source=memory.source_ref,
        private=isinstance(own, Mapping) and own.get("private") is True,
    )
