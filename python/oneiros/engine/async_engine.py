"""The engine for ``asyncio``: the same methods, awaited, with a bounded number running at once."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    cast,
    overload,
)

from oneiros.engine.engine import Engine
from oneiros.engine.memories import Memories
from oneiros.errors import EngineClosed
from oneiros.model.calls import named_calls, plain_function
from oneiros.model.validation import require_int
from oneiros.runtime.warnings import CallSite, caller, pointing_at
from oneiros.search.response import SearchResponse

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

    from oneiros.clock import Time
    from oneiros.dream.cycles import Judge, Summarise
    from oneiros.dream.draft import Draft
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport, FieldChange
    from oneiros.scoring.profile import Profile

__all__ = ["AsyncDreamPlan", "AsyncEngine", "AsyncMemories", "Workers", "noting_never_began"]


Told = TypeVar("Told")

_NEVER_BEGAN: Final = "oneiros: the call never began; nothing of it is stored"


class Workers:
    """A bounded number of threads, and no queue before them: who waits, waits in the loop."""

    def __init__(self, count: int) -> None:
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="oneiros-async")
        self._free = asyncio.Semaphore(count)
        self._count = count
        self._has_ended = False
        self.is_closed = False

    async def run(self, call: Callable[[], Told], *, is_noted: bool = True) -> Told:
        """Run a call on a thread. Cancelled while it waits for one, it never starts.

        Args:
            call: on the thread.
            is_noted: a ``CancelledError`` gets a note on what becomes of the call.
        """
        with noting_never_began() if is_noted else nullcontext():
            await self._free.acquire()
        if self.is_closed:
            self._free.release()
            msg = "the engine is closed"
            raise EngineClosed(msg)
        return await self._started(call, is_noted=is_noted)

    async def close(self, last: Callable[[], None]) -> None:
        """Refuse what waits, let what runs end, then run the last call, once."""
        self.is_closed = True
        taken = 0
        try:
            for _ in range(self._count):
                await self._free.acquire()
                taken += 1
            if not self._has_ended:
                self._has_ended = True
                taken -= 1  # its thread gives that one back
                await asyncio.shield(asyncio.ensure_future(self._ended(last)))
        finally:
            for _ in range(taken):
                self._free.release()

    async def _ended(self, last: Callable[[], None]) -> None:
        try:
            await self._started(last, is_noted=False)
        finally:
            self._executor.shutdown(wait=False)

    async def _started(self, call: Callable[[], Told], *, is_noted: bool) -> Told:
        """Run a call. REQUIRES: one thread is free, and taken; it is given back when the call ends."""
        loop = asyncio.get_running_loop()

        def ended(_: Future[Told]) -> None:
            # A thread outlives an await that was cancelled, and may outlive the loop.
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._free.release)

        try:
            future = self._executor.submit(contextvars.copy_context().run, call)
        except BaseException:
            self._free.release()
            raise
        future.add_done_callback(ended)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError as error:
            if is_noted:
                error.add_note(_outcome(future))
            raise


@contextmanager
def noting_never_began() -> Iterator[None]:
    """Note on a ``CancelledError`` out of the block that the call never began."""
    try:
        yield
    except asyncio.CancelledError as error:
        error.add_note(_NEVER_BEGAN)
        raise


def _outcome(future: Future[Any]) -> str:
    """Return what becomes of a call whose await was cancelled."""
    if future.cancel():  # as it was already, or it waited for its thread
        return _NEVER_BEGAN
    if not future.done():
        return "oneiros: the call goes on in the background; what it writes is stored whole or not at all"
    failure = future.exception()
    if failure is None:
        return "oneiros: the call had ended; what it wrote is stored"
    return f"oneiros: the call had failed with {type(failure).__name__}: {failure}"


class AsyncDreamPlan:
    """A planned cycle: :class:`oneiros.dream.plan.DreamPlan` for ``asyncio``.

    Made by ``AsyncEngine.dream(dry_run=True)``. Attributes and ``changes`` need no await; ``apply``,
    ``impact`` and ``html`` run on a thread of the engine's. An await that is cancelled before its
    call began leaves no trace; a running call is completed.
    """

    def __init__(self, plan: DreamPlan, workers: Workers) -> None:
        self._plan = plan
        self._workers = workers

    @property
    def report(self) -> DreamReport:
        """What the cycle would do."""
        return self._plan.report

    @property
    def revision(self) -> int:
        """Of the store, that it was planned on."""
        return self._plan.revision

    @property
    def draft(self) -> Draft:
        """The store as the cycle would leave it."""
        return self._plan.draft

    @property
    def id(self) -> str:
        """By which the cycle can be undone, once it is applied."""
        return self._plan.id

    @property
    def now(self) -> float:
        """The cycle's clock, seconds UTC."""
        return self._plan.now

    def __len__(self) -> int:
        """Return how many changes of single fields it holds."""
        return len(self._plan)

    def __repr__(self) -> str:
        return repr(self._plan)

    def __str__(self) -> str:
        return str(self._plan)

    def changes(self, fields: Collection[str] | None = None) -> Iterator[FieldChange]:
        """Yield every change of a field, as :meth:`oneiros.dream.plan.DreamPlan.changes` does.

        Each is made when it is asked for; the store is not read.

        Args:
            fields: only of these; default: of all.

        Raises:
            TypeError, ValueError: no collection of str, or no such field.
        """
        return self._plan.changes(fields)

    def named(self, most: int) -> tuple[FieldChange, ...]:
        """Return the first changes to tell by name: those that take away or move a memory first.

        Args:
            most: how many.
        """
        return self._plan.named(most)

    async def apply(self) -> DreamReport:
        """Apply it, as :meth:`oneiros.dream.plan.DreamPlan.apply` does, and with its errors."""
        return await self._workers.run(self._plan.apply)

    async def impact(self, queries: Sequence[str], k: int = 10) -> Impact:
        """Rank questions before and after, as :meth:`oneiros.dream.plan.DreamPlan.impact` does.

        Args:
            queries: the questions.
            k: how many results count as answers, at least 1.

        Raises:
            As there.
        """
        return await self._workers.run(partial(self._plan.impact, queries, k))

    async def html(
        self, *, impact: Impact | None = None, earlier: Sequence[DreamReport] = ()
    ) -> str:
        """Return it as a page, as :meth:`oneiros.dream.plan.DreamPlan.html` does.

        Args:
            impact: what :meth:`impact` returned, for a section of its own.
            earlier: reports of cycles before it, the newest first.

        Raises:
            As there.
        """
        return await self._workers.run(partial(self._plan.html, impact=impact, earlier=earlier))


Given = ParamSpec("Given")
Mind = TypeVar("Mind", bound=Memories)

_MOST_WORKERS = 1_024


def _awaited(
    method: Callable[Concatenate[Any, Given], Told],
) -> Callable[Concatenate[AsyncMemories[Any], Given], Coroutine[Any, Any, Told]]:
    """Return a method of the engine as one that is awaited; it has its signature and docstring."""
    method = plain_function(method)

    async def call(self: AsyncMemories[Any], /, *args: Given.args, **kwargs: Given.kwargs) -> Told:
        place = caller() or self._place
        with noting_never_began():
            mind = await self._opened()
        return await self._workers.run(partial(_loaded, place, method, mind, *args, **kwargs))

    wrapped = update_wrapper(call, method)
    return cast(
        "Callable[Concatenate[AsyncMemories[Any], Given], Coroutine[Any, Any, Told]]", wrapped
    )


def _loaded(
    place: CallSite | None,
    method: Callable[Concatenate[Any, Given], Told],
    mind: Memories,
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Told:
    """Call it, and read what its results would read when they are touched: the loop must not.

    Warnings point at the place.
    """
    with pointing_at(place):
        told = method(mind, *args, **kwargs)
    for response in told if isinstance(told, list) else (told,):
        if isinstance(response, SearchResponse):
            response.load()
    return told


@named_calls("AsyncScope")
class AsyncMemories(Generic[Mind]):
    """What :class:`oneiros.engine.memories.Memories` does, awaited: all of a store, or one scope of it."""

    def __init__(
        self,
        open_one: Callable[[], Awaitable[Mind]],
        workers: Workers,
        place: CallSite | None,
        shown: str = "",
    ) -> None:
        self._opened = open_one
        self._workers = workers
        self._place = place  # where it was made
        self._shown = shown

    add = _awaited(Memories.add)
    add_many = _awaited(Memories.add_many)
    update = _awaited(Memories.update)
    feedback = _awaited(Memories.feedback)
    delete = _awaited(Memories.delete)
    restore = _awaited(Memories.restore)
    forget = _awaited(Memories.forget)
    export = _awaited(Memories.export)
    search = _awaited(Memories.search)
    search_many = _awaited(Memories.search_many)
    why_not = _awaited(Memories.why_not)
    similar = _awaited(Memories.similar)
    near_duplicates = _awaited(Memories.near_duplicates)
    link = _awaited(Memories.link)
    link_many = _awaited(Memories.link_many)
    links = _awaited(Memories.links)
    unlink = _awaited(Memories.unlink)
    neighbours = _awaited(Memories.neighbours)
    supersede = _awaited(Memories.supersede)
    pin = _awaited(Memories.pin)
    get = _awaited(Memories.get)
    get_many = _awaited(Memories.get_many)
    count = _awaited(Memories.count)
    list = _awaited(Memories.list)
    rescore = _awaited(Memories.rescore)
    promote = _awaited(Memories.promote)

    async def scope(self, **bounds: str) -> AsyncMemories[Memories]:
        """Return the memories within bounds, as :meth:`oneiros.Engine.scope` does."""
        place = caller() or self._place
        mind = await self._opened()
        scoped = mind.scope(**bounds)

        async def opened() -> Memories:
            return scoped

        return AsyncMemories(opened, self._workers, place, f"<AsyncScope: {scoped!r}>")

    def __repr__(self) -> str:
        return self._shown


@named_calls("AsyncEngine")
class AsyncEngine(AsyncMemories[Engine]):
    """:class:`oneiros.Engine` for ``asyncio``: the same methods with the same arguments, awaited.

    ::

        async with oneiros.AsyncEngine("agent.db") as mind:
            await mind.add("Ada likes her coffee black")
            response = await mind.search("coffee")

    Each call runs on one of a bounded number of threads; the others wait in the loop. An await that
    is cancelled before its call began leaves no trace; a call that runs is let end, as a whole, and
    keeps its thread until then. A note on the ``CancelledError`` reports which: the call never began
    and nothing is stored, it had ended, or it goes on and a write is stored whole. The memories of a search's results
    come with it. One object belongs to one event loop.

    Args:
        path: of the store; opened by ``async with``, or by the first call.
        workers: calls at work at once, 1 to 1,024; by default 4.
        **options: as :class:`oneiros.Engine` takes them.

    Raises:
        As :class:`oneiros.Engine`, from the first await.
    """

    def __init__(self, path: str | os.PathLike[str], *, workers: int = 4, **options: Any) -> None:
        require_int("workers", workers, low=1, high=_MOST_WORKERS)
        super().__init__(self._open, Workers(workers), caller())
        self._make = partial(Engine, path, **options)
        self._opening = asyncio.Lock()
        self._making = threading.Lock()
        self._engine: Engine | None = None

    flush = _awaited(Engine.flush)
    refresh = _awaited(Engine.refresh)
    backup = _awaited(Engine.backup)
    embed_missing = _awaited(Engine.embed_missing)
    reembed = _awaited(Engine.reembed)
    stats = _awaited(Engine.stats)
    check = _awaited(Engine.check)
    verify_erased = _awaited(Engine.verify_erased)
    undo_dream = _awaited(Engine.undo_dream)
    dreams = _awaited(Engine.dreams)
    drift = _awaited(Engine.drift)
    interrupted_dream = _awaited(Engine.interrupted_dream)
    purge = _awaited(Engine.purge)
    purgeable = _awaited(Engine.purgeable)
    get_deleted = _awaited(Engine.get_deleted)
    keep_dreaming = _awaited(Engine.keep_dreaming)
    end_session = _awaited(Engine.end_session)

    @overload
    async def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[False] = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport: ...
    @overload
    async def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[True],
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> AsyncDreamPlan: ...
    @overload
    async def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport | AsyncDreamPlan: ...
    async def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport | AsyncDreamPlan:
        """Run one dream cycle, as :meth:`oneiros.Engine.dream` does, with the same arguments.

        ``summarise`` and ``judge`` are plain callables, which are called on the cycle's thread.

        Returns:
            :class:`oneiros.dream.report.DreamReport`, or with ``dry_run`` a
            :class:`oneiros.engine.async_engine.AsyncDreamPlan`, to be applied and tried by awaiting.

        Raises:
            As :meth:`oneiros.Engine.dream`.
        """
        from oneiros.dream.plan import DreamPlan  # noqa: PLC0415

        with noting_never_began():
            mind = await self._open()
        told = await self._workers.run(
            lambda: mind.dream(
                now, dry_run=dry_run, profile=profile, summarise=summarise, judge=judge
            )
        )
        return AsyncDreamPlan(told, self._workers) if isinstance(told, DreamPlan) else told

    async def close(self) -> None:
        """Let running calls end, write what waits, and let the file go. Closing twice is once."""
        await self._workers.close(self._close)

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        held = "closed" if self._workers.is_closed else "not open yet"
        return f"<AsyncEngine: {self._engine or held!r}>"

    async def _open(self) -> Engine:
        if self._engine is None:
            async with self._opening:
                if self._engine is None:
                    await self._workers.run(self._keep, is_noted=False)
        assert self._engine is not None
        return self._engine

    def _keep(self) -> None:
        # Kept by the thread: whoever waited for it may be cancelled, and others ask again.
        with self._making:
            if self._engine is None:
                with pointing_at(self._place):
                    self._engine = self._make()

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.close()
