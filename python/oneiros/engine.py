"""The engine: one store of memories, opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, get_args

from oneiros.argument_checks import (
    require_callable,
    require_choice,
    require_flag,
)
from oneiros.bounded import Parts, checked_profile
from oneiros.channels import Kind
from oneiros.clock import Clock, system_clock
from oneiros.embedders import name_of
from oneiros.errors import MissingEmbedderWarning
from oneiros.indexing_options import checked_options, recorded_options
from oneiros.inspecting import Inspecting
from oneiros.keeping_dreaming import KeepingDreaming
from oneiros.memories import Memories
from oneiros.named_calls import named_calls
from oneiros.projections import Projections
from oneiros.remember import Remember
from oneiros.rerank import require_reranker
from oneiros.store import Reading, Store
from oneiros.store.connections import MEMORY
from oneiros.store.embedding_bytes import decoded_later
from oneiros.watching import Watch, require_watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from oneiros.dream.impact import Trials
    from oneiros.embedders import Embedder
    from oneiros.query.expander import Expander
    from oneiros.ranking.profile import Profile
    from oneiros.rerank import Reranker

__all__ = ["Engine"]


@named_calls("Engine")
class Engine(KeepingDreaming, Inspecting, Memories):
    """Memories in one file: added, found, ranked by how alive they are, strengthened by use.

    Safe to use from many threads; many processes may open one file, each follows the others.

    Args:
        path: the store's file, made when it does not exist; ":memory:" for none.
        profile: how to rank, by name or as a ``Profile``; default: the house's own.
        embedder: callable ``list[str] -> array (n, dim)`` with a ``name``; None: memories and
            searches are found by meaning only where ``embedding=`` is given.
        reranker: judges the first results of a search again: a callable (query, texts) -> scores, or
            an object with ``predict(pairs)``; None: nobody. See :mod:`oneiros.rerank`.
        query_expander: says a conceptual question in other words, which are searched, too, where the
            profile reads questions and fuses ranks (OMEGA): a callable query -> texts, or ->
            :class:`oneiros.query.expander.Rephrased` to count tokens; None: nobody.
        analyzer: a name of :data:`oneiros.analyzers.NAMES` ("english", "german", "simple", "code",
            "cjk", ...); None: what the store was last opened with, at first "english". So too ``variant`` ("lucene"), ``k1`` and ``b`` (at first the profile's).
        variant: BM25 as "lucene", "robertson", "atire", "bm25plus" or "bm25l".
        k1: BM25's term saturation, >= 0.
        b: BM25's length normalisation, in [0, 1].
        title_weight: how much a word of the title counts beside one of the text (BM25F), a multiple
            of 0.25 from 0.25 to 8; None: as recorded, at first 2.
        tags_weight: the same of a word of the tags; at first 1.5.
        vector_index: "auto" (exact up to a size, HNSW above), "flat" or "hnsw". The graph of a store
            that is opened again is read in the background, from the second query by a vector on;
            until it is there, a fraction of a second later, answers are exact.
        durability: "full" survives a power cut, "normal" a crash of the process.
        busy_timeout_seconds: how long a write waits for another process's.
        clock: returns seconds since the Unix epoch; the only clock there is.
        auto_refresh: follow other processes' commits before each search.
        watch: who is there while a search runs, such as
            :class:`oneiros.integrations.tracing.Spans`; None: nobody, at no cost.

    Warns:
        MissingEmbedderWarning: the store's vectors come from an embedder, and none is given.

    Raises:
        StoreCorrupt: the file is damaged or is not a store.
        StoreVersionError: a newer version wrote it.
        EmbedderMismatch: its vectors come from another embedder.
        ValueError, TypeError: an argument breaks its rule.
    """

    _is_quiet = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        profile: Profile | str = "oneiros",
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        query_expander: Expander | None = None,
        analyzer: str | None = None,
        variant: str | None = None,
        k1: float | None = None,
        b: float | None = None,
        title_weight: float | None = None,
        tags_weight: float | None = None,
        vector_index: Kind = "auto",
        durability: str = "full",
        busy_timeout_seconds: float = 5.0,
        clock: Clock = system_clock,
        auto_refresh: bool = True,
        watch: Watch | None = None,
    ) -> None:
        chosen = checked_profile(profile)
        asked = checked_options(
            analyzer=analyzer,
            variant=variant,
            k1=k1,
            b=b,
            title_weight=title_weight,
            tags_weight=tags_weight,
        )
        require_choice("vector_index", vector_index, get_args(Kind))
        require_callable("clock", clock, "a callable that returns seconds")
        require_flag("auto_refresh", auto_refresh)
        require_watch("watch", watch)
        if embedder is not None:
            name_of(embedder)
        if reranker is not None:
            require_reranker("reranker", reranker)
        if query_expander is not None:
            require_callable("query_expander", query_expander, "a callable query -> texts")
        store = Store(
            path,
            durability=durability,
            busy_timeout_seconds=busy_timeout_seconds,
            decode_embedding=decoded_later,
        )
        try:
            options = recorded_options(store, asked, chosen)
            projections = Projections(options, vector_index=vector_index)
            remember = Remember(store, projections, embedder)
        except BaseException:
            store.close()
            raise
        has_others = store.path != MEMORY
        follows = auto_refresh and has_others
        parts = Parts(
            store=store,
            projections=projections,
            remember=remember,
            clock=clock,
            profile=chosen,
            auto_refresh=follows,
            trials=_trials,
            watch=watch,
            reranker=reranker,
            expander=query_expander,
            is_quiet=self._is_quiet,
        )
        super().__init__(parts, bounds={})
        self._options = options
        self._tell_interrupted()
        made_by = remember.vectors.recorded_name
        if embedder is None and made_by is not None:
            try:
                self._warn_without_embedder(made_by)
            except Warning:  # where warnings are errors
                self.close()
                raise

    def flush(self) -> None:
        """Write the waiting reinforcement to the store now.

        Raises:
            What an earlier write in the background failed with, if it did.
        """
        self._parts.remember.write_events()

    def refresh(self) -> None:
        """Follow the commits of other processes now."""
        self._parts.remember.follow()

    def backup(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Copy the store to a new file, consistent, while it is in use.

        The copy appears whole or not at all, readable by its owner only; links are not followed.

        Args:
            path: of the copy.
            replace: whether a file of that name may be replaced.

        Raises:
            ValueError, TypeError: no path for a file, the store's own, or that of a file that
                exists and is not to be replaced.
            OSError: the copy cannot be written.
        """
        require_flag("replace", replace)
        target = self._foreign(path)
        if not replace and os.path.lexists(target):
            msg = f"path: must be a new file without replace=True, got {str(target)!r}"
            raise ValueError(msg)
        self._parts.remember.write_events(is_told=False)
        self._parts.store.backup(target)

    def embed_missing(self, *, progress: bool = False) -> int:
        """Embed the live memories that lack a vector, such as those added without an embedder.

        The embedder gets 256 texts a call, and each batch is committed by itself: call it again
        after an error or an interrupt, and it continues with the rest. Other writers do not wait for
        the embedder. Memories with a blank text, stubs, and texts for which the embedder gives a
        zero vector have none and are not counted as missing. :meth:`stats` has the number of the
        missing ones under ``without_vector``.

        Args:
            progress: show a bar on the error stream.

        Returns:
            How many memories got a vector.

        Raises:
            ValueError: the engine has no embedder.
            TypeError, ValueError: the embedder returned something that is no array of vectors, or
                vectors of another width than the store's.
            EmbedderMismatch: the store's vectors were replaced by another embedder's meanwhile.
        """
        from oneiros.display import progress_bar  # noqa: PLC0415 - few embed a whole store

        require_flag("progress", progress)
        total = self._count(Reading.count_without_vector) if progress else None
        with progress_bar("embedding", total) as advance:
            return self._parts.remember.embed_missing(advance)

    def reembed(self, embedder: Embedder, *, resume: bool = True, progress: bool = False) -> int:
        """Replace every vector by this embedder's, and use it for searches from then on.

        The new vectors are stored apart, 256 a commit, and replace all old ones in one transaction
        once they are complete. A damaged memory gets none, and loses the old one; :meth:`stats`
        counts them. Until then searches use the old vectors, in every process and after
        a reopen, and other writers do not wait for the embedder. After an error, an interrupt or a
        crash call it again with the same embedder: it continues where it stopped.

        Args:
            embedder: as the engine takes it.
            resume: keep the vectors that an unfinished call for an embedder of this name made; False:
                make all again.
            progress: show a bar on the error stream.

        Returns:
            How many memories were embedded, soft-deleted ones too.

        Raises:
            TypeError, ValueError: the argument is no embedder, or it returned no array of vectors.
                The old vectors stay.
            EmbedderMismatch: another call began to replace the vectors by another embedder's.
        """
        from oneiros.display import progress_bar  # noqa: PLC0415 - few embed a whole store

        name_of(embedder)
        require_flag("resume", resume)
        require_flag("progress", progress)
        total = self._count(Reading.count) if progress else None
        with progress_bar("embedding", total) as advance:
            return self._parts.remember.reembed(embedder, resume=resume, advance=advance)

    def _count(self, count: Callable[[Reading], int]) -> int:
        with self._parts.store.read() as reading:
            return count(reading)

    def _warn_without_embedder(self, name: str) -> None:
        msg = (
            f"the store's vectors were made by {name!r}, and this engine has no embedder: memories "
            "added or changed now get no vector, and searches use words alone. Open it with "
            "embedder=; embed_missing() makes the vectors that are missing"
        )
        from oneiros.warning_places import warn  # noqa: PLC0415 - once an engine, if at all

        warn(msg, MissingEmbedderWarning)

    def close(self) -> None:
        """Write what waits, and let the file go. Closing twice is once."""
        self._stop_dreaming()
        self._shared.remember.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Engine {str(self._shared.store.path)!r}, {self._state()}>"


class QuietEngine(Engine):
    """An engine that does not warn when it lacks the store's embedder."""

    _is_quiet = True

    def _warn_without_embedder(self, name: str) -> None:
        """Do not warn."""


def _trials(parts: Parts, now: float) -> AbstractContextManager[Trials]:
    """Return copies of an engine's store for a block, their clock standing still."""
    from oneiros.dream_trials import StoreTrials  # noqa: PLC0415 - few try

    return StoreTrials(QuietEngine, parts, now)
