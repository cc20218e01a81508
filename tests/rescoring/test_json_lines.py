"""Scores of JSON lines: what Parquet gives, what an export holds, and what is wrong in a line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import oneiros
from oneiros.rescoring.files import FileReport, rescore_file
from oneiros.scoring.profiles import get
from tests.rescoring.files import memories, write
from tests.rescoring.forms import NOW


def scored(source: Path, target: Path, **options: Any) -> None:
    given: dict[str, Any] = {
        "missing": "default",
        "invalid": "raise",
        "report": FileReport(),
        "advance": lambda _: None,
        **options,
    }
    rescore_file(source, target, [get("reverie"), get("ciar")], now=NOW, threads=1, **given)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_json_lines_give_what_parquet_gives_to_the_bit(tmp_path: Path) -> None:
    made = memories(70_000).drop_columns(["strength"])  # more than one batch; float32 is not JSON's
    made = made.append_column("strength", pa.array(np.random.default_rng(1).random(70_000)))
    source = tmp_path / "in.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in made.to_pylist()))
    write(tmp_path / "in.parquet", made, [70_000])
    scored(tmp_path / "in.parquet", tmp_path / "want.parquet")
    want = parquet.read_table(tmp_path / "want.parquet").to_pydict()
    scored(source, tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").to_pydict() == want
    scored(source, tmp_path / "out.jsonl")
    found = lines(tmp_path / "out.jsonl")
    assert {name: [row[name] for row in found] for name in want} == want


def test_an_interrupted_run_goes_on_after_its_finished_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oneiros.rescoring.files.sources._LINES_AT_ONCE", 10)
    source, straight, resumed = [tmp_path / f"{name}.jsonl" for name in ("in", "a", "b")]
    rows = [
        {"id": f"ü{n}", "created_at": NOW - n * 86_400.0, "importance": n / 45} for n in range(45)
    ]
    written = [json.dumps(row, ensure_ascii=n % 2 == 0) + "\n" for n, row in enumerate(rows)]
    written[7] += "\n  \n"  # empty lines count in no part
    source.write_text("".join(written), encoding="utf-8")
    scored(source, straight)

    left = 0

    def advance(_: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    rows_before = []
    for most in (3, 1, 100):
        report, left = FileReport(), most
        try:
            scored(source, resumed, report=report, advance=advance)
        except KeyboardInterrupt:
            assert not resumed.exists()
        rows_before.append(report.rows_before)
        assert (report.parts_total, report.restarted) == (5, "")
    assert rows_before[0] == 0 < rows_before[1] <= rows_before[2] <= 30
    assert rows_before[1] % 10 == 0
    assert resumed.read_bytes() == straight.read_bytes()
    assert [row["id"] for row in lines(resumed)] == [row["id"] for row in rows]


def test_an_export_is_scored_as_the_store_is(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", clock=lambda: NOW) as engine:
        for n in range(9):
            engine.add(
                f"tea {n}",
                id=f"m{n}",
                created_at=NOW - 1e6 * n,
                tags=["t"],
                metadata={"deep": [1]},
                embedding=[1.0, 0.0] if n % 2 else None,
            )
        engine.export(tmp_path / "out.jsonl")
        want = engine.rescore(profile="reverie", now=NOW)
    scored(tmp_path / "out.jsonl", tmp_path / "scores.jsonl")
    found = {row["id"]: row["reverie"] for row in lines(tmp_path / "scores.jsonl")}
    for id, score in zip(want.ids, want.scores, strict=True):
        assert found[id] == pytest.approx(score, rel=1e-6)  # the store's columns are float32


def test_times_are_seconds_or_iso_and_a_late_column_is_there(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"id": "a", "created_at": 1750000000, "odd": 1}\n'
        "\n"
        '{"id": "b", "created_at": "2025-06-15T15:06:40Z", "odd": "x", "impact": 0.25}\n'
    )
    scored(source, tmp_path / "out.jsonl", keep=["created_at", "odd", "impact"])
    first, second = lines(tmp_path / "out.jsonl")
    assert first["created_at"] == second["created_at"] == 1.75e9
    assert first["ciar"] != second["ciar"]  # of another impact
    assert (first["odd"], second["odd"]) == ("1", "x")
    assert (first["impact"], second["impact"]) == (None, 0.25)


def test_ids_that_are_numbers_keep_their_digits(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 9007199254740993, "impact": 0.5}\n{"id": "x", "impact": 1}\n')
    scored(source, tmp_path / "out.jsonl")
    assert [row["id"] for row in lines(tmp_path / "out.jsonl")] == ["9007199254740993", "x"]


def test_numbers_to_keep_stay_as_they_are(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    rows = [
        {"id": "a", "order": 2**53 + 1, "big": 2**63, "cost": 1, "impact": 1, "certainty": 0.5},
        {"id": "b", "order": None, "big": 7, "cost": 2.5, "impact": 0.5, "certainty": 2**70},
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    keep = ["order", "big", "cost"]
    scored(source, tmp_path / "out.jsonl", keep=keep, invalid="nan")
    found = [[row[name] for name in keep] for row in lines(tmp_path / "out.jsonl")]
    assert found == [[2**53 + 1, str(2**63), 1.0], [None, "7", 2.5]]
    assert '"order": 9007199254740993,' in (tmp_path / "out.jsonl").read_text()
    with pytest.raises(ValueError, match=r"certainty: must be a number in \[0, 1\], got 1\.18"):
        scored(source, tmp_path / "raised.jsonl", keep=keep)


def test_nan_in_a_column_to_keep_is_null(tmp_path: Path) -> None:
    made = memories(2).append_column("vector", pa.array([[math.nan, 1.0], None]))
    made = made.append_column("cost", pa.array([{"low": 0.5, "high": math.inf}, {"low": 2.0}]))
    write(tmp_path / "in.parquet", made, [2])
    scored(tmp_path / "in.parquet", tmp_path / "out.jsonl", keep=["vector", "cost"])
    first, second = lines(tmp_path / "out.jsonl")
    assert (first["vector"], second["vector"]) == ([None, 1.0], None)
    assert (first["cost"], second["cost"]) == (
        {"low": 0.5, "high": None},
        {"low": 2.0, "high": None},
    )


def test_a_score_that_is_nan_is_null(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "impact": 7}\n{"id": "b", "impact": 0.5}\n')
    scored(source, tmp_path / "out.jsonl", invalid="nan")
    first, second = lines(tmp_path / "out.jsonl")
    assert first["ciar"] is None
    assert math.isfinite(second["ciar"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b"', r"in\.jsonl:2: not JSON"),
        ("[1]", r"in\.jsonl:2: expected an object"),
        ('{"id": "b", "created_at": "yesterday"}', r"in\.jsonl:2: created_at: .*yesterday"),
        ('{"id": "b", "impact": "much"}', r"impact"),
        ("[" * 100_000, r"in\.jsonl:2: not JSON"),
    ],
)
def test_what_is_wrong_in_a_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(f'{{"id": "a", "created_at": 1, "impact": 0.5}}\n{line}\n')
    with pytest.raises((ValueError, TypeError), match=message):
        scored(source, target)
    assert not target.exists()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl", ".arrow"])
def test_columns_to_keep_stand_between_ids_and_scores(tmp_path: Path, suffix: str) -> None:
    made = memories(3_000)
    source = write(tmp_path / "in.parquet", made, [1_000, 2_000])
    target = tmp_path / f"out{suffix}"
    scored(source, target, keep=["text", "depth", "text"])
    if suffix == ".parquet":
        table = parquet.read_table(target)
        assert table.column_names == ["id", "text", "depth", "reverie", "ciar"]
        assert table["depth"].equals(made["depth"])
        assert table["text"].to_pylist() == ["never read"] * 3_000
    elif suffix == ".jsonl":
        assert list(lines(target)[0]) == ["id", "text", "depth", "reverie", "ciar"]
        assert [row["depth"] for row in lines(target)] == made["depth"].to_pylist()
    else:
        assert target.stat().st_size > 30_000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mood", r"keep: in\.parquet has no column 'mood', only id, "),
        ("id", r"keep: 'id' is a column of the output already"),
    ],
)
def test_a_column_that_cannot_be_kept_is_refused(tmp_path: Path, name: str, message: str) -> None:
    source = write(tmp_path / "in.parquet", memories(10), [10])
    with pytest.raises(ValueError, match=message):
        scored(source, tmp_path / "out.parquet", keep=[name])
    assert not (tmp_path / "out.parquet").exists()
