"""Exports, imports and tables take scopes, labels and provenance along."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oneiros.engine import Engine
from tests.cli.conftest import Run

GIVEN: list[dict[str, Any]] = [
    {
        "id": "full",
        "text": "Refunds take a week",
        "user": "ada",
        "agent": "writer",
        "namespace": "acme/suppört/eu",
        "labels": ["billing", "new;er"],
        "source": "tool",
        "source_ref": "https://example.org/?a=1,2",
        "derived_from": ["m1", "m2"],
        "trust": 0.3,
        "status": "quarantined",
    },
    {"id": "plain", "text": "Refunds are free"},
]
NAMES = tuple(GIVEN[0])


def held(engine: Engine) -> list[dict[str, Any]]:
    found = (engine.get(record["id"]) for record in GIVEN)
    return [{name: getattr(memory, name) for name in NAMES} for memory in found]


EXPECTED = [
    GIVEN[0] | {"derived_from": ("m1", "m2")},
    {
        **dict.fromkeys(NAMES),
        "labels": [],
        "derived_from": (),
        "trust": 1.0,
        "status": "staged",
        **GIVEN[1],
    },
]


def cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, list) else value


def written(path: Path) -> None:
    columns = {name: [record.get(name) for record in GIVEN] for name in NAMES}
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(NAMES)
            writer.writerows([cell(record.get(name)) for name in NAMES] for record in GIVEN)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in GIVEN), encoding="utf-8")


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_files_bring_them_in_and_an_export_takes_them_out(
    run: Run, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"memories{suffix}"
    written(path)
    outcome = run("import", path, "-s", tmp_path / "agent.db", "--json")
    assert outcome.document["stored"] == len(GIVEN), outcome.stderr
    with Engine(tmp_path / "agent.db") as engine:
        assert held(engine) == EXPECTED
        assert engine.export(tmp_path / "out.jsonl") == len(GIVEN)
    outcome = run("import", tmp_path / "out.jsonl", "-s", tmp_path / "again.db", "--json")
    assert outcome.document["stored"] == len(GIVEN), outcome.stderr
    with Engine(tmp_path / "again.db") as engine:
        assert held(engine) == EXPECTED
        assert engine.check(deep=True) == []


def test_words_of_a_csv_cell_stand_between_semicolons(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "memories.csv"
    path.write_text("id,text,labels,derived_from\na,x,red; new,m1;m2\n", encoding="utf-8")
    run("import", path, "-s", tmp_path / "agent.db", "--json")
    with Engine(tmp_path / "agent.db") as engine:
        memory = engine.get("a")
    assert (memory.labels, memory.derived_from) == (["red", "new"], ("m1", "m2"))


def test_a_bad_namespace_in_a_file_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "memories.csv"
    path.write_text("id,text,namespace\na,x,acme//eu\n", encoding="utf-8")
    outcome = run("import", path, "-s", tmp_path / "agent.db", "--json")
    assert "namespace: must be segments joined by single slashes" in outcome.stderr + outcome.stdout


@pytest.mark.parametrize("table", [pa.Table.from_pylist, pd.DataFrame, pl.DataFrame])
def test_tables_bring_them_in(table: Any) -> None:
    records = [{name: record.get(name) for name in NAMES} for record in GIVEN]
    with Engine(":memory:") as engine:
        engine.add_many(table(records))
        assert held(engine) == EXPECTED
