"""The threads on which the calls of an event loop run, so that it goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, Final, TypeVar

from oneiros.errors import EngineClosed

__all__ = ["Workers", "noting_never_began"]

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
