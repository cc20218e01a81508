"""Tables that lack a column: refused by name, unless its absence means something or a default is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oneiros
from oneiros import profiles
from oneiros.rescoring.files import compare_file
from oneiros.rescoring.rescore import promote, rescore
from oneiros.scoring.profile import Profile
from tests.rescoring import forms
from tests.rescoring.files import run
from tests.rescoring.forms import DAY, NOW

CIAR: dict[str, list[Any]] = {
    "id": ["a", "b"],
    "certainty": [0.9, 0.5],
    "impact": [0.8, 0.25],
    "created_at": [NOW - DAY, NOW - 9 * DAY],
    "access_count": [3, 0],
}
NEEDED = {  # what docs/systems/README.md has every table give
    "ciar": {"certainty", "impact", "created_at", "access_count"},
    "cognitive": {"created_at", "category", "stability", "importance"},
    "mnemosyne": {"importance", "created_at"},
    "mnemosyne-3": {"importance", "created_at", "veracity", "kind"},
    "omega": {"feedback", "access_count", "created_at", "consolidation_quality", "kind"},
    "oneiros": {"created_at", "strength", "feedback", "kind"},
    "reverie": {"strength", "depth", "session_spread", "created_at", "stability"},
}
VALUES: dict[str, Any] = {"created_at": NOW - DAY, "kind": "fact", "category": "episodic"} | {
    "veracity": "stated"
}


OMEGA: dict[str, list[Any]] = {"id": ["a", "b"]} | {
    name: [VALUES.get(name, 1)] * 2 for name in sorted(NEEDED["omega"])
}


def without(*names: str) -> dict[str, list[Any]]:
    return {name: values for name, values in CIAR.items() if name not in names}


def a_table(names: set[str]) -> dict[str, Any]:
    return {name: np.array([VALUES.get(name, 1)] * 2) for name in sorted(names)}


@pytest.mark.parametrize("form", [*forms.TYPED.values(), forms.records], ids=lambda f: f.__name__)
def test_a_column_under_another_name_is_refused_in_every_form(form: Any) -> None:
    with pytest.raises(ValueError, match=r"^table: lacks certainty, which ciar multiplies by; has"):
        rescore(form(without("certainty")), "ciar", NOW)


def test_the_message_names_columns_profiles_and_what_the_table_has() -> None:
    table = {"id": ["a"], "Impact": [0.5], "Created At": [NOW], "certainty": [1.0]}
    with pytest.raises(ValueError, match="lacks") as caught:
        rescore(table, ["ciar", "mnemosyne"], NOW)
    assert str(caught.value) == (
        "table: lacks impact, created_at, access_count, which ciar multiplies by and importance, "
        "created_at, which mnemosyne multiplies by; has id, Impact, Created At, certainty "
        "(perhaps Impact for impact, Created At for created_at); "
        "with missing=default, their defaults count"
    )


def test_wide_tables_are_not_listed_whole_and_names_are_shown_not_obeyed() -> None:
    table = {f"c{place}": [1] for place in range(30)} | {"certainty": [1.0]}
    with pytest.raises(ValueError, match=r"has c0, c1, .*c19 and 11 more; with"):
        rescore(table, "ciar", NOW)
    with pytest.raises(ValueError, match=r"has certainty, a␛\[2J"):
        rescore({"certainty": [1.0], "a\x1b[2J": [1]}, "ciar", NOW)


@pytest.mark.parametrize("name", NEEDED)
def test_just_the_columns_of_the_documentation_are_needed(name: str) -> None:
    table = a_table(NEEDED[name])
    rescore(table, name, NOW)
    for lacked in sorted(NEEDED[name]):
        rest = {column: values for column, values in table.items() if column != lacked}
        with pytest.raises(ValueError, match=rf"^table: lacks .*\b{lacked}\b"):
            rescore(rest, name, NOW)


def test_a_field_that_follows_from_another_column_may_be_absent() -> None:
    needed = NEEDED["reverie"]
    derived = rescore(a_table(needed), "reverie", NOW)["score"]
    told = a_table(needed) | {"updated_at": np.array([NOW - DAY] * 2)}
    assert derived.tolist() == rescore(told, "reverie", NOW)["score"].tolist()
    alone = {name: values for name, values in told.items() if name != "created_at"}
    with pytest.raises(ValueError, match="lacks created_at, which reverie"):
        rescore(alone, "reverie", NOW)
    with_priority = a_table(NEEDED["oneiros"] - {"kind"} | {"priority"})
    assert np.isfinite(rescore(with_priority, "oneiros", NOW)["score"]).all()


def test_missing_default_takes_the_fields_defaults() -> None:
    got = rescore(without("impact"), "ciar", NOW, missing="default")["score"]
    want = rescore({**CIAR, "impact": [0.5, 0.5]}, "ciar", NOW)["score"]
    assert got.tolist() == want.tolist()
    with pytest.raises(
        ValueError,
        match=(
            r"^table: lacks certainty, .*; has id, sureness; "
            r"missing=default needs at least one column to score by$"
        ),
    ):
        rescore({"id": ["a"], "sureness": [1.0]}, "ciar", NOW, missing="default")
    with pytest.raises(ValueError, match="missing: must be one of raise, default, got 'zero'"):
        rescore(CIAR, "ciar", NOW, missing="zero")


@pytest.mark.parametrize("form", [*forms.TYPED.values(), forms.records], ids=lambda f: f.__name__)
@pytest.mark.parametrize("column", ["last_access", "last_accessed", "accessed_at", "Last-Accessed"])
def test_a_column_of_nearly_the_name_of_one_that_may_be_absent_is_refused(
    form: Any, column: str
) -> None:
    table = form({**OMEGA, column: ["2025-06-01", "2025-06-02"]})
    message = (
        f"table: lacks last_accessed_at, which omega reads, but has {column}; rename it, or with "
        "missing=default last_accessed_at counts as not given"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        rescore(table, "omega", NOW)
    rescore(table, "omega", NOW, missing="default")


@pytest.mark.parametrize("column", ["event_id", "accessed_by", "note", "last"])
def test_a_column_of_another_name_is_none_of_ours(column: str) -> None:
    rescore({**OMEGA, column: ["x", "y"]}, "omega", NOW)
    present = {**OMEGA, "last_accessed_at": [NOW, NOW], "last_accessed": [NOW, NOW]}
    rescore(present, "omega", NOW)


def test_a_file_with_a_near_name_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({**OMEGA, "accessed_at": [NOW, NOW]}), path)
    with pytest.raises(ValueError, match="but has accessed_at; rename it"):
        run(path, tmp_path / "out.parquet", profiles=[profiles.get("omega")], missing="raise")


def test_a_profile_that_reads_only_what_a_table_may_lack_wants_one_of_it() -> None:
    own = Profile.from_toml('name = "own"\n[[factors]]\nname = "pins"\ntext = "1 + pinned"\n')
    with pytest.raises(ValueError, match="lacks pinned, which own multiplies by; has id"):
        rescore({"id": ["a"]}, own, NOW)
    assert rescore({"pinned": [True]}, own, NOW)["score"].tolist() == [2.0]


def test_a_column_of_nothing_but_nulls_is_there() -> None:
    table = pa.table({**without("access_count"), "access_count": pa.nulls(2, pa.int64())})
    want = rescore({**CIAR, "access_count": [0, 0]}, "ciar", NOW)["score"].tolist()
    assert rescore(table, "ciar", NOW)["score"].to_pylist() == want


def test_promotions_files_and_comparisons_hold_to_it(tmp_path: Path) -> None:
    message = r"^table: lacks impact, which ciar multiplies by; has id, certainty"
    with pytest.raises(ValueError, match=message):
        promote(without("impact"), "ciar", now=NOW)
    assert len(promote(without("impact"), "ciar", now=NOW, missing="default")["score"]) == 2
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(without("impact")), source)
    with pytest.raises(ValueError, match=message):
        run(source, target, profiles=[profiles.get("ciar")], missing="raise")
    assert not target.exists()
    assert list(tmp_path.iterdir()) == [source]
    report = run(source, target, profiles=[profiles.get("ciar")], missing="default")
    assert report.missing == ["impact"]
    sides = profiles.get("ciar"), profiles.get("ciar-shipped")
    options: Any = {"now": NOW, "threads": 1, "invalid": "raise", "threshold": None, "top": (1,)}
    with pytest.raises(ValueError, match="lacks impact, which ciar, ciar-shipped multiply by; has"):
        compare_file(source, *sides, advance=lambda _: None, **options)
    options["missing"] = "default"
    assert compare_file(source, *sides, advance=lambda _: None, **options).rows == 2


def test_factors_take_the_defaults_of_absent_fields() -> None:
    got = oneiros.factors({"certainty": np.array([0.5])}, profile="ciar", now=NOW)
    assert got["significance"].tolist() == [0.25]
