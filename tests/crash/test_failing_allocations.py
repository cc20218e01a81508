"""Allocations of the core that fail: MemoryError or success, nothing half done, never a crash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash import allocations, failing_allocations

pytestmark = pytest.mark.skipif(
    not (shutil.which("c++") or shutil.which("g++")), reason="needs a C++ compiler for the library"
)
STEP = 45
"""``python -m tests.campaigns failing_allocations`` takes every allocation of every operation."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return allocations.compiled(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("operation", ["add", "dream", "reopen"])
def test_a_failed_allocation_is_a_memory_error_and_nothing_is_half_done(
    tmp_path: Path, library: Path, operation: str
) -> None:
    found = allocations.run(tmp_path, library, operation, first=8, step=STEP)
    assert found.problems == []
    assert found.failed > 1


# Makes objects of the core, with each of its allocations failing in turn.
OBJECTS = r"""
import ctypes, json, sys
from oneiros import _core

library = ctypes.CDLL(None)
columns, sessions = _core.Columns(), _core.SessionSets()
makers = {
    "held by one": lambda: _core.Bm25(variant="lucene", k1=1.2, b=0.75, delta=0.0),
    "shared": _core.TextColumn,
    "with an argument": lambda: _core.VectorColumn(dimension=4),
    "of others": lambda: _core.Reinforcer(columns=columns, sessions=sessions),
    "graph": _core.AssociationGraph,
    "program": lambda: _core.Program(inputs=[], instructions=[]),
}
for name, one in vars(_core).items():
    if isinstance(one, type) and not issubclass(one, BaseException):
        try:
            one()
        except TypeError:
            continue  # it needs arguments
        makers[name] = one
counts = {}
for name, make in makers.items():
    at, refused = 1, 0
    while True:
        assert library.arm_failing_call(ctypes.c_long(at), 0)
        try:
            made = make()
            del made
        except MemoryError:
            refused += 1
        except ValueError:  # a program without instructions
            pass
        library.disarm_failing_call()
        if not library.has_failed():
            break
        at += 1
    counts[name] = [at - 1, refused]
print(json.dumps(counts))
"""


def printed(library: Path, program: str, *arguments: str) -> str:
    """Run a program whose allocations can fail, and return what it printed."""
    found = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr[-2_000:]
    return found.stdout


def test_an_object_of_the_core_is_made_or_memory_has_run_out(library: Path) -> None:
    found = printed(library, OBJECTS)
    counts = json.loads(found)
    assert all(failed > 0 for failed, _ in counts.values()), counts
    assert sum(refused for _, refused in counts.values()) > 0


# Writes vectors with each allocation failing, and saves what is there.
VECTORS = r"""
import ctypes, sys
from pathlib import Path
import numpy as np
from tests.index.test_vectors_of_a_snapshot import ROW_END, ROWS, VECTORS, column, opened, saved

library, path = ctypes.CDLL(None), Path(sys.argv[1])
at, refused = 1, 0
while True:
    made = column()
    assert library.arm_failing_call(ctypes.c_long(at), 0)
    try:
        made.write(rows=np.array([200_000, 300_000], np.uint32), vectors=VECTORS[:2])
    except MemoryError:
        refused += 1
    library.disarm_failing_call()
    if not library.has_failed():
        break
    assert made.rows().tolist() == ROWS.tolist()
    saved(path, made)
    assert opened(path).vectors(row_end=ROW_END).rows().tolist() == ROWS.tolist(), at
    at += 1
print(refused)
"""


def test_vectors_are_saved_after_memory_ran_out(tmp_path: Path, library: Path) -> None:
    found = printed(library, VECTORS, str(tmp_path / "snapshot"))
    assert int(found) > 1


# Extends the index of prefixes, which a search does that meets new words, with each allocation failing.
PREFIXES = r"""
import ctypes
from oneiros import LexicalIndex

library = ctypes.CDLL(None)
at, refused = 1, 0
while True:
    index = LexicalIndex(analyzer="simple")
    index.add_many(list(range(40)), [f"alpha{n}" for n in range(40)])
    index.search("alpha*", syntax="query")
    index.add(40, " ".join(f"alphabet{n}" for n in range(25)))
    assert library.arm_failing_call(ctypes.c_long(at), 0)
    try:
        index.search("alpha*", syntax="query")
    except MemoryError:
        refused += 1
    library.disarm_failing_call()
    found = index.search("alpha*", k=50, syntax="query").ids.tolist()
    assert sorted(found) == list(range(41)), (at, found)
    if not library.has_failed():
        break
    at += 1
print(refused)
"""


def test_prefixes_find_all_words_after_memory_ran_out(library: Path) -> None:
    found = printed(library, PREFIXES)
    assert int(found) > 10


def test_a_process_that_dies_is_a_problem_and_the_sweep_goes_on(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "failing_allocations.py"
    program.write_text(
        "import json, os, sys\n"
        "first = int(sys.argv[3])\n"
        "print(first, flush=True)\n"
        "if first == 1: print(2, flush=True); os.abort()\n"
        'print(json.dumps({"failed": 1, "problems": ["add: another"]}))\n'
    )
    monkeypatch.setattr(allocations, "_HERE", tmp_path)
    (tmp_path / "work").mkdir()
    found = allocations.run(tmp_path / "work", library, "add")
    assert found.failed == 3
    assert found.problems[0].startswith("add: exit code -6 at allocation 2")
    assert found.problems[1:] == ["add: another"]


class NoFailures:
    """Stands in for the library: says that an allocation has failed."""

    def arm_failing_call(self, at: int, mode: int) -> None: ...
    def disarm_failing_call(self) -> None: ...
    def has_failed(self) -> bool:
        return True


def test_the_sweep_sees_an_error_of_another_type_and_another_answer(tmp_path: Path) -> None:
    sweep = failing_allocations.Sweep.__new__(failing_allocations.Sweep)
    sweep.folder, sweep.name, sweep.failure, sweep.problems = tmp_path, "own", "memory", []
    failing_allocations.failing_calls.base(tmp_path / "base.db")
    answers: list[object] = [["m1"], ["m2"]]

    def own(_engine: object, _folder: Path) -> object:
        if not answers:
            raise OSError
        return answers.pop(0)

    sweep.operations = {"own": own}
    sweep.before = failing_allocations.failing_calls.records(
        tmp_path / "base.db", sweep.problems, "before"
    )
    sweep.after = sweep._sound()
    sweep.calls = NoFailures()  # type: ignore[assignment]
    sweep.fail(1)
    sweep.fail(2)
    said = " / ".join(sweep.problems)
    assert "at call 1: another answer: ['m2']" in said
    assert "at call 2: OSError" in said
