"""A campaign: many like parts, each with a seed of its own, counted in a folder where a later run goes on."""

from __future__ import annotations

import json
import math
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["Campaign", "Figures", "Part", "Report", "run"]

_MOST_PROBLEMS: Final = 100


@dataclass(frozen=True, slots=True)
class Part:
    """The arguments of a part."""

    folder: Path
    """An empty one, which goes with the part."""
    number: int
    """From 0."""
    count: int
    """The number of cases."""
    seed: int


@dataclass(slots=True)
class Figures:
    """The results of a part."""

    counts: dict[str, float] = field(default_factory=dict)
    """Added up over the parts."""
    problems: list[str] = field(default_factory=list)
    """Each one a fault."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A part of a long run that is repeated.

    Args:
        unit: what is counted, in the plural.
        size: cases of a part, which is begun again if it is cut off.
        usual: cases of the long form.
        run: runs a part. An exception that leaves it is a problem.
    """

    unit: str
    size: int
    usual: int
    run: Callable[[Part], Figures]


@dataclass
class Report:
    """The results of a campaign, with earlier runs in its folder."""

    name: str
    unit: str
    seed: int
    cases: int = 0
    parts: int = 0
    seconds: float = 0.0
    counts: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = "".join(f", {value:,.0f} {name}" for name, value in self.counts.items())
        return (
            f"{self.name}: {self.cases:,} {self.unit} in {self.seconds:.0f} s, seed {self.seed}"
            f"{counts}; {len(self.problems)} problems"
        )


def run(
    name: str,
    campaign: Campaign,
    folder: Path,
    *,
    seed: int,
    count: int,
    seconds: float = math.inf,
    tell: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Run parts until so many cases are done, those of earlier runs included, or the time is over.

    Args:
        name: of the campaign; its folder has ``state.json``.
        campaign: what is repeated.
        folder: of all campaigns.
        seed: of the first run in the folder; it and the part's number give a part its seed.
        count: how many cases in all.
        seconds: no part begins after them.
        tell: called after each part.
    """
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    state = home / "state.json"
    report = (
        Report(**json.loads(state.read_text()))
        if state.exists()
        else Report(name, campaign.unit, seed)
    )
    end = time.monotonic() + seconds
    while report.cases < count and time.monotonic() < end:
        work = home / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        cases = min(campaign.size, count - report.cases)
        part = Part(work, report.parts, cases, report.seed * 1_000_003 + report.parts)
        began = time.monotonic()
        figures = _figures(campaign, part)
        report.seconds += time.monotonic() - began
        report.cases += cases
        report.parts += 1
        for key, value in figures.counts.items():
            report.counts[key] = report.counts.get(key, 0) + value
        report.problems += [f"part {part.number}: {problem}" for problem in figures.problems]
        del report.problems[_MOST_PROBLEMS:]
        shutil.rmtree(work, ignore_errors=True)
        new = state.with_suffix(".new")
        new.write_text(json.dumps(vars(report)))
        new.replace(state)
        tell(report)
    return report


def _figures(campaign: Campaign, part: Part) -> Figures:
    try:
        return campaign.run(part)
    except Exception as error:  # noqa: BLE001 - a check that fails, or whatever else
        trace = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} at {Path(trace.filename).name}:{trace.lineno}: {error}"
        return Figures(problems=[said[:500]])
