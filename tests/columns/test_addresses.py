"""Columns take addresses as they grow, so that many engines fit under a limit of a process's size."""

from __future__ import annotations

import subprocess
import sys

CHILD = """
import resource, oneiros
from oneiros import _core
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
engines = [oneiros.Engine(":memory:") for _ in range(15)]
for number, engine in enumerate(engines):
    engine.add(f"tea {number}", id=f"m{number}")
    assert engine.search("tea").ids == [f"m{number}"]
columns = _core.Columns()
view = columns.append(count=10), columns.view(name="strength")
for _ in range(5):
    columns.append(count=400_000)
columns.write(rows=[0], values={"strength": [0.25]})
assert view[1][0] == 0.25
assert len(columns) == 2_000_010
"""


def test_many_engines_fit_in_little_and_columns_grow_in_place() -> None:
    subprocess.run([sys.executable, "-c", CHILD], check=True, timeout=120)
