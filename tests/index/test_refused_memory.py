"""A system that refuses to map memory: the store opens all the same, or the error has a type."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oneiros
from oneiros.index import snapshot, snapshot_parts

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler for the shim")

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

static long at = 0, count = 0, refused = 0;

void refuse_call(long number) { at = number; count = refused = 0; }
long refused_calls(void) { return refused; }

// Only calls of the core: the interpreter waits for ever for a thread that has no memory to start.
static int refuses(void *caller) {
  Dl_info from;
  if (at == 0 || !dladdr(caller, &from) || !strstr(from.dli_fname, "_core.")) return 0;
  if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != at) return 0;
  __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
  errno = ENOMEM;
  return 1;
}

static void *mapped(void *caller, void *start, size_t size, int rights, int flags, int file, off_t offset) {
  static void *(*real)(void *, size_t, int, int, int, off_t);
  if (!real) real = dlsym(RTLD_NEXT, "mmap");
  return refuses(caller) ? MAP_FAILED : real(start, size, rights, flags, file, offset);
}

void *mmap(void *start, size_t size, int rights, int flags, int file, off_t offset) {
  return mapped(__builtin_return_address(0), start, size, rights, flags, file, offset);
}

void *mmap64(void *start, size_t size, int rights, int flags, int file, off64_t offset) {
  return mapped(__builtin_return_address(0), start, size, rights, flags, file, offset);
}

int mprotect(void *start, size_t size, int rights) {
  static int (*real)(void *, size_t, int);
  if (!real) real = dlsym(RTLD_NEXT, "mprotect");
  return refuses(__builtin_return_address(0)) ? -1 : real(start, size, rights);
}
"""

# Opens and searches the store with one call of the system refused, each in turn.
CHILD = r"""
import ctypes, json, sys
import oneiros
from oneiros.index import snapshot, snapshot_parts

path, step = sys.argv[1], int(sys.argv[2])
shim = ctypes.CDLL(None)
shim.refuse_call.argtypes, shim.refused_calls.restype = [ctypes.c_long], ctypes.c_long

def answer():
    with oneiros.Engine(path, embedder="hashing", read_only=True) as engine:
        found = engine.search("memory of number 77 and the harbour", k=5, reinforce=False, now=2_000_000_000.0)
        return [(result.memory.id, result.score.hex()) for result in found.results]

expected, failures, number = answer(), [], 1
while True:
    shim.refuse_call(number)
    try:
        found = answer()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    was_refused = shim.refused_calls()
    shim.refuse_call(0)
    if not was_refused:
        break
    if found != expected:
        failures.append([number, found])
    number += step
print(json.dumps({"expected": expected, "refused": number, "failures": failures}))
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "refuse.c").write_text(SHIM)
    library = folder / "refuse.so"
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-o", library, folder / "refuse.c", "-ldl"], check=True
    )
    return library


def test_a_store_opens_whichever_mapping_the_system_refuses(tmp_path: Path, shim: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, embedder="hashing") as engine:
        engine.add_many(
            [{"id": f"m{i}", "text": f"memory of number {i} at the harbour"} for i in range(2_100)]
        )
    assert Path(f"{path}-snapshot").exists()
    step = 1 if os.environ.get("ONEIROS_LONG") else 7
    found = subprocess.run(
        [sys.executable, "-c", CHILD, path, str(step)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    report = json.loads(found.stdout)
    assert report["failures"] == []
    assert report["refused"] > 60
    assert len(report["expected"]) == 5


def test_a_snapshot_that_no_view_can_be_made_of_is_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memoryview of the core's arrays raises BufferError when memory runs out."""

    def refused(_data: object) -> memoryview:
        raise BufferError

    path = tmp_path / "mind.db"
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    with oneiros.Engine(path) as engine:
        engine.add("tea at the harbour", id="tea")
    assert Path(f"{path}-snapshot").exists()
    monkeypatch.setattr(snapshot_parts, "memoryview", refused, raising=False)
    with oneiros.Engine(path) as engine:
        assert engine.search("tea").ids == ["tea"]
