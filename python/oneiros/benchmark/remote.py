"""An engine in a process of its own, whose memory, threads and crashes are its alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Self

__all__ = ["EngineFailed", "Remote"]

_spawn = multiprocessing.get_context("spawn")


class EngineFailed(RuntimeError):
    """An engine is absent, gave up or took too long; the message says why."""


class Remote:
    """Calls the methods of an object that lives in a fresh process.

    The process ignores Ctrl-C, which ends it by way of the caller, and prints nothing: libraries log
    and draw bars of progress.

    Args:
        make: a class or function of a module, called there.
        variables: of the process's environment, where they are not set.
        arguments: what it takes, except for ``scratch``, an empty folder that is removed at the end.

    Raises:
        EngineFailed: the object could not be made.
    """

    def __init__(
        self,
        make: Callable[..., object],
        *,
        variables: Mapping[str, str] = MappingProxyType({}),
        **arguments: Any,
    ) -> None:
        self._connection, theirs = _spawn.Pipe()
        # Made here: a process that is killed leaves nothing behind.
        self._scratch = TemporaryDirectory(prefix="oneiros-peers-", ignore_cleanup_errors=True)
        arguments["scratch"] = Path(self._scratch.name)
        self._process = _spawn.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        with _environment(variables):
            self._process.start()
        theirs.close()
        try:
            self._answer(None)
        except BaseException:
            self.close()
            raise

    def ask(self, method: str, timeout_seconds: float | None = None, **arguments: Any) -> Any:
        """Return what the object's method returns.

        Args:
            method: its name.
            timeout_seconds: how long to wait; None: as long as it takes.
            arguments: what it takes.

        Raises:
            EngineFailed: it raised, took longer, or the process has ended.
        """
        try:
            self._connection.send((method, arguments))
        except OSError as error:
            msg = f"the process has ended: {error}"
            raise EngineFailed(msg) from error
        return self._answer(timeout_seconds)

    def _answer(self, timeout_seconds: float | None) -> Any:
        try:
            if not self._connection.poll(timeout_seconds):
                self._process.kill()
                msg = f"no answer within {timeout_seconds:.0f} s"
                raise EngineFailed(msg)
            error, value = self._connection.recv()
        except (EOFError, ConnectionResetError) as ended:
            self._process.join(5)
            msg = f"the process ended with code {self._process.exitcode}"
            raise EngineFailed(msg) from ended
        if error is not None:
            raise EngineFailed(error)
        return value

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()
        self._scratch.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:  # interrupted: it may be in the midst of something long
            self._process.kill()
        self.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables that are not set, until the block ends."""
    added = [name for name in variables if name not in os.environ]
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _serve(connection: Connection, make: Callable[..., object], arguments: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    try:
        served = make(**arguments)
    except Exception as error:  # noqa: BLE001 - a rival may raise anything
        connection.send((f"{type(error).__name__}: {error}", None))
        return
    connection.send((None, None))
    while True:
        try:
            method, given = connection.recv()
        except EOFError:
            return
        answer: tuple[str | None, Any]
        try:
            answer = (None, getattr(served, method)(**given))
        except Exception as error:  # noqa: BLE001 - a rival may raise anything
            answer = (f"{method}: {type(error).__name__}: {error}", None)
        connection.send(answer)
