"""The thread that writes: every write of an engine runs on it whole, while its caller waits.

Python raises KeyboardInterrupt, and whatever another signal handler raises, between any two
instructions of the main thread, and in no other. Code that changes a store and its read model on the
main thread can therefore be cut off anywhere: between a lock and the block that releases it, between a
commit and the read model that has to follow it. Here a caller hands the work over and only waits. An
interrupt ends the waiting and nothing else: the write is then rolled back or committed, never half
of it, and a note on the exception reports which.
"""

from __future__ import annotations

import threading
import weakref
from _queue import Empty, SimpleQueue  # those of ``queue``, which loads more
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

__all__ = ["Interrupted", "WriterThread", "note_outcome", "whole_write"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Interrupted(BaseException):
    """Ends a write whose caller was interrupted, before its commit. No caller sees it."""


class _Job(Generic[Result]):
    """One piece of work, run once or dropped."""

    __slots__ = (
        "_ended",
        "_outcome_known",
        "_taken",
        "_work",
        "error",
        "has_committed",
        "is_given_up",
        "is_write",
        "result",
    )

    def __init__(self, work: Callable[[], Result], *, is_write: bool) -> None:
        self.is_write = is_write
        self._work: Callable[[], Result] | None = work
        self._taken = threading.Lock()  # whoever acquires it first runs the job, or drops it
        self._outcome_known = threading.Lock()  # released at the commit, at the latest at the end
        self._outcome_known.acquire()
        self._ended = threading.Lock()  # released at the end
        self._ended.acquire()
        self.is_given_up = False
        self.has_committed = False
        self.result: Result
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run it, unless its caller dropped it. Never raises; :meth:`end` follows."""
        if not self._taken.acquire(blocking=False):
            return
        assert self._work is not None
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            self.error = error
        finally:
            self._work = None  # it may hold the engine

    def end(self) -> None:
        """Let its caller go on."""
        if not self.has_committed:
            self._outcome_known.release()
        self._ended.release()

    def note_commit(self) -> None:
        """Record that what it writes is durable."""
        if not self.has_committed:
            self.has_committed = True
            self._outcome_known.release()

    def wait(self) -> Result:
        """Wait for its end, return its result or raise its error."""
        with self._ended:
            pass
        if self.error is not None:
            raise self.error
        return self.result

    def drop(self) -> bool:
        """Return whether it had not begun; then it never will."""
        self.is_given_up = True
        return self._taken.acquire(blocking=False)

    def wait_for_outcome(self) -> bool:
        """Wait until it has committed or ended; return whether it committed."""
        with self._outcome_known:
            pass
        return self.has_committed


class WriterThread:
    """Runs jobs one after the other, in the order in which they came, on one thread.

    The thread starts with the first job and ends with :meth:`stop`, or when this object is
    collected. It is a daemon: a process may end at any time, and closes its engines before.

    Args:
        before: called before each job and on each nudge.
        after: called after each, before its caller goes on.
        idle: called when nothing is to be done; returns the seconds after which it wants to be
            called again, or None. While it wants to be, the thread keeps this object alive.
    """

    def __init__(
        self,
        before: Callable[[], None],
        after: Callable[[], None],
        idle: Callable[[], float | None],
    ) -> None:
        self._before = before
        self._after = after
        self._idle = idle
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._serving = threading.Lock()  # held by the one thread that serves the queue
        self._ident: int | None = None
        self._current: _Job[Any] | None = None
        self._writes: set[_Job[Any]] = set()  # that wait or run
        weakref.finalize(self, _end, self._jobs).atexit = False

    @property
    def is_writing(self) -> bool:
        """Whether a write runs or waits."""
        return bool(self._writes)

    def run(
        self, work: Callable[[], Result], *, is_write: bool = False, is_kept: bool = False
    ) -> Result:
        """Run ``work`` on the thread, wait for its end and return what it returns.

        On the thread itself it is called at once.

        Args:
            work: the job.
            is_write: an interrupt of the caller rolls it back, if it comes before the commit.
            is_kept: it runs although its caller was interrupted before it began.

        Raises:
            Whatever ``work`` raises.
        """
        if self._ident == threading.get_ident():
            return work()
        job = _Job(work, is_write=is_write)
        try:
            if is_write:
                self._writes.add(job)
            self._put(job)
            return job.wait()
        except BaseException as error:
            if error is not job.error and not is_kept:
                self._give_up(job, error)
            raise

    def nudge(self) -> None:
        """Have ``before``, ``after`` and ``idle`` called soon; returns at once."""
        # A job of its own, which keeps this object alive until then.
        self._put(_Job(self._nothing, is_write=False))

    def look(self) -> None:
        """Have ``idle`` called soon; returns at once."""
        self._put(None)

    def _nothing(self) -> None:
        pass

    def require_wanted(self) -> None:
        """Raise :class:`Interrupted` if the caller of the write that runs was interrupted."""
        if self.is_unwanted():
            raise Interrupted

    def is_unwanted(self) -> bool:
        """Whether this is the thread, and the caller of its write was interrupted before the commit."""
        job = self._current
        return (
            job is not None
            and job.is_given_up
            and job.is_write
            and not job.has_committed
            and self._ident == threading.get_ident()
        )

    def note_commit(self) -> None:
        """Record that the job that runs has committed: from here on it is not interrupted."""
        if self._current is not None:
            self._current.note_commit()

    def stop(self) -> None:
        """End the thread after the jobs that wait. A later job starts another."""
        _end(self._jobs)

    def _give_up(self, job: _Job[Any], interrupt: BaseException) -> None:
        """Stop waiting for a job, since its caller was interrupted.

        A write that has not committed yet is rolled back. Other work goes on unobserved.
        """
        if job.drop():
            self._writes.discard(job)
            has_committed = False
        elif job.is_write:
            try:
                has_committed = job.wait_for_outcome()
            except BaseException as second:
                second.add_note(
                    "oneiros: the write goes on in the background; it is stored whole or not at all"
                )
                raise
        if job.is_write:
            note_outcome(interrupt, has_committed=has_committed)

    def _put(self, job: _Job[Any] | None) -> None:
        self._jobs.put(job)
        if not self._serving.locked():
            self._start()

    def _start(self) -> None:
        # An interrupt may come at any point in here. A thread too many ends at once, and one too few
        # is started by the next job.
        thread = threading.Thread(
            target=_serve,
            args=(self._jobs, self._serving, weakref.ref(self)),
            name="oneiros-writer",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down
            self._jobs.put(_STOP)
            _serve(self._jobs, self._serving, weakref.ref(self))


class _HasWriter(Protocol):
    writer: WriterThread


Owner = TypeVar("Owner", bound=_HasWriter)


def note_outcome(interrupt: BaseException, *, has_committed: bool) -> None:
    """Add a note to what interrupted a write: whether that is stored."""
    interrupt.add_note(
        "oneiros: the write was committed before the interrupt"
        if has_committed
        else "oneiros: the write was rolled back, nothing of it is stored"
    )


def whole_write(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Return a method that runs whole on its object's ``writer``; see :meth:`WriterThread.run`."""

    @wraps(method)
    def run(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self.writer.run(partial(method, self, *args, **kwargs), is_write=True)

    return run


_STOP: _Job[Any] = _Job(lambda: None, is_write=False)


def _end(jobs: SimpleQueue[_Job[Any] | None]) -> None:
    jobs.put(_STOP)


def _serve(
    jobs: SimpleQueue[_Job[Any] | None],
    serving: threading.Lock,
    of: weakref.ref[WriterThread],
) -> None:
    while serving.acquire(blocking=False):
        try:
            _serve_until_stopped(jobs, of)
        finally:
            serving.release()
        # A job that came since then found this thread serving and started no other.
        if jobs.empty():
            return


def _serve_until_stopped(
    jobs: SimpleQueue[_Job[Any] | None], of: weakref.ref[WriterThread]
) -> None:
    kept: WriterThread | None = None  # alive while it wants to be called again
    seconds: float | None = None
    while True:
        try:
            job = jobs.get(timeout=seconds)
        except Empty:
            job = None
        if job is _STOP:
            return
        writer = of()
        if writer is None:
            return
        seconds = _served(writer, job)
        kept = writer if seconds is not None else None  # noqa: F841
        del writer, job


def _served(writer: WriterThread, job: _Job[Any] | None) -> float | None:
    writer._ident = threading.get_ident()
    try:
        if job is not None:
            writer._before()
            writer._current = job
            job.run()
            writer._current = None
            writer._writes.discard(job)
            writer._after()
            job.end()
        return writer._idle()
    finally:
        writer._ident = None
