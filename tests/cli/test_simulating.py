"""``oneiros simulate``: lives of profiles with dreams and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SMALL = ("simulate", "--memories", 60, "--days", 40, "--dream-every", 10)
LINES = [
    {"id": "a", "text": "the port is 80", "questions": "which port?"},
    {"id": "b", "text": "the port is 81", "replaces": "a"},
]


def test_a_row_with_dreams_and_one_without(run: Run) -> None:
    outcome = run(*SMALL, "--profile", "reverie", "--profile", "ciar")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    rows = [line.split()[:3] for line in outcome.stdout.splitlines() if "0." in line]
    assert rows == [["reverie", "-", "60"], ["reverie", "4", rows[1][2]], ["ciar", "-", "60"]]
    assert "60 memories in 40 days" in outcome.stdout


def test_json_has_every_month(run: Run) -> None:
    document = run(*SMALL, "--seed", 2, "--json").document
    assert document["world"]["memories"] == 60
    assert document["world"]["seed"] == 2
    assert document["dream_every_days"] == 10.0
    awake, dreaming = document["courses"]
    assert (awake["profile"], awake["is_dreaming"]) == ("oneiros", False)
    assert (dreaming["profile"], dreaming["is_dreaming"], dreaming["dreams"]) == (
        "oneiros",
        True,
        4,
    )
    assert [one["told"] for one in awake["checkpoints"]] == [60]


def test_data_of_ones_own_are_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    document = run("simulate", "--data", path, "--days", 40, "--profile", "ciar", "--json").document
    assert (document["world"]["memories"], document["world"]["facts"]) == (2, 1)
    assert document["courses"][0]["checkpoints"][-1]["told"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--profile", "nobody"), "--profile: "),
        (("--profile", "ciar", "--profile", "ciar"), "--profile: each once, got ciar, ciar"),
        (("--plot", "life.gif"), "--plot: expected a name that ends in .svg or .png"),
        (("--days", "0"), "days: must be > 0"),
        (("--memories", "0"), "memories: must be >= 1"),
        (("--dream-every", "0"), "dream_every_days: must be"),
        (("--memories", "5", "--data", "demo"), "--memories, --data: only one of them"),
        (("--data", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_wrong_input_is_named(run: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = run("simulate", *arguments)
    assert outcome.exit_code in (1, 2)
    assert message in outcome.stderr
    assert outcome.stdout == ""


def test_a_line_that_breaks_the_format_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl"
    path.write_text("{", encoding="utf-8")
    outcome = run("simulate", "--data", path)
    assert outcome.exit_code == 2
    assert "--data: line 1: not JSON in UTF-8" in outcome.stderr
