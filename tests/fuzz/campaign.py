"""A campaign of one target in Python, which goes on in its folder.

Inputs come from a small corpus and are changed at random. One that runs a line of the target's modules
after another line than any before is kept, and becomes a parent itself.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, Self

from tests.fuzz.mutations import mutated

__all__ = ["CORPUS", "Report", "Target", "run", "seeds_of"]

CORPUS: Final = Path(__file__).with_name("corpus")
SLOWEST_SECONDS: Final = 20.0
"""An input that takes longer of the processor, traced, is a finding."""
_ALARMS: Final = 10
"""One that waits as often as long is a finding too. A process that was stopped for a while is none."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader that is fuzzed.

    Args:
        check: takes an input and raises for a finding: any error that is not of the documented types.
        traced: parts of the paths of modules whose lines guide the search.
        words: pieces of the target's language.
        seeds: makes inputs to begin with, besides those that the project keeps.
    """

    check: Callable[[bytes], object]
    traced: tuple[str, ...]
    words: tuple[bytes, ...] = ()
    seeds: Callable[[], list[bytes]] = list


@dataclass
class Report:
    """The results of a campaign, with earlier runs in its folder."""

    name: str
    seed: int
    runs: int = 0
    seconds: float = 0.0
    kept: int = 0
    findings: dict[str, str] = field(default_factory=dict)
    """By the place of the error: its message and the file of the input."""

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.runs:,} inputs in {self.seconds:.0f} s, seed {self.seed}, "
            f"{self.kept} kept, {len(self.findings)} findings"
        )


class TooSlow(BaseException):
    """An input that took too long; no ``except Exception`` may hide it."""


def seeds_of(name: str) -> list[bytes]:
    """Return the inputs that the project keeps for a target: one a file, or one a line of a ``.lines``."""
    found: list[bytes] = []
    for path in sorted((CORPUS / name).iterdir()):
        whole = path.read_bytes()
        found += whole.splitlines() if path.suffix == ".lines" else [whole]
    return found


def run(
    name: str,
    target: Target,
    folder: Path,
    *,
    seed: int,
    seconds: float = float("inf"),
    runs: int | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Fuzz a target for a time or a number of inputs, going on where the folder's last run ended.

    Args:
        name: of the target; its folder has ``state.json``, ``kept`` and ``findings``.
        target: what is fuzzed.
        folder: of all campaigns.
        seed: with the number of an input and the inputs kept so far, chooses it.
        seconds: how long.
        runs: how many inputs; None: as many as fit.
        tell: called every ten seconds.
    """
    home = folder / name
    for part in ("kept", "findings"):
        (home / part).mkdir(parents=True, exist_ok=True)
    report = _read(home / "state.json", name, seed)
    began, spent = time.monotonic(), report.seconds
    shown_at = began
    with _Lines(target.traced) as lines:
        parents = seeds_of(name) + target.seeds()
        for path in sorted((home / "kept").iterdir(), key=lambda path: path.stat().st_mtime_ns):
            parents.append(path.read_bytes())
        for data in parents:
            _try(data, target, lines, home, report)
        last = None if runs is None else report.runs + runs
        while time.monotonic() - began < seconds and report.runs != last:
            rng = random.Random(f"{report.seed} {report.runs}")
            data = mutated(parents, target.words, rng)
            report.runs += 1
            if _try(data, target, lines, home, report):
                parents.append(data)
                (home / "kept" / _digest(data)).write_bytes(data)
            report.seconds = spent + time.monotonic() - began
            if time.monotonic() - shown_at > 10:
                shown_at = time.monotonic()
                report.kept = len(parents)
                _write(home / "state.json", report)
                tell(report)
    report.kept = len(parents)
    report.seconds = spent + time.monotonic() - began
    _write(home / "state.json", report)
    return report


def _try(data: bytes, target: Target, lines: _Lines, home: Path, report: Report) -> bool:
    """Run one input; return whether it reached something new."""
    before = lines.count()
    try:
        with _limited(SLOWEST_SECONDS):
            lines.watch(target.check, data)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - whatever it is, it is a finding
        place = _place(error)
        if place not in report.findings:
            file = home / "findings" / _digest(data)
            file.write_bytes(data)
            trace = "".join(traceback.format_exception(error))
            file.with_suffix(".txt").write_text(trace, errors="backslashreplace")
            said = f"{type(error).__name__}: {str(error)[:200]!a}"
            report.findings[place] = f"{said} ({file.name})"
    return lines.count() > before


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/oneiros/" in frame.filename] or frames
    if isinstance(error, TooSlow):
        return "too slow"
    return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _read(path: Path, name: str, seed: int) -> Report:
    if not path.exists():
        return Report(name, seed)
    return Report(**json.loads(path.read_text()))


def _write(path: Path, report: Report) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(vars(report)))
    new.replace(path)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    alarms, began = 0, time.process_time()

    def stop(*_: object) -> None:
        nonlocal alarms
        alarms += 1
        if alarms == _ALARMS or time.process_time() - began >= seconds:
            raise TooSlow(f"longer than {seconds} s")  # noqa: EM102 - one place

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


class _Lines:
    """The pairs of lines that followed each other, in the modules of a target."""

    def __init__(self, traced: Sequence[str]) -> None:
        self._traced = tuple(traced)
        self._is_traced: dict[CodeType, bool] = {}
        self._seen: set[tuple[CodeType, int, int]] = set()
        self._former: Any = None

    def __enter__(self) -> Self:
        self._former = sys.gettrace()
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._former)

    def count(self) -> int:
        return len(self._seen)

    def watch(self, check: Callable[[bytes], object], data: bytes) -> None:
        sys.settrace(self._on_call)
        try:
            check(data)
        finally:
            sys.settrace(self._former)

    def _on_call(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        is_traced = self._is_traced.get(code)
        if is_traced is None:
            is_traced = any(part in code.co_filename for part in self._traced)
            self._is_traced[code] = is_traced
        if event != "call" or not is_traced:
            return None
        seen, last = self._seen, 0

        def on_line(frame: FrameType, event: str, _: object) -> Any:
            nonlocal last
            if event == "line":
                seen.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return on_line

        return on_line
