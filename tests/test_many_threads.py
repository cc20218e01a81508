"""The core called by several threads at once, also without the interpreter's lock.

On an interpreter with that lock the same tests pass, for they compare with what one thread computes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

from oneiros import LexicalIndex, _core

THREADS = 4
ROUNDS = 40
Result = TypeVar("Result")


def together(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Start all tasks at the same moment; return their results, or raise the first error."""
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], Result]) -> Result:
        barrier.wait(timeout=30)
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        jobs = [pool.submit(run, task) for task in tasks]
        return [job.result(timeout=120) for job in jobs]


def beside(write: Callable[[int], object], read: Callable[[], Result]) -> list[Result]:
    """Call ``read`` over and over on several threads while another calls ``write``."""
    is_over = threading.Event()

    def writer() -> list[Result]:
        number = 0
        while not is_over.is_set():
            write(number)
            number += 1
        return []

    left = [THREADS - 1]
    lock = threading.Lock()

    def reader() -> list[Result]:
        try:
            return [read() for _ in range(ROUNDS)]
        finally:
            with lock:
                left[0] -= 1
                if left[0] == 0:
                    is_over.set()

    return [result for found in together([writer, *[reader] * (THREADS - 1)]) for result in found]


def words(number: int) -> str:
    return " ".join(f"wörd{(number * 7 + place * place) % 90}" for place in range(25))


# --- columns ------------------------------------------------------------------------------------


def test_rows_appended_by_several_threads_are_all_there() -> None:
    columns = _core.Columns()

    def append() -> list[int]:
        return [columns.append(count=3) for _ in range(ROUNDS)]

    starts = sorted(start for found in together([append] * THREADS) for start in found)
    assert starts == list(range(0, 3 * ROUNDS * THREADS, 3))
    assert len(columns) == 3 * ROUNDS * THREADS


def test_columns_written_by_several_threads_hold_what_one_thread_writes() -> None:
    def written(run: Callable[[list[Callable[[], None]]], object]) -> list[list[float]]:
        columns = _core.Columns()
        columns.append(count=THREADS * 100)

        def write(first: int) -> None:
            rows = list(range(first, first + 100))
            for number in range(ROUNDS):
                values = {
                    "importance": [(row + number) % 10 / 10 for row in rows],
                    "access_count": [row + number for row in rows],
                }
                columns.write(rows=rows, values=values)

        run([lambda first=part * 100: write(first) for part in range(THREADS)])
        return [columns.view(name=name).tolist() for name in ("importance", "access_count")]

    assert written(together) == written(lambda tasks: [task() for task in tasks])


def test_a_view_is_read_while_columns_grow() -> None:
    columns = _core.Columns()
    columns.append(count=1_000)
    columns.write(rows=list(range(1_000)), values={"importance": [0.5] * 1_000})

    def total() -> float:
        return float(columns.view(name="importance")[:1_000].sum())

    expected = total()
    found = beside(lambda _: len(columns) < 200_000 and columns.append(count=50), total)
    assert found == [expected] * len(found)


# --- words --------------------------------------------------------------------------------------


def hits(index: LexicalIndex, query: str) -> list[tuple[object, float]]:
    found = index.search(query, k=20)
    return list(zip(found.ids, found.scores, strict=True))


def test_an_index_filled_by_several_threads_ranks_as_one_filled_by_one() -> None:
    index, other = LexicalIndex(analyzer="simple"), LexicalIndex(analyzer="simple")

    def fill(part: int) -> None:
        for number in range(part, 400, THREADS):
            index.add(number, words(number))
            assert number in index.search(words(number), k=400).ids

    together([lambda part=part: fill(part) for part in range(THREADS)])
    other.add_many(range(400), [words(number) for number in range(400)])
    for number in range(90):
        one, two = (dict(hits(each, f"wörd{number}")) for each in (index, other))
        assert sorted(one.values()) == sorted(two.values())
    assert len(index) == 400


def test_searches_beside_a_writer_find_what_one_thread_finds() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(range(300), [words(number) for number in range(300)])
    others = LexicalIndex(analyzer="simple")
    expected = hits(index, "wörd3 wörd40")

    def write(number: int) -> None:
        others.add(number % 50, words(number))
        others.delete(number % 50 - 1)

    found = beside(write, lambda: (hits(index, "wörd3 wörd40"), len(hits(others, "wörd3")) <= 20))
    assert found == [(expected, True)] * len(found)


def test_one_string_is_read_by_several_threads() -> None:
    # Its UTF-8 is computed by whichever thread comes first, and kept with the string.
    index = LexicalIndex(analyzer="simple")
    index.add_many(range(100), [words(number) for number in range(100)])
    expected = hits(index, words(5))
    for _ in range(ROUNDS):
        query = words(5)
        assert together([lambda query=query: hits(index, query)] * THREADS) == [expected] * THREADS


# --- vectors, texts and links ---------------------------------------------------------------------


def test_vectors_are_searched_while_others_are_written() -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((600, 24)).astype(np.float32)
    column = _core.VectorColumn(dimension=24)
    column.write(rows=list(range(300)), vectors=vectors[:300])
    allowed = np.packbits(np.arange(304) < 300, bitorder="little")

    def nearest() -> tuple[list[int], list[float]]:
        rows, scores = column.nearest(query=vectors[7], k=10, allowed=allowed)
        return rows.tolist(), scores.tolist()

    def write(number: int) -> None:
        rows = list(range(300 + number % 200, 400 + number % 200))
        column.write(rows=rows, vectors=vectors[200 : 200 + len(rows)])
        column.remove(rows=rows[::2])

    expected = nearest()
    found = beside(write, nearest)
    assert found == [expected] * len(found)


def test_texts_are_matched_while_others_are_written() -> None:
    column = _core.TextColumn()
    rows = list(range(200))
    column.write(rows=rows, texts=[words(row) for row in rows], tags=[""] * 200)

    def count() -> list[int]:
        return column.count_words(rows=rows, words=["wörd3", "wörd40"]).tolist()

    def write(number: int) -> None:
        other = 200 + number % 100
        column.write(rows=[other], texts=[words(number)], tags=["tag"])
        column.erase(rows=[other])

    expected = count()
    assert sum(expected) > 0
    found = beside(write, count)
    assert found == [expected] * len(found)


def test_links_are_followed_while_others_change() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=200)
    clock = {"now_seconds": 1e9, "tau_days": 90.0}
    near = list(range(50))
    graph.strengthen(a=near[:-1], b=near[1:], gain=0.5, rest_days=0.0, **clock)

    def reached() -> list[Any]:
        return graph.expand(
            seeds=[0, 25],
            seed_values=None,
            least_link=0.1,
            least=0.0,
            hop_decay=1.0,
            most_hops=3,
            allowed=None,
            top=50,
            **clock,
        ).results()

    def write(number: int) -> None:
        far = list(range(100, 199))
        graph.strengthen(a=far, b=[row + 1 for row in far], gain=0.1, rest_days=0.0, **clock)
        graph.remove_rows(rows=far[number % 5 :: 5])

    expected = reached()
    assert expected
    found = beside(write, reached)
    assert found == [expected] * len(found)


# --- kernels, programs and what the caller passes -------------------------------------------------


def test_kernels_give_several_threads_what_they_give_one() -> None:
    ages = np.linspace(0.0, 90.0, 5_000)

    def computed() -> bytes:
        inputs: list[npt.NDArray[Any]] = [np.negative(ages)]
        found = _core.evaluate(
            kernel="exp", inputs=inputs, parameters={}, dtype="float64", out=None, threads=2
        )
        return found.tobytes()

    expected = computed()
    results = together([lambda: {computed() for _ in range(ROUNDS)}] * THREADS)
    assert results == [{expected}] * THREADS


def test_one_program_runs_on_several_threads() -> None:
    program = _core.Program(
        inputs=[("value", "a", 0.0), ("value", "b", 0.0)],
        instructions=[("multiply", [0, 1], {}), ("sqrt", [2], {})],
    )
    values = np.arange(3_000, dtype=np.float64)

    def run() -> bytes:
        (found,), _ = program.run(
            operands={"a": values, "b": 3.0},
            now_seconds=0.0,
            size=3_000,
            outputs=[3],
            dtype="float64",
            out=None,
            threads=2,
        )
        return found.tobytes()

    expected = run()
    results = together([lambda: {run() for _ in range(ROUNDS)}] * THREADS)
    assert results == [{expected}] * THREADS


def test_lists_may_change_while_a_call_reads_them() -> None:
    rows: list[tuple[object, ...]] = []
    sums = _core.RowChecksum(columns=["a", "b"], places=[0, 1], checksum_place=2)
    index = _core.LexicalIndex(
        analyzer=_core.Analyzer(stop_words=[], identifiers=False, folding="full", stem=None),
        bm25=_core.Bm25(variant="lucene", k1=1.2, b=0.75, delta=0.0),
    )

    def write(number: int) -> None:
        rows.extend((f"text {number + place}", place + 0.5, place) for place in range(50))
        rows.clear()

    def read() -> bool:
        queries = [str(row[0]) for row in list(rows)]
        index.search_many(queries=queries, k=3, allowed=None, threads=1)
        return len(sums.of(rows=rows)) <= 50 and len(sums.damaged(rows=rows)) <= 50

    assert all(beside(write, read))


def test_dicts_may_change_while_a_call_reads_them() -> None:
    columns = _core.Columns()
    columns.append(count=10)
    values: dict[str, Any] = {}
    names = [name for name, dtype in _core.Columns.schema().items() if dtype == "float32"][:6]
    rows = list(range(10))

    def write(_: int) -> None:
        for name in names:
            values[name] = [0.5] * 10
        values.clear()

    def read() -> bool:
        columns.write(rows=rows, values=values)
        return True

    assert all(beside(write, read))


# --- searches -----------------------------------------------------------------------------------


def test_searches_of_an_engine_beside_a_writer() -> None:
    pytest.importorskip("apsw", reason="needs apsw, which is not installed")
    from oneiros import Engine  # noqa: PLC0415

    with Engine(":memory:", analyzer="simple", clock=lambda: 1.75e9) as engine:
        engine.add_many([{"id": str(n), "text": words(n), "project": "fixed"} for n in range(200)])

        fixed = engine.scope(project="fixed")

        def search() -> list[str]:
            return list(fixed.search("wörd3 wörd40", k=10, reinforce=False).ids)

        expected = search()
        assert len(expected) == 10
        found = beside(lambda n: engine.add(f"other {n}", project="other"), search)
        assert found == [expected] * len(found)


def test_a_run_is_run_by_one_thread_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("apsw", reason="needs apsw, which is not installed")
    from oneiros import Engine  # noqa: PLC0415

    made: list[dict[str, Any]] = []
    make = _core.SearchRun

    def recorded(**arguments: Any) -> Any:
        made.append(arguments)
        return make(**arguments)

    with Engine(":memory:", analyzer="simple", clock=lambda: 1.75e9) as engine:
        engine.add_many([{"id": str(n), "text": words(n)} for n in range(200)])
        with monkeypatch.context() as patch:
            patch.setattr(_core, "SearchRun", recorded)
            engine.search("wörd3 wörd40", reinforce=False)
        for _ in range(ROUNDS):
            run = make(**made[-1])

            def outcome(run: Any = run) -> str:
                try:
                    return f"{len(run.run().rows())} rows"
                except RuntimeError as error:
                    return str(error)

            results = together([outcome] * THREADS)
            assert sum(result.endswith("rows") for result in results) == 1
            refused = {result for result in results if not result.endswith("rows")}
            assert refused <= {"run: it has run already", "run: it is running already"}
        again = make(**made[-1])
        with pytest.raises(RuntimeError, match="running already"):
            _core.run_searches(runs=[again, again], threads=2)
        assert len(_core.run_searches(runs=[again], threads=2)) == 1
