"""Comparison of two scores of a file's rows. Source: docs/systems/ciar.md A11."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.rescoring.comparison import Comparison, ScratchColumn, Side, compare_scores
from oneiros.rescoring.files.sources import open_source
from oneiros.rescoring.scorer import Scorer
from oneiros.rescoring.tables.arrow import ArrowTable, require_pyarrow
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.profile import Profile

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    Array = npt.NDArray[Any]

__all__ = ["ScoreColumn", "compare_file"]


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of the file that contains scores."""

    name: str


def compare_file(
    path: Path,
    left: Profile | ScoreColumn,
    right: Profile | ScoreColumn,
    *,
    now: float,
    threads: int,
    invalid: str,
    missing: str = "raise",
    threshold: float | None,
    top: tuple[int, ...],
    advance: Callable[[int], object],
) -> Comparison:
    """Compare two profiles, or columns of scores, over all rows of a file.

    The file is read part by part. For large files, scores and sort buffers are mapped temporary
    files (in TMPDIR) of up to 80 bytes per row, which can be paged out.

    Args:
        path: .parquet, .arrow, .feather or .csv.
        left: the current scores.
        right: the proposed scores.
        now: seconds since the epoch.
        threads: number of threads in the core.
        invalid: "raise", "nan" or "clamp".
        missing: "raise" or "default", as :func:`oneiros.rescore` takes it.
        threshold: for both sides; None: each profile's, and for a column that of the other side.
        top: the values of k for ``top_overlap``.
        advance: called with the number of rows done.

    Raises:
        ValueError, TypeError: the file is damaged, breaks a rule or lacks a column.
    """
    sides = (left, right)
    profiles = [side for side in sides if isinstance(side, Profile)]
    scorer = Scorer(profiles, now=now, threads=threads, invalid=invalid)
    names = [side.name for side in sides if isinstance(side, ScoreColumn)]
    scored = [ScratchColumn() for _ in profiles]
    existing = [ScratchColumn() for _ in names]
    with open_source(path) as source:
        _require(source.schema, names)
        if profiles:
            scorer.require_columns(ArrowTable(source.schema.empty_table()), missing)
        columns = [name for name in scorer.fields if name in source.schema.names]
        for part in range(source.part_count):
            for batch in source.batches(part, [*dict.fromkeys((*columns, *names))]):
                found = scorer.score(ArrowTable(batch), None, advance)[0]
                for column, scores in zip(scored, found, strict=True):
                    column.append(scores)
                for column, name in zip(existing, names, strict=True):
                    column.append(_scores(batch, name))
    of_profiles = iter(scored)
    of_columns = iter(existing)
    thresholds = [threshold or _threshold(side) for side in sides]
    compared = [
        Side(
            name=side.name,
            scores=next(of_profiles if isinstance(side, Profile) else of_columns).array(),
            threshold=thresholds[place] or thresholds[1 - place],
        )
        for place, side in enumerate(sides)
    ]
    return compare_scores(*compared, top=top)


def _require(schema: pa.Schema, names: Sequence[str]) -> None:
    types = require_pyarrow().types
    for name in names:
        if schema.names.count(name) != 1:
            msg = f"column {name!r}: expected once in the file, found {schema.names.count(name)}"
            raise ValueError(msg)
        type_ = schema.field(name).type
        if not (types.is_floating(type_) or types.is_integer(type_)):
            msg = f"column {name!r}: expected numbers, got {type_}"
            raise TypeError(msg)


def _scores(batch: pa.RecordBatch, name: str) -> Array:
    column = batch.column(batch.schema.get_field_index(name))
    values = column.cast(require_pyarrow().float64()).to_numpy(zero_copy_only=False)
    return np.asarray(values)  # nulls became NaN


def _threshold(side: Profile | ScoreColumn) -> float | None:
    if isinstance(side, ScoreColumn) or side.promotion is None:
        return None
    return side.promotion.threshold
