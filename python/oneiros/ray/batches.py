"""Tables and folders scored on a cluster, by the functions that score them on one machine."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from oneiros._lazy import needed
from oneiros.model.validation import checked_threads, require_choice, require_instance
from oneiros.ray.cluster import require_ray, require_ray_data
from oneiros.rescoring import rescore as tables
from oneiros.rescoring.files import FileReport, require_kept, rescore_folder, score_part
from oneiros.rescoring.scorer import MISSING, Scorer
from oneiros.rescoring.tables.arrow import ArrowTable
from oneiros.rescoring.validity import CHOICES
from oneiros.runtime.warnings import warn

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.rescoring.files import PartTask
    from oneiros.rescoring.files.checkpoint import FinishedPart
    from oneiros.scoring.profile import Profile

__all__ = ["rescore", "run_parts"]


@overload
def rescore(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    profile: Profile | str | Sequence[Profile | str] = "ciar",
    now: Time | None = None,
    threads: int = 1,
    invalid: str = "raise",
    missing: str = "raise",
    keep: Sequence[str] = (),
) -> FileReport: ...
@overload
def rescore(
    source: Any,
    target: None = None,
    *,
    profile: Profile | str | Sequence[Profile | str] = "ciar",
    now: Time | None = None,
    threads: int = 1,
    invalid: str = "raise",
    missing: str = "raise",
    keep: Sequence[str] = (),
) -> Any: ...
def rescore(
    source: Any,
    target: str | os.PathLike[str] | None = None,
    *,
    profile: Profile | str | Sequence[Profile | str] = "ciar",
    now: Time | None = None,
    threads: int = 1,
    invalid: str = "raise",
    missing: str = "raise",
    keep: Sequence[str] = (),
) -> Any:
    """Score a folder of Parquet files or a Ray dataset without a query, on a cluster.

    Scores have the bits of :func:`oneiros.rescore` over the whole table, however it is split. Uses the
    cluster that Ray is connected to; without one, Ray connects or starts one as it always does.

    A folder is scored part by part, a part being a row group or several small ones. Each worker writes
    the file of its part, so the folders must have the same path on all machines. The output appears
    when it is complete, with a list of its parts in ``_manifest.json``. After an interrupt or a kill,
    the same call scores only the parts that are not finished.

    Args:
        source: the path of a folder of Parquet files with one schema, or of one such file; or a
            ``ray.data.Dataset``.
        target: for a path: a folder that does not exist. For a dataset: None.
        profile: a name or a ``Profile``, or a list of them.
        now: the clock: seconds UTC, an aware ``datetime`` or ISO 8601 with an offset. Default: for a
            folder the clock of the run that is resumed, else the system's.
        threads: number of threads of a task, 1 to 256, which Ray counts as CPUs. A ``RuntimeWarning``
            says so if no machine of the cluster has as many.
        invalid: "raise", "nan" or "clamp", as :func:`oneiros.rescore` takes it. Messages about a
            dataset count rows within its block.
        missing: "raise" or "default", as :func:`oneiros.rescore` takes it.
        keep: further columns to keep beside ``id``.

    Returns:
        For a folder, a report with the number of rows and parts. For a dataset, a dataset of ``id``,
        the columns to keep and ``score`` (for several profiles a column each), which Ray computes on
        use.

    Raises:
        ImportError: Ray is not installed.
        ValueError, TypeError: a column or a value breaks a rule; an output that exists. For a
            dataset, Ray raises its own error with the message when values are computed.
        BlockingIOError: another process writes the same output.
        OSError: a file cannot be read or written.

    Examples:
        >>> import pyarrow, pyarrow.parquet
        >>> import oneiros.ray
        >>> table = {"id": ["a", "b"], "certainty": [0.9, 0.5], "impact": [0.8, 0.6]}
        >>> table |= {"created_at": [0.0, 0.0], "access_count": [3, 0]}
        >>> pyarrow.parquet.write_table(pyarrow.table(table), "facts.parquet")
        >>> oneiros.ray.rescore("facts.parquet", "scores", profile="ciar", now=86_400).rows
        2
        >>> pyarrow.parquet.read_table("scores")["score"].to_numpy().round(3)
        array([0.915, 0.293])
    """
    data = require_ray_data()
    profiles = tables.chosen_profiles(profile)
    require_choice("invalid", invalid, CHOICES)
    require_choice("missing", missing, MISSING)
    thread_count = checked_threads(threads)
    require_instance("keep", keep, (list, tuple), "a list of names of columns")
    if isinstance(source, data.Dataset):
        if target is not None:
            msg = "target: a dataset has none; write the result with its write_parquet()"
            raise ValueError(msg)
        single = isinstance(profile, str) or not isinstance(profile, Sequence)
        return _rescored(
            source,
            profiles[0] if single else profiles,
            tables.moment_of(now),
            threads=thread_count,
            invalid=invalid,
            missing=missing,
            keep=tuple(dict.fromkeys(keep)),
        )
    require_instance("source", source, (str, os.PathLike), "a path or a ray.data.Dataset")
    require_instance("target", target, (str, os.PathLike), "the path of a new folder")
    assert target is not None
    report = FileReport()
    rescore_folder(
        Path(source),
        Path(target),
        profiles,
        now=None if now is None else tables.moment_of(now),
        threads=thread_count,
        invalid=invalid,
        missing=missing,
        keep=keep,
        report=report,
        advance=lambda _: None,
        run=run_parts,
    )
    return report


def run_parts(tasks: Sequence[PartTask]) -> Iterator[tuple[int, FinishedPart]]:
    """Score parts on the cluster and yield each as it is finished, in any order.

    Ray runs a part again if its worker dies, which writes the same bytes.

    Raises:
        ValueError, TypeError, OSError: as :func:`oneiros.rescoring.files.score_part`.
    """
    data = require_ray_data()
    by_place = {task.place: task for task in tasks}

    def scored(batch: dict[str, Any]) -> dict[str, list[bytes]]:
        return {"outcome": [_outcome(by_place[int(place)]) for place in batch["place"]]}

    places = [{"place": task.place} for task in tasks]
    dataset = data.from_items(places, override_num_blocks=len(places))
    _warn_of_threads(tasks[0].threads)
    outcomes = dataset.map_batches(scored, batch_size=1, num_cpus=tasks[0].threads)
    for row in outcomes.iter_rows():
        place, part = pickle.loads(row["outcome"])
        if isinstance(part, Exception):
            raise part
        yield place, part


def _warn_of_threads(threads: int) -> None:
    """Warn of tasks that Ray cannot start: no machine of the cluster has as many CPUs."""
    nodes = [node for node in require_ray().nodes() if node["Alive"]]
    most = max((node["Resources"].get("CPU", 0.0) for node in nodes), default=0.0)
    if threads > most:
        message = (
            f"threads: a task takes {threads} CPUs, and the largest machine of the cluster has "
            f"{most:g}: Ray waits until a larger one joins"
        )
        warn(message, RuntimeWarning)


def _outcome(task: PartTask) -> bytes:
    """Score a part; return its place, and the finished part or the error, pickled.

    An error that Ray raised would be of a type of its own.
    """
    try:
        result: FinishedPart | Exception = score_part(task)
    except (ValueError, TypeError, OSError) as error:
        result = error
    return pickle.dumps((task.place, result))


def _rescored(
    dataset: Any,
    profile: Profile | Sequence[Profile],
    now: float,
    *,
    threads: int,
    invalid: str,
    missing: str,
    keep: Sequence[str],
) -> Any:
    pa = needed("pyarrow", "ray")
    given = dataset.schema()
    fields = [] if given is None else zip(given.names, given.types, strict=True)
    schema = pa.schema(list(fields))
    is_one = not isinstance(profile, Sequence)
    profiles = list(profile) if isinstance(profile, Sequence) else [profile]
    score_names = ["score"] if is_one else [each.name for each in profiles]
    require_kept(keep, "the dataset", schema.names, score_names)
    _warn_of_threads(threads)
    empty = ArrowTable(schema.empty_table())
    scorer = Scorer(profiles, now=now, threads=threads, invalid=invalid)
    scorer.require_columns(empty, missing)
    dtype = scorer.dtype_of(empty)  # of the whole table, so that no block has another

    def scored(block: Any) -> Any:
        result = tables.rescore(
            block, profile, now=now, threads=threads, invalid=invalid, dtype=dtype, missing=missing
        )
        first = int("id" in result.column_names)
        for name in reversed(keep):
            result = result.add_column(first, name, block.column(name))
        return result

    return dataset.map_batches(scored, batch_size=None, batch_format="pyarrow", num_cpus=threads)
