"""Scores of CSV files: what Parquet gives, and what only text can get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from oneiros.rescoring.files import FileReport, ScoreColumn, compare_file, rescore_file
from oneiros.scoring.profiles import get
from tests.rescoring.files import write
from tests.rescoring.forms import NOW

HEADER = "id,kind,certainty,impact,created_at,access_count,old\n"


def scored(
    source: Path, target: Path, invalid: str = "raise", keep: Sequence[str] = ()
) -> pa.Table:
    rescore_file(
        source,
        target,
        [get("ciar"), get("omega")],
        now=NOW,
        threads=1,
        invalid=invalid,
        missing="default",
        keep=keep,
        report=FileReport(),
        advance=lambda _: None,
    )
    if target.suffix == ".parquet":
        return parquet.read_table(target).replace_schema_metadata(None)
    return csv.read_csv(target, parse_options=csv.ParseOptions(newlines_in_values=True))


def table(size: int) -> pa.Table:
    drawn = np.random.default_rng(3)
    return pa.table(
        {
            "id": [f'f{row},"\n{row}' for row in range(size)],
            "kind": [("fact", "decision")[row % 2] for row in range(size)],
            "certainty": drawn.random(size),
            "impact": drawn.random(size),
            "created_at": NOW - drawn.uniform(0, 1e7, size).round(),
            "access_count": drawn.integers(0, 9, size).astype(np.float64),
            "old": drawn.random(size),
        }
    )


def test_csv_gives_what_parquet_gives_to_the_bit(tmp_path: Path) -> None:
    made = table(100_000)  # several blocks, and more than one batch
    csv.write_csv(made, tmp_path / "in.csv")
    write(tmp_path / "in.parquet", made, [60_000, 40_000])
    want = scored(tmp_path / "in.parquet", tmp_path / "want.parquet").to_pydict()
    assert scored(tmp_path / "in.csv", tmp_path / "out.csv").to_pydict() == want
    assert scored(tmp_path / "in.csv", tmp_path / "out.parquet").to_pydict() == want
    sides = (get("ciar"), ScoreColumn("old"))
    told = [
        compare_file(
            tmp_path / name,
            *sides,
            now=NOW,
            threads=1,
            invalid="raise",
            threshold=None,
            top=(10,),
            advance=lambda _: None,
        )
        for name in ("in.csv", "in.parquet")
    ]
    assert told[0] == told[1]


def test_ids_stay_as_they_are_written_and_empty_cells_are_missing(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        f"{HEADER}007,fact,0.5,,2025-01-01T00:00:00Z,2,1\n8,,0.5,0.5,2025-01-01T00:00:00+00:00,2,2\n"
    )
    got = scored(tmp_path / "in.csv", tmp_path / "out.parquet")
    assert got["id"].to_pylist() == ["007", "8"]
    first, second = got["ciar"].to_pylist()
    assert first == second  # an impact that is missing is 0.5


def test_fractions_of_seconds_may_come_late(tmp_path: Path) -> None:
    rows = "a,fact,0.5,0.5,2025-01-01T00:00:00Z,2,1\n" * 120_000  # more than the first block
    (tmp_path / "in.csv").write_text(f"{HEADER}{rows}b,fact,0.5,0.5,2025-01-01T00:00:00.5Z,2,1\n")
    got = scored(tmp_path / "in.csv", tmp_path / "out.parquet")["ciar"].to_pylist()
    assert got[-2] < got[-1]  # created half a second later


def test_numbers_to_keep_stay_as_they_are_written(tmp_path: Path) -> None:
    header = HEADER.replace("\n", ",order,code,cost\n")
    row = "a,fact,0.5,0.5,1e9,2,1,9007199254740993,007,"
    (tmp_path / "in.csv").write_text(f"{header}{row}1.25\n{row}\n")
    for suffix in (".csv", ".parquet"):
        target = tmp_path / f"out{suffix}"
        scored(tmp_path / "in.csv", target, keep=["order", "code", "cost", "access_count"])
    got = parquet.read_table(target)
    assert got["order"].to_pylist() == ["9007199254740993"] * 2
    assert got["code"].to_pylist() == ["007"] * 2
    assert got["cost"].to_pylist() == [1.25, None]
    assert got["access_count"].to_pylist() == [2.0] * 2
    assert '"a","9007199254740993","007",1.25,2,' in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,fact,high,0.5,1e9,1,1\n", "certainty: expected a column of numbers, got string"),
        ("a,fact,7,0.5,1e9,1,1\n", r"certainty: must be a number in \[0, 1\], got 7"),
        ("a,fact,nan,0.5,1e9,1,1\n", "certainty: must be a number in"),
        ("a,fact,0.5,0.5,2025-01-01 00:00:00,1,1\n", "created_at: .*time zone"),
        ("a,fact,0.5\n", "in.csv: .*Expected 7 columns, got 3"),
        ("", "in.csv: .*mpty"),
    ],
    ids=["text", "range", "nan", "naive", "short", "empty"],
)
def test_what_is_wrong_is_said_and_nothing_written(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "in.csv").write_text(HEADER + row if row else "")
    with pytest.raises((TypeError, ValueError), match=message):
        scored(tmp_path / "in.csv", tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_no_text_of_a_csv_begins_as_a_formula(tmp_path: Path) -> None:
    ids = ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "plain", "a=1", "'=1", None]
    made = table(len(ids)).set_column(0, "id", pa.array(ids))
    parquet.write_table(made, tmp_path / "in.parquet")
    scored(tmp_path / "in.parquet", tmp_path / "out.csv")
    options = csv.ConvertOptions(column_types={"id": pa.string()}, strings_can_be_null=True)
    parse = csv.ParseOptions(newlines_in_values=True)
    found = csv.read_csv(tmp_path / "out.csv", parse_options=parse, convert_options=options)
    assert found["id"].to_pylist()[:9] == [f"'{id}" for id in ids[:6]] + ids[6:9]
    scored(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet")["id"].to_pylist() == ids


@pytest.mark.parametrize(
    "kind", [pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.large_string()], ids=str
)
def test_texts_of_every_encoding_are_written_without_formulas(
    tmp_path: Path, kind: pa.DataType
) -> None:
    ids, texts = ["=1", "b", None], ["@SUM(A1)", "plain", None]
    made = table(3).set_column(0, "id", pa.array(ids).cast(kind))
    made = made.append_column("text", pa.array(texts).cast(kind))
    write(tmp_path / "in.arrow", made, [2, 1])
    found = scored(tmp_path / "in.arrow", tmp_path / "out.csv", keep=["text"])
    assert found["id"].to_pylist()[:2] == ["'=1", "b"]
    assert found["text"].to_pylist()[:2] == ["'@SUM(A1)", "plain"]


@pytest.mark.parametrize(("suffix", "is_in"), [(".csv", False), (".jsonl", True), (".arrow", True)])
def test_a_column_that_the_output_does_not_have_is_refused_before_scoring(
    tmp_path: Path, suffix: str, is_in: bool
) -> None:
    made = table(3).append_column("tags", pa.array([["a"], [], None]))
    made = made.set_column(2, "certainty", pa.array([0.5, 7.0, 0.5]))  # scoring would name it
    write(tmp_path / "in.parquet", made, [3])
    named = "certainty: " if is_in else r"keep: a csv file has no list.*, as column 'tags' is"
    with pytest.raises(ValueError, match=named):
        scored(tmp_path / "in.parquet", tmp_path / f"out{suffix}", keep=["tags"])
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_column_to_keep_that_comes_twice_is_refused(tmp_path: Path, suffix: str) -> None:
    made = table(3).append_column("old", pa.array([1, 2, 3]))
    csv.write_csv(made, tmp_path / "in.csv")
    parquet.write_table(made, tmp_path / "in.parquet")
    with pytest.raises(ValueError, match=rf"keep: in\{suffix} has several columns 'old'"):
        scored(tmp_path / f"in{suffix}", tmp_path / "out.csv", keep=["old"])
    assert len(scored(tmp_path / f"in{suffix}", tmp_path / "out.csv")) == 3
