"""What the tests of files share: inputs to make, runs to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oneiros import profiles
from oneiros.rescoring.files import FileReport, rescore_file
from tests.rescoring.forms import KINDS, NOW

PROFILES = [profiles.get("reverie"), profiles.get("reverie-capped")]


def memories(size: int, seed: int = 3) -> pa.Table:
    """Return a table of memories, nulls among them."""
    drawn = np.random.default_rng(seed)
    holes = drawn.random(size) < 0.2
    return pa.table(
        {
            "id": pa.array([f"m{row}" for row in range(size)], pa.string()),
            "updated_at": drawn.uniform(0, NOW, size),
            "strength": pa.array(drawn.random(size).astype(np.float32), mask=holes),
            "depth": pa.array(drawn.integers(1, 4, size).astype(np.uint8)),
            "session_spread": pa.array(drawn.integers(1, 9, size).astype(np.int64)),
            "kind": pa.array(drawn.choice(KINDS, size)).dictionary_encode(),
            "text": pa.array(["never read"] * size),
        }
    )


def write(path: Path, table: pa.Table, sizes: list[int]) -> Path:
    """Write a file whose row groups (record batches) have these sizes."""
    cuts = np.cumsum([0, *sizes]).tolist()
    parts = [table.slice(cut, size) for cut, size in zip(cuts, sizes, strict=False)]
    if path.suffix == ".parquet":
        with pq.ParquetWriter(path, table.schema) as writer:
            for part in parts:
                writer.write_table(part)
    else:
        with pa.ipc.new_file(path, table.schema) as stream:
            for part in parts:
                for batch in part.combine_chunks().to_batches():
                    stream.write_batch(batch)
    return path


def run(
    source: Path,
    target: Path,
    *,
    now: float | None = NOW,
    profiles: Any = PROFILES,
    invalid: str = "raise",
    missing: str = "default",
    advance: Callable[[int], object] = lambda _: None,
    report: FileReport | None = None,
) -> FileReport:
    """Score a file."""
    report = FileReport() if report is None else report
    rescore_file(
        source,
        target,
        profiles,
        now=now,
        threads=1,
        invalid=invalid,
        missing=missing,
        report=report,
        advance=advance,
    )
    return report


def read(path: Path) -> pa.Table:
    """Return what a file holds."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def leftovers(folder: Path) -> list[str]:
    """Return the hidden names in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
