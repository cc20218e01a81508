"""Scoring of a file of memories into a file of scores."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from oneiros import __version__
from oneiros._lazy import needed
from oneiros.clock import system_clock
from oneiros.rescoring.files.checkpoint import (
    Checkpoint,
    FinishedPart,
    earlier_task,
    file_checksum,
    hold_folder,
)
from oneiros.rescoring.files.sources import SUFFIXES, open_source
from oneiros.rescoring.scorer import Scorer
from oneiros.rescoring.tables.arrow import ArrowTable, require_pyarrow
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.runtime.files import new_file

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from oneiros.rescoring.columns import Array
    from oneiros.rescoring.files.sources import RowSource
    from oneiros.scoring.profile import Profile

__all__ = [
    "FileReport",
    "FileRun",
    "open_target",
    "require_kept",
    "require_target",
    "rescore_file",
    "restart_reason",
    "resumed_task",
]


Advance = Callable[[int], object]
if TYPE_CHECKING:
    Counts = npt.NDArray[np.int64]

_CHANGES = {  # key of a task -> reason reported for a restart
    "input": "the input changed",
    "profiles": "other profiles, or one was changed",
    "now": "another --now",
    "invalid": "another --invalid",
    "dtype": "another precision",
    "keep": "other --keep-columns",
    "version": "another version of Oneiros",
}


@dataclass(slots=True, kw_only=True)
class FileReport:
    """Progress of a run; accurate at every moment, also after an interrupt."""

    now: float | None = None
    """Seconds since the epoch; a resumed run keeps its clock."""
    rows: int = 0
    """Rows scored, including those of an earlier run."""
    rows_before: int = 0
    """Rows scored by an earlier run."""
    parts: int = 0
    parts_total: int = 0
    restarted: str = ""
    """Why an earlier run was not resumed; empty if it was, or there was none."""
    missing: list[str] = field(default_factory=list)
    """Fields that the profiles read and the file lacks: their defaults count."""
    future_counts: dict[str, int] = field(default_factory=dict)
    """Profile -> rows with times after ``now``, counted as age 0."""
    unscored: dict[str, int] = field(default_factory=dict)
    """Profile -> rows whose score is NaN."""

    def count(self, part: FinishedPart, names: Sequence[str]) -> None:
        """Add a finished part, whose counts are those of the profiles ``names``."""
        self.rows += sum(part.sizes)
        self.parts += 1
        for counts, added in (
            (self.future_counts, part.future_counts),
            (self.unscored, part.unscored),
        ):
            for name, count in zip(names, added, strict=True):
                counts[name] = counts.get(name, 0) + count


def require_kept(
    keep: Sequence[str], source: str, names: Sequence[str], score_names: Sequence[str]
) -> None:
    """Refuse columns to keep that the input lacks or the output has for something else.

    Args:
        keep: the columns.
        source: what a message calls the input.
        names: the columns of the input.
        score_names: the columns of the output next to ``id``.

    Raises:
        ValueError: the message names the column.
    """
    for name in keep:
        if name not in names:
            msg = f"keep: {source} has no column {name!r}, only {', '.join(names)}"
            raise ValueError(msg)
        if names.count(name) > 1:
            msg = f"keep: {source} has several columns {name!r}"
            raise ValueError(msg)
        if name in ("id", *score_names):
            msg = f"keep: {name!r} is a column of the output already"
            raise ValueError(msg)


def rescore_file(
    source_path: Path,
    target_path: Path,
    profiles: Sequence[Profile],
    *,
    now: float | None,
    threads: int,
    invalid: str,
    missing: str = "raise",
    keep: Sequence[str] = (),
    report: FileReport,
    advance: Advance,
) -> None:
    """Score a file part by part, and write ``id``, the columns to keep and the scores.

    The output gets its name when it is complete. If the run is interrupted, finished parts are kept
    next to the output, and a run over the same input, profiles and clock resumes from there.

    Args:
        source_path: .parquet, .arrow, .feather, .csv or .jsonl.
        target_path: of the same formats; replaced. In .csv, a text that a spreadsheet would take for a
            formula gets an apostrophe in front.
        profiles: at least one, with different names.
        now: seconds; None: that of an earlier run that can be resumed, else the system's.
        threads: number of threads in the core.
        invalid: "raise", "nan" or "clamp".
        missing: "raise" or "default", as :func:`oneiros.rescore` takes it.
        keep: further columns of the input to write.
        report: updated as the run proceeds.
        advance: called with the number of rows done.

    Raises:
        ValueError, TypeError: the input is damaged or breaks a rule; the message names the file.
        BlockingIOError: another process writes the same output.
        OSError: a file cannot be read or written.
    """
    require_target(target_path)
    if target_path.exists() and target_path.samefile(source_path):
        msg = f"{target_path.name}: input and output are the same file"
        raise ValueError(msg)
    with open_source(source_path, keep) as source, hold_folder(target_path) as folder:
        run = FileRun(source, target_path, profiles, threads=threads, invalid=invalid, keep=keep)
        run.begin(folder, now, missing, report)
        is_kept = False
        try:
            run.score(report, advance)
            run.write(target_path, report)
        except (KeyboardInterrupt, OSError):
            is_kept = bool(run.checkpoint.parts)
            raise
        finally:
            run.checkpoint.close()
            if not is_kept:
                run.checkpoint.remove()


class FileRun:
    """The scoring of one file, or of one part of it."""

    checkpoint: Checkpoint
    _scorer: Scorer

    def __init__(
        self,
        source: RowSource,
        target: Path,
        profiles: Sequence[Profile],
        *,
        threads: int,
        invalid: str,
        keep: Sequence[str],
    ) -> None:
        self._source = source
        self._keep = tuple(dict.fromkeys(keep))
        self._target = target
        self._profiles = profiles
        self._names = [profile.name for profile in profiles]
        self._threads = threads
        self._invalid = invalid
        self._identity = source.identity()

    def begin(self, folder: Path, now: float | None, missing: str, report: FileReport) -> None:
        """Resume an earlier run of the same task, or start from the beginning."""
        earlier = earlier_task(folder)
        report.missing = self.check(missing)
        task = resumed_task(self.task, earlier, now)
        now = float(task["now"])
        report.restarted = restart_reason(earlier, task)
        self._scorer = self._scorer_at(now)
        self.checkpoint = Checkpoint(
            folder, task, dtype=self._dtype, profile_count=len(self._profiles)
        )
        report.now = now
        report.parts_total = self._source.part_count
        for part in self.checkpoint.parts:
            report.count(part, self._names)
        self._scorer.row_count = report.rows_before = report.rows

    def check(self, missing: str) -> list[str]:
        """Refuse columns that the profiles or the output cannot have.

        Returns:
            The fields that the profiles read and the file lacks.
        """
        scorer = self._scorer_at(0.0)
        empty = ArrowTable(self._source.schema.empty_table())
        self._id = empty.column_type("id")
        require_kept(
            self._keep, self._source.path.name, self._source.schema.names, self._score_names()
        )
        scorer.require_columns(empty, missing)
        self._dtype = scorer.dtype_of(empty)
        self._require_writable()
        return scorer.missing(empty)

    def require_identity(self, identity: dict[str, object]) -> None:
        """Refuse a file that is not in the state it was planned in.

        Raises:
            ValueError: it was changed.
        """
        self._identity = identity
        self._require_unchanged()

    def write_part(self, number: int, now: float, missing: str) -> FinishedPart:
        """Score one part and write the output of it alone, without a checkpoint."""
        self.check(missing)
        self._scorer = self._scorer_at(now)
        self._scorer.row_count = self._source.first_row(number)
        schema, carried = self._schema(now), self._carried(number)
        sizes, unscored = [], np.zeros(len(self._profiles), np.int64)
        with open_target(self._target, schema, draft=None, check=self._require_unchanged) as write:
            for scores in self._scored(number, unscored, lambda _: None):
                write(_table(carried, scores, schema))
                sizes.append(len(scores[0]))
        return FinishedPart(
            sizes=sizes,
            checksum=file_checksum(self._target),
            future_counts=list(self._scorer.future_counts),
            unscored=unscored.tolist(),
        )

    def score(self, report: FileReport, advance: Advance) -> None:
        """Score the remaining parts."""
        advance(report.rows)
        for number in range(report.parts, self._source.part_count):
            part = self._score_part(number, advance)
            self.checkpoint.finish_part(part)
            report.count(part, self._names)

    def write(self, target: Path, report: FileReport) -> None:
        """Write the output from the finished parts."""
        assert report.now is not None
        schema = self._schema(report.now)
        draft = self.checkpoint.draft
        with open_target(target, schema, draft=draft, check=self._require_unchanged) as write:
            for number in range(self._source.part_count):
                carried = self._carried(number)
                for scores in self.checkpoint.pieces(number):
                    write(_table(carried, scores, schema))

    def _score_part(self, number: int, advance: Advance) -> FinishedPart:
        future_before = list(self._scorer.future_counts)
        unscored = np.zeros(len(self._profiles), np.int64)

        sizes, checksum = self.checkpoint.append(
            b"".join(column.tobytes() for column in scores)
            for scores in self._scored(number, unscored, advance)
        )
        after = zip(self._scorer.future_counts, future_before, strict=True)
        return FinishedPart(
            sizes=sizes,
            checksum=checksum,
            future_counts=[now - then for now, then in after],
            unscored=unscored.tolist(),
        )

    def _scored(self, number: int, unscored: Counts, advance: Advance) -> Iterator[list[Array]]:
        """Yield the scores of each piece of a part by profile, and add to the counts of NaN."""
        for batch in self._source.batches(number, self._columns()):
            scores, _ = self._scorer.score(ArrowTable(batch), self._dtype, advance)
            unscored += [np.isnan(column).sum() for column in scores]
            yield scores

    def _columns(self) -> list[str]:
        names = self._source.schema.names
        return [name for name in self._scorer.fields if name in names] or names[:1]

    def _carried_fields(self) -> list[pa.Field]:
        """Return the columns that are copied: the ids if there are some, and those to keep."""
        ids = [] if self._id is None else [require_pyarrow().field("id", self._id)]
        return [*ids, *(self._source.schema.field(name) for name in self._keep)]

    def _carried(self, number: int) -> _ColumnReader | None:
        fields = self._carried_fields()
        if not fields:
            return None
        names = [field.name for field in fields]
        return _ColumnReader(self._source.batches(number, names), [field.type for field in fields])

    def _require_writable(self) -> None:
        """Refuse columns that the format of the output does not have, before all rows are scored."""
        for column in self._carried_fields():
            try:
                with _writer(self._target, require_pyarrow().schema([column]), io.BytesIO()):
                    pass
            except require_pyarrow().ArrowException as error:
                kind = self._target.suffix[1:]
                msg = f"keep: a {kind} file has no {column.type}, as column {column.name!r} is"
                raise ValueError(msg) from error

    def _score_names(self) -> list[str]:
        return ["score"] if len(self._names) == 1 else self._names

    def _scorer_at(self, now: float) -> Scorer:
        return Scorer(self._profiles, now=now, threads=self._threads, invalid=self._invalid)

    def task(self, now: float) -> dict[str, Any]:
        """Describe the run: what must be equal for an earlier one to be resumed."""
        return {
            "version": __version__,
            "input": self._identity,
            "profiles": [[profile.name, profile.hash] for profile in self._profiles],
            "now": now,
            "invalid": self._invalid,
            "dtype": self._dtype.name,
            "keep": list(self._keep),
        }

    def _schema(self, now: float) -> pa.Schema:
        pa = require_pyarrow()
        real = pa.from_numpy_dtype(self._dtype)
        scores = [pa.field(name, real, nullable=False) for name in self._score_names()]
        fields = [*self._carried_fields(), *scores]
        hashes = {f"oneiros.profile.{profile.name}": profile.hash for profile in self._profiles}
        return pa.schema(fields, {**hashes, "oneiros.now": repr(now)})

    def _require_unchanged(self) -> None:
        if self._source.identity() != self._identity:
            msg = f"{self._source.path.name}: changed while it was read; run again"
            raise ValueError(msg)


def resumed_task(
    task: Callable[[float], dict[str, Any]], earlier: dict[str, Any] | None, now: float | None
) -> dict[str, Any]:
    """Return the task of a run: at ``now``, at that of an earlier run it resumes, or at present."""
    if now is None:
        before = None if earlier is None else earlier.get("now")
        resumes = isinstance(before, float) and earlier == task(before)
        now = before if resumes and isinstance(before, float) else system_clock()
    return task(now)


def restart_reason(earlier: dict[str, Any] | None, task: dict[str, Any]) -> str:
    """Return why an earlier run is not resumed; empty if it is, or there was none."""
    if earlier is None or earlier == task:
        return ""
    return "; ".join(reason for key, reason in _CHANGES.items() if earlier.get(key) != task[key])


def _table(carried: _ColumnReader | None, scores: Sequence[Array], schema: pa.Schema) -> pa.Table:
    """Return the rows of a piece: the columns to copy, then the scores."""
    columns = [] if carried is None else carried.take(len(scores[0]))
    columns += [require_pyarrow().array(column) for column in scores]
    return require_pyarrow().Table.from_arrays(columns, schema=schema)


class _ColumnReader:
    """Reads columns of a part in pieces of given sizes.

    Args:
        batches: batches of the columns.
        kinds: their types.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], kinds: Sequence[pa.DataType]) -> None:
        self._batches = batches
        self._kinds = kinds
        self._buffers = [require_pyarrow().chunked_array([], kind) for kind in kinds]

    def take(self, size: int) -> list[pa.ChunkedArray]:
        """Return the next ``size`` rows of each column."""
        while len(self._buffers[0]) < size:
            batch = next(self._batches)
            self._buffers = [
                require_pyarrow().chunked_array([*buffer.chunks, batch.column(at).cast(kind)])
                for at, (buffer, kind) in enumerate(zip(self._buffers, self._kinds, strict=True))
            ]
        taken = [buffer.slice(0, size) for buffer in self._buffers]
        self._buffers = [buffer.slice(size) for buffer in self._buffers]
        return taken


_FORMULA: Final = "^[=+@\\t\\r-]"


def _finite(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not have, also within lists and objects."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(held) for held in value]
    return value


class _JsonLinesWriter:
    """Writes tables as JSON lines; NaN is null."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the file is its owner's to close."""

    def write_table(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        for batch in table.to_batches(max_chunksize=2**16):
            lines = (
                json.dumps(_finite(row), ensure_ascii=False, allow_nan=False, default=str)
                for row in batch.to_pylist()
            )
            self._file.write("".join(f"{line}\n" for line in lines).encode())


class _CsvWriter:
    """Writes tables as CSV in which no text begins as a formula of a spreadsheet does."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        kinds = [(field.name, _type_in_csv(field.type)) for field in schema]
        self._schema = require_pyarrow().schema(kinds)
        self._own = needed("pyarrow.csv", "arrow").CSVWriter(file, self._schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._own.close()

    def write_table(self, table: pa.Table) -> None:
        """Append the rows of a table; a text that begins with ``= + - @``, a tab or CR gets an apostrophe."""
        arrow = require_pyarrow()
        compute = needed("pyarrow.compute", "arrow")
        table = arrow.Table.from_arrays(
            [column.cast(field.type) for column, field in zip(table, self._schema, strict=True)],
            schema=self._schema,
        )
        for place, cell in enumerate(self._schema):
            if not (arrow.types.is_string(cell.type) or arrow.types.is_large_string(cell.type)):
                continue
            column = table.column(place)
            is_formula = compute.match_substring_regex(column, _FORMULA)
            if compute.any(is_formula).as_py():
                quoted = compute.binary_join_element_wise(
                    arrow.scalar("'", cell.type), column, arrow.scalar("", cell.type)
                )
                table = table.set_column(place, cell, compute.if_else(is_formula, quoted, column))
        self._own.write_table(table)


def _type_in_csv(kind: pa.DataType) -> pa.DataType:
    """Return the type as which a column is written: one of texts as such, however they are encoded."""
    pa = require_pyarrow()
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.large_string() if pa.types.is_string_view(values) else values


def require_target(path: Path) -> None:
    """Refuse a path that no file of scores can have.

    Raises:
        ValueError: another suffix, a symbolic link, or a folder.
    """
    if path.suffix not in SUFFIXES:
        msg = f"{path.name}: expected a file named {', '.join(SUFFIXES)}"
        raise ValueError(msg)
    if path.is_symlink():
        msg = f"{path.name}: is a symbolic link, which is not followed"
        raise ValueError(msg)
    if path.is_dir():
        msg = f"{path.name}: is a folder"
        raise ValueError(msg)


@contextmanager
def open_target(
    path: Path, schema: pa.Schema, *, draft: Path | None, check: Callable[[], None]
) -> Iterator[Callable[[pa.Table], None]]:
    """Open a file for writing, in the format of its suffix.

    Args:
        path: appears when the block ends without an error.
        schema: schema of every table written.
        draft: path of the file until then; None: another name in its folder.
        check: called after all is written, before ``path`` appears; may raise.

    Yields:
        A function that writes a table.
    """
    with new_file(path, draft=draft) as file:
        with _writer(path, schema, file) as writer:
            yield writer.write_table
        check()


def _writer(path: Path, schema: pa.Schema, file: Any) -> Any:
    if path.suffix == ".parquet":
        return needed("pyarrow.parquet", "arrow").ParquetWriter(file, schema)
    if path.suffix == ".csv":
        return _CsvWriter(file, schema)
    if path.suffix == ".jsonl":
        return _JsonLinesWriter(file)
    return require_pyarrow().ipc.new_file(file, schema)
