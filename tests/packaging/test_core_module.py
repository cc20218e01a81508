"""What the compiled module is linked against, and how it is hardened."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oneiros import _core

MODULE = Path(_core.__file__)

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("readelf") is None,
    reason="reads an ELF file with binutils",
)

# Whatever else stood here, two copies of a thread pool or of a BLAS could meet in one process.
ALLOWED = re.compile(
    r"(libstdc\+\+|libc\+\+|libc\+\+abi|libm|libgcc_s|libc|libpthread|ld-linux[\w-]*)\.so"
)
FOREIGN = re.compile(r"\b(GOMP_|omp_|__kmpc_|cblas_|[sd]gemm|mkl_|openblas)", re.IGNORECASE)


def told(*command: str) -> str:
    return subprocess.run(
        [*command, str(MODULE)], check=True, capture_output=True, text=True
    ).stdout


def test_the_core_needs_the_runtime_of_its_language_and_no_more() -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", told("readelf", "-dW"))
    assert needed
    assert [name for name in needed if not ALLOWED.match(name)] == []


def test_no_symbol_of_openmp_or_blas_is_in_the_core() -> None:
    symbols = told("readelf", "--dyn-syms", "-W")
    assert "PyInit__core" in symbols
    assert FOREIGN.findall(symbols) == []


def test_nothing_is_exported_but_the_way_in() -> None:
    exported = [
        line.split()[-1]
        for line in told("readelf", "--dyn-syms", "-W").splitlines()
        if " GLOBAL " in line and " UND " not in line
    ]
    assert exported == ["PyInit__core"]


def test_the_core_is_hardened() -> None:
    assert "GNU_RELRO" in told("readelf", "-lW")
    assert "BIND_NOW" in told("readelf", "-dW")
    assert "__stack_chk_fail" in told("readelf", "--dyn-syms", "-W")
    stack = next(line for line in told("readelf", "-lW").splitlines() if "GNU_STACK" in line)
    assert " RW " in stack  # no code runs from it


def test_the_core_stands_beside_its_stub_and_its_typing_mark() -> None:
    home = Path(sys.modules["oneiros"].__file__ or "").parent
    assert (home / "py.typed").is_file()
    assert (home / "_core.pyi").is_file()
