"""What importing costs."""

from __future__ import annotations

import subprocess
import sys


def test_memories_and_clocks_come_without_numpy_and_sqlite() -> None:
    program = """
import sys, oneiros.model.memory, oneiros.clock
oneiros.model.memory.Memory.from_record({"text": "x"}, now=0.0)
print([name for name in ("numpy", "apsw", "faiss", "pyroaring") if name in sys.modules])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
