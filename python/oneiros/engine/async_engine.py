"""The engine for ``asyncio``: the same methods, awaited, a bounded number of them at work at once."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    cast,
    overload,
)

from oneiros.engine import Engine
from oneiros.engine.async_workers import Workers, noting_never_began
from oneiros.engine.memories import Memories
from oneiros.named_calls import named_calls, plain_function
from oneiros.ranking.declaration import require_int
from oneiros.search.response import SearchResponse
from oneiros.warning_places import Place, caller, pointing_at

if TYPE_CHECKING:
    from types import TracebackType

    from oneiros.clock import Time
    from oneiros.dream.cycles import Judge, Summarise
    from oneiros.dream.report import DreamReport
    from oneiros.engine.async_dream_plan import AsyncDreamPlan
    from oneiros.ranking.profile import Profile

__all__ = ["AsyncEngine", "AsyncMemories"]

Given = ParamSpec("Given")
Told = TypeVar("Told")
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
    place: Place | None,
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
        place: Place | None,
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
            :class:`oneiros.engine.async_dream_plan.AsyncDreamPlan`, to be applied and tried by awaiting.

        Raises:
            As :meth:`oneiros.Engine.dream`.
        """
        from oneiros.dream.plan import DreamPlan  # noqa: PLC0415
        from oneiros.engine.async_dream_plan import AsyncDreamPlan  # noqa: PLC0415 - a search dreams not

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
