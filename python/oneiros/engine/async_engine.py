"""The engine for ``asyncio``: the same methods, awaited, with a bounded number running at once."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    NoReturn,
    ParamSpec,
    Self,
    TypeVar,
    cast,
    overload,
)

from oneiros.engine.engine import Engine
from oneiros.engine.memories import Memories
from oneiros.engine.scope import NOT_PICKLED
from oneiros.errors import EngineClosed
from oneiros.model.calls import named_calls, plain_function
from oneiros.model.validation import require_int
from oneiros.runtime.warnings import CallSite, caller, pointing_at
from oneiros.search.response import SearchResponse

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

    from oneiros.clock import Time
    from oneiros.dream.cycles import Judge, Summarise
    from oneiros.dream.draft import Draft
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport, FieldChange
    from oneiros.scoring.phases.house import Budget
    from oneiros.scoring.profile import Profile

__all__ = ["AsyncDreamPlan", "AsyncEngine", "AsyncMemories", "Workers", "noting_never_began"]


Result = TypeVar("Result")

_NEVER_BEGAN: Final = "oneiros: the call never began; nothing of it is stored"


class Workers:
    """A bounded number of threads without a queue: waiting calls wait in the event loop.

    They belong to one event loop. Once it is closed they serve the next one, where the threads of
    calls that outlived it are free when these end. A forked child has threads of its own.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._has_ended = False
        self.is_closed = False
        self._begin()

    def _begin(self) -> None:
        """Begin without a thread and without an event loop, also in a forked child.

        A child has none of its parent's threads, and maybe locks that these never release there.
        """
        self._process = os.getpid()
        self._executor = ThreadPoolExecutor(self._count, thread_name_prefix="oneiros-async")
        self.opening = threading.Lock()
        """Held by the thread that opens the engine."""
        self._lock = threading.Lock()  # of the next four
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free = asyncio.Semaphore(self._count)
        self._closing = asyncio.Lock()
        self._busy = 0

    async def run(self, call: Callable[[], Result], *, is_noted: bool = True) -> Result:
        """Run a call on a thread. A call cancelled while it waits for a thread never starts.

        Args:
            call: runs on the thread.
            is_noted: add a note to a ``CancelledError`` that describes the outcome of the call.

        Raises:
            EngineClosed: the engine is closed.
            RuntimeError: another event loop uses the engine.
        """
        self._enter_loop()
        with noting_never_began() if is_noted else nullcontext():
            await self._free.acquire()
        if self.is_closed:
            self._free.release()
            msg = "the engine is closed"
            raise EngineClosed(msg)
        return await self._started(call, is_noted=is_noted)

    async def close(self, last: Callable[[], None]) -> None:
        """Refuse waiting calls, wait for running ones, then run ``last`` once.

        Raises:
            RuntimeError: another event loop uses the engine.
        """
        self._enter_loop()
        self.is_closed = True
        acquired = 0
        async with self._closing:  # two closes that acquire some threads each would wait forever
            try:
                for _ in range(self._count):
                    await self._free.acquire()
                    acquired += 1
                if not self._has_ended:
                    self._has_ended = True
                    acquired -= 1  # the last call releases one itself
                    await asyncio.shield(asyncio.ensure_future(self._ended(last)))
            finally:
                for _ in range(acquired):
                    self._free.release()

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_PICKLED)

    def _enter_loop(self) -> None:
        """Serve the running event loop from now on.

        Raises:
            RuntimeError: the loop served so far is another one, and not closed.
        """
        loop = asyncio.get_running_loop()
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._loop is loop:
                return
            if self._loop is not None and not self._loop.is_closed():
                msg = "an AsyncEngine belongs to one event loop, and another one uses this engine"
                raise RuntimeError(msg)
            self._loop = loop
            self._free = asyncio.Semaphore(self._count - self._busy)
            self._closing = asyncio.Lock()

    def _release(self) -> None:
        """Count a thread as free, in the event loop that is served now."""
        with self._lock:
            self._busy -= 1
            loop, free = self._loop, self._free
        assert loop is not None
        with suppress(RuntimeError):  # closed: the next loop begins with the number of busy threads
            loop.call_soon_threadsafe(free.release)

    async def _ended(self, last: Callable[[], None]) -> None:
        try:
            await self._started(last, is_noted=False)
        finally:
            self._executor.shutdown(wait=False)

    async def _started(self, call: Callable[[], Result], *, is_noted: bool) -> Result:
        """Run a call, then release its thread. REQUIRES: the caller acquired a free thread."""
        with self._lock:
            self._busy += 1
        try:
            future = self._executor.submit(contextvars.copy_context().run, _ended_by_return, call)
        except BaseException:
            self._release()
            raise
        # The thread outlives a cancelled await, and may outlive the loop.
        future.add_done_callback(lambda _: self._release())
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError as error:
            if is_noted:
                error.add_note(_outcome(future))
            raise


def _ended_by_return(call: Callable[[], Result]) -> Result:
    """Return the result of a call; a StopIteration becomes a RuntimeError, as in a coroutine.

    No future takes a StopIteration, such as code of the user may raise: the await would never end.
    """
    try:
        return call()
    except StopIteration as error:
        msg = "the call raised StopIteration"
        raise RuntimeError(msg) from error


@contextmanager
def noting_never_began() -> Iterator[None]:
    """Add a note to a ``CancelledError`` of the block: the call never began."""
    try:
        yield
    except asyncio.CancelledError as error:
        error.add_note(_NEVER_BEGAN)
        raise


def _outcome(future: Future[Any]) -> str:
    """Return the outcome of a call whose await was cancelled."""
    if future.cancel():  # cancelled before, or still waiting for its thread
        return _NEVER_BEGAN
    if not future.done():
        return "oneiros: the call goes on in the background; what it writes is stored whole or not at all"
    failure = future.exception()
    if failure is None:
        return "oneiros: the call had ended; what it wrote is stored"
    return f"oneiros: the call had failed with {type(failure).__name__}: {failure}"


class AsyncDreamPlan:
    """A planned dream cycle: :class:`oneiros.dream.plan.DreamPlan` for ``asyncio``.

    ``AsyncEngine.dream(dry_run=True)`` returns it. Attributes, ``changes`` and ``to_frame`` need no
    await; ``apply``, ``impact`` and ``html`` run on a thread of the engine. An await cancelled before its
    call began has no effect; a running call is completed.
    """

    def __init__(self, plan: DreamPlan, workers: Workers) -> None:
        self._plan = plan
        self._workers = workers

    @property
    def report(self) -> DreamReport:
        """The report of the changes the cycle would make."""
        return self._plan.report

    @property
    def revision(self) -> int:
        """The revision of the store for which the cycle was planned."""
        return self._plan.revision

    @property
    def draft(self) -> Draft:
        """The store as the cycle would leave it."""
        return self._plan.draft

    @property
    def id(self) -> str:
        """The id with which to undo the cycle once it is applied."""
        return self._plan.id

    @property
    def now(self) -> float:
        """The time of the cycle, seconds UTC."""
        return self._plan.now

    def __len__(self) -> int:
        """Return the number of changes of single fields."""
        return len(self._plan)

    def __repr__(self) -> str:
        return repr(self._plan)

    def __str__(self) -> str:
        return str(self._plan)

    def changes(
        self, fields: Collection[str] | None = None, *, id: str | None = None
    ) -> Iterator[FieldChange]:
        """Yield every change of a field, as :meth:`oneiros.dream.plan.DreamPlan.changes` does.

        Changes are made lazily, without reading the store.

        Args:
            fields: yield only changes of these fields. Default: all.
            id: yield only changes of this memory. Default: of all.

        Raises:
            TypeError, ValueError: not a collection of str, an unknown field, or no text as an id.
        """
        return self._plan.changes(fields, id=id)

    def named(self, most: int) -> tuple[FieldChange, ...]:
        """Return the first changes to show by name: those that remove or move a memory come first.

        Args:
            most: the number of changes.
        """
        return self._plan.named(most)

    def protections(self, id: str) -> tuple[str, ...]:
        """Return why the profile's rails keep a memory.

        See :meth:`oneiros.dream.plan.DreamPlan.protections`.

        Args:
            id: the memory's id.

        Raises:
            TypeError, ValueError: the id is not a text.
        """
        return self._plan.protections(id)

    def to_frame(self) -> pd.DataFrame:
        """Return the named changes of the report; see :meth:`DreamReport.to_frame`."""
        return self._plan.to_frame()

    async def apply(self) -> DreamReport:
        """Apply the plan; see :meth:`oneiros.dream.plan.DreamPlan.apply`, also for the errors."""
        return await self._workers.run(self._plan.apply)

    async def impact(self, queries: Sequence[str], k: int = 10) -> Impact:
        """Rank queries before and after the cycle; see :meth:`oneiros.dream.plan.DreamPlan.impact`.

        Args:
            queries: the query texts.
            k: the number of results that count, at least 1.
        """
        return await self._workers.run(partial(self._plan.impact, queries, k))

    async def html(
        self, *, impact: Impact | None = None, earlier: Sequence[DreamReport] = ()
    ) -> str:
        """Return the plan as an HTML page; see :meth:`oneiros.dream.plan.DreamPlan.html`.

        Args:
            impact: the return value of :meth:`impact`, for a section about it.
            earlier: reports of earlier cycles, newest first.
        """
        return await self._workers.run(partial(self._plan.html, impact=impact, earlier=earlier))


Params = ParamSpec("Params")
Target = TypeVar("Target", bound=Memories)

_MOST_WORKERS = 1_024


def _awaited(
    method: Callable[Concatenate[Any, Params], Result],
) -> Callable[Concatenate[AsyncMemories[Any], Params], Coroutine[Any, Any, Result]]:
    """Return the awaitable form of an engine method, with its signature and docstring."""
    method = plain_function(method)

    async def call(
        self: AsyncMemories[Any], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Result:
        place = caller() or self._place
        with noting_never_began():
            target = await self._opened()
        return await self._workers.run(partial(_loaded, place, method, target, *args, **kwargs))

    wrapped = update_wrapper(call, method)
    return cast(
        "Callable[Concatenate[AsyncMemories[Any], Params], Coroutine[Any, Any, Result]]", wrapped
    )


def _loaded(
    place: CallSite | None,
    method: Callable[Concatenate[Any, Params], Result],
    target: Memories,
    *args: Params.args,
    **kwargs: Params.kwargs,
) -> Result:
    """Call a method, and load the memories of its responses, so that the event loop never reads.

    Warnings point at ``place``.
    """
    with pointing_at(place):
        result = method(target, *args, **kwargs)
    for response in result if isinstance(result, list) else (result,):
        if isinstance(response, SearchResponse):
            response.load()
    return result


@named_calls("AsyncScope")
class AsyncMemories(Generic[Target]):
    """:class:`oneiros.engine.memories.Memories` for ``asyncio``: a store or a scope of it."""

    def __init__(
        self,
        opened: Callable[[], Awaitable[Target]],
        workers: Workers,
        place: CallSite | None,
        scoped: Memories | None = None,
    ) -> None:
        self._workers = workers  # first: to pickle them says why that is refused
        self._opened = opened
        self._place = place  # of the constructor call
        self._scoped = scoped  # None of an engine

    add = _awaited(Memories.add)
    add_many = _awaited(Memories.add_many)
    update = _awaited(Memories.update)
    touch = _awaited(Memories.touch)
    sweep_expired = _awaited(Memories.sweep_expired)
    feedback = _awaited(Memories.feedback)
    delete = _awaited(Memories.delete)
    restore = _awaited(Memories.restore)
    forget = _awaited(Memories.forget)
    forget_many = _awaited(Memories.forget_many)
    purge = _awaited(Memories.purge)
    purgeable = _awaited(Memories.purgeable)
    get_deleted = _awaited(Memories.get_deleted)
    export = _awaited(Memories.export)
    search = _awaited(Memories.search)
    search_many = _awaited(Memories.search_many)
    statistics = _awaited(Memories.statistics)
    why_not = _awaited(Memories.why_not)
    similar = _awaited(Memories.similar)
    near_duplicates = _awaited(Memories.near_duplicates)
    link = _awaited(Memories.link)
    link_many = _awaited(Memories.link_many)
    links = _awaited(Memories.links)
    unlink = _awaited(Memories.unlink)
    neighbours = _awaited(Memories.neighbours)
    supersede = _awaited(Memories.supersede)
    conflicts = _awaited(Memories.conflicts)
    resolve_conflict = _awaited(Memories.resolve_conflict)
    pin = _awaited(Memories.pin)
    get = _awaited(Memories.get)
    history = _awaited(Memories.history)
    get_many = _awaited(Memories.get_many)
    count = _awaited(Memories.count)
    list = _awaited(Memories.list)
    last = _awaited(Memories.last)
    values = _awaited(Memories.values)
    changes = _awaited(Memories.changes)
    rescore = _awaited(Memories.rescore)
    promote = _awaited(Memories.promote)

    async def scope(self, **bounds: str) -> AsyncMemories[Memories]:
        """Return a view of the memories of a scope; see :meth:`oneiros.Engine.scope`."""
        place = caller() or self._place
        target = await self._opened()
        scoped = target.scope(**bounds)

        async def opened() -> Memories:
            return scoped

        return AsyncMemories(opened, self._workers, place, scoped)

    @property
    def bounds(self) -> dict[str, str]:
        """The fields that bound this scope, with their values; {} of an engine."""
        return {} if self._scoped is None else self._scoped.bounds

    def __repr__(self) -> str:
        return f"<AsyncScope: {self._scoped!r}>"


@named_calls("AsyncEngine")
class AsyncEngine(AsyncMemories[Engine]):
    """:class:`oneiros.Engine` for ``asyncio``: the same methods with the same arguments, awaited.

    Each call runs on one of a bounded number of threads; further calls wait in the event loop. An
    await cancelled before its call began has no effect. A running call is completed and keeps its
    thread until then. A note on the ``CancelledError`` says which: the call never began and stored
    nothing, it had ended, or it goes on and a write is stored whole. The memories of search results
    are loaded with them. An engine belongs to one event loop; once that is closed, another may use
    it.

    Args:
        path: the store's file, opened by ``async with`` or by the first call.
        workers: the number of calls that run at once, 1 to 1,024.
        **options: as :class:`oneiros.Engine`.

    Raises:
        OneirosError, ValueError, TypeError: as :class:`oneiros.Engine`, at the first await.
        RuntimeError: an await in an event loop while another uses the engine.

    Examples:
        >>> import asyncio, oneiros
        >>> async def main():
        ...     async with oneiros.AsyncEngine(":memory:") as engine:
        ...         await engine.add("Ada likes her coffee black", id="coffee")
        ...         return (await engine.search("coffee")).ids
        >>> asyncio.run(main())
        ['coffee']
    """

    def __init__(self, path: str | os.PathLike[str], *, workers: int = 4, **options: Any) -> None:
        require_int("workers", workers, low=1, high=_MOST_WORKERS)
        super().__init__(self._open, Workers(workers), caller())
        self._make = partial(Engine, path, **options)
        self._engine: Engine | None = None

    @property
    def path(self) -> str:
        """The absolute path of the store's file; see :attr:`oneiros.Engine.path`.

        Raises:
            RuntimeError: the engine is not open yet.
        """
        return self._opened_before().path

    @property
    def embedder_name(self) -> str | None:
        """The name of the embedder that made the store's vectors; None if none did.

        See :attr:`oneiros.Engine.embedder_name`.

        Raises:
            RuntimeError: the engine is not open yet.
        """
        return self._opened_before().embedder_name

    flush = _awaited(Engine.flush)
    refresh = _awaited(Engine.refresh)
    observe = _awaited(Engine.observe)
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
        keep: float | Budget | None = None,
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
        keep: float | Budget | None = None,
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
        keep: float | Budget | None = None,
    ) -> DreamReport | AsyncDreamPlan: ...
    async def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        keep: float | Budget | None = None,
    ) -> DreamReport | AsyncDreamPlan:
        """Run one dream cycle; see :meth:`oneiros.Engine.dream` for the arguments and errors.

        ``summarise`` and ``judge`` are plain callables, called on the thread of the cycle.

        Returns:
            :class:`oneiros.dream.report.DreamReport`, or with ``dry_run`` an
            :class:`oneiros.engine.async_engine.AsyncDreamPlan`.
        """
        with noting_never_began():
            engine = await self._open()
        result = await self._workers.run(
            lambda: engine.dream(
                now,
                dry_run=dry_run,
                profile=profile,
                summarise=summarise,
                judge=judge,
                keep=keep,
            )
        )
        if dry_run:
            return AsyncDreamPlan(cast("DreamPlan", result), self._workers)
        return cast("DreamReport", result)

    async def close(self) -> None:
        """Wait for running calls, write pending changes and close the store.

        A second call does nothing.
        """
        await self._workers.close(self._close)

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        if self._engine is not None:
            return f"<AsyncEngine: {self._engine!r}>"
        return f"<AsyncEngine: {'closed' if self._workers.is_closed else 'not open yet'}>"

    async def _open(self) -> Engine:
        if self._engine is None:
            await self._workers.run(self._make_engine, is_noted=False)
        assert self._engine is not None
        return self._engine

    def _opened_before(self) -> Engine:
        if self._engine is None:
            msg = "the engine is not open yet: open it with async with, or await a call"
            raise RuntimeError(msg)
        return self._engine

    def _make_engine(self) -> None:
        # The thread stores the engine: the waiting call may be cancelled, and others call again.
        with self._workers.opening:
            if self._engine is None:
                with pointing_at(self._place):
                    self._engine = self._make()

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.close()
