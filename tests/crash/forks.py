"""Processes that are killed, forked from one that has imported all that they use.

A start of Python with the imports takes longer than the work of such a process, and a kill amid imports
proves nothing. A forked one opens its store within milliseconds, so more kills meet the opening.

Usage of the server, which :class:`Forks` starts: forks.py DESCRIPTOR MODULE...
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["Child", "Forks", "forks"]

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = ("tests.crash.kill_writer", "tests.crash.dreamer", "tests.crash.follower")
"""Each has ``main``, which reads ``sys.argv``, and ``rehearse``, which does the like in a folder and ends."""
_PATIENCE: Final = 60_000  # turns of two milliseconds, so that a stopped machine costs none


class Child:
    """A process of a module's ``main``. What it prints goes to a file; a pipe would stop it."""

    def __init__(self, server: Forks, pid: int, said: Path, errors: Path, feed: int) -> None:
        self._server = server
        self.pid = pid
        self._said = said
        self._errors = errors
        self._feed = feed
        self._count = 0
        self._place = 0
        self.exit_code: int | None = None
        """None while it is not known to have ended; minus the signal that ended it."""

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        if self.exit_code is None:
            self.exit_code = self._server.request({"poll": self.pid})
        return self.exit_code

    def lines(self) -> list[Any]:
        """Return the whole lines that it has printed, each of JSON."""
        lines = self._said.read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def count(self) -> int:
        """Return the number of lines that it has printed."""
        with self._said.open("rb") as said:
            said.seek(self._place)
            new = said.read()
        self._place += len(new)
        self._count += new.count(b"\n")
        return self._count

    def await_lines(self, count: int) -> None:
        """Wait until it has printed as many lines, however slow the machine is.

        Raises:
            RuntimeError: it ended, or waits for ever.
        """
        self._await(lambda: self.count() >= count)

    def await_last(self, value: object) -> None:
        """Wait until the last line that it has printed is this value; it raises as ``await_lines``."""
        line = json.dumps(value).encode() + b"\n"
        self._await(lambda: self._said.read_bytes().endswith(line))

    def _await(self, is_done: Callable[[], bool]) -> None:
        turns = 0
        while not is_done():
            turns += 1
            has_ended = turns % 20 == 0 and self.poll() is not None
            if turns > _PATIENCE or (has_ended and not is_done()):
                raise self.failure()
            time.sleep(0.002)

    def failure(self) -> RuntimeError:
        """Return an error with what it wrote to its standard error, after killing it."""
        code = self.poll()
        self.kill()
        words = self._errors.read_text(errors="replace")[-1_000:]
        return RuntimeError(f"{self._said.name}: ended or silent, with {code}: {words}")

    def ask(self, line: bytes) -> None:
        """Write to its standard input."""
        os.write(self._feed, line)

    def kill(self) -> int:
        """Kill it with -9, wait until it is gone, and return its exit code: -9 unless it had ended."""
        if self.exit_code is None:
            self.exit_code = self._server.request({"kill": self.pid})
        if self._feed >= 0:
            os.close(self._feed)
            self._feed = -1
        assert self.exit_code is not None
        return self.exit_code


class Forks:
    """A process that imports modules once, and forks a process for each start.

    Its processes are killed when it ends, which it does with the process that made it.
    """

    def __init__(self, modules: Sequence[str] = MODULES) -> None:
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        places = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__, str(other.fileno()), *modules],
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
            )
        self._answer()  # everything is imported

    def start(self, module: str, arguments: Sequence[str], said: Path) -> Child:
        """Start a process.

        Args:
            module: one of the modules.
            arguments: of its ``main``.
            said: the file of its standard output; that of its errors stands next to it.
        """
        errors = said.with_suffix(".errors")
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        wrong = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        read, write = os.pipe()
        try:
            request = json.dumps({"start": module, "arguments": list(arguments)}).encode()
            socket.send_fds(self._channel, [request], [read, out, wrong])
            return Child(self, self._answer(), said, errors, write)
        except BaseException:
            os.close(write)
            raise
        finally:
            for descriptor in (read, out, wrong):
                os.close(descriptor)

    def request(self, what: dict[str, Any]) -> Any:
        """Send a request without files, and return its answer."""
        self._channel.send(json.dumps(what).encode())
        return self._answer()

    def _answer(self) -> Any:
        answer = self._channel.recv(65_536)
        if not answer:
            self.close()
            msg = f"the server of forks ended with {self._process.returncode}"
            raise RuntimeError(msg)
        return json.loads(answer)

    def close(self) -> None:
        """End it with all its processes."""
        self._channel.close()
        self._process.wait()


@cache
def forks() -> Forks:
    """Return the server of this process, which is started on first use."""
    server = Forks()
    atexit.register(server.close)
    return server


def _serve(channel: socket.socket, modules: Sequence[str]) -> None:
    """Answer requests until the other side is closed, then kill the processes that are left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other side ends this one
    for module in modules:
        importlib.import_module(module)
    for name in _imported_by_work(modules):
        with suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    channel.send(b"0")
    running: set[int] = set()
    try:
        while _has_answered(channel, running):
            pass
    finally:
        for pid in list(running):
            os.kill(pid, signal.SIGKILL)
            _ended(running, pid, 0)


def _has_answered(channel: socket.socket, running: set[int]) -> bool:
    """Answer a request; return False when there will be no other."""
    message, files, _, _ = socket.recv_fds(channel, 65_536, 3)
    if not message:
        return False
    request = json.loads(message)
    answer: int | None
    if "start" in request:
        answer = _forked(channel, request["start"], request["arguments"], files)
        running.add(answer)
    elif "poll" in request:
        answer = _ended(running, request["poll"], os.WNOHANG)
    else:
        # It was not waited for, so no other process has its number.
        os.kill(request["kill"], signal.SIGKILL)
        answer = _ended(running, request["kill"], 0)
    channel.send(json.dumps(answer).encode())
    return True


def _forked(
    channel: socket.socket, module: str, arguments: Sequence[str], files: Sequence[int]
) -> int:
    """Return the number of a new process, whose standard files are these."""
    pid = os.fork()
    if not pid:
        channel.close()
        _run(module, arguments, files)
    for descriptor in files:
        os.close(descriptor)
    return pid


def _ended(running: set[int], pid: int, options: int) -> int | None:
    """Return the exit code of a process and take it from those that run, or return None."""
    ended, status = os.waitpid(pid, options)
    if not ended:
        return None
    running.discard(pid)
    return os.waitstatus_to_exitcode(status)


def _run(module: str, arguments: Sequence[str], files: Sequence[int]) -> None:
    """Be the new process. Never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for place, descriptor in enumerate(files):
            os.dup2(descriptor, place)
            os.close(descriptor)
        sys.argv = [module, *arguments]
        sys.modules[module].main()
        sys.stdout.flush()
        code = 0
    except BaseException:  # noqa: BLE001 - it is printed, whatever it is
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _imported_by_work(modules: Sequence[str]) -> list[str]:
    """Return the modules that are imported by work, which a fork does, as work starts threads."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            with tempfile.TemporaryDirectory() as folder:
                for module in modules:
                    place = Path(folder) / module
                    place.mkdir()
                    sys.modules[module].rehearse(place)
            with os.fdopen(write, "wb") as out:
                pickle.dump(list(sys.modules), out)
            code = 0
        except BaseException:  # noqa: BLE001 - it is printed, whatever it is
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as source:
        names = source.read()
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        msg = "the rehearsal failed"
        raise RuntimeError(msg)
    found: list[str] = pickle.loads(names)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
