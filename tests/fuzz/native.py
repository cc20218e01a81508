"""The targets in C++, which libFuzzer runs under ASan and UBSan (``cpp/fuzz``, built by ``nox -s fuzz``)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

from tests.fuzz.campaign import Report, seeds_of

__all__ = ["BUILD", "LIMITS", "MADE", "NATIVE", "run", "write_seeds"]

BUILD: Final = Path(__file__).parents[2] / "build/fuzz"
_SMALL: Final = 4_096
LIMITS: Final = {
    "text": _SMALL,
    "query": _SMALL,
    "index_file": 65_536,
    "store_snapshot": 1 << 20,
    "json_path": _SMALL,
    "embedding": _SMALL,
    "sqlite_pages": 16_384,
}
"""By target: the most bytes of an input."""
NATIVE: Final = tuple(LIMITS)
MADE: Final = ("index_file", "store_snapshot", "embedding")
"""Targets whose first inputs ``write_seeds`` makes."""
_ALLOCATION_MIB: Final = 96
_SLOWEST_SECONDS: Final = 10


def run(name: str, folder: Path, *, seed: int, seconds: float, build: Path = BUILD) -> Report:
    """Run a target with libFuzzer for a time, on the inputs that its folder has already.

    Args:
        name: of the target.
        folder: of all campaigns; the target's has ``state.json``, ``kept`` and ``findings``.
        seed: of the first run; a later one in the same folder adds the number of runs so far.
        seconds: how long, at least one.
        build: where the targets were built.

    Raises:
        FileNotFoundError: the target was not built.
    """
    program = build / f"fuzz_{name}"
    if not program.exists():
        msg = f"{program} is missing; build the targets with `nox -s fuzz`, which needs clang"
        raise FileNotFoundError(msg)
    home = folder / name
    kept, findings, seeds = home / "kept", home / "findings", home / "seeds"
    for part in (kept, findings):
        part.mkdir(parents=True, exist_ok=True)
    write_seeds(name, seeds, build)
    state = home / "state.json"
    report = Report(**json.loads(state.read_text())) if state.exists() else Report(name, seed)
    began = time.monotonic()
    log = home / "log.txt"
    with log.open("ab") as out:
        subprocess.run(
            [
                *(str(program), str(kept), str(seeds), f"-seed={report.seed + report.runs}"),
                *(f"-max_len={LIMITS[name]}", f"-max_total_time={max(1, round(seconds))}"),
                *(f"-timeout={_SLOWEST_SECONDS}", f"-malloc_limit_mb={_ALLOCATION_MIB}"),
                *("-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={findings}/"),
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        )
    report.runs += _executed(log.read_bytes())
    report.seconds += time.monotonic() - began
    report.kept = sum(1 for _ in kept.iterdir())
    report.findings = {path.name: path.name for path in sorted(findings.iterdir())}
    state.write_text(json.dumps(vars(report)))
    return report


def _executed(log: bytes) -> int:
    """Return the inputs that the last run in a log executed."""
    totals = re.findall(rb"stat::number_of_executed_units: (\d+)", log)
    return int(totals[-1]) if totals else 0


def write_seeds(name: str, folder: Path, build: Path = BUILD) -> None:
    """Write the inputs a target begins with: those of the project, and sound files of its format."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, data in enumerate([] if name in MADE else seeds_of(name)):
        (folder / str(number)).write_bytes(data)
    if name in MADE:
        scratch = folder / "made"
        subprocess.run([str(build / "write_seeds"), str(scratch)], check=True)
        for path in (scratch / name).iterdir():
            path.rename(folder / path.name)
        shutil.rmtree(scratch)
