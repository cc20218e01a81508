"""The engine: an open store of memories."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, get_args, overload

from oneiros import dream, engine, models
from oneiros._lazy import require_installed
from oneiros.clock import Clock, system_clock
from oneiros.engine.memories import Memories
from oneiros.engine.scope import EngineServices, Scope, Watch, checked_watch, watched
from oneiros.errors import MissingEmbedderWarning, StoreBusy
from oneiros.index import ReadModel
from oneiros.index.read_model import checked_options, recorded_options
from oneiros.model.calls import named_calls
from oneiros.model.validation import (
    count,
    require_callable,
    require_choice,
    require_flag,
    require_instance,
    require_number,
    seconds_of,
)
from oneiros.model.zones import checked_zone
from oneiros.models.embedders import name_of
from oneiros.runtime.warnings import warn
from oneiros.scoring.profiles import resolved
from oneiros.store import Store
from oneiros.store.connections import MEMORY
from oneiros.store.history import checked_keeping, record_keeping
from oneiros.vector_index import DEFAULT_RECALL, Kind
from oneiros.write.sync import Sync

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import timedelta, tzinfo
    from typing import Any, Literal, Self

    from oneiros.clock import Time
    from oneiros.dream.cycles import Judge, Summarise
    from oneiros.dream.drift import Drift
    from oneiros.dream.impact import StoreTrials
    from oneiros.dream.lock import Begun
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.dream.schedule import Dreamer, DreamSchedule, OnCycle
    from oneiros.engine.observers import Callback, Observation, WatchedCalls
    from oneiros.index import LexicalOptions
    from oneiros.models.embedders import Embedder
    from oneiros.models.rerankers import Reranker
    from oneiros.scoring.phases.house import Budget
    from oneiros.scoring.profile import Profile
    from oneiros.search.query.expansion import Expander
    from oneiros.write.erase import Erasure

__all__ = ["Engine", "QuietEngine"]


@named_calls("Engine")
class Engine(Memories):
    """A store of memories in one file: add, search, rank, maintain.

    Threads can share an engine. Several processes can open the same file; each follows the commits
    of the others. Use it as a context manager, or call :meth:`close`.

    Args:
        path: the store's file, created if it does not exist; ":memory:" keeps the store in memory.
        profile: the ranking, by name or as a ``Profile``. Default: "oneiros".
        embedder: "hashing" for the one in the box, which finds parts and other forms of
            words, another name of :func:`oneiros.models.named.make`, or a callable
            ``list[str] -> array (n, dim)``: an object with a ``name`` or a plain function, whose
            name is its module and qualified name. The store records the name, so that vectors of
            two models are never compared. Default: none, and only memories and searches with
            ``embedding=`` use vectors.
        reranker: scores the first results of a search again: a callable (query, texts) -> scores or
            an object with ``predict(pairs)``. Default: none. See :mod:`oneiros.models.rerankers`.
        query_expander: a callable query -> texts, or ->
            :class:`oneiros.search.query.expansion.Rephrased` to count tokens, that rephrases
            conceptual questions. The rephrasings are searched, too, where the profile reads
            questions and fuses ranks (OMEGA). Default: none.
        analyzer: a name of :data:`oneiros.analyzers.NAMES` ("english", "german", "simple",
            "code", "cjk", ...). None, for this and the next six arguments, keeps the setting with
            which the store was last opened. A new store uses "english".
        variant: the BM25 variant: "lucene" (in a new store), "robertson", "atire", "bm25plus" or
            "bm25l".
        k1: BM25's term saturation, >= 0; in a new store the profile's.
        b: BM25's length normalisation, in [0, 1]; in a new store the profile's.
        half_length: the average length, in words, that halves ``b``, >= 0 (see
            :class:`oneiros.LexicalIndex`); 0 where ``b`` is given and is not the store's, else in a new
            store the profile's.
        title_weight: weight of a word in the title relative to one in the text (BM25F), a multiple
            of 0.25 from 0.25 to 8; in a new store the profile's, which is 2 in most.
        tags_weight: the same for a word in the tags; in a new store 1.5.
        title_length: share of ``title_weight`` that a word in the title adds to the length of its
            text, 0 to 1; in a new store the profile's, which is 1 in most. Times ``title_weight``, it
            is a multiple of 0.25.
        vector_index: "auto" (exact up to 10,000 vectors, HNSW above), "flat" (exact) or "hnsw". The
            HNSW graph of an existing store loads in the background from the second vector search
            on, for a fraction of a second, or is built then if none was kept; until it is ready,
            searches are exact. HNSW needs FAISS
            (``pip install 'oneiros[faiss]'``); without it, "auto" stays exact.
        vector_recall: the share of the exact nearest vectors that HNSW should find, in (0, 1]. The
            engine measures it on a sample of the store's vectors when it builds the graph, and
            searches as widely as is needed, or exactly where that is cheaper; :meth:`stats` has the
            figures. The narrowest search finds about .99 of those of texts, so that a lower share
            changes nothing there.
        durability: "full" survives a power cut, "normal" a crash of the process.
        busy_timeout_seconds: seconds (or a ``timedelta``) that a write waits for the write of
            another process.
        clock: a callable that returns seconds since the Unix epoch, the only clock the engine
            reads. Writes call it, so it must neither use the engine nor wait for a thread that does.
        auto_refresh: follow the commits of other processes before each search.
        watch: an observer of searches, and of calls that write, such as
            :class:`oneiros.integrations.tracing.Spans`, or a list of them. Default: none, at no
            cost.
        observers: callables that get an :class:`oneiros.Event` after each call that changed or
            searched memories, as :meth:`observe` adds them. Default: none, at no cost.
        timezone: the time zone in which methods read a naive ``datetime`` or an ISO 8601 text
            without an offset: a name such as "Europe/Berlin" or a ``tzinfo``. Days and hours that
            a query names ("yesterday") are those of the zone, too. Filters are made without an
            engine, and take aware times only. Default: such times are refused, and days are those
            of UTC.
        history: what the store keeps of what it replaces (docs/guide/history.md). "content" (in a
            new store): former texts and fields, for :meth:`history` and ``get(as_of=...)``. "all":
            also states that use and dream cycles change, and links, for ``search(as_of=...)``.
            "off": nothing, and what was kept is erased. None, for this and the next two arguments,
            keeps the setting of the store.
        history_limit: most changes kept for a memory, >= 1; ``math.inf`` keeps all. In a new store
            64, with "all" as many as there are.
        history_age: seconds (or a ``timedelta``) for which changes are kept at least, after which
            they are erased; ``math.inf``, as in a new store, keeps them for good.
        read_only: write no file at all, for stores on read-only media or owned by others. The file
            must exist and be of this version. Searches never reinforce, and methods that write
            raise :class:`EngineReadOnly`. Commits of other processes are followed. Arguments that a
            store records, such as ``analyzer``, apply to this engine alone.

    Warns:
        MissingEmbedderWarning: an embedder made the store's vectors, and none is given.

    Raises:
        StoreCorrupt: the file is damaged or is not a store.
        StoreVersionError: a newer version wrote the file; with ``read_only``, also an older one.
        StoreIOError: with ``read_only``, the file is missing or cannot be read without writing.
        EmbedderMismatch: another embedder made the store's vectors.
        ImportError: ``vector_index`` is "hnsw" and FAISS is not installed.
        ImportError: a named embedder's library is not installed.
        ValueError, TypeError: an argument breaks its rule.

    Examples:
        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada likes her coffee black", id="coffee")
        ...     engine.search("coffee").ids
        ['coffee']
    """

    _is_quiet = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        profile: Profile | str = "oneiros",
        embedder: Embedder | str | None = None,
        reranker: Reranker | None = None,
        query_expander: Expander | None = None,
        analyzer: str | None = None,
        variant: str | None = None,
        k1: float | None = None,
        b: float | None = None,
        half_length: float | None = None,
        title_weight: float | None = None,
        tags_weight: float | None = None,
        title_length: float | None = None,
        vector_index: Kind = "auto",
        vector_recall: float = DEFAULT_RECALL,
        durability: str = "full",
        busy_timeout_seconds: float | timedelta = 5.0,
        clock: Clock = system_clock,
        auto_refresh: bool = True,
        watch: Watch | Sequence[Watch] | None = None,
        observers: Iterable[Callback] | None = None,
        timezone: str | tzinfo | None = None,
        history: str | None = None,
        history_limit: float | None = None,
        history_age: float | timedelta | None = None,
        read_only: bool = False,
    ) -> None:
        chosen = resolved(profile)
        given_options = checked_options(
            analyzer=analyzer,
            variant=variant,
            k1=k1,
            b=b,
            half_length=half_length,
            title_weight=title_weight,
            tags_weight=tags_weight,
            title_length=title_length,
        )
        require_choice("vector_index", vector_index, get_args(Kind))
        if vector_index == "hnsw":
            require_installed("faiss", "faiss")
        recall = require_number("vector_recall", vector_recall, low=0, high=1, above_low=True)
        require_callable("clock", clock, "a callable that returns seconds")
        require_flag("auto_refresh", auto_refresh)
        require_flag("read_only", read_only)
        watching = checked_watch("watch", watch)
        callbacks = () if observers is None else engine.observers.checked_observers(observers)
        zone = checked_zone(timezone)
        if isinstance(embedder, str):
            embedder = models.named.make(embedder)
        if embedder is not None:
            name_of(embedder)
        if reranker is not None:
            models.rerankers.require_reranker("reranker", reranker)
        if query_expander is not None:
            require_callable("query_expander", query_expander, "a callable query -> texts")
        keeping = checked_keeping(history, history_limit, history_age)
        calls: WatchedCalls | None = None
        calling = None if self._is_quiet else getattr(watching, "calling", None)
        if calling is not None:
            calls = engine.observers.WatchedCalls(calling)

        def opened() -> tuple[Store, LexicalOptions, ReadModel, Sync]:
            store = self._open_store(
                path,
                durability=durability,
                busy_timeout_seconds=seconds_of(busy_timeout_seconds),
                clock=clock,
                read_only=read_only,
            )
            try:
                options = recorded_options(store, given_options, chosen)
                if not read_only:
                    record_keeping(store, keeping)
                read_model = ReadModel(options, vector_index=vector_index, vector_recall=recall)
                try:
                    sync = Sync(store, read_model, embedder)
                except StoreBusy:  # the file was changed while it was read; now it has a log
                    if not read_only:
                        raise
                    read_model = ReadModel(options, vector_index=vector_index, vector_recall=recall)
                    sync = Sync(store, read_model, embedder)
            except BaseException:
                store.close()
                raise
            return store, options, read_model, sync

        if calls is None:
            store, options, read_model, sync = opened()
        else:
            with ExitStack() as undo:
                with calls.around("open") as report:
                    store, options, read_model, sync = opened()
                    undo.callback(sync.close)
                    report(None)
                undo.pop_all()

        services = EngineServices(
            store=store,
            read_model=read_model,
            sync=sync,
            clock=clock,
            profile=chosen,
            auto_refresh=auto_refresh and store.path != MEMORY,
            trials=_trials,
            watch=watching,
            calls=calls,
            reranker=reranker,
            expander=query_expander,
            is_quiet=self._is_quiet,
            zone=zone,
        )
        super().__init__(Scope(services, bounds={}))
        if calls is not None:
            engine.observers.Observation(services, calls.take).start()
        for callback in callbacks:
            engine.observers.Observation(services, callback).start()
        self._options = options
        self._dreamer: Dreamer | None = None
        if not services.cycles.is_clean:
            dream.history.log_interrupted(services)
        recorded_embedder = sync.vectors.recorded_name
        if embedder is None and recorded_embedder is not None:
            try:
                self._warn_without_embedder(recorded_embedder)
            except Warning:  # a filter turns warnings into errors
                self.close()
                raise

    @property
    def _parts(self) -> EngineServices:
        """The services. External benchmarks use this name."""
        return self._scope.services

    @property
    def path(self) -> str:
        """The absolute path of the store's file, links resolved; ":memory:" for a store in memory.

        Examples:
            >>> import oneiros
            >>> oneiros.Engine(":memory:").path
            ':memory:'
        """
        return str(self._scope.shared.store.path)

    @property
    def embedder_name(self) -> str | None:
        """The name of the embedder that made the store's vectors; None if none did.

        It is the name that the store records with the first vector, whether or not this engine was
        opened with that embedder. Vectors that were passed as ``embedding`` have no name.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:", embedder="hashing")
            >>> id = engine.add("tea")
            >>> engine.embedder_name
            'oneiros/hashing-1-512'
        """
        return self._scope.services.sync.vectors.recorded_name

    def flush(self) -> None:
        """Write pending reinforcement to the store now.

        Raises:
            Exception: the error of an earlier background write that failed.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> response = engine.search("tea")
            >>> engine.flush()
        """
        self._scope.services.sync.write_events()

    def refresh(self) -> None:
        """Apply the commits of other processes now.

        Needed only with ``auto_refresh=False``, or to see at once what searches of other processes
        counted; otherwise each search does it.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:", auto_refresh=False)
            >>> engine.refresh()
        """
        self._scope.services.sync.follow()

    # -- observe -----------------------------------------------------------------------------------

    def observe(self, callback: Callback) -> Observation:
        """Call a function after each call that changed or searched memories.

        It gets one :class:`oneiros.Event`, on the thread that made the call, after the commit and
        without any lock held, so it may call the engine itself; it gets no events of its own calls.
        Calls through scopes count, too. An exception stops neither the call nor other observers;
        the first one of each observer is logged as a warning. ``KeyboardInterrupt`` passes.

        A batch has one event with all ids; one that adds and updates has an event of each kind.
        Background reinforcement, :meth:`embed_missing` and :meth:`reembed` have none, nor have
        commits of other engines and processes. An interrupted call may have committed without an
        event. :meth:`changes` lists every change.

        Args:
            callback: a plain callable; its result is ignored.

        Returns:
            An ``Observation``: call ``close()``, or use it as a context manager. Closing the engine
            ends it.

        Raises:
            TypeError: not callable, or a coroutine function.
            EngineClosed: the engine is closed.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> with engine.observe(lambda event: print(event.kind, event.ids)):
            ...     id = engine.add("tea", id="tea")
            ...     engine.pin("tea")
            add ('tea',)
            update ('tea',)
        """
        checked = engine.observers.checked_callback("callback", callback)
        return engine.observers.Observation(self._scope.services, checked).start()

    # -- maintenance -------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return counts and sizes of the store and its read model.

        ``vector_search`` is None, or says how vectors are searched now: the ``method``, "exact" or
        "hnsw", and the ``target_recall``. With a graph, ``bits`` are those that it keeps of each
        component, 16 or 32, and ``top_10`` and ``top_100`` have for so many results the ``breadth``
        of the search, 0 for an exact one, and the share of the exact nearest that such searches
        found for a sample of the store's vectors, ``recall``.

        ``without_vector`` counts live memories with an embeddable text and no vector;
        :meth:`embed_missing` embeds them. ``reembedding`` is None, or the embedder of an unfinished
        :meth:`reembed` and the number of memories ``done``. ``damaged`` counts the memories found
        damaged; no other count includes them. ``file_bytes`` is the size of the store's file and
        its log, 0 in memory. ``waiting`` counts the writes of this engine that wait or run, and the
        memories whose use is not written yet. ``read_only`` is True for a read-only engine, and
        otherwise missing.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> engine.stats()["memories"]
            1
        """
        return engine.maintenance.stats(self._scope, self._options)

    def check(self, *, deep: bool = False) -> list[str]:
        """Return the problems of the store's file, its dream cycles and the read model.

        A read model that differs from the store is rebuilt from it; nothing is lost, and searches
        go on meanwhile. A damaged index of the store is rebuilt from its table, unless rows of the
        table are damaged or lost: the index may then know more of them, and
        ``oneiros.store.salvage.salvage`` recovers what is readable.

        Args:
            deep: also verify the checksum of every row and every value of the read model, which
                reads the whole store. Without it, damage inside a row is found when the row is
                read.

        Returns:
            One sentence per problem; empty if there is none.

        Raises:
            TypeError: ``deep`` is neither True nor False.

        Examples:
            >>> import oneiros
            >>> oneiros.Engine(":memory:").check(deep=True)
            []
        """
        return engine.maintenance.check(self._scope, deep=deep)

    def backup(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Copy the store to a new file while it is in use.

        The copy is consistent, appears complete or not at all, and only its owner can read it.
        Symbolic links are not followed.

        Args:
            path: the file to write.
            replace: whether to replace an existing file.

        Raises:
            ValueError, TypeError: ``path`` does not name a file, names one of the store's own, or
                exists and ``replace`` is False.
            OSError: the copy cannot be written.

        Examples:
            >>> import oneiros, tempfile
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea", id="tea")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     engine.backup(f"{folder}/copy.db")
            ...     with oneiros.Engine(f"{folder}/copy.db") as copy:
            ...         copy.get("tea").text
            'tea'
        """
        engine.maintenance.backup(self._scope, path, replace=replace)

    @watched
    def embed_missing(self, *, progress: bool = False) -> int:
        """Embed the live memories without a vector, such as those added without an embedder.

        The embedder gets 256 texts per call, and each batch is committed separately. After an error
        or an interrupt, call it again to continue. Other writers do not wait for the embedder.
        Blank texts, stubs, and texts for which the embedder returns a zero vector get no vector and
        do not count as missing. ``stats()["without_vector"]`` is the number of missing ones.

        Args:
            progress: show a progress bar on stderr (needs ``oneiros[cli]``).

        Returns:
            The number of memories that got a vector.

        Raises:
            ValueError: the engine has no embedder.
            TypeError, ValueError: the embedder did not return an array of vectors, or vectors of
                another width than the store's.
            EmbedderMismatch: another embedder's vectors replaced the store's meanwhile.

        Examples:
            >>> import oneiros
            >>> def lengths(texts):
            ...     return [[float(len(text)), 1.0] for text in texts]
            >>> lengths.name = "lengths"
            >>> engine = oneiros.Engine(":memory:", embedder=lengths)
            >>> engine.embed_missing()
            0
        """
        self._scope.require_writable("embed_missing")
        return engine.maintenance.embed_missing(self._scope, progress=progress)

    @watched
    def reembed(
        self, embedder: Embedder | str, *, resume: bool = True, progress: bool = False
    ) -> int:
        """Replace all vectors with those of another embedder, which searches then use.

        New vectors are stored separately, 256 per commit, and replace the old ones in one
        transaction once they are complete. Until then searches use the old vectors, in every
        process and after a reopen, and other writers do not wait for the embedder. After an error,
        an interrupt or a crash, call it again with the same embedder to continue. A damaged memory
        loses its vector and gets none; :meth:`stats` counts those.

        Args:
            embedder: as in the constructor, by name too.
            resume: keep the vectors that an unfinished call made for an embedder of this name.
                False makes all of them again.
            progress: show a progress bar on stderr (needs ``oneiros[cli]``).

        Returns:
            The number of embedded memories, including soft-deleted ones.

        Raises:
            TypeError, ValueError: the argument is not an embedder, or did not return an array of
                vectors. The old vectors stay.
            EmbedderMismatch: another call started to replace the vectors with another embedder's.

        Examples:
            >>> import oneiros
            >>> def lengths(texts):
            ...     return [[float(len(text)), 1.0] for text in texts]
            >>> lengths.name = "lengths"
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> engine.reembed(lengths)
            1
        """
        self._scope.require_writable("reembed")
        return engine.maintenance.reembed(self._scope, embedder, resume=resume, progress=progress)

    def verify_erased(self, erased: str | Erasure) -> bool:
        """Return whether a text, or the memories of a receipt, are gone from the store.

        Args:
            erased: a text of at least one character, whose bytes are looked for in the store's
                files; of a text over 128 bytes, the beginning alone counts as found. Or the
                :class:`oneiros.Erasure` that ``forget`` returned: no memory may have one of its ids,
                or be derived from one, unless it was added later, and the log and the snapshot must
                have been emptied since. Equal texts of other memories do not count.

        Raises:
            TypeError, ValueError: neither, or an empty text.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("The passphrase is xyzzy")
            >>> engine.verify_erased("xyzzy")
            False
        """
        return engine.maintenance.verify_erased(self._scope, erased)

    # -- dream -------------------------------------------------------------------------------------

    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[False] = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        keep: float | Budget | None = None,
    ) -> DreamReport: ...
    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[True],
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        keep: float | Budget | None = None,
    ) -> DreamPlan: ...
    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        keep: float | Budget | None = None,
    ) -> DreamReport | DreamPlan: ...
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        keep: float | Budget | None = None,
    ) -> DreamReport | DreamPlan:
        """Run one dream cycle: the phases of a profile, applied in one transaction.

        The cycle first writes pending reinforcement, then plans its changes while searches and
        writes go on, then applies them all at once. A memory that is changed, linked or unlinked
        meanwhile stays as it is.

        Args:
            now: the time of the cycle, as in :meth:`add`.
            dry_run: only plan it. The plan lists every change and can be applied.
            profile: the profile whose phases and rails apply, by name or as a ``Profile``. Default:
                the engine's. A profile without phases changes nothing.
            summarise: a callable from several similar texts to one, for the phase ``Summarising``.
                Default: the most central text stands for all.
            keep: what the store has room for: a share of the memories as a float, a number of them
                as an int, or a :class:`oneiros.scoring.phases.house.Budget`. Those worth least are
                archived, and come back when they fit in again. A share, number or size holds at
                once, whatever a day's limit; a ``least_value`` of the budget keeps to that limit.
                Default: the profile's budget.
            judge: a callable from two texts, the older first, to their relation, for the phases
                ``ChangedFacts`` and ``Conflicts``: "contradiction", "update", "duplicate" or
                "distinct". Default: none, and no memory is retired for being similar.

        Returns:
            :class:`oneiros.dream.report.DreamReport`, or with ``dry_run`` a
            :class:`oneiros.dream.plan.DreamPlan`.

        Raises:
            DreamBusy: another cycle runs on this store, in this process or another.
            StoreBusy: another process locked the store for too long. Nothing was changed.
            StoreFull: the disk is full. Nothing was changed.
            OSError: the lock file next to the store cannot be written.
            StoreCorrupt: a memory is damaged. Nothing was changed; the next cycle skips the memory.
            ValueError, TypeError: an argument breaks its rule, a callable returns something else,
                or ``summarise`` or ``judge`` is given and no phase of the profile calls it. An
                exception of a callable is raised with a note that names the callable.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> plan = engine.dream(dry_run=True)
            >>> report = engine.dream()
            >>> len(plan) == report.change_count
            True

        Source: docs/systems/reverie.md R10 to R19; docs/systems/cognitive.md C19 to C22;
        docs/systems/omega.md O31.
        """
        return self._dream(
            now,
            dry_run=dry_run,
            profile=profile,
            summarise=summarise,
            judge=judge,
            keep=keep,
        )

    @watched
    def _dream(
        self, /, now: Time | None, *, dry_run: bool, **options: Any
    ) -> DreamReport | DreamPlan:
        if not require_flag("dry_run", dry_run):
            self._scope.require_writable("dream")
        return dream.cycles.run(self._scope, now, dry_run=dry_run, **options)

    @watched
    def undo_dream(self, id: str, *, now: Time | None = None) -> DreamReport:
        """Undo a dream cycle: restore the fields it changed, except those changed again since.

        Memories that the cycle added are erased, or soft-deleted if they were used or changed
        since, also by a later cycle that was undone. The last 30 cycles can be undone, in any
        order, each once.

        Args:
            id: the id of the cycle, ``report.id``.
            now: the current time, as in :meth:`add`.

        Returns:
            The :class:`oneiros.dream.report.DreamReport` of the undo: ``change_count`` is the
            number of restored fields, ``not_restored`` holds those changed again.

        Raises:
            ValueError, TypeError: there is no such cycle, it cannot be undone, or an argument
                breaks its rule.
            DreamBusy, StoreBusy, OSError: as in :meth:`dream`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> id = engine.add("tea")
            >>> report = engine.dream()
            >>> engine.undo_dream(report.id).change_count == report.change_count
            True

        Source: docs/systems/reverie.md R19.
        """
        self._scope.require_writable("undo_dream")
        return dream.cycles.undo(self._scope, id, now)

    def dreams(self, limit: int = 20) -> list[DreamReport]:
        """Return the reports of the last dream cycles and undos, newest first.

        ``is_undoable`` says which of them :meth:`undo_dream` can undo. Reports contain no texts of
        memories. Once a cycle can no longer be undone, its report has
        counts only and names no memory.

        Args:
            limit: most reports to return, >= 0.

        Returns:
            A list of :class:`oneiros.dream.report.DreamReport`. If a stored report is damaged,
            ``damage`` describes the problem and the rest is what is still known; its cycle can
            still be undone.

        Raises:
            ValueError, TypeError: ``limit`` is out of its range or not an int.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.dream()
            >>> [dream.id == report.id for dream in engine.dreams()]
            [True]
        """
        return list(dream.history.reports(self._scope, count("limit", limit, low=0)))

    def drift(self, limit: int = 20) -> Drift:
        """Return figures of the last dream cycles side by side, to see how the store drifts.

        Per cycle: the share of memories as stale as pruned ones, the half-life of each kind, the
        concentration of accesses, and the change among the most recalled memories.

        Args:
            limit: most reports to read, undos included, >= 0.

        Returns:
            :class:`oneiros.dream.drift.Drift`, oldest cycle first, without cycles whose report is
            damaged.

        Raises:
            ValueError, TypeError: as in :meth:`dreams`.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> report = engine.dream()
            >>> len(engine.drift().cycles)
            1

        Source: docs/systems/reverie.md R19.
        """
        reports = dream.history.reports(self._scope, count("limit", limit, low=0))
        return dream.drift.drift_over(reports)

    def interrupted_dream(self) -> Begun | None:
        """Return the cycle that a crash interrupted before it was applied, or None.

        Nothing of it is in the store. The next cycle replaces the record.

        Examples:
            >>> import oneiros
            >>> print(oneiros.Engine(":memory:").interrupted_dream())
            None
        """
        return dream.history.interrupted(self._scope.services)

    def keep_dreaming(
        self,
        schedule: DreamSchedule | None = None,
        *,
        profile: Profile | str | None = None,
        on_cycle: OnCycle | None = None,
    ) -> Dreamer:
        """Run dream cycles in the background until stopped, at the latest by :meth:`close`.

        Times are those of the engine's clock. Memories added and cycles run by other processes
        count, too; a cycle that is already running is waited for. A running schedule is stopped
        first.

        Args:
            schedule: when to run cycles. Default: ``DreamSchedule()``.
            profile: the profile whose phases and rails apply. Default: the engine's.
            on_cycle: a callback on the background thread. It gets the report of each cycle, the
                exception of a failed cycle, and one ``DreamBusy`` per wait. Default: failures are
                logged.

        Returns:
            :class:`oneiros.dream.schedule.Dreamer`: call ``stop()``, or use it as a context
            manager.

        Raises:
            EngineClosed: the engine is closed.
            TypeError, ValueError: an argument is not a schedule, a profile or a callable.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> with engine.keep_dreaming(oneiros.DreamSchedule(every="1h")) as dreamer:
            ...     dreamer.is_running
            True

        Source: docs/systems/reverie.md R18.
        """
        self._scope.require_writable("keep_dreaming")
        chosen = dream.schedule.DreamSchedule() if schedule is None else schedule
        require_instance("schedule", chosen, (dream.schedule.DreamSchedule,), "a DreamSchedule")
        if on_cycle is not None:
            require_callable("on_cycle", on_cycle, "a callable on reports and errors")
        cycle_profile = None if profile is None else self._scope.profile(profile)
        self._stop_dreaming()
        self._dreamer = dream.schedule.Dreamer(
            self, chosen, self._scope, profile=cycle_profile, on_cycle=on_cycle
        )
        return self._dreamer

    def end_session(self) -> None:
        """Report the end of a session, which may start a dream cycle of the running schedule.

        Does nothing unless :meth:`keep_dreaming` runs a schedule with ``on_session_end``.

        Examples:
            >>> import oneiros
            >>> oneiros.Engine(":memory:").end_session()

        Source: docs/systems/reverie.md R18.
        """
        if self._dreamer is not None:
            self._dreamer.end_session()

    def _stop_dreaming(self) -> None:
        if self._dreamer is not None:
            self._dreamer.stop()
            self._dreamer = None

    # -- open and close ----------------------------------------------------------------------------

    def _open_store(self, path: str | os.PathLike[str], **options: Any) -> Store:
        return Store(path, **options)

    def _warn_without_embedder(self, name: str) -> None:
        msg = (
            f"the store's vectors were made by {name!r}, and this engine has no embedder: memories "
            "added or changed now get no vector, and searches use words alone. Open it with "
            "embedder=; embed_missing() makes the vectors that are missing"
        )
        warn(msg, MissingEmbedderWarning)

    def close(self) -> None:
        """Write pending changes and close the store. A second call does nothing.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> engine.close()
        """
        sync = self._scope.shared.sync
        sync.require_no_write()
        self._stop_dreaming()
        self._scope.shared.observers.clear()
        if sync.is_open_here:  # in a forked child, a thread of the parent may hold its lock
            self._scope.shared.drop_past()
        sync.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Engine {self.path!r}, {self._state()}>"


class QuietEngine(Engine):
    """An engine that does not warn when it lacks the store's embedder."""

    _is_quiet = True

    def _warn_without_embedder(self, name: str) -> None:
        """Do not warn."""


def _trials(services: EngineServices, now: float) -> AbstractContextManager[StoreTrials]:
    """Return a context manager over copies of the store, with the clock fixed at ``now``."""
    return dream.impact.StoreTrials(QuietEngine, services, now)
