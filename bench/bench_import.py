"""The time that ``import oneiros`` adds to a bare interpreter's start (goal: 5 ms), beside NumPy's own."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

FORMS = {
    "bare interpreter": "pass",
    "import oneiros": "import oneiros",
    "import oneiros.cli": "import oneiros.cli",
    "import numpy": "import numpy",
    "oneiros.Engine": "import oneiros; oneiros.Engine",
}
ROUNDS = 20


def start(code: str) -> float:
    """Return the milliseconds from start to end of a fresh interpreter that runs ``code``."""
    started = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (perf_counter() - started) * 1e3


@pytest.mark.benchmark(group="process start to end")
@pytest.mark.parametrize("form", FORMS)
def test_start(benchmark: BenchmarkFixture, form: str) -> None:
    benchmark.pedantic(start, args=(FORMS[form],), rounds=ROUNDS, warmup_rounds=2)


def test_import_over_the_bare_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    # The fastest of runs in turns: load on the machine strikes both alike and only adds.
    pairs = [(start("pass"), start("import oneiros")) for _ in range(ROUNDS)]
    bare, imported = (min(column) for column in zip(*pairs, strict=True))
    with capsys.disabled():
        sys.stdout.write(f"\nimport oneiros: {imported - bare:.1f} ms over {bare:.1f} ms\n")
    assert imported > 0
