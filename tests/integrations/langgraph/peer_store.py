"""The classes that the tests of LangGraph's own stores construct, over an engine.

``PEER_STORE=null`` puts a store that stores nothing in the place of ours: tests that still pass do
not test a store.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langgraph.store.base import BaseStore, ListNamespacesOp, Op, Result, SearchOp

import oneiros
from oneiros.integrations.langgraph import OneirosStore

__all__ = ["AsyncSqliteStore", "InMemoryStore", "SqliteStore"]


class NullStore(BaseStore):
    """Keeps nothing and finds nothing."""

    supports_ttl = True

    def __init__(self, memories: Any, *, index: Any = None, ttl: Any = None) -> None:
        self.memories, self.index_config, self.ttl_config = memories, index, ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [[] if isinstance(op, SearchOp | ListNamespacesOp) else None for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)

    def sweep_ttl(self) -> int:
        return 0


Store: Any = NullStore if os.environ.get("PEER_STORE") == "null" else OneirosStore


class InMemoryStore(Store):
    def __init__(self, *, index: Any = None) -> None:
        super().__init__(oneiros.Engine(":memory:"), index=index)


class SqliteStore(Store):
    @classmethod
    def over(cls, engine: oneiros.Engine, index: Any, ttl: Any) -> Any:
        store = cls(engine, index=with_fields(index), ttl=ttl)
        store.index_config = index  # with the names of its keys
        return store

    @classmethod
    @contextmanager
    def from_conn_string(cls, path: str, *, index: Any = None, ttl: Any = None) -> Iterator[Any]:
        with oneiros.Engine(path) as engine:
            yield cls.over(engine, index, ttl)

    def setup(self) -> None:
        """The engine makes its tables itself."""


class AsyncSqliteStore(SqliteStore):
    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, path: str, *, index: Any = None, ttl: Any = None
    ) -> AsyncIterator[Any]:
        with oneiros.Engine(path) as engine:
            yield cls.over(engine, index, ttl)

    async def setup(self) -> None:
        """The engine makes its tables itself."""

    async def sweep_ttl(self) -> int:
        return super().sweep_ttl()


def with_fields(index: Any) -> Any:
    """Return a configuration of SqliteStore with the name that LangGraph documents for its paths."""
    if index is None:
        return None
    others = {name: index[name] for name in index if name in ("dims", "embed", "fields")}
    fields = index.get("text_fields")
    return others if fields is None else {**others, "fields": fields}
