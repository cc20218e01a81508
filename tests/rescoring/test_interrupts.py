"""Ctrl-C in a long call: heard between blocks, whatever the table is made of."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

LOOK = """
import sys, time
import numpy as np
import pyarrow as pa
import oneiros

NOW, SIZE = 1_750_000_000.0, 30_000_000
form = sys.argv[1]
profile = "omega" if form == "words" else "reverie"

def table(rows):
    if form == "arrays":
        return {"strength": np.ones(rows, np.float32)}
    if form == "nulls":
        return pa.table({"strength": pa.nulls(rows, pa.float32())})
    if form == "words":
        return {"kind": ["note", "decision", "constraint"] * (rows // 15)}
    return [{"strength": 0.5, "depth": 2}] * (rows // 15)

mind = oneiros.Engine(":memory:", clock=lambda: NOW)
mind.add_many([{"text": "", "id": f"m{row}"} for row in range(100)])

def score(rows):
    mind.rescore(profile) if form == "engine" else oneiros.rescore(rows, profile, NOW, missing="default")

score(table(150))  # imports pandas and others, whose own imports can swallow an interrupt
rows = table(SIZE)
print("ready", flush=True)
try:
    while True:
        score(rows)
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
assert len(mind.rescore(profile)) == 100
mind.add("still writes")
assert mind.check() == []
mind.close()
print("well", flush=True)
"""


@pytest.mark.parametrize("form", ["arrays", "nulls", "words", "dicts", "engine"])
def test_it_is_heard_within_a_block(form: str) -> None:
    for needed in ("apsw", "pyarrow"):  # by the child
        pytest.importorskip(needed, reason=f"needs {needed}, which is not installed")
    with subprocess.Popen(
        [sys.executable, "-c", LOOK, form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    heard, well = out.splitlines()
    assert float(heard) - sent < 2.0  # 200 ms, and a busy machine's patience
    assert well == "well"
