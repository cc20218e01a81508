"""The threads on which the calls of an event loop run, so that it goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from oneiros.errors import EngineClosed

__all__ = ["Workers"]

Told = TypeVar("Told")


class Workers:
    """A bounded number of threads, and no queue before them: who waits, waits in the loop."""

    def __init__(self, count: int) -> None:
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="oneiros-async")
        self._free = asyncio.Semaphore(count)
        self._count = count
        self._has_ended = False
        self.is_closed = False

    async def run(self, call: Callable[[], Told]) -> Told:
        """Run a call on a thread. Cancelled while it waits for one, it never starts."""
        await self._free.acquire()
        if self.is_closed:
            self._free.release()
            msg = "the engine is closed"
            raise EngineClosed(msg)
        return await self._started(call)

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
            await self._started(last)
        finally:
            self._executor.shutdown(wait=False)

    async def _started(self, call: Callable[[], Told]) -> Told:
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
        return await asyncio.wrap_future(future)
