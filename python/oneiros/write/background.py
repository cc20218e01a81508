"""The writer thread, on which every write of an engine runs as a whole while its caller waits.

Python raises KeyboardInterrupt, and exceptions of other signal handlers, between any two instructions of
the main thread, and in no other thread. Code that changes a store and its read model on the main thread
could be interrupted anywhere: between a lock and the block that releases it, or between a commit and the
update of the read model. Here the caller hands over the work and only waits. An interrupt ends just the
waiting: the write is either rolled back or committed as a whole, and a note on the exception says which.
"""

from __future__ import annotations

import threading
import weakref
from _queue import Empty, SimpleQueue  # importing ``queue`` loads more
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

__all__ = ["Interrupted", "WriterThread", "do_nothing", "note_outcome", "whole_write"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Interrupted(BaseException):
    """Ends a write whose caller was interrupted before its commit. No caller sees it."""


class _Job(Generic[Result]):
    """A job, run once or dropped."""

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
        "revision",
    )

    def __init__(self, work: Callable[[], Result], *, is_write: bool) -> None:
        self.is_write = is_write
        self._work: Callable[[], Result] | None = work
        self._taken = threading.Lock()  # the first to acquire it runs or drops the job
        self._outcome_known = threading.Lock()  # released at the commit, or else at the end
        self._outcome_known.acquire()
        self._ended = threading.Lock()  # released at the end
        self._ended.acquire()
        self.is_given_up = False
        self.has_committed = False
        self.revision = 0  # of its commit
        self.result: Result
        self.error: BaseException | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it neither began nor was dropped."""
        return not self._taken.locked()

    def run(self) -> None:
        """Run the job, unless it was dropped. Never raises; :meth:`end` follows."""
        if not self._taken.acquire(blocking=False):
            return
        assert self._work is not None
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            self.error = error
        finally:
            self._work = None  # it may refer to the engine

    def end(self) -> None:
        """Wake the caller."""
        if not self.has_committed:
            self._outcome_known.release()
        self._ended.release()

    def note_commit(self, revision: int) -> None:
        """Record that the job's write is durable."""
        self.revision = revision
        if not self.has_committed:
            self.has_committed = True
            self._outcome_known.release()

    def wait(self) -> Result:
        """Wait for the job's end; return its result or raise its error."""
        with self._ended:
            pass
        if self.error is not None:
            raise self.error
        return self.result

    def drop(self) -> bool:
        """Drop the job if it has not begun; return whether it was dropped."""
        self.is_given_up = True
        return self._taken.acquire(blocking=False)

    def wait_for_outcome(self) -> bool:
        """Wait until the job has committed or ended; return whether it committed."""
        with self._outcome_known:
            pass
        return self.has_committed


class WriterThread:
    """Runs jobs on one thread, in the order in which they were submitted.

    The thread starts with the first job and ends with :meth:`stop`, or when this object is
    collected. It is a daemon: a process closes its engines at exit, and need not wait for it.

    Args:
        before: called before each job and on each nudge.
        after: called after each job, before its caller goes on.
        idle: called when no job waits; returns the seconds until it is to be called again, or None.
            Until that call the thread keeps this object alive.
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
        self._serving = threading.Lock()  # owned by the one thread that serves the queue
        self._ident: int | None = None
        self._current: _Job[Any] | None = None
        self._nudge: _Job[None] | None = None  # the last
        self._writes: set[_Job[Any]] = set()  # waiting or running
        self._calls = threading.local()  # what each thread last waited for
        weakref.finalize(self, _end, self._jobs).atexit = False

    @property
    def is_here(self) -> bool:
        """Whether this is the thread."""
        return self._ident == threading.get_ident()

    @property
    def is_writing(self) -> bool:
        """Whether a write runs or waits."""
        return bool(self._writes)

    @property
    def write_count(self) -> int:
        """The number of writes that run or wait."""
        return len(self._writes)

    @property
    def is_awaited(self) -> bool:
        """Whether jobs wait that are no writes."""
        return self._jobs.qsize() > len(self._writes)

    def run(
        self, work: Callable[[], Result], *, is_write: bool = False, is_kept: bool = False
    ) -> Result:
        """Run ``work`` on the thread, wait for it and return its result.

        Called on the thread itself, it runs at once.

        Args:
            work: the job.
            is_write: an interrupt of the caller before the commit rolls it back.
            is_kept: it runs even if its caller is interrupted before it begins.

        Raises:
            Any exception of ``work``.
        """
        if self.is_here:
            return work()
        job = _Job(work, is_write=is_write)
        try:
            if is_write:
                self._writes.add(job)
            self._put(job)
            try:
                return job.wait()
            finally:
                self._calls.revision = job.revision
        except BaseException as error:
            if error is not job.error and not is_kept:
                self._give_up(job, error)
            raise

    def nudge(self) -> None:
        """Make ``before``, ``after`` and ``idle`` run soon; return at once."""
        if self._nudge is not None and self._nudge.is_waiting and self._serving.locked():
            return  # ``after`` is yet to run
        # A job that keeps this object alive until then.
        nudge: _Job[None] = _Job(self._nothing, is_write=False)
        self._put(nudge)
        self._nudge = nudge

    def look(self) -> None:
        """Make ``idle`` run soon; return at once."""
        self._put(None)

    def _nothing(self) -> None:
        pass

    def require_wanted(self) -> None:
        """Raise :class:`Interrupted` if the caller of the running write was interrupted."""
        if self.is_unwanted():
            raise Interrupted

    def is_unwanted(self) -> bool:
        """Return whether this is the thread, and its write's caller was interrupted before the commit."""
        job = self._current
        return (
            job is not None
            and job.is_given_up
            and job.is_write
            and not job.has_committed
            and self.is_here
        )

    def note_commit(self, revision: int = 0) -> None:
        """Record that the running job has committed, so that it is no longer interrupted.

        Args:
            revision: of the commit; 0 if it is not of interest.
        """
        if self._current is not None:
            self._current.note_commit(revision)

    @property
    def committed(self) -> int:
        """The revision that the last job of the calling thread committed, 0 if it committed none."""
        return int(getattr(self._calls, "revision", 0))

    def release(self) -> None:
        """Let go of the callbacks: later jobs run without them."""
        self._before = self._after = self._idle = do_nothing

    def stop(self) -> None:
        """End the thread after the waiting jobs. A later job starts another thread."""
        _end(self._jobs)

    def _give_up(self, job: _Job[Any], interrupt: BaseException) -> None:
        """Stop waiting for a job whose caller was interrupted.

        A write that has not committed is rolled back. Other work goes on in the background.
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
        # An interrupt may come at any point here. A surplus thread ends at once, and a missing one
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
    """Add a note to the interrupt that says whether the write is stored."""
    interrupt.add_note(
        "oneiros: the write was committed before the interrupt"
        if has_committed
        else "oneiros: the write was rolled back, nothing of it is stored"
    )


def whole_write(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Make a method run as a whole on its object's ``writer``; see :meth:`WriterThread.run`."""

    @wraps(method)
    def run(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self.writer.run(partial(method, self, *args, **kwargs), is_write=True)

    return run


def do_nothing() -> None:
    """Take the place of a job or a callback."""


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
        # A job submitted after the queue was served saw a serving thread and started none.
        if jobs.empty():
            return


def _serve_until_stopped(
    jobs: SimpleQueue[_Job[Any] | None], of: weakref.ref[WriterThread]
) -> None:
    kept: WriterThread | None = None  # keeps it alive while it is to be called again
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
            after = writer._after  # the job may release it
            writer._current = job
            job.run()
            writer._current = None
            writer._writes.discard(job)
            after()
            job.end()
        return writer._idle()
    finally:
        writer._ident = None
