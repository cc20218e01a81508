"""Python threads, signals and forks around the index."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise, permutations

import pytest

from oneiros import LexicalIndex

WORDS = [f"word{number}" for number in range(500)]


def texts(count: int, length: int = 30) -> list[str]:
    return [
        " ".join(WORDS[(place * 7 + number * number) % 500] for number in range(length))
        for place in range(count)
    ]


def test_a_text_is_found_when_add_returns_whatever_else_goes_on() -> None:
    index = LexicalIndex()

    def write(writer: int) -> None:
        for number, text in enumerate(texts(150)):
            id = f"{writer}-{number}"
            index.add(id, f"{text} mark{writer}x{number}")
            assert list(index.search(f"mark{writer}x{number}").ids) == [id]
            if number % 3 == 0:
                assert index.delete(id)
                assert len(index.search(f"mark{writer}x{number}")) == 0

    def read() -> None:
        for _ in range(60):
            for hits in index.search_many(WORDS[:10], k=20, threads=2):
                assert len(hits.ids) == len(set(hits.ids))

    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(write, 0), pool.submit(write, 1), *(pool.submit(read),) * 2]:
            job.result(timeout=60)
    assert len(index) == 200


def test_long_calls_leave_other_threads_their_turn() -> None:
    index = LexicalIndex()
    beats, is_done = [], threading.Event()

    def beat() -> None:
        while not is_done.is_set():
            beats.append(time.perf_counter())
            time.sleep(0.001)

    heart = threading.Thread(target=beat)
    heart.start()
    index.add_many(list(range(20_000)), texts(20_000))
    index.search_many(WORDS * 4, k=100, threads=2)
    is_done.set()
    heart.join()
    gaps = sorted(late - early for early, late in pairwise(beats))
    assert len(gaps) > 20
    assert gaps[len(gaps) // 2] < 0.1  # the typical gap: one long one may be the machine's


@pytest.mark.parametrize("writes", [True, False], ids=["add_many", "search_many"])
def test_ctrl_c_ends_a_long_call_and_leaves_a_valid_index(writes: bool) -> None:
    index = LexicalIndex()
    base = texts(2000)
    index.add_many([f"base{number}" for number in range(2000)], base)
    many = texts(2000) * 200
    ids = range(len(many))
    call = (lambda: index.add_many(ids, many)) if writes else (lambda: index.search_many(many))
    alarm = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    alarm.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    alarm.join()
    count = len(index) - 2000
    assert 0 <= count < len(many)
    if count:
        assert count - 1 in index
    assert count not in index
    found = index.search(base[0], k=10**6)
    assert len(found) <= len(index)
    assert set(found.ids.tolist()) <= {*(f"base{n}" for n in range(2000)), *range(count)}
    index.add(count, "afterwards")
    assert list(index.search("afterwards").ids) == [count]


@pytest.mark.parametrize("count", [1, 2], ids=["search", "search_many"])
def test_ctrl_c_is_heard_within_one_query(count: int) -> None:
    few = WORDS[:32]
    index = LexicalIndex()
    base = [" ".join(few[(row + 7 * word) % 32] for word in range(60)) for row in range(500)]
    index.add_many(range(20_000), base * 40)
    query = " ".join(f'"{first} {second}"' for first, second in permutations(few, 2))
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    alarm = threading.Timer(0.2, send)
    alarm.start()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - one of two calls
        if count == 1:
            index.search(query, syntax="query")
        else:
            index.search_many([query] * count, threads=count, syntax="query")
    heard = time.monotonic()
    alarm.join()
    assert heard - sent[0] < 2.0  # 200 ms, and a busy machine's patience; all of it takes 10
    assert len(index.search(base[0])) == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_after_threaded_searches_answers() -> None:
    index = LexicalIndex()
    index.add_many(list(range(100)), texts(100))
    want = [hits.ids.tolist() for hits in index.search_many(WORDS[:20], threads=4)]
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        got = [hits.ids.tolist() for hits in index.search_many(WORDS[:20], threads=4)]
        index.add(1000, "afterwards")
        os._exit(0 if got == want and index.search("afterwards").ids.tolist() == [1000] else 1)
    assert exit_code_of(child) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_amid_writes_and_merges_goes_on_writing() -> None:
    index = LexicalIndex()
    index.add_many([f"base{number}" for number in range(9000)], texts(9000))  # sealing begins
    many = texts(500)

    def write() -> None:
        for number, text in enumerate(many):
            index.add(number, text)
        index.seal()

    with busy(write, lambda: index.search_many(WORDS[:20], threads=2)):
        for _ in range(5):
            time.sleep(0.05)
            assert exit_code_of(forked(index)) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_amid_searches_for_prefixes_finds_what_it_adds() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(list(range(4000)), [f"word{n} alpha{n % 97}" for n in range(4000)])

    def read() -> None:
        index.search("alpha*", k=3, syntax="query")

    with busy(read, read, read):
        for turn in range(100):
            time.sleep(0.001 * (turn % 7))
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                index.add("child", f"alphabet{turn}")
                found = index.search("alphabet*", syntax="query").ids
                os._exit(0 if list(found) == ["child"] else 1)
            assert exit_code_of(child) == 0


@contextmanager
def busy(*works: Callable[[], object]) -> Iterator[None]:
    """Do each work over and over on a thread of its own during a block."""
    is_done = threading.Event()

    def repeat(work: Callable[[], object]) -> None:
        while not is_done.is_set():
            work()

    with ThreadPoolExecutor(len(works)) as pool:
        jobs = [pool.submit(repeat, work) for work in works]
        try:
            yield
        finally:
            is_done.set()
        for job in jobs:
            job.result(timeout=60)


def exit_code_of(child: int) -> int:
    """Wait for a child and return its exit code."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def forked(index: LexicalIndex) -> int:
    """Fork; the child ends with 0 if it searches, adds, deletes and seals within a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        is_right = len(index.search("word7")) == 10
        index.add("child", "afterwards")
        is_right &= list(index.search("afterwards").ids) == ["child"]
        is_right &= index.delete("child") and "child" not in index
        index.seal()
        is_right &= len(index.search("afterwards")) == 0
        os._exit(0 if is_right else 1)
    return child


def test_searches_go_on_while_another_thread_writes_seals_and_merges() -> None:
    index = LexicalIndex()
    index.add_many([f"base{number}" for number in range(20_000)], texts(20_000))
    is_done = threading.Event()

    def write() -> None:
        for _ in range(3):
            index.add_many(list(range(20_000)), texts(20_000))
            index.seal()
        is_done.set()

    writer = threading.Thread(target=write)
    seconds = []
    writer.start()
    while not is_done.is_set():
        start = time.perf_counter()
        assert len(index.search("word1 word2", k=10)) == 10
        seconds.append(time.perf_counter() - start)
        time.sleep(0.001)
    writer.join()
    seconds.sort()
    assert len(seconds) > 20
    assert seconds[len(seconds) // 2] < 0.1  # the typical one: a long one may be the machine's


ENDLESS = """
import sys, threading, time
from oneiros import LexicalIndex

index = LexicalIndex(analyzer='simple')
index.add_many(list(range(500)), [f"word{n % 50} other{n % 7}" for n in range(500)])
queries = [f"word{n}" for n in range(50)]

def search() -> None:
    while True:
        index.search_many(queries, threads=2)

def add() -> None:
    while True:
        index.add_many(list(range(500, 700)), ["another"] * 200)
        for n in range(500, 700):
            index.delete(n)

for work in (search, search, add):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1])
def test_the_interpreter_ends_while_daemon_threads_are_in_calls(seconds: float) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(seconds)], capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
