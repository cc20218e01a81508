"""Calls of others' code that are waited for no longer than a deadline."""

from __future__ import annotations

import contextvars
import os
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

__all__ = ["MOST_LEFT", "answer_within"]

Answer = TypeVar("Answer")

MOST_LEFT: Final = 4
"""Calls of one callable that may run on past their deadlines; while so many do, it is not asked."""


def answer_within(
    seconds: float,
    asked: object,
    call: Callable[[], Answer],
    failed: Callable[[str], Answer],
    *,
    name: str,
) -> Answer:
    """Return what a call answers, or ``failed(why)`` where it takes too long.

    It runs in a thread of its own, which is left behind where it takes longer: nothing can end it,
    and its answer is not heard.

    Args:
        seconds: how long; infinity: it runs in this thread, however long it takes.
        asked: whose calls are counted together.
        call: never raises.
        failed: makes the answer where there is none.
        name: of the thread.
    """
    if seconds <= 0:
        return failed("no time was left")
    if seconds == float("inf"):
        return call()
    return _LEFT.within(seconds, asked, call, failed, name)


class _LeftBehind:
    """Runs calls in threads, and counts those that outlast their deadline."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew: in the child of a fork, where these threads do not run."""
        self._lock = threading.RLock()  # a signal handler may ask, too
        self._running: Counter[int] = Counter()  # by id of what is asked, which its threads hold

    def within(
        self,
        seconds: float,
        asked: object,
        call: Callable[[], Answer],
        failed: Callable[[str], Answer],
        name: str,
    ) -> Answer:
        """Return the answer, or that it took too long."""
        key = id(asked)
        with self._lock:
            if self._running[key] >= MOST_LEFT:
                return failed(f"{MOST_LEFT} earlier calls still run past their deadlines")
        answers: SimpleQueue[Answer] = SimpleQueue()
        is_left = False
        has_ended = False

        def run() -> None:
            nonlocal has_ended
            told = failed("it ended its thread")
            try:
                told = call()
            finally:
                with self._lock:
                    has_ended = True
                    if is_left:
                        self._running[key] -= 1
                answers.put(told)

        thread = threading.Thread(
            target=partial(contextvars.copy_context().run, run), name=name, daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            return failed(f"no thread: {error}")
        try:
            return answers.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except Empty:
            return failed(f"no answer within {seconds:.3g} s")
        finally:
            with self._lock:
                if not has_ended:  # also where an interrupt ended the wait
                    is_left = True
                    self._running[key] += 1


_LEFT = _LeftBehind()
os.register_at_fork(after_in_child=_LEFT.forget)
