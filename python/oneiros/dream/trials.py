"""Copies of a store to try a dream plan on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from oneiros._lazy import np
from oneiros.models.embedders import check, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.dream.plan import DreamPlan
    from oneiros.engine import Engine
    from oneiros.engine.scope import EngineServices
    from oneiros.models.embedders import Embedder

__all__ = ["StoreTrials"]

_COPY: Final = "copy.db"


class StoreTrials:
    """Implements :class:`oneiros.dream.impact.StoreCopies` for an engine; a context manager.

    Every plan is tried on a copy of one copy, so that all start from the same bytes. Vector search
    is exact, since an approximate index may give other results each time it is built. Each text is
    embedded once, and each query expanded once.

    Args:
        open_engine: the class of the engine, to open the copies.
        services: of the engine.
        now: the time that the clock of the copies shows.
    """

    def __init__(self, open_engine: type[Engine], services: EngineServices, now: float) -> None:
        self._open = open_engine
        self._services = services
        self._now = now
        embedder = services.sync.vectors.embedder
        self._embedder = None if embedder is None else _CachingEmbedder(embedder)
        self._expander = None if services.expander is None else cache(services.expander)
        self._folder = TemporaryDirectory(prefix="oneiros-impact-")
        self._copy = Path(self._folder.name) / _COPY

    def __enter__(self) -> Self:
        try:
            self._services.store.backup(self._copy)
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def answers(
        self, queries: Sequence[str], count: int, plan: DreamPlan | None = None
    ) -> list[list[str]]:
        """Return the ids of the top results, see :class:`oneiros.dream.impact.StoreCopies`."""
        if plan is None:
            return self._searched(self._copy, queries, count, None)
        with TemporaryDirectory(dir=self._folder.name) as folder:
            path = Path(folder) / _COPY
            copyfile(self._copy, path)
            snapshot = Path(f"{self._copy}-snapshot")
            if snapshot.exists():  # small stores have none
                copyfile(snapshot, f"{path}-snapshot")
            return self._searched(path, queries, count, plan)

    def _searched(
        self, path: Path, queries: Sequence[str], count: int, plan: DreamPlan | None
    ) -> list[list[str]]:
        with self._open(
            path,
            profile=self._services.profile,
            embedder=self._embedder,
            reranker=self._services.reranker,
            query_expander=self._expander,
            vector_index="flat",
            clock=lambda: self._now,
            durability="normal",
        ) as engine:
            if plan is not None:
                engine._scope.services.remember.cycles.apply_cycle(plan, is_of_copy=True)
            return [engine.search(query, count, reinforce=False).ids for query in queries]


class _CachingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = name_of(embedder)
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}

    def __call__(self, texts: list[str]) -> Any:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            vectors = check(self._embedder(missing), len(missing))
            self._vectors.update(zip(missing, vectors, strict=True))
        return np.stack([self._vectors[text] for text in texts])
