"""Readers of files: what they accept, what they refuse and in which words."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneiros.cli import sources
from oneiros.cli.failures import CommandError
from oneiros.cli.sources import Row, open_file


def read(path: Path, *, extra_to_metadata: bool = False) -> list[Row]:
    return list(open_file(path, extra_to_metadata=extra_to_metadata))


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_json_lines_gives_records_and_places(tmp_path: Path) -> None:
    content = '\ufeff{"text": "one", "tags": ["a"]}\n\n{"text": "two\\u2028", "title": null}\r\n'
    assert read(written(tmp_path, "m.jsonl", content)) == [
        Row(place="line 1", record={"text": "one", "tags": ["a"]}),
        Row(place="line 3", record={"text": "two\u2028"}),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{oops", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        (b'{"text": "x"', "not JSON: Expecting ',' delimiter at column 13"),
        (b'{"text": "x\ty"}', "not JSON: Invalid control character at column 12"),
        (b"{", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        (b"[1]", "expected an object, got list"),
        (b'{"text": "\xff"}', "not UTF-8: byte 10"),
        (b'{"text": "x", "importance": NaN}', "not JSON: NaN"),
        (b'{"text": "x", "colour": 1}', "column 'colour' is not a field of a memory; --extra-to-"),
        (b'{"text": "x", "a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"text": "x", "ttl": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
    ids=[
        "syntax",
        "cut",
        "control character",
        "first of several",
        "list",
        "bytes",
        "nan",
        "extra",
        "deep",
        "digits",
    ],
)
def test_a_bad_line_hides_no_other(tmp_path: Path, line: bytes, problem: str) -> None:
    rows = read(written(tmp_path, "m.jsonl", b'{"text": "a"}\n' + line + b'\n{"text": "b"}'))
    assert [row.record for row in rows] == [{"text": "a"}, None, {"text": "b"}]
    assert rows[1].place == "line 2"
    assert rows[1].problem.startswith(problem)


def test_a_line_over_the_limit_is_refused_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LINE_LIMIT", 20)
    content = '{"text": "a"}\n{"text": "' + "x" * 100 + '"}\n{"text": "b"}\n' + "y" * 70
    rows = read(written(tmp_path, "m.jsonl", content))
    assert [row.record for row in rows] == [{"text": "a"}, None, {"text": "b"}, None]
    assert [row.place for row in rows] == ["line 1", "line 2", "line 3", "line 4"]
    assert rows[1].problem == "longer than 20 bytes"


def test_extras_go_to_metadata_when_asked(tmp_path: Path) -> None:
    content = '{"text": "x", "metadata": {"a": 1}, "colour": {"r": 2}}\n'
    (row,) = read(written(tmp_path, "m.jsonl", content), extra_to_metadata=True)
    assert row.record == {"text": "x", "metadata": {"a": 1, "colour": {"r": 2}}}


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [('{"colour": 1}', "colour: stands both"), ('"x"', "metadata: must be an object, got str")],
)
def test_extras_never_overwrite(tmp_path: Path, metadata: str, problem: str) -> None:
    content = f'{{"text": "x", "metadata": {metadata}, "colour": 2}}\n'
    (row,) = read(written(tmp_path, "m.jsonl", content), extra_to_metadata=True)
    assert row.problem.startswith(problem)


def test_csv_cells_become_what_their_columns_hold(tmp_path: Path) -> None:
    content = (
        "\ufefftext,importance,priority,pinned,tags,metadata,created_at,updated_at,embedding,kind\r\n"
        '"two\nlines, ""quoted""",0.5,3,True,red; blue,"{""a"": [1]}",'
        '2025-01-02T03:04:05Z,1735787045,"[0.5, 1]",007\r\n'
        'plain,,,no,"[""a;b""]"\r\n'
    )
    first, second = read(written(tmp_path, "m.csv", content))
    assert first == Row(
        place="line 2",
        record={
            "text": 'two\nlines, "quoted"',
            "importance": 0.5,
            "priority": 3,
            "pinned": True,
            "tags": ["red", "blue"],
            "metadata": {"a": [1]},
            "created_at": "2025-01-02T03:04:05Z",
            "updated_at": 1735787045.0,
            "embedding": [0.5, 1],
            "kind": "007",
        },
    )
    assert second == Row(place="line 4", record={"text": "plain", "pinned": False, "tags": ["a;b"]})


@pytest.mark.parametrize(
    ("header", "line", "problem"),
    [
        ("text,importance", b"x,much", "importance: must be a number, got 'much'"),
        ("text,priority", b"x,1.5", "priority: must be a whole number, got '1.5'"),
        ("text,pinned", b"x,perhaps", "pinned: must be true or false, got 'perhaps'"),
        ("text,metadata", b"x,{", "metadata: must be JSON, got '{'"),
        ("text,embedding", b'x,"[NaN]"', "embedding: must be JSON, got '[NaN]'"),
        ("text", b"x,y", "2 cells under 1 columns"),
        ("text", b"\xff", "not UTF-8"),
        ("text,kind", b'"x"y,z', "not CSV: "),
    ],
)
def test_a_bad_csv_line_hides_no_other(
    tmp_path: Path, header: str, line: bytes, problem: str
) -> None:
    content = header.encode() + b"\na\n" + line + b"\nb\n"
    rows = read(written(tmp_path, "m.csv", content))
    assert [row.record for row in rows] == [{"text": "a"}, None, {"text": "b"}]
    assert rows[1].place == "line 3"
    assert rows[1].problem.startswith(problem)


def test_a_csv_cell_over_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "CELL_LIMIT", 50)
    rows = read(written(tmp_path, "m.csv", "text\n" + "x" * 51 + "\nb\n"))
    assert "field larger than field limit" in rows[0].problem
    assert rows[1].record == {"text": "b"}


def parquet_of(folder: Path, columns: dict[str, Any]) -> Path:
    path = folder / "m.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_gives_nested_values_as_they_are(tmp_path: Path) -> None:
    when = dt.datetime(2025, 1, 2, tzinfo=dt.UTC)
    columns = {
        "text": ["one", "two"],
        "tags": [["a"], None],
        "metadata": ['{"x": 1}', None],
        "embedding": [[0.5, 1.0], None],
        "created_at": [when, when],
    }
    first, second = read(parquet_of(tmp_path, columns))
    assert first.place == "row 1"
    assert first.record is not None
    assert first.record == {
        "text": "one",
        "tags": ["a"],
        "metadata": {"x": 1},
        "embedding": [0.5, 1.0],
        "created_at": when,
    }
    assert second.record == {"text": "two", "created_at": when}


def test_periods_of_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    period = {
        b"ARROW:extension:name": b"pandas.period",
        b"ARROW:extension:metadata": b'{"freq": "D"}',
    }
    columns = [pa.field("text", pa.string()), pa.field("event_at", pa.int64(), metadata=period)]
    pq.write_table(pa.table([["a"], [20_089]], schema=pa.schema(columns)), path)
    with pytest.raises(CommandError, match=r"m\.parquet: event_at: must be no period"):
        read(path)


def test_dates_among_the_extras_of_parquet_become_text(tmp_path: Path) -> None:
    columns = {"text": ["one"], "due": [dt.date(2025, 1, 2)]}
    (row,) = read(parquet_of(tmp_path, columns), extra_to_metadata=True)
    assert row.record == {"text": "one", "metadata": {"due": "2025-01-02"}}
    json.dumps(row.record)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.txt", "x", r"m.txt: expected a file ending in .jsonl, .csv, .parquet"),
        ("m.csv", "text,colour\n", "m.csv: column 'colour' is not a field of a memory; --extra"),
        ("m.csv", "kind\nx\n", "m.csv: needs a column 'text'"),
        ("m.csv", "", "m.csv: needs a column 'text'"),
        ("m.csv", "text,,kind\n", "m.csv: a column has no name"),
        ("m.csv", "text,kind,kind\n", "m.csv: two columns are named 'kind'"),
        ("m.csv", b"text,caf\xe9\n", "m.csv:1: not UTF-8"),
        ("m.parquet", "PAR1 not at all PAR1", "m.parquet: not a Parquet file"),
    ],
)
def test_a_useless_file_is_refused_whole(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        open_file(written(tmp_path, name, content), extra_to_metadata=isinstance(content, bytes))


def test_a_value_of_parquet_that_python_lacks_costs_only_its_row(tmp_path: Path) -> None:
    late = pa.array([0, 2**60, 0], pa.timestamp("us", tz="UTC"))  # after the year 9999
    path = parquet_of(tmp_path, {"text": ["one", "two", "three"], "created_at": late})
    first, second, third = read(path)
    assert (first.place, second.place, third.place) == ("row 1", "row 2", "row 3")
    assert first.record is not None
    assert third.record is not None
    assert (first.record["text"], third.record["text"]) == ("one", "three")
    assert second.record is None
    assert second.problem.startswith("created_at: cannot be read: ")


def test_an_extra_column_of_parquet_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"m.parquet: column 'colour' is not a field"):
        read(parquet_of(tmp_path, {"text": ["x"], "colour": [None]}))


@pytest.mark.parametrize("name", ["m.jsonl", "m.csv", "m.parquet"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match=f"{name}: no such file"):
        open_file(tmp_path / name, extra_to_metadata=False)


def test_a_folder_or_pipe_is_not_called_missing(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("folder.csv", "pipe.jsonl"):
        with pytest.raises(CommandError, match=f"{name}: not a file"):
            read(tmp_path / name)


ANY_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@ANY_FILE
@given(st.binary(max_size=200), st.sampled_from(["m.jsonl", "m.csv"]))
def test_no_bytes_break_a_reader(tmp_path: Path, content: bytes, name: str) -> None:
    prefix = b"text,kind\n" if name == "m.csv" else b""
    for row in read(written(tmp_path, name, prefix + content), extra_to_metadata=True):
        assert (row.record is None) == bool(row.problem)


@ANY_FILE
@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
def test_json_lines_round_trips_any_text(tmp_path: Path, texts: list[str]) -> None:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    rows = read(written(tmp_path, "m.jsonl", lines))
    assert [row.record for row in rows] == [{"text": text} for text in texts]
