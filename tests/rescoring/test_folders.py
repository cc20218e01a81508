"""Folders of Parquet files: the scores of one file, whatever the split, interrupted or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oneiros.rescoring.files import FileReport, PartTask, rescore_folder, score_part
from oneiros.rescoring.files.checkpoint import FinishedPart
from oneiros.scoring.row_scores import BLOCK
from tests.rescoring.files import PROFILES, memories, run, write
from tests.rescoring.forms import NOW

ROWS = 4_000


def folder_of(path: Path, table: pa.Table, count: int) -> Path:
    """Write a table as a folder of so many files."""
    path.mkdir()
    cuts = np.linspace(0, table.num_rows, count + 1).astype(int)
    for number in range(count):
        part = table.slice(cuts[number], cuts[number + 1] - cuts[number])
        write(path / f"{number}.parquet", part, [part.num_rows])
    return path


def score(source: Path, target: Path, **options: Any) -> FileReport:
    """Score a folder in this process."""
    report = FileReport()
    given = {"now": NOW, "threads": 1, "invalid": "raise", "missing": "default"} | options
    rescore_folder(source, target, PROFILES, report=report, advance=lambda _: None, **given)
    return report


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_folder_has_the_scores_of_one_file(tmp_path: Path, count: int) -> None:
    table = memories(ROWS)
    run(write(tmp_path / "one.parquet", table, [ROWS]), tmp_path / "scores.parquet")
    report = score(folder_of(tmp_path / "in", table, count), tmp_path / "out")
    assert (report.rows, report.parts, report.parts_total) == (ROWS, count, count)
    assert pq.read_table(tmp_path / "out").equals(pq.read_table(tmp_path / "scores.parquet"))
    assert not (tmp_path / ".out.rescore").exists()


def test_a_part_has_the_bytes_of_a_file_scored_alone(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 2)
    score(source, tmp_path / "out")
    for number in range(2):
        run(source / f"{number}.parquet", tmp_path / "alone.parquet")
        alone = (tmp_path / "alone.parquet").read_bytes()
        assert (tmp_path / "out" / f"part-{number:05}.parquet").read_bytes() == alone


def test_columns_to_keep_are_written(tmp_path: Path) -> None:
    table = memories(ROWS)
    score(folder_of(tmp_path / "in", table, 3), tmp_path / "out", keep=["text", "depth"])
    scored = pq.read_table(tmp_path / "out")
    assert scored.column_names == ["id", "text", "depth", *(each.name for each in PROFILES)]
    assert scored["depth"].equals(table["depth"])


def test_row_groups_of_one_file_are_parts(tmp_path: Path) -> None:
    table = memories(BLOCK + 10)
    source = write(tmp_path / "one.parquet", table, [BLOCK, 10])
    run(source, tmp_path / "scores.parquet")
    report = score(source, tmp_path / "out")
    assert report.parts == 2
    assert pq.read_table(tmp_path / "out").equals(pq.read_table(tmp_path / "scores.parquet"))
    table = table.set_column(
        2, "strength", [np.where(np.arange(BLOCK + 10) == BLOCK + 4, 9.0, 0.5)]
    )
    write(source, table, [BLOCK, 10])
    with pytest.raises(ValueError, match=f"strength: .*row {BLOCK + 4}"):
        score(source, tmp_path / "again")


def test_the_manifest_lists_parts_rows_and_settings(tmp_path: Path) -> None:
    score(folder_of(tmp_path / "in", memories(ROWS), 2), tmp_path / "out")
    document = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert document["now"] == NOW
    assert document["profiles"] == [[each.name, each.hash] for each in PROFILES]
    assert [(part["file"], part["source"], part["rows"]) for part in document["parts"]] == [
        ("part-00000.parquet", "0.parquet", ROWS // 2),
        ("part-00001.parquet", "1.parquet", ROWS // 2),
    ]


class Stopping:
    """Scores parts in the reverse order and stops after some."""

    def __init__(self, most: int, error: BaseException) -> None:
        self.most = most
        self.error = error
        self.done: list[int] = []

    def __call__(self, tasks: Sequence[PartTask]) -> Iterator[tuple[int, FinishedPart]]:
        for task in reversed(tasks):
            if len(self.done) == self.most:
                raise self.error
            yield task.place, score_part(task)
            self.done.append(task.place)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "full"), RuntimeError("lost")])
def test_an_interrupted_run_scores_only_the_rest(tmp_path: Path, error: BaseException) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 7)
    score(source, tmp_path / "whole")
    first = Stopping(3, error)
    with pytest.raises(type(error)):
        score(source, tmp_path / "out", run=first)
    assert not (tmp_path / "out").exists()
    (tmp_path / ".out.rescore" / "parts" / ".part-00001.parquet.ab.part").write_bytes(b"half")
    second = Stopping(7, error)
    report = score(source, tmp_path / "out", now=None, run=second)
    assert (first.done, second.done) == ([6, 5, 4], [3, 2, 1, 0])
    assert report.rows_before == sum(len(pq.read_table(source / f"{n}.parquet")) for n in (4, 5, 6))
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_a_damaged_part_is_scored_again(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 3)
    score(source, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        score(source, tmp_path / "out", run=Stopping(2, KeyboardInterrupt()))
    part = tmp_path / ".out.rescore" / "parts" / "part-00002.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    second = Stopping(3, KeyboardInterrupt())
    score(source, tmp_path / "out", run=second)
    assert second.done == [2, 0]
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_another_task_starts_over_and_says_why(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 3)
    with pytest.raises(KeyboardInterrupt):
        score(source, tmp_path / "out", run=Stopping(2, KeyboardInterrupt()))
    report = score(source, tmp_path / "out", now=NOW + 1)
    assert report.restarted == "another --now"
    assert report.rows_before == 0
    score(source, tmp_path / "whole", now=NOW + 1)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_a_file_changed_after_planning_is_refused(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 2)

    def changing(tasks: Sequence[PartTask]) -> Iterator[tuple[int, FinishedPart]]:
        write(source / "1.parquet", memories(10), [10])
        for task in tasks:
            yield task.place, score_part(task)

    with pytest.raises(ValueError, match=r"1\.parquet: changed while it was read"):
        score(source, tmp_path / "out", run=changing)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_part_left_out_by_the_runner_is_no_output(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 2)
    with pytest.raises(RuntimeError, match="1 of 2 parts were not scored, the first part-00001"):
        score(source, tmp_path / "out", run=lambda tasks: [(0, score_part(tasks[0]))])
    assert not (tmp_path / "out").exists()


def test_what_is_no_folder_of_parquet_is_refused(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 2)
    (tmp_path / "out").mkdir()
    with pytest.raises(ValueError, match="out: exists; remove it"):
        score(source, tmp_path / "out")
    with pytest.raises(ValueError, match=r"out: has no \.parquet file"):
        score(tmp_path / "out", tmp_path / "scores")
    with pytest.raises(ValueError, match=r"in\.csv: expected a folder"):
        score(tmp_path / "in.csv", tmp_path / "scores")
    other = memories(10).append_column("extra", [list(range(10))])
    write(source / "1.parquet", other, [10])
    with pytest.raises(
        ValueError, match=r"1\.parquet: its columns differ from those of 0\.parquet"
    ):
        score(source, tmp_path / "scores")


def test_names_with_an_underscore_or_a_dot_are_skipped(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 2)
    for name in ("_part.parquet", ".part.parquet"):
        (source / name).write_bytes(b"not read")
    assert score(source, tmp_path / "out").rows == ROWS


def test_a_wrong_value_names_its_file_and_row_and_leaves_nothing(tmp_path: Path) -> None:
    table = memories(10).set_column(2, "strength", [[0.5] * 7 + [9.0] + [0.5] * 2])
    source = folder_of(tmp_path / "in", table, 2)
    with pytest.raises(ValueError, match=r"^1\.parquet: strength: .* in row 2$"):
        score(source, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
