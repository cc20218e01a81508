"""A folder of Parquet files rescored by one process and on Ray, in turns; by Dask where installed.

    python bench/ray_rescore.py [--rows N ...] [--files N] [--cpus N] [--rounds N]

Ray runs on this machine, with the cores that one process with as many threads has. Its start is
measured apart, since a cluster is usually there already. Every form writes the same scores, which is
checked. A round runs every form once; printed are the fastest and the slowest seconds of each.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import oneiros
import oneiros.ray
from oneiros.benchmark.conditions import conditions, load
from oneiros.rescoring.files import FileReport, rescore_folder

NOW, PROFILE = 1_750_000_000.0, "ciar"
ROW_GROUP = 2**18


def facts(rows: int, seed: int) -> pa.Table:
    drawn = np.random.default_rng(seed)
    return pa.table(
        {
            "id": pa.array(np.char.add(f"m{seed}-", np.arange(rows).astype(str))),
            "certainty": drawn.random(rows),
            "impact": drawn.random(rows),
            "created_at": NOW - 86_400 * drawn.exponential(60, rows),
            "access_count": drawn.integers(0, 9, rows),
        }
    )


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def in_one_process(source: Path, target: Path, threads: int) -> None:
    rescore_folder(
        source,
        target,
        [oneiros.profiles.get(PROFILE)],
        now=NOW,
        threads=threads,
        invalid="raise",
        report=FileReport(),
        advance=lambda _: None,
    )


def on_ray(source: Path, target: Path) -> None:
    oneiros.ray.rescore(source, target, profile=PROFILE, now=NOW)


def on_dask(source: Path, target: Path, workers: int) -> None:
    import dask.dataframe as dd  # noqa: PLC0415 (may be absent)

    def scored(frame: object) -> object:
        return oneiros.rescore(frame, PROFILE, now=NOW, threads=1)

    frames = dd.read_parquet(source)
    meta = {"id": "string", "score": "float64"}
    result = frames.map_partitions(scored, meta=meta)
    result.to_parquet(target, compute_kwargs={"scheduler": "processes", "num_workers": workers})


def scores(folder: Path) -> bytes:
    """Return the bits of all scores, in the order of ids."""
    table = pq.read_table(folder, columns=["id", "score"])
    order = pc.sort_indices(table["id"].cast(pa.string()))
    return np.asarray(table["score"].take(order).to_numpy(), np.float64).tobytes()


def measure(rows: int, files: int, cpus: int, rounds: int, folder: Path) -> None:
    source = folder / "in"
    source.mkdir()
    for number in range(files):
        table = facts(rows // files, number)
        pq.write_table(table, source / f"{number:04}.parquet", row_group_size=ROW_GROUP)
    forms: dict[str, Callable[[Path], None]] = {
        f"one process, {cpus} threads": lambda target: in_one_process(source, target, cpus),
        f"Ray, {cpus} CPUs": lambda target: on_ray(source, target),
    }
    if find_spec("dask") is not None:
        forms[f"Dask, {cpus} processes"] = lambda target: on_dask(source, target, cpus)
    else:
        say("LEFT OUT: Dask is not installed")
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    expected = b""
    for _ in range(rounds):
        for name, run in forms.items():
            target = folder / "out"
            began = time.perf_counter()
            run(target)
            seconds[name].append(time.perf_counter() - began)
            found = scores(target)
            expected = expected or found
            assert found == expected, f"{name}: other scores"
            shutil.rmtree(target)
    for name, taken in seconds.items():
        rate = rows / min(taken) / 1e6
        say(
            f"{rows:>11,} rows  {name:<26} {min(taken):7.2f} to {max(taken):6.2f} s {rate:7.2f} M/s"
        )
    shutil.rmtree(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--cpus", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name, value in conditions(("ray", "dask", "pyarrow", "numpy")).items():
        say(f"{name}: {value}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    began = time.perf_counter()
    ray = oneiros.ray.cluster.require_ray()
    data = oneiros.ray.cluster.require_ray_data()
    ray.init(
        num_cpus=given.cpus,
        object_store_memory=200 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    say(f"Ray starts in {time.perf_counter() - began:.1f} s")
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            measure(rows, given.files, given.cpus, given.rounds, Path(folder))
    ray.shutdown()
    say(f"load at the end: {load()}")


if __name__ == "__main__":
    main()
