"""A dream cycle over a large store: planned, applied and undone, with searches beside it.

    python bench/dream.py CORPUS.jsonl [--limit N] [--folder DIR] [--profile NAME]

The file holds one object a line with a "text". Beside the phases stands the same arithmetic on the
same columns in plain NumPy: what a cycle does besides is looking up, judging and telling.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import oneiros

CHUNK, NOW, DAY = 20_000, 1_770_000_000.0, 86_400.0
KINDS = ("note", "session", "bug", "config", "decision", "preference", "reference", "fact")
QUERIES = ("coffee in the morning", "history of london", "apple pie recipe", "machine learning")
LIMITS = {"session": 30.0, "bug": 60.0, "config": 90.0, "preference": np.inf, "reference": np.inf}

Result = TypeVar("Result")


def records(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    """Yield memories of up to a year of age, in sessions of 20, topics of a thousandth."""
    ages = np.random.default_rng(0).uniform(0.0, 365.0, limit)
    with path.open(encoding="utf-8") as lines:
        for n, line in enumerate(itertools.islice(lines, limit)):
            yield {
                "text": json.loads(line)["text"],
                "kind": KINDS[n % len(KINDS)],
                "session": f"s{n // 20}",
                "topic": f"t{n % 1_000}",
                "created_at": NOW - float(ages[n]) * DAY,
            }


def say(name: str, figure: str) -> None:
    """Print one figure."""
    sys.stdout.write(f"{name:<44} {figure}\n")
    sys.stdout.flush()


def resident_mb() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def beside_searches(mind: oneiros.Engine, name: str, work: Callable[[], Result]) -> Result:
    """Do something while another thread searches; print how long both took."""
    is_over, spent = threading.Event(), list[float]()

    def search() -> None:
        for query in itertools.cycle(QUERIES):
            if is_over.is_set():
                return
            mark = time.perf_counter()
            mind.search(query, now=NOW, reinforce=False)
            spent.append(time.perf_counter() - mark)
            time.sleep(0.002)

    searching = threading.Thread(target=search)
    searching.start()
    before, mark = resident_mb(), time.perf_counter()
    try:
        result = work()
    finally:
        seconds = time.perf_counter() - mark
        is_over.set()
        searching.join()
    p50, p99 = np.percentile(spent, [50, 99]) * 1e3
    say(name, f"{seconds:.2f} s, {resident_mb() - before:+,.0f} MB")
    say("  searches meanwhile, ms", f"p50 {p50:.3f}, p99 {p99:.3f} ({len(spent)})")
    return result


def plain_numpy(mind: oneiros.Engine) -> float:
    """Return the seconds that the phases' arithmetic takes in plain NumPy, the best of three."""
    lifecycle = mind._scope.services.read_model.lifecycle
    column, kinds = lifecycle.column, lifecycle.kinds
    limit_of = np.array([LIMITS.get(kind, 180.0) for kind in kinds])
    times = []
    for _ in range(3):
        mark = time.perf_counter()
        created, accessed = column("created_at"), column("last_accessed_at")
        age = np.maximum((NOW - created) / DAY, 0.0)
        idle = np.maximum((NOW - np.where(np.isnan(accessed), created, accessed)) / DAY, 0.0)
        revised = column("revision_count") + column("duplicate_count")
        urgent = np.exp2(-age * 24.0 / 168.0) * np.maximum(np.log1p(revised), 0.1)
        urgent *= column("importance")
        weak = np.maximum(column("strength") * np.float32(0.95), np.float32(0.01))
        stale = idle / limit_of[column("kind")]
        signal = column("access_count") / np.maximum(age, 1.0) * (1.0 + column("revision_count"))
        taken = (stale >= 1.0) | ((age > 30.0) & (weak <= 0.01) & (column("access_count") == 0))
        status = np.where((age >= 1.0) & (column("status") == 0), 1, column("status"))
        status = np.where((stale >= 0.5) & (weak < 0.2), 2, status)
        layer = np.maximum(column("depth") - (signal < 0.05), 1)
        times.append(time.perf_counter() - mark)
        assert len(urgent) == len(taken) == len(status) == len(layer)
    return min(times)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="on the disk to use")
    parser.add_argument("--profile", default="oneiros")
    given = parser.parse_args()
    say("load before", " ".join(f"{value:.2f}" for value in os.getloadavg()))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "mind.db"
        with oneiros.Engine(path, profile=given.profile, clock=lambda: NOW) as mind:
            source = records(given.corpus, given.limit)
            while chunk := list(itertools.islice(source, CHUNK)):
                mind.add_many(chunk)
        with oneiros.Engine(path, profile=given.profile, clock=lambda: NOW) as mind:
            for query in QUERIES:
                mind.search(query, now=NOW, reinforce=False)
            beside_searches(mind, "quiet", lambda: time.sleep(3.0))
            mark = time.perf_counter()
            mind.dream(dry_run=True)
            say("plan, the texts being read for it", f"{time.perf_counter() - mark:.2f} s")
            plan = beside_searches(mind, "plan", lambda: mind.dream(dry_run=True))
            for phase in plan.report.phases:
                say(f"  {phase.name}", f"{phase.seconds:.3f} s")
            say("the arithmetic in plain NumPy", f"{plain_numpy(mind):.3f} s")
            with oneiros.Engine(path, profile=given.profile, clock=lambda: NOW) as other:
                report = beside_searches(mind, "apply", plan.apply)
                mark = time.perf_counter()
                other.refresh()
                say("another process follows", f"{time.perf_counter() - mark:.2f} s")
            say("  fields changed", f"{report.change_count:,}")
            say("  memories", f"{report.live_before:,} -> {report.live_after:,}")
            log = path.with_name("mind.db-wal").stat().st_size / 1e6
            say("  log, MB", f"{log:,.0f} beside a file of {path.stat().st_size / 1e6:,.0f}")
            undone = beside_searches(mind, "undo", lambda: mind.undo_dream(report.id))
            assert undone.change_count == report.change_count
            assert len(mind) == report.live_before
    say("load after", " ".join(f"{value:.2f}" for value in os.getloadavg()))


if __name__ == "__main__":
    main()
