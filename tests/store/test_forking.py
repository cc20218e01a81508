"""A fork waits for reads and writes of other threads: the child inherits no lock that nobody frees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, threading
from oneiros.store import Store

path, kind = sys.argv[1:]
store = Store(path)
inside, done = threading.Event(), threading.Event()

def hold():
    with store.read() if kind == "read" else store.write():
        inside.set()
        done.wait(0.2)

thread = threading.Thread(target=hold)
thread.start()
inside.wait()
child = os.fork()
if not child:
    own = Store(path, busy_timeout_seconds=2)
    with own.write() as transaction:
        transaction.set_setting("child", kind)
    own.checkpoint()
    os._exit(0 if own.settings()["child"] == kind else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
assert store.settings()["child"] == kind
with store.write() as transaction:  # the parent goes on
    transaction.set_setting("parent", kind)
sys.exit(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_child_writes_and_checkpoints_whatever_its_parent_was_doing(
    tmp_path: Path, kind: str
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "a.db"), kind],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
