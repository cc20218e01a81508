"""The engine: one store of memories, opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, get_args, overload

from oneiros import dream, engine
from oneiros.channels import Kind
from oneiros.clock import Clock, system_clock
from oneiros.engine.memories import Memories
from oneiros.engine.scope import EngineServices, Scope, Watch, require_watch
from oneiros.errors import MissingEmbedderWarning
from oneiros.index import Projections
from oneiros.index.read_model import checked_options, recorded_options
from oneiros.model.calls import named_calls
from oneiros.model.validation import (
    count,
    require_callable,
    require_choice,
    require_flag,
    require_instance,
)
from oneiros.models.embedders import name_of
from oneiros.models.rerankers import require_reranker
from oneiros.runtime.warnings import warn
from oneiros.scoring.profiles import resolved
from oneiros.store import Store
from oneiros.store.connections import MEMORY
from oneiros.store.embedding_bytes import decoded_later
from oneiros.write import Remember

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Literal, Self

    from oneiros.clock import Time
    from oneiros.dream.cycles import Judge, Summarise
    from oneiros.dream.drift import Drift
    from oneiros.dream.impact import StoreCopies
    from oneiros.dream.lock import Begun
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.dream.schedule import DreamSchedule
    from oneiros.dream.scheduler import Dreamer, Told
    from oneiros.model.memory import Memory
    from oneiros.models.embedders import Embedder
    from oneiros.models.rerankers import Reranker
    from oneiros.scoring.profile import Profile
    from oneiros.search.query.expansion import Expander

__all__ = ["Engine", "QuietEngine"]


@named_calls("Engine")
class Engine(Memories):
    """Memories in one file: added, found, ranked by how alive they are, strengthened by use.

    Safe to use from many threads; many processes may open one file, each follows the others.

    Args:
        path: the store's file, made when it does not exist; ":memory:" for none.
        profile: how to rank, by name or as a ``Profile``; default: the house's own.
        embedder: callable ``list[str] -> array (n, dim)`` with a ``name``; None: memories and
            searches are found by meaning only where ``embedding=`` is given.
        reranker: judges the first results of a search again: a callable (query, texts) -> scores, or
            an object with ``predict(pairs)``; None: nobody. See :mod:`oneiros.models.rerankers`.
        query_expander: says a conceptual question in other words, which are searched, too, where the
            profile reads questions and fuses ranks (OMEGA): a callable query -> texts, or ->
            :class:`oneiros.search.query.expansion.Rephrased` to count tokens; None: nobody.
        analyzer: a name of :data:`oneiros.lexical.analyzers.NAMES` ("english", "german", "simple", "code",
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
        chosen = resolved(profile)
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
        services = EngineServices(
            store=store,
            projections=projections,
            remember=remember,
            sync=remember.sync,
            clock=clock,
            profile=chosen,
            auto_refresh=follows,
            trials=_trials,
            watch=watch,
            reranker=reranker,
            expander=query_expander,
            is_quiet=self._is_quiet,
        )
        super().__init__(Scope(services, bounds={}))
        self._options = options
        self._dreamer: Dreamer | None = None
        if not services.cycles.is_clean:
            dream.history.log_interrupted(services)
        made_by = remember.sync.vectors.recorded_name
        if embedder is None and made_by is not None:
            try:
                self._warn_without_embedder(made_by)
            except Warning:  # where warnings are errors
                self.close()
                raise

    @property
    def _parts(self) -> EngineServices:
        """The services, by the name under which programs that measure engines reach them."""
        return self._scope.services

    def flush(self) -> None:
        """Write the waiting reinforcement to the store now.

        Raises:
            What an earlier write in the background failed with, if it did.
        """
        self._scope.services.sync.write_events()

    def refresh(self) -> None:
        """Follow the commits of other processes now."""
        self._scope.services.sync.follow()

    # -- maintenance -------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return counts and sizes of the store and what is projected from it.

        ``without_vector`` counts the live memories that lack a vector which their text could have;
        :meth:`oneiros.Engine.embed_missing` makes these vectors. ``reembedding`` is None, or the
        embedder of an unfinished :meth:`oneiros.Engine.reembed` and the number of memories ``done``.
        ``damaged`` counts the memories that were found damaged; they are in no other count.
        """
        return engine.maintenance.stats(self._scope, self._options)

    def check(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the store's file, its cycles and the read model; empty: nothing.

        A read model that does not hold what the store holds is rebuilt from it. The store is the
        truth: nothing is lost by that, and searches go on meanwhile. An index of the store that does
        not hold what its table holds is rebuilt from the table, unless rows there are damaged or
        lost: the index may know more of these, and ``oneiros.store.salvage.salvage`` takes over what
        can be read.

        Args:
            deep: also verify the checksum of every row, and every value of the read model. That
                reads the whole store; without it, damage inside a row is found when the row is read.

        Raises:
            TypeError: ``deep`` is neither True nor False.
        """
        return engine.maintenance.check(self._scope, deep=deep)

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
        engine.maintenance.backup(self._scope, path, replace=replace)

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
        return engine.maintenance.embed_missing(self._scope, progress=progress)

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
        return engine.maintenance.reembed(self._scope, embedder, resume=resume, progress=progress)

    def purge(self, older_than_days: float = 30.0, *, now: Time | None = None) -> int:
        """Erase for good what was soft-deleted long enough ago, by cycles or by anybody.

        Until then ``restore`` brings it back. Erased is what :meth:`forget` erases: text, vector,
        links, log and snapshot.

        Args:
            older_than_days: the deletion is more than so many days ago, >= 0.
            now: the clock, as in :meth:`add`.

        Returns:
            How many memories were erased.

        Raises:
            ValueError, TypeError: an argument is out of its range, or no number.
            StoreBusy: as :meth:`forget`.
        """
        return engine.maintenance.purge(self._scope, older_than_days, now)

    def purgeable(self, older_than_days: float = 30.0, *, now: Time | None = None) -> list[str]:
        """Return the ids of the memories that :meth:`purge` would erase, in order of insertion.

        Args:
            older_than_days: the deletion is more than so many days ago, >= 0.
            now: the clock, as in :meth:`add`.

        Raises:
            ValueError, TypeError: an argument is out of its range, or no number.
        """
        return engine.maintenance.purgeable(self._scope, older_than_days, now)

    def get_deleted(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return what was soft-deleted, in the order of the ids; None where there is no such memory.

        Raises:
            TypeError, ValueError: an id is no text.
        """
        return engine.maintenance.get_deleted(self._scope, ids)

    def verify_erased(self, text: str) -> bool:
        """Return whether the bytes of this text stand nowhere in the store's files any more.

        Args:
            text: at least one character; of one over 128 bytes the beginning alone counts as found.

        Raises:
            TypeError, ValueError: no text, or an empty one.
        """
        return engine.maintenance.verify_erased(self._scope, text)

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
    ) -> DreamReport | DreamPlan: ...
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport | DreamPlan:
        """Run one dream cycle: the phases of a profile, in one transaction.

        It is planned first, while searches and writes go on, then applied all at once. A memory that
        somebody changes, links or unlinks meanwhile stays as it is. What searches left to be written
        is written first.

        Args:
            now: the cycle's clock, as in :meth:`add`.
            dry_run: only plan it; the plan lists every change, and can be applied.
            profile: whose phases and rails, by name or as a ``Profile``; default: the engine's. A
                profile without phases changes nothing.
            summarise: writes one text of several similar ones, for the phase ``Summarising``;
                default: the most central text stands for all.
            judge: returns the relation of two texts, the older first, for the phase ``Conflicts``:
                "contradiction", "update", "duplicate" or "distinct"; default: none, and no memory is
                retired for being similar.

        Returns:
            :class:`oneiros.dream.report.DreamReport`, or with ``dry_run`` a
            :class:`oneiros.dream.plan.DreamPlan`.

        Raises:
            DreamBusy: another cycle runs on this store, in this process or another.
            StoreBusy: another process kept the store locked for too long; nothing was changed.
            OSError: the lock beside the store cannot be written.
            StoreCorrupt: a memory turns out to be damaged; nothing was changed, and the next cycle
                leaves it out.
            ValueError, TypeError: an argument breaks its rule, or a callable its promise; or
                ``summarise`` or ``judge`` is given, and the profile has no phase that calls it. What
                a callable raises comes through, with a note that names it.

        Source: docs/systems/reverie.md R10 to R19; docs/systems/cognitive.md C19 to C22;
        docs/systems/omega.md O31.
        """
        return dream.cycles.run(
            self._scope, now, dry_run=dry_run, profile=profile, summarise=summarise, judge=judge
        )

    def undo_dream(self, id: str, *, now: Time | None = None) -> DreamReport:
        """Restore every field that a cycle changed, but for those that changed again since.

        What the cycle added is erased; or soft-deleted, where it was used or changed. The last 30
        cycles can be undone, in any order, each once.

        Args:
            id: of the cycle, ``report.id``.
            now: the clock, as in :meth:`add`.

        Returns:
            The report of the undoing: ``change_count`` fields restored, and in ``not_restored``
            those that had changed again.

        Raises:
            ValueError, TypeError: there is no such cycle, it cannot be undone, or an argument breaks
                its rule.
            DreamBusy, StoreBusy, OSError: as :meth:`dream`.

        Source: docs/systems/reverie.md R19.
        """
        return dream.cycles.undo(self._scope, id, now)

    def dreams(self, limit: int = 20) -> list[DreamReport]:
        """Return the reports of the last cycles, the newest first, undoings among them.

        What memories said is not in them. Those of cycles that can no longer be undone count what
        changed, and name nothing.

        Args:
            limit: at most so many, >= 0.

        Returns:
            Of a cycle whose report is damaged, what else is known of it, and ``damage`` says what is
            wrong; it can be undone all the same.

        Raises:
            ValueError, TypeError: ``limit`` is out of its range, or no int.
        """
        return list(dream.history.reports(self._scope, count("limit", limit, low=0)))

    def drift(self, limit: int = 20) -> Drift:
        """Return how the store drifts: figures of the last cycles, side by side.

        The share that is as stale as what is pruned, the half-life of each kind, how concentrated
        accesses are, how much the memories recalled most changed.

        Args:
            limit: of at most so many reports, undoings among them, >= 0.

        Returns:
            :class:`oneiros.dream.drift.Drift`, the oldest cycle first; without those whose
            report is damaged.

        Raises:
            ValueError, TypeError: as :meth:`dreams`.

        Source: docs/systems/reverie.md R19.
        """
        reports = dream.history.reports(self._scope, count("limit", limit, low=0))
        return dream.drift.drift_over(reports)

    def interrupted_dream(self) -> Begun | None:
        """Return the cycle that a crash ended before it was applied; None where there is none.

        Nothing of it is in the store. The next cycle takes its place.
        """
        return dream.history.interrupted(self._scope.services)

    def keep_dreaming(
        self,
        schedule: DreamSchedule | None = None,
        *,
        profile: Profile | str | None = None,
        told: Told | None = None,
    ) -> Dreamer:
        """Run cycles in the background until stopped, at the latest when the engine is closed.

        Time is the engine's clock. Memories that others added count, and so do cycles that others
        run: one that runs is waited for. A schedule that runs already is stopped first.

        Args:
            schedule: when; default: ``DreamSchedule()``.
            profile: whose phases and rails; default: the engine's.
            told: is called with the report of every cycle, with what a cycle failed of, and once a
                wait with ``DreamBusy``, by the thread that dreams; default: failures are logged.

        Returns:
            :class:`oneiros.dream.scheduler.Dreamer`, to be stopped, or used as a context manager.

        Raises:
            EngineClosed: the engine is closed.
            TypeError, ValueError: that is no schedule, no profile or nothing to call.

        Source: docs/systems/reverie.md R18.
        """
        chosen = dream.schedule.DreamSchedule() if schedule is None else schedule
        require_instance("schedule", chosen, (dream.schedule.DreamSchedule,), "a DreamSchedule")
        if told is not None:
            require_callable("told", told, "a callable on reports and errors")
        dreams_by = None if profile is None else self._scope.profile(profile)
        clock = self._scope.services.clock
        self._stop_dreaming()
        counts = dream.scheduler.CycleCounts(self._scope)
        self._dreamer = dream.scheduler.Dreamer(
            self, chosen, clock, counts, profile=dreams_by, told=told
        )
        return self._dreamer

    def end_session(self) -> None:
        """Say that a session ended: a reason to dream, where a schedule runs that has it as one.

        Source: docs/systems/reverie.md R18.
        """
        if self._dreamer is not None:
            self._dreamer.end_session()

    def _stop_dreaming(self) -> None:
        if self._dreamer is not None:
            self._dreamer.stop()
            self._dreamer = None

    # -- open and close ----------------------------------------------------------------------------

    def _warn_without_embedder(self, name: str) -> None:
        msg = (
            f"the store's vectors were made by {name!r}, and this engine has no embedder: memories "
            "added or changed now get no vector, and searches use words alone. Open it with "
            "embedder=; embed_missing() makes the vectors that are missing"
        )
        warn(msg, MissingEmbedderWarning)

    def close(self) -> None:
        """Write what waits, and let the file go. Closing twice is once."""
        self._stop_dreaming()
        self._scope.shared.sync.close()

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
        return f"<Engine {str(self._scope.shared.store.path)!r}, {self._state()}>"


class QuietEngine(Engine):
    """An engine that does not warn when it lacks the store's embedder."""

    _is_quiet = True

    def _warn_without_embedder(self, name: str) -> None:
        """Do not warn."""


def _trials(services: EngineServices, now: float) -> AbstractContextManager[StoreCopies]:
    """Return copies of an engine's store for a block, their clock standing still."""
    return dream.trials.StoreTrials(QuietEngine, services, now)
