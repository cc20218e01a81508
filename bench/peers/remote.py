"""An engine in a process of its own: what it allocates, loads and leaves behind is its alone."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from bench.peers.worker import Worker

__all__ = ["EngineFailed", "Remote"]

_spawn = multiprocessing.get_context("spawn")


class EngineFailed(RuntimeError):
    """An engine is absent or gave up; the message says why."""


class Remote:
    """Calls the methods of a `Worker` in a fresh process.

    Args:
        arguments: the worker's, but for its scratch folder.

    Raises:
        EngineFailed: the worker could not be made.
    """

    def __init__(self, **arguments: Any) -> None:
        self._connection, theirs = _spawn.Pipe()
        # Made here: a process that is killed leaves nothing behind.
        self._scratch = TemporaryDirectory(prefix="oneiros-peers-", ignore_cleanup_errors=True)
        arguments["scratch"] = Path(self._scratch.name)
        self._process = _spawn.Process(target=_serve, args=(theirs, arguments), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._answer()
        except BaseException:
            self.close()
            raise

    def ask(self, method: str, **arguments: Any) -> Any:
        """Return what the worker's method returns.

        Raises:
            EngineFailed: it raised, or the process has ended.
        """
        try:
            self._connection.send((method, arguments))
        except OSError as error:
            msg = f"the process has ended: {error}"
            raise EngineFailed(msg) from error
        return self._answer()

    def _answer(self) -> Any:
        try:
            error, value = self._connection.recv()
        except EOFError as ended:
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

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(connection: Connection, arguments: dict[str, Any]) -> None:
    try:
        worker = Worker(**arguments)
    except Exception as error:  # noqa: BLE001 (a rival may raise anything)
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
            answer = (None, getattr(worker, method)(**given))
        except Exception as error:  # noqa: BLE001 (a rival may raise anything)
            answer = (f"{method}: {type(error).__name__}: {error}", None)
        connection.send(answer)
