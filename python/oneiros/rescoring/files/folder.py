"""Scoring of a folder of Parquet files into a folder of scores, a file for each part.

Parts are scored in any order and by any process: each is a :class:`PartTask`, and :func:`score_part`
writes its file. A folder next to the output, ``.NAME.rescore``, has a manifest (JSON lines: the task,
then a line per finished part) and the files of the finished parts, until all of them become the output.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.rescoring.files.checkpoint import (
    JOURNAL,
    FinishedPart,
    earlier_task,
    file_checksum,
    hold_folder,
)
from oneiros.rescoring.files.rescore import FileRun, restart_reason, resumed_task
from oneiros.rescoring.files.sources import open_source
from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.store.connections import sync_folder

if TYPE_CHECKING:
    from oneiros.rescoring.files.rescore import Advance, FileReport
    from oneiros.scoring.profile import Profile

__all__ = [
    "MANIFEST",
    "PartTask",
    "RunParts",
    "parquet_files",
    "require_new_folder",
    "rescore_folder",
    "row_count",
    "score_part",
    "score_parts",
]


MANIFEST: Final = "_manifest.json"
"""Name of the list of parts in the output. Readers of Parquet folders skip names with ``_``."""
_DRAFT: Final = "parts"
_SUFFIX: Final = ".parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTask:
    """All that is needed to score one part of a file."""

    place: int
    """Place of the part among all parts of the folder, from 0."""
    source: Path
    identity: dict[str, object]
    """State of the source; a part is refused if the file was changed since."""
    number: int
    """Number of the part in its file."""
    target: Path
    """The file to write."""
    profiles: tuple[Profile, ...]
    now: float
    """Seconds since the epoch."""
    threads: int
    invalid: str
    missing: str
    keep: tuple[str, ...]


RunParts = Callable[[Sequence[PartTask]], Iterable[tuple[int, FinishedPart]]]
"""Scores parts and yields each with its place, in any order, when its file is complete."""


def score_part(task: PartTask) -> FinishedPart:
    """Score one part and write its file, which appears whole or not at all.

    Raises:
        ValueError, TypeError: the part is damaged or breaks a rule, or its file was changed; the
            message names the file.
        OSError: a file cannot be read or written.
    """
    with open_source(task.source) as source:
        run = FileRun(
            source,
            task.target,
            task.profiles,
            threads=task.threads,
            invalid=task.invalid,
            keep=task.keep,
        )
        run.require_identity(task.identity)
        try:
            return run.write_part(task.number, task.now, task.missing)
        except (ValueError, TypeError) as error:
            if str(error).startswith(f"{task.source.name}: "):
                raise
            msg = f"{task.source.name}: {error}"
            raise (TypeError if isinstance(error, TypeError) else ValueError)(msg) from error


def score_parts(tasks: Sequence[PartTask]) -> Iterator[tuple[int, FinishedPart]]:
    """Score parts one after the other in this process, as :data:`RunParts`."""
    for task in tasks:
        yield task.place, score_part(task)


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a folder by name, or the one file that ``path`` is.

    Names that begin with ``.`` or ``_`` are skipped, and so are folders within.

    Raises:
        ValueError: there is none.
        OSError: the folder cannot be read.
    """
    if not path.is_dir():
        if path.suffix != _SUFFIX:
            msg = f"{path}: expected a folder of {_SUFFIX} files, or one such file"
            raise ValueError(msg)
        return [path]
    found = sorted(
        each
        for each in path.iterdir()
        if each.suffix == _SUFFIX and not each.name.startswith((".", "_")) and each.is_file()
    )
    if not found:
        msg = f"{path}: has no {_SUFFIX} file"
        raise ValueError(msg)
    return found


def row_count(path: Path) -> int:
    """Return the number of rows of the Parquet files of a folder."""
    total = 0
    for each in parquet_files(path):
        with open_source(each) as source:
            total += source.row_count or 0
    return total


def require_new_folder(path: Path) -> None:
    """Refuse an output that exists, since a folder cannot be replaced in one step.

    Raises:
        ValueError: there is something of this name.
    """
    if os.path.lexists(path):
        msg = f"{path.name}: exists; remove it, or choose another name"
        raise ValueError(msg)


def rescore_folder(
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
    run: RunParts = score_parts,
) -> None:
    """Score a folder of Parquet files part by part, each part into a file of its own.

    The output folder gets its name when it is complete. If the run is interrupted or killed, finished
    parts are kept next to it, and a run over the same input, profiles and clock scores the others.
    The bytes of the output depend neither on ``run`` nor on interruptions.

    Args:
        source_path: a folder whose Parquet files have one schema, or one such file.
        target_path: a folder that does not exist. Its files, ``part-00000.parquet`` and so on, have
            ``id``, the columns to keep and the scores, in the order of the input.
        profiles: at least one, with different names.
        now: seconds; None: that of an earlier run that can be resumed, else the system's.
        threads: number of threads in the core, for each part.
        invalid: "raise", "nan" or "clamp".
        missing: "raise" or "default", as :func:`oneiros.rescore` takes it.
        keep: further columns of the input to write.
        report: updated as the run proceeds.
        advance: called with the number of rows done.
        run: scores the parts; default: one after the other in this process.

    Raises:
        ValueError, TypeError: the input is damaged or breaks a rule; the message names the file.
        BlockingIOError: another process writes the same output.
        OSError: a file cannot be read or written.
    """
    # Another process that scores a part has another working folder.
    source_path, target_path = source_path.absolute(), target_path.absolute()
    require_new_folder(target_path)
    files = parquet_files(source_path)
    with hold_folder(target_path) as folder:
        plan = _Plan(files, profiles, threads=threads, invalid=invalid, missing=missing, keep=keep)
        report.missing = plan.missing_fields
        earlier = earlier_task(folder)
        task = resumed_task(plan.task, earlier, now)
        report.restarted = restart_reason(earlier, task)
        report.now = task["now"]
        manifest = _Manifest(folder, task, is_resumed=earlier == task)
        is_kept = False
        try:
            tasks = plan.tasks(manifest.folder, task["now"])
            report.parts_total = len(tasks)
            names = [profile.name for profile in profiles]
            for part in manifest.existing(tasks):
                report.count(part, names)
            report.rows_before = report.rows
            advance(report.rows)
            rest = [task for task in tasks if task.place not in manifest.parts]
            for place, part in run(rest) if rest else ():
                manifest.finish(place, part)
                report.count(part, names)
                advance(sum(part.sizes))
            manifest.publish(target_path, tasks)
        except BaseException as error:
            # After an interrupt, a full disk or the loss of a worker, the rest can be scored later.
            is_kept = bool(manifest.parts) and not isinstance(error, ValueError | TypeError)
            raise
        finally:
            manifest.close()
            if not is_kept:
                manifest.remove()


class _Plan:
    """The parts of the input files, checked against the profiles."""

    def __init__(
        self,
        files: Sequence[Path],
        profiles: Sequence[Profile],
        *,
        threads: int,
        invalid: str,
        missing: str,
        keep: Sequence[str],
    ) -> None:
        self._profiles = tuple(profiles)
        self._threads = threads
        self._invalid = invalid
        self._missing = missing
        self._keep = tuple(dict.fromkeys(keep))
        self._parts: list[tuple[Path, dict[str, object], int]] = []
        self._inputs: dict[str, dict[str, object]] = {}
        self._task: dict[str, Any] = {}
        self.missing_fields: list[str] = []
        """Fields that the profiles read and the files lack."""
        first: tuple[str, Any] | None = None
        for path in files:
            with open_source(path) as source:
                if first is None:
                    run = FileRun(
                        source, path, profiles, threads=threads, invalid=invalid, keep=keep
                    )
                    self.missing_fields = run.check(missing)
                    self._task = run.task(0.0)
                    first = path.name, source.schema
                elif not source.schema.equals(first[1]):
                    msg = (
                        f"{path.name}: its columns differ from those of {first[0]} in name or type"
                    )
                    raise ValueError(msg)
                identity = source.identity()
                self._inputs[path.name] = identity
                self._parts += [(path, identity, number) for number in range(source.part_count)]

    def task(self, now: float) -> dict[str, Any]:
        """Describe the run: what must be equal for an earlier one to be resumed."""
        return {**self._task, "input": self._inputs, "now": now}

    def tasks(self, folder: Path, now: float) -> list[PartTask]:
        """Return a task per part, in the order of the input."""
        width = max(5, len(str(len(self._parts) - 1)))
        return [
            PartTask(
                place=place,
                source=path,
                identity=identity,
                number=number,
                target=folder / f"part-{place:0{width}}{_SUFFIX}",
                profiles=self._profiles,
                now=now,
                threads=self._threads,
                invalid=self._invalid,
                missing=self._missing,
                keep=self._keep,
            )
            for place, (path, identity, number) in enumerate(self._parts)
        ]


class _Manifest:
    """The finished parts of a run, in a locked folder."""

    def __init__(self, folder: Path, task: dict[str, Any], *, is_resumed: bool) -> None:
        self._root = folder
        self._task = task
        self.folder = folder / _DRAFT
        """Where the files of parts are written."""
        self.parts: dict[int, FinishedPart] = {}
        """Finished parts by place."""
        self._noted: dict[int, FinishedPart] = {}
        if not is_resumed:
            self.remove()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.fdopen(os.open(folder / JOURNAL, flags, 0o600), "r+b")
        end = len(self._file.readline())
        if not end:
            self._write(task)
            return
        for line in self._file:
            entry = _read_entry(line)
            if entry is None:
                break
            self._noted[entry[0]] = entry[1]
            end += len(line)
        self._file.seek(end)
        self._file.truncate()

    def existing(self, tasks: Sequence[PartTask]) -> list[FinishedPart]:
        """Return the parts of an earlier run whose files are intact, and count them as finished."""
        for task in tasks:
            part = self._noted.get(task.place)
            if part is None or not task.target.is_file():
                continue
            if file_checksum(task.target) == part.checksum:
                self.parts[task.place] = part
        return list(self.parts.values())

    def finish(self, place: int, part: FinishedPart) -> None:
        """Record that the file of a part is complete."""
        self._write({"part": place, **asdict(part)})
        self.parts[place] = part

    def publish(self, target: Path, tasks: Sequence[PartTask]) -> None:
        """Give the finished parts the name of the output.

        Raises:
            RuntimeError: a part is missing, which is a defect of what ran the parts.
        """
        if missing := [task.target.name for task in tasks if task.place not in self.parts]:
            msg = f"{len(missing)} of {len(tasks)} parts were not scored, the first {missing[0]}"
            raise RuntimeError(msg)
        wanted = {task.target.name for task in tasks}
        for path in self.folder.iterdir():  # what a killed process left behind
            if path.name not in wanted:
                path.unlink()
        document = {
            **{
                name: self._task[name]
                for name in ("version", "profiles", "now", "invalid", "dtype")
            },
            "parts": [
                {
                    "file": task.target.name,
                    "source": task.source.name,
                    "rows": sum(self.parts[task.place].sizes),
                    "crc32": self.parts[task.place].checksum,
                }
                for task in tasks
            ],
        }
        with (self.folder / MANIFEST).open("w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        require_new_folder(target)
        sync_folder(str(self.folder / MANIFEST))
        self.folder.rename(target)
        sync_folder(str(target))

    def close(self) -> None:
        """Close the manifest; finished parts remain for the next run."""
        self._file.close()

    def remove(self) -> None:
        """Delete the manifest and the files of parts."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self._root / JOURNAL).unlink(missing_ok=True)

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()


def _read_entry(line: bytes) -> tuple[int, FinishedPart] | None:
    """Parse a line of the manifest; None if it is incomplete or invalid."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
        return int(entry.pop("part")), FinishedPart(**entry)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
