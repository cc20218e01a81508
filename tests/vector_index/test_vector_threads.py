"""VectorIndex under threads and across forks."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oneiros.vector_index import snapshot
from oneiros.vector_index.index import VectorIndex
from tests.vector_index.vectors import bits_of, clustered

WIDTH = 24
VECTORS = clustered(9_000, WIDTH, 0)


def in_threads(bodies: list[Callable[[], None]], timeout_seconds: float) -> None:
    """Run all at once; an exception in any of them fails the test."""
    failures: list[BaseException] = []

    def guarded(body: Callable[[], None]) -> None:
        try:
            body()
        except BaseException as error:  # noqa: BLE001 (carried to the test's own thread)
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout_seconds)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_one_adder_four_searchers(kind: str) -> None:
    index = VectorIndex(WIDTH, kind)  # type: ignore[arg-type]
    index.add(np.arange(1_000), VECTORS[:1_000])
    added, is_done = [1_000], threading.Event()

    def adder() -> None:
        try:
            for start in range(1_000, 8_000, 100):
                index.add(np.arange(start, start + 100), VECTORS[start : start + 100])
                added[0] = start + 100
                index.remove(np.arange(start - 1_000, start - 990))
        finally:
            is_done.set()

    def searcher(seed: int) -> Callable[[], None]:
        rng = np.random.default_rng(seed)

        def body() -> None:
            last = 0
            while not is_done.is_set():
                low = added[0]
                row = int(rng.integers(low // 100 - 9, low // 100)) * 100  # a hundred added before
                row += int(rng.integers(10, 100))  # the first ten of each are removed later
                found = index.search(VECTORS[row], 5)
                high = added[0] + 100
                assert found.rows[0] == row or found.scores[0] >= 0.9999
                assert (found.rows < high).all()
                np.testing.assert_allclose(
                    found.scores, VECTORS[found.rows] @ VECTORS[row], atol=2e-6
                )
                if seed == 0:  # a reader sees a prefix: what it has seen stays
                    newest = int(
                        index.search(VECTORS[low - 1], 1, bits_of([low - 1], 8_100)).rows[0]
                    )
                    assert newest >= last
                    last = newest
                (only,) = index.search_many(VECTORS[row][None], 3, bits_of([row], low), threads=2)
                assert only.rows.tolist() == [row]

        return body

    in_threads([adder, *(searcher(seed) for seed in range(4))], 120)
    assert index.settle(120)
    assert len(index) == 8_000 - 70 * 10
    index.close()


def test_many_writers_lose_nothing() -> None:
    index = VectorIndex(WIDTH, "hnsw")

    def writer(first: int) -> Callable[[], None]:
        def body() -> None:
            for start in range(first, 8_000, 400):
                index.add(np.arange(start, start + 100), VECTORS[start : start + 100])

        return body

    in_threads([writer(first) for first in (0, 100, 200, 300)], 120)
    assert index.settle(120)
    np.testing.assert_array_equal(index.reconstruct(np.arange(8_000)), VECTORS[:8_000])
    index.close()


def test_recall_never_waits_for_a_build() -> None:
    index = VectorIndex(128, "hnsw")
    vectors = clustered(12_000, 128, 1)
    index.add(np.arange(12_000), vectors)  # seconds of building
    slowest = 0.0
    for row in range(50):
        start = time.perf_counter()
        index.search(vectors[row], 10)
        index.add([12_000 + row], vectors[row : row + 1])
        slowest = max(slowest, time.perf_counter() - start)
    assert not index.has_graph  # so all of it ran beside the build
    assert slowest < 1.0
    index.close()


CHILDREN = 8


def answers_in_children(act: Callable[[], object], deadline_seconds: float) -> int:
    """Fork children that act and say so through a pipe; return how many did in time."""
    reading, writing = os.pipe()
    children = []
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                act()
                os.write(writing, b".")
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    os.close(writing)
    answered, end = 0, time.monotonic() + deadline_seconds
    while (
        answered < CHILDREN and select.select([reading], [], [], max(0, end - time.monotonic()))[0]
    ):
        got = os.read(reading, CHILDREN)
        if not got:
            break
        answered += len(got)
    os.close(reading)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return answered


FORKING = """
import sys, threading
import numpy as np
from oneiros.vector_index.index import VectorIndex
from tests.vector_index.test_vector_threads import VECTORS, WIDTH, answers_in_children

kind, scene = sys.argv[1:]
index = VectorIndex(WIDTH, kind)
index.add(np.arange(9_000), VECTORS)
if scene == "settled":
    index.settle(120)
index.search_many(VECTORS[:2_000], 10, threads=2)
is_done = threading.Event()

def change():  # the lock is taken most of the time, and a build may be under way
    row = 9_000
    while not is_done.is_set():
        index.add(np.arange(row, row + 50), VECTORS[:50])
        row += 50

def use():
    assert len(index.search(VECTORS[0], 10).rows) == 10
    assert len(index.search_many(VECTORS[:50], 10, threads=2)) == 50
    index.add([500_000], -VECTORS[0][None])
    assert index.search(-VECTORS[0], 1).rows.tolist() == [500_000]
    index.close()

threads = [threading.Thread(target=change)] if scene == "busy" else []
for thread in threads:
    thread.start()
answered = answers_in_children(use, 2.0)
is_done.set()
for thread in threads:
    thread.join()
assert len(index.search_many(VECTORS[:100], 10, threads=2)) == 100  # the parent goes on
index.close()
print(answered)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("scene", ["settled", "building", "busy"])
@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_children_of_a_fork_answer(kind: str, scene: str) -> None:
    # In a process of its own: the test runner should not fork with its threads.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", FORKING, kind, scene]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(CHILDREN)


IMPORTING = """
import logging, os, threading, time, types
import oneiros.vector_index.hnsw as hnsw

has_begun, is_over = threading.Event(), []

def slowly(name):
    has_begun.set()
    time.sleep(0.3)
    logging.getLogger("faiss.loader")  # as FAISS does: a fork holds the lock of logging, too
    is_over.append(name)
    return types.SimpleNamespace(InterruptCallback=types.SimpleNamespace(clear_instance=int))

hnsw.import_whole = slowly
threading.Thread(target=hnsw.library, daemon=True).start()
has_begun.wait()
child = os.fork()
if child == 0:
    os._exit(0 if is_over else 1)
os._exit(os.waitpid(child, 0)[1] >> 8)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_until_faiss_is_imported() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", IMPORTING]
    done = subprocess.run(command, env=environment, timeout=120, check=False)
    assert done.returncode == 0


def test_import_is_clean_where_warnings_are_errors() -> None:
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        "import oneiros.vector_index.index as v; v.VectorIndex(2).add([0], [[1, 0]]); import oneiros.vector_index.hnsw as h; h.library()",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def run_alone(code: str) -> None:
    """Run code in a process of its own, which must end well."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_faiss_is_imported_for_a_graph_only() -> None:
    code = """
import sys, numpy as np, oneiros.vector_index.index as v
vectors = np.random.default_rng(0).standard_normal((300, 8))
for kind in ("auto", "flat", "hnsw"):
    index = v.VectorIndex(8, kind)
    index.add(range(300), vectors)
    assert index.settle(60)
    assert len(index.search(vectors[0], 5).rows) == 5
    assert len(index.search_many(vectors, 5, threads=2)) == 300
    index.cosines(vectors[0], [1, 2]), index.reconstruct([3]), index.remove([4])
    assert ("faiss" in sys.modules) == (kind == "hnsw"), kind
"""
    run_alone(code)


def test_the_callers_own_thread_count_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    faiss = pytest.importorskip("faiss")
    monkeypatch.setattr(snapshot, "SCANNED_PER_CANDIDATE", 0.1)
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(1_000), VECTORS[:1_000])
    assert index.settle(60)
    before = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(3)
        index.search(VECTORS[0], 1)
        index.search_many(VECTORS[:3], 1, threads=2)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)


def test_a_process_of_one_search_imports_no_faiss_where_no_graph_was_kept(tmp_path: Path) -> None:
    code = f"""
import sys, numpy as np, oneiros
path, vectors = {str(tmp_path / "mind.db")!r}, np.random.default_rng(0).standard_normal((10_001, 4))
with oneiros.Engine(path, vector_index="flat") as mind:
    mind.add_many({{"text": str(number), "embedding": one}} for number, one in enumerate(vectors))
for count in (1, 2):
    with oneiros.Engine(path, vector_index="auto") as mind:
        for vector in vectors[:count]:
            assert len(mind.search("", embedding=vector)) == 10
        if count == 2:
            assert mind._scope.services.read_model.indexes.vectors.settle(60)
    assert ("faiss" in sys.modules) == (count == 2), count
"""
    run_alone(code)
