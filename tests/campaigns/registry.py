"""The campaigns: what a part of each is."""

from __future__ import annotations

import importlib
import logging
import os
import re
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis.stateful import run_state_machine_as_test

import oneiros
from tests.campaigns.campaign import Campaign, Figures, Part
from tests.crash import (
    allocations,
    dream_kills,
    follower_kills,
    harness,
    store_damage,
    system_calls,
)
from tests.folders import IN_MEMORY

__all__ = ["CAMPAIGNS"]

ROOT: Final = Path(__file__).parents[2]
_DURABILITIES: Final = ("full", "normal")
_STEPS: Final = 200
_SMALL_TO_LARGE: Final = 8
"""One in so many of the stores that are damaged is large."""


def kills(part: Part) -> Figures:
    """Kill a writer of mixed changes at random moments; four processes in turn, and more."""
    durability = _DURABILITIES[part.number % 2]
    found = harness.run(part.folder, kills=part.count, seed=part.seed, durability=durability)
    counts = {
        "acknowledged writes": found.acknowledged,
        "cut off": found.in_doubt,
        "while opening": found.before_open,
        "lost": len(found.lost),
        "torn": len(found.torn),
    }
    return Figures(counts, [*found.lost, *found.torn, *found.problems])


def kills_of_dreams(part: Part) -> Figures:
    """Kill a process amid dream cycles and their undoing, under each profile that dreams in turn."""
    profile = dream_kills.PROFILES[part.number % len(dream_kills.PROFILES)]
    found = dream_kills.run(part.folder, kills=part.count, seed=part.seed, profile=profile)
    counts = {"cycles done": found.done, "cut off": found.cut_off, "of them there": found.kept}
    return Figures(counts, [f"{profile}: {problem}" for problem in found.problems])


def followers(part: Part) -> Figures:
    """Kill a writer and two processes that follow it, in turn; compare with a fresh engine."""
    found = follower_kills.run(part.folder, kills=part.count, seed=part.seed)
    counts = {
        "of followers": found.of_followers,
        "answers compared": found.compared,
        "acknowledged writes": found.acknowledged,
    }
    return Figures(counts, found.problems)


def damage(part: Part) -> Figures:
    """Change bits and bytes of a store's SQLite file, with and without its snapshot in turn."""
    found = store_damage.Report()
    is_beside = part.number % 2 == 1
    is_large = part.number // 2 % _SMALL_TO_LARGE == 0
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder, _without_warnings():
        store_damage.run(
            Path(folder),
            mutations=part.count,
            seed=part.seed,
            with_snapshot=is_beside,
            report=found,
            count=store_damage.COUNT if is_large else store_damage.FEW,
        )
    counts = {"harmless": found.harmless, "noticed": found.noticed, "not opened": found.refused}
    return Figures(counts, found.wrong)


def failing_calls(part: Part) -> Figures:
    """Let every call of the system fail in turn: ten operations, each with four ways to fail."""
    figures = Figures({"failed calls": 0})
    library = system_calls.compiled(part.folder)
    for number in range(part.number, part.number + part.count):
        operation, failure = system_calls.SWEEPS[number % len(system_calls.SWEEPS)]
        folder = part.folder / str(number)
        folder.mkdir()
        found = system_calls.run(folder, library, operation, failure)
        figures.counts["failed calls"] += found.failed
        figures.problems += found.problems
    return figures


def kill_points(part: Part) -> Figures:
    """Kill a process before and after each call that changes a file, under ten operations."""
    figures = Figures({"kills": 0})
    library = system_calls.compiled(part.folder)
    for number in range(part.number, part.number + part.count):
        variety, place = divmod(number, len(system_calls.KILL_POINTS))
        operation, kill = system_calls.KILL_POINTS[place]
        folder = part.folder / str(number)
        folder.mkdir()
        found = system_calls.run(folder, library, operation, kill, variety=variety)
        figures.counts["kills"] += found.failed
        figures.problems += found.problems
    return figures


def failing_allocations(part: Part) -> Figures:
    """Let every allocation of the core fail in turn, under sixteen operations."""
    figures = Figures({"failed allocations": 0})
    library = allocations.compiled(part.folder)
    for number in range(part.number, part.number + part.count):
        operation = allocations.SWEEPS[number % len(allocations.SWEEPS)]
        folder = part.folder / str(number)
        folder.mkdir()
        found = allocations.run(folder, library, operation)
        figures.counts["failed allocations"] += found.failed
        figures.problems += found.problems
    return figures


def lost_power(part: Part) -> Figures:
    """Open states that a disk may hold after a loss of power."""
    tests = importlib.import_module("tests.store.test_power_loss")
    durability = _DURABILITIES[part.number % 2]
    found = tests.lose_power(part.folder / "mind.db", durability, states=part.count, seed=part.seed)
    return Figures({"beyond what was promised": found.beyond})


def scopes(part: Part) -> Figures:
    """Write and read in ten scopes; each answers as a store of its own does."""
    tests = importlib.import_module("tests.engine.test_canaries")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oneiros.MissingEmbedderWarning)
        asked = tests.operate(("oneiros", "omega")[part.number % 2], part.count, part.seed)
    return Figures({"reads": sum(asked.values())})


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Print none of the package's log: each damaged store writes there what it leaves out."""
    logger = logging.getLogger("oneiros")
    former = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(former)


_MACHINES: Final = (
    ("tests.store.test_state_machine", "StoreMachine"),
    ("tests.engine.test_dreaming_machine", "Dreaming"),
    ("tests.engine.test_recall_oracle", "Recall"),
    ("tests.engine.test_links", "Linked"),
)


def states(part: Part) -> Figures:
    """Run a state machine against its model in plain Python, 200 steps an example; four in turn."""
    module, name = _MACHINES[part.number % len(_MACHINES)]
    machine: Any = getattr(importlib.import_module(module), name)
    chosen = settings(
        max_examples=part.count,
        stateful_step_count=_STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seeded(part.seed)(machine), settings=chosen)
    return Figures({f"of {name}": part.count})


def hostile_snapshots(part: Part) -> Figures:
    """Change what snapshots say by structure, checksums right, and their bits, under ASan and UBSan."""
    # libFuzzer's build has the same checks and is optimized: it opens files in half of the time.
    builds = [ROOT / "build" / preset / "hostile_snapshots" for preset in ("fuzz", "asan")]
    program = next((path for path in builds if path.exists()), None)
    if program is None:
        msg = f"{builds[1]} is missing; build it with `cmake --workflow --preset asan`"
        raise FileNotFoundError(msg)
    made = subprocess.run(
        [str(program), str(part.seed), str(part.count)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    ran = re.search(r"^(\d+) files: (\d+) opened, (\d+) refused$", made.stdout, re.MULTILINE)
    is_sound = made.returncode == 0 and ran is not None and int(ran.group(1)) == part.count
    said = (made.stdout + made.stderr)[-2_000:]
    opened, refused = (int(ran.group(2)), int(ran.group(3))) if ran else (0, 0)
    return Figures(
        {"opened": opened, "refused": refused},
        [] if is_sound else [f"seed {part.seed}, exit code {made.returncode}: {said}"],
    )


def threads(part: Part) -> Figures:
    """Run the C++ tests of one writer and several readers under TSan, without three that only write."""
    chosen = "Index: *,*concurrency*,LeftRight*,*ThreadPool*,WorkQueue*,*readers*,*thread*"
    left_out = "*out of memory*,*plain index's bits*,*long lists*"  # half of a round's time
    figures = Figures()
    for _ in range(part.count):
        found = _core_tests("tsan", chosen, part.seed, left_out)
        figures.problems += found.problems
        for name, value in found.counts.items():
            figures.counts[name] = figures.counts.get(name, 0) + value
    return figures


def _core_tests(preset: str, chosen: str, seed: int, left_out: str) -> Figures:
    program = ROOT / "build" / preset / "core_tests"
    if not program.exists():
        msg = f"{program} is missing; build it with `cmake --workflow --preset {preset}`"
        raise FileNotFoundError(msg)
    made = subprocess.run(
        [str(program), f"--test-case={chosen}", f"--test-case-exclude={left_out}"],
        env={**os.environ, "ONEIROS_CASE_SEED": str(seed)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    ran = re.search(r"test cases: *(\d+) \| *(\d+) passed", made.stdout)
    is_sound = made.returncode == 0 and ran is not None and int(ran.group(1)) > 0
    said = (made.stdout + made.stderr)[-2_000:]
    return Figures(
        {"test cases": int(ran.group(1)) if ran else 0},
        [] if is_sound else [f"seed {seed}, exit code {made.returncode}: {said}"],
    )


CAMPAIGNS: Final[dict[str, Campaign]] = {
    "kills": Campaign("kills", 25, 10_000, kills),
    "kills_of_dreams": Campaign("kills", 10, 2_000, kills_of_dreams),
    "followers": Campaign("kills", 5, 2_000, followers),
    "store_damage": Campaign("mutations", 200, 100_000, damage),
    "failing_calls": Campaign("sweeps", 1, len(system_calls.SWEEPS), failing_calls),
    "kill_points": Campaign("sweeps", 1, 20 * len(system_calls.KILL_POINTS), kill_points),
    "failing_allocations": Campaign("sweeps", 1, len(allocations.SWEEPS), failing_allocations),
    "lost_power": Campaign("states", 250, 100_000, lost_power),
    "scopes": Campaign("operations", 1_500, 100_000, scopes),
    "states": Campaign("examples", 20, 50_000, states),
    "hostile_snapshots": Campaign("files", 10_000, 10_000_000, hostile_snapshots),
    "threads": Campaign("rounds", 1, 500, threads),
}
"""By name."""
