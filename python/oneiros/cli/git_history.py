"""A git repository's history as memories: one commit, one memory.

Git is run without a shell and with trust in nothing in the repository's own settings that could
start a program (signature checks, external diffs, text converters, hooks, lazy fetching).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from oneiros.cli.failures import FAILED, CommandError
from oneiros.cli.sources import Row, Rows

__all__ = ["commit_count", "rows"]

TAG_LIMIT = 32  # paths kept as tags; a commit may touch thousands
TAG_BYTES = 256
CHUNK = 1 << 16
SETTINGS = (
    *("-c", "log.showSignature=false", "-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"),
)
# NUL cannot stand in a name, a message or a path, so nothing written there can pose as a field.
# --raw marks each path with a colon, which no hash begins with.
LOG = (
    *("log", "-z", "--date-order", "--reverse", "--raw", "--no-renames", "--no-abbrev"),
    *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "--no-use-mailmap"),
    *("--encoding=UTF-8", "--format=%H%x00%an%x00%at%x00%B%x00"),
)


def rows(repository: Path) -> Rows:
    """Yield the commits reachable from HEAD, oldest first.

    Each becomes a memory of kind "task_completion": its message as text, the author's date as
    ``created_at`` and ``event_at``, touched paths as tags (the first 32), the directory's name as
    project, author, hash and number of paths in metadata; its id is ``git:<hash>``.

    Raises:
        CommandError: git is missing, or refuses (no repository, no commit), in its own words.
    """
    if not repository.is_dir():
        msg = f"{repository}: no such directory"
        raise CommandError(msg)
    # Complaints go to a file: a pipe that is not read meanwhile could fill up.
    with TemporaryFile() as complaints, _started(repository, complaints) as process:
        try:
            assert process.stdout is not None
            finish = partial(_finish, process, complaints, repository)
            yield from _commits(_tokens(process.stdout), repository.resolve().name, finish)
        finally:
            process.kill()  # when the reader stops early; a finished process is left alone


def commit_count(repository: Path) -> int | None:
    """Return the number of commits reachable from HEAD, for a progress bar; None: not known."""
    command = ("rev-list", "--count", "HEAD")
    with TemporaryFile() as complaints, _started(repository, complaints, command) as process:
        assert process.stdout is not None
        written = process.stdout.read().strip()
    return int(written) if written.isdigit() else None


def _started(
    repository: Path, complaints: IO[bytes], command: tuple[str, ...] = LOG
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["git", "--no-pager", *SETTINGS, "-C", str(repository), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=_environment(),
        )
    except OSError as error:
        msg = f"git cannot be run: {error.strerror}"
        raise CommandError(msg, FAILED) from error


def _environment() -> dict[str, str]:
    """Return ours without what points git elsewhere (as inside a hook), and with what calms it."""
    kept = {name: value for name, value in os.environ.items() if _harmless(name)}
    calm = ("GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
    return kept | dict(setting.split("=") for setting in calm)


def _harmless(name: str) -> bool:
    return not name.startswith("GIT_") or name.startswith(("GIT_CONFIG", "GIT_EXEC_PATH"))


def _finish(process: subprocess.Popen[bytes], complaints: IO[bytes], repository: Path) -> None:
    if process.wait() != 0:
        complaints.seek(0)
        lines = complaints.read(CHUNK).decode("utf-8", "replace").split("\n")
        msg = f"{repository}: {lines[0] or 'git log failed'}"
        raise CommandError(msg)


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what each NUL ends, reading as it goes; an unfinished rest is dropped."""
    begun: list[bytes] = []
    while chunk := stream.read(CHUNK):
        first, *rest = chunk.split(b"\0")
        begun.append(first)
        if rest:
            yield b"".join(begun)
            yield from rest[:-1]
            begun = [rest[-1]]


def _commits(tokens: Iterator[bytes], project: str, finish: Callable[[], None]) -> Iterator[Row]:
    """Yield a row a commit; ``finish`` is asked before the last, which may be cut short."""
    token = next(tokens, None)
    if token is None:
        finish()
    while token is not None:
        hash = token.decode("ascii", "replace")
        author, seconds, message, _ = (next(tokens, b"") for _ in range(4))
        paths: list[str] = []
        token = next(tokens, None)
        while token is not None and token.lstrip(b"\n").startswith(b":"):
            paths.append(next(tokens, b"").decode("utf-8", "replace"))
            token = next(tokens, None)
        if token is None:
            finish()
        yield _row(hash, author, seconds, message, paths, project)


def _row(
    hash: str, author: bytes, seconds: bytes, message: bytes, paths: list[str], project: str
) -> Row:
    place = f"commit {hash[:12]}"
    try:
        when = float(seconds)
    except ValueError:
        return Row(place=place, problem="has no author date")
    record: dict[str, Any] = {
        "id": f"git:{hash}",
        "text": message.decode("utf-8", "replace").strip(),
        "kind": "task_completion",
        "category": "episodic",
        "project": project,
        "tags": _tags(paths),
        "created_at": when,
        "event_at": when,
        "metadata": {
            "author": author.decode("utf-8", "replace"),
            "hash": hash,
            "path_count": len(paths),
        },
    }
    return Row(place=place, record=record)


def _tags(paths: list[str]) -> list[str]:
    short = [path for path in dict.fromkeys(paths) if len(path.encode()) <= TAG_BYTES]
    return short[:TAG_LIMIT]
