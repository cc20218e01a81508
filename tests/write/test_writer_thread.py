"""The thread that writes: jobs whole and in their order, whatever interrupts who waits for them."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from oneiros.write.background import Interrupted, WriterThread


class Log:
    """What a writer called, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.wants: float | None = None

    def before(self) -> None:
        self.calls.append("before")

    def after(self) -> None:
        self.calls.append("after")

    def idle(self) -> float | None:
        self.calls.append("idle")
        return self.wants


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def writer(log: Log) -> Iterator[WriterThread]:
    writer = WriterThread(log.before, log.after, log.idle)
    yield writer
    writer.stop()


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, also where this process was started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_soon(seconds: float = 0.05) -> threading.Timer:
    """Send this process a SIGINT from another thread."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_a_job_runs_on_another_thread_and_its_result_comes_back(writer: WriterThread) -> None:
    ident = writer.run(threading.get_ident)
    assert ident != threading.get_ident()
    assert writer.run(threading.get_ident) == ident
    assert not writer.is_writing


def test_a_job_on_the_thread_itself_runs_at_once(writer: WriterThread) -> None:
    assert writer.run(lambda: writer.run(lambda: "inner")) == "inner"


def test_an_error_comes_back_as_it_is(writer: WriterThread) -> None:
    def fail() -> None:
        msg = "no"
        raise LookupError(msg)

    with pytest.raises(LookupError, match="no") as caught:
        writer.run(fail, is_write=True)
    assert not hasattr(caught.value, "__notes__")


def test_jobs_of_many_threads_run_one_at_a_time_and_in_their_order(writer: WriterThread) -> None:
    running = 0
    done: list[tuple[int, int]] = []

    def job(thread: int, number: int) -> None:
        nonlocal running
        running += 1
        assert running == 1
        time.sleep(0.0005)
        running -= 1
        done.append((thread, number))

    def work(thread: int) -> None:
        for number in range(20):
            writer.run(lambda: job(thread, number))  # noqa: B023 - run ends before the next

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(4):
        assert [number for thread, number in done if thread == n] == list(range(20))


def test_before_and_after_surround_every_job_and_nudge(writer: WriterThread, log: Log) -> None:
    writer.run(lambda: log.calls.append("job"))
    writer.run(lambda: None)
    assert log.calls[:5] == ["before", "job", "after", "idle", "before"]
    count = len(log.calls)
    writer.nudge()
    writer.run(lambda: None)
    assert log.calls[count:].count("before") >= 2


def test_it_is_called_again_when_it_wants_to_be(writer: WriterThread, log: Log) -> None:
    log.wants = 0.01
    writer.run(lambda: None)
    end = time.monotonic() + 20
    while log.calls.count("idle") < 4:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_an_interrupt_before_the_commit_takes_the_write_back_and_reports_it(
    writer: WriterThread,
) -> None:
    written: list[str] = []

    def write() -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            writer.require_wanted()
            time.sleep(0.002)
        written.append("reached the commit")

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt) as caught:
        writer.run(write, is_write=True)
    assert caught.value.__notes__ == ["oneiros: the write was rolled back, nothing of it is stored"]
    assert written == []
    assert writer.run(lambda: "goes on") == "goes on"


def test_an_interrupt_after_the_commit_leaves_it_and_does_not_wait_for_the_rest(
    writer: WriterThread,
) -> None:
    is_over = threading.Event()
    may_end = threading.Event()

    def write() -> None:
        writer.note_commit()
        writer.require_wanted()
        may_end.wait(60)
        writer.require_wanted()  # what follows a commit is not interrupted
        is_over.set()

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt) as caught:
        writer.run(write, is_write=True)
    assert not is_over.is_set()
    assert caught.value.__notes__ == ["oneiros: the write was committed before the interrupt"]
    assert writer.is_writing
    may_end.set()
    writer.run(lambda: None)
    assert is_over.is_set()
    assert not writer.is_writing


def test_an_interrupt_while_another_write_runs_drops_the_job(writer: WriterThread) -> None:
    is_free = threading.Event()
    other = threading.Thread(target=lambda: writer.run(is_free.wait))
    other.start()
    ran: list[int] = []
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt) as caught:
        writer.run(lambda: ran.append(1), is_write=True)
    assert "rolled back" in caught.value.__notes__[0]
    is_free.set()
    other.join()
    writer.run(lambda: None)
    assert ran == []
    assert not writer.is_writing


def test_other_work_goes_on_when_nobody_waits_for_it_any_more(writer: WriterThread) -> None:
    may_end, done = threading.Event(), threading.Event()

    def read() -> None:
        may_end.wait(60)
        done.set()

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt) as caught:
        writer.run(read)
    assert not hasattr(caught.value, "__notes__")
    assert not done.is_set()
    may_end.set()
    assert done.wait(20)


def test_the_end_of_a_write_nobody_wants_is_no_error_of_the_thread(writer: WriterThread) -> None:
    def write() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        writer.run(write)
    assert writer.run(lambda: 1) == 1


def test_stopped_it_starts_again_with_the_next_job(writer: WriterThread) -> None:
    writer.run(lambda: None)
    writer.stop()
    assert writer.run(lambda: 1) == 1


def test_a_thread_ends_with_its_owner() -> None:
    log = Log()
    writer = WriterThread(log.before, log.after, log.idle)
    thread: threading.Thread = writer.run(threading.current_thread)
    watched = weakref.ref(writer)
    del writer
    gc.collect()
    thread.join(20)
    assert not thread.is_alive()
    assert watched() is None


def test_what_is_owed_keeps_its_owner_alive() -> None:
    log = Log()
    log.wants = 0.02
    writer = WriterThread(log.before, log.after, log.idle)
    thread: threading.Thread = writer.run(threading.current_thread)
    watched = weakref.ref(writer)
    del writer
    gc.collect()
    end = time.monotonic() + 20
    while log.calls.count("idle") < 3:  # nobody else calls it
        assert time.monotonic() < end
        time.sleep(0.01)
    assert watched() is not None
    log.wants = None
    thread.join(20)
    assert not thread.is_alive()


def test_interrupts_at_any_moment_neither_lose_a_job_nor_run_one_twice(
    writer: WriterThread,
) -> None:
    """Every job runs at most once; one that returned ran; one rolled back did not commit."""
    committed: list[int] = []
    raises: list[None] = []  # one item for each signal that is to raise; others do nothing

    def on_signal(*_: object) -> None:
        if raises:
            raises.pop()
            raise KeyboardInterrupt

    def pester() -> None:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            time.sleep(0.003)
            os.kill(os.getpid(), signal.SIGINT)

    def write(number: int) -> None:
        for _ in range(number % 4):
            time.sleep(0.0005)
            writer.require_wanted()
        committed.append(number)
        writer.note_commit()

    returned: list[int] = []
    notes: dict[int, list[str]] = {}

    def attempt(number: int) -> None:
        try:
            raises.extend([None, None])  # the second comes as the first is dealt with
            writer.run(lambda: write(number), is_write=True)
            returned.append(number)
            raises.clear()
        except KeyboardInterrupt as interrupt:
            raises.clear()
            notes[number] = getattr(interrupt, "__notes__", [])

    signal.signal(signal.SIGINT, on_signal)
    thread = threading.Thread(target=pester)
    thread.start()
    number = 0
    while thread.is_alive():
        number += 1
        try:
            attempt(number)
        except KeyboardInterrupt:  # the second, just before the first was caught: none is left
            continue
    writer.run(lambda: None)
    assert number > 100
    assert len(committed) == len(set(committed))
    assert set(returned) <= set(committed)
    for of, said in notes.items():
        if said:
            assert ("committed" in said[0]) == (of in committed), (of, said)
    assert not writer.is_writing
