"""A child of a process whose threads read and write the graph."""

from __future__ import annotations

import subprocess
import sys

import pytest

FORKING = """
import os, signal, sys, threading
from oneiros import _core

graph = _core.AssociationGraph()
graph.grow(row_count=50)
rule = dict(now_seconds=1e9, tau_days=90.0)

def write():
    while True:
        rows = list(range(49))
        graph.strengthen(a=rows, b=[row + 1 for row in rows], gain=0.1, rest_days=0.0, **rule)
        graph.remove_rows(rows=rows)

def found():
    return graph.expand(seeds=[0, 25], seed_values=None, least_link=0.1, least=0.0, hop_decay=1.0,
                        most_hops=3, allowed=None, top=50, **rule).results()

def read():
    while True:
        found()

for act in (write, read, read):
    threading.Thread(target=act, daemon=True).start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        graph.strengthen(a=[0], b=[1], gain=0.1, rest_days=0.0, **rule)
        assert graph.links()[0].tolist()[0] == 0 and found()[0][0] in (1, 24, 26)
        graph.remove_rows(rows=list(range(50)))
        assert len(graph) == 0 and found() == []
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no fork")
def test_a_child_finds_the_graph_whole_and_free() -> None:
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=120)
