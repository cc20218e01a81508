"""A signal handler may use the engine while the main thread is inside a search, a read or a write.

Python runs handlers between any two lines of the main thread. Here one runs at every line of the
library that a call passes, one line after the other: no lock that the call holds may stop it.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

LINES = """
import faulthandler, sys, warnings
from pathlib import Path
import oneiros

faulthandler.dump_traceback_later(100, exit=True)
warnings.simplefilter("ignore")
OWN = str(Path(oneiros.__file__).parent)
MOST = 1  # times that one line is interrupted

mind = oneiros.Engine(sys.argv[1], profile="cognitive", embedder=None)
mind.add_many([
    {"text": f"ant {n} of hill {n % 5}", "id": f"m{n}", "project": "pq"[n % 2], "session": "s",
     "embedding": (1.0, n / 40)} for n in range(40)
])
mind.link("m1", "m2")
number = 40


def write():
    global number
    number += 1
    mind.add(f"ant {number}", id=f"m{number}", embedding=(0.5, 1.0))


def add():
    global number
    number += 1
    mind.add(f"ant {number}", id=f"m{number}")


CALLS = {
    "search": lambda: mind.search("ant hill", session="t", embedding=(1.0, 0.5)),
    "search where": lambda: [
        result.text for result in mind.search("ant", where=oneiros.where(project="p"))
        if hasattr(result, "text")
    ],
    "get": lambda: mind.get("m1"),
    "list": lambda: mind.list(limit=5),
    "write": write,
    "add": add,
    "update": lambda: mind.update("m2", importance=0.5),
}
HANDLERS = {name: CALLS[name] for name in ("search", "get", "write", "add", "update")}
call, handler = CALLS[sys.argv[2]], HANDLERS[sys.argv[3]]
interrupted = {}  # by line, how often
is_handling = False
ran = 0


def traced(frame, event, argument):
    global is_handling, ran
    if not frame.f_code.co_filename.startswith(OWN):
        return None
    place = frame.f_code.co_filename, frame.f_lineno
    if event == "line" and not is_handling and interrupted.get(place, 0) < MOST:
        interrupted[place] = interrupted.get(place, 0) + 1
        is_handling = True
        ran += 1
        sys.settrace(None)
        handler()
        sys.settrace(traced)
        is_handling = False
    return traced


call(); handler()
before = -1
while ran != before:  # until a call passes no new line
    before = ran
    mind.search("ant", session=f"u{ran}")  # something to strengthen
    sys.settrace(traced)
    call()
    sys.settrace(None)
assert ran > 50, ran
assert mind.check(deep=True) == [], mind.check(deep=True)
held = {memory.id: memory.access_count for memory in mind.list(limit=10_000)}
mind.close()
with oneiros.Engine(sys.argv[1], profile="cognitive") as again:
    assert {memory.id: memory.access_count for memory in again.list(limit=10_000)} == held
print("done", ran)
"""


@pytest.mark.parametrize(
    ("call", "handler"),
    [
        *product(
            ("search", "search where", "get", "list", "write", "add"), ("search", "get", "write")
        ),
        *product(("search", "add"), ("add", "update")),
    ],
)
def test_a_handler_runs_at_every_line_of_a_call(tmp_path: Path, call: str, handler: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LINES, str(tmp_path / "mind.db"), call, handler],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3_000:]


CLOSES = """
import faulthandler, signal, sys, oneiros
faulthandler.dump_traceback_later(60, exit=True)
mind = oneiros.Engine(sys.argv[1])
mind.add_many([{"text": f"ant {n}"} for n in range(50)])

def stop(number, frame):
    mind.close()
    sys.exit(0)

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
while True:
    mind.search("ant 3")
"""


@pytest.mark.parametrize("milliseconds", [3, 5, 8, 13])
def test_a_handler_closes_the_engine_and_ends_the_process(
    tmp_path: Path, milliseconds: int
) -> None:
    arguments = [str(tmp_path / "mind.db"), str(milliseconds / 1e3)]
    run = subprocess.run(
        [sys.executable, "-c", CLOSES, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3_000:]
