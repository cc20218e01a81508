"""Calls of foreign code with a deadline."""

from __future__ import annotations

import contextvars
import os
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from queue import Empty, SimpleQueue
from types import MethodType
from typing import Final, TypeVar

__all__ = ["MOST_LEFT", "answer_within"]

Answer = TypeVar("Answer")

MOST_LEFT: Final = 4
"""Maximum number of overdue calls of one callable; at that number it is not called again."""


def answer_within(
    seconds: float,
    target: object,
    call: Callable[[], Answer],
    failed: Callable[[str], Answer],
    *,
    name: str,
) -> Answer:
    """Return the result of a call, or ``failed(reason)`` if it takes too long.

    The call runs in a new thread. A thread that misses the deadline cannot be ended: it keeps
    running, and its result is discarded.

    Args:
        seconds: the deadline; infinity: the call runs in the current thread, without a limit.
        target: the callable whose overdue calls are counted.
        call: must not raise.
        failed: returns the result for a call without one, given the reason.
        name: name of the thread.
    """
    if seconds <= 0:
        return failed("no time was left")
    if seconds == float("inf"):
        return call()
    return _OVERDUE.within(seconds, target, call, failed, name)


class _OverdueCalls:
    """Runs calls in threads, and counts those that miss their deadline."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset all counts, as in the child of a fork, where these threads do not run."""
        self._lock = threading.RLock()  # reentrant: a signal handler may make a call, too
        self._running: Counter[Hashable] = Counter()  # by target, which its threads keep alive

    def within(
        self,
        seconds: float,
        target: object,
        call: Callable[[], Answer],
        failed: Callable[[str], Answer],
        name: str,
    ) -> Answer:
        """Return the result of a call, or that of ``failed`` if it takes too long."""
        # Each access to a bound method makes another object, equal to the others.
        key = target if isinstance(target, MethodType) else id(target)
        with self._lock:
            if self._running[key] >= MOST_LEFT:
                return failed(f"{MOST_LEFT} earlier calls still run past their deadlines")
        answers: SimpleQueue[Answer] = SimpleQueue()
        is_left = False
        has_ended = False

        def run() -> None:
            nonlocal has_ended
            answer = failed("it ended its thread")
            try:
                answer = call()
            finally:
                with self._lock:
                    has_ended = True
                    if is_left:
                        self._running -= Counter((key,))  # keeps no count of 0, nor its target
                answers.put(answer)

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
                if not has_ended:  # also after an interrupt of the wait
                    is_left = True
                    self._running[key] += 1


_OVERDUE = _OverdueCalls()
os.register_at_fork(after_in_child=_OVERDUE.forget)
