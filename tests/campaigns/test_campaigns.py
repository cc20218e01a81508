"""Campaigns count their parts, go on where they ended, and call a failed check a problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaigns import registry
from tests.campaigns.campaign import Campaign, Figures, Part, Report, run
from tests.campaigns.registry import CAMPAIGNS


class Throws:
    """A campaign that throws a die a case; a part is cut off while ``is_cut_off`` is set."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, int, int]] = []
        self.is_cut_off = False

    def __call__(self, part: Part) -> Figures:
        assert list(part.folder.iterdir()) == []
        (part.folder / "file").write_text("x")
        if self.is_cut_off:
            raise KeyboardInterrupt
        self.parts.append((part.number, part.count, part.seed))
        return Figures({"sixes": part.count // 2}, ["a six too many"] if part.number == 3 else [])


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    throws = Throws()
    dice = Campaign("throws", 4, 100, throws)
    first = run("dice", dice, tmp_path, seed=5, count=10)
    assert str(first).startswith("dice: 10 throws in 0 s, seed 5, 5 sixes; 0 problems")
    second = run("dice", dice, tmp_path, seed=6, count=18)
    assert (second.cases, second.parts, second.seed) == (18, 5, 5)
    assert [count for _, count, _ in throws.parts] == [4, 4, 2, 4, 4]
    assert len({seed for _, _, seed in throws.parts}) == 5
    assert second.problems == ["part 3: a six too many"]
    assert run("dice", dice, tmp_path, seed=5, count=18) == second  # nothing is left to do


def test_a_part_that_is_cut_off_is_run_again_as_it_was(tmp_path: Path) -> None:
    throws = Throws()
    dice = Campaign("throws", 4, 100, throws)
    run("dice", dice, tmp_path / "whole", seed=5, count=12)
    whole, throws.parts = throws.parts, []
    run("dice", dice, tmp_path, seed=5, count=4)
    throws.is_cut_off = True
    with pytest.raises(KeyboardInterrupt):
        run("dice", dice, tmp_path, seed=5, count=12)
    throws.is_cut_off = False
    run("dice", dice, tmp_path, seed=5, count=12)
    assert throws.parts == whole


def test_time_ends_a_campaign_between_parts(tmp_path: Path) -> None:
    dice = Campaign("throws", 4, 100, Throws())
    seen: list[int] = []
    report = run("dice", dice, tmp_path, seed=1, count=100, seconds=0.0)
    assert report.cases == 0
    report = run("dice", dice, tmp_path, seed=1, count=8, tell=lambda one: seen.append(one.cases))
    assert seen == [4, 8]
    assert json.loads((tmp_path / "dice/state.json").read_text())["cases"] == 8


def test_a_failed_check_is_a_problem_and_the_campaign_goes_on(tmp_path: Path) -> None:
    def fails(part: Part) -> Figures:
        assert part.number, "an acknowledged commit is gone"
        return Figures()

    report = run("checks", Campaign("checks", 1, 2, fails), tmp_path, seed=1, count=2)
    assert report.cases == 2
    (problem,) = report.problems
    assert "AssertionError at test_campaigns.py" in problem
    assert "an acknowledged commit is gone" in problem


@pytest.mark.parametrize(("name", "count"), [("lost_power", 20), ("scopes", 60), ("states", 1)])
def test_campaigns_of_the_suite_run_in_parts(tmp_path: Path, name: str, count: int) -> None:
    report = run(name, CAMPAIGNS[name], tmp_path, seed=2, count=count)
    assert report.problems == []
    assert report.cases == count


def run_program(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, place: str, script: str
) -> Report:
    """Run two parts of a campaign, whose program is a script."""
    program = folder / "build" / place
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(registry, "ROOT", folder)
    campaign = CAMPAIGNS[name]
    return run(name, campaign, folder / "f", seed=2, count=2 * campaign.size)


@pytest.mark.parametrize("preset", ["asan", "fuzz"])
def test_hostile_snapshots_of_each_part_have_a_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    said = tmp_path / "said"
    script = f'echo "$1 $2" >> {said}\n'
    script += 'echo "$2 files: 4000 opened, 6000 refused"'
    place = f"{preset}/hostile_snapshots"
    report = run_program(tmp_path, monkeypatch, "hostile_snapshots", place, script)
    assert report.problems == []
    assert report.counts == {"opened": 8_000, "refused": 12_000}
    assert said.read_text() == "2000006 10000\n2000007 10000\n"


def test_tests_in_threads_of_each_part_have_a_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    script = f'echo "$ONEIROS_CASE_SEED" >> {said}\n'
    script += 'echo "[doctest] test cases:  4 |  4 passed | 0 failed | 200 skipped"'
    report = run_program(tmp_path, monkeypatch, "threads", "tsan/core_tests", script)
    assert report.problems == []
    assert report.counts == {"test cases": 8}
    assert said.read_text() == "2000006\n2000007\n"


@pytest.mark.parametrize(
    "script",
    [
        "echo AddressSanitizer: heap-buffer-overflow; exit 1",
        "echo 'test cases: 0 | 0 passed'",
        "echo '9999 files: 9999 opened, 0 refused'",
        "echo '10000 files: 10000 opened, 0 refused'; exit 1",
    ],
    ids=["a report", "nothing was chosen", "too few", "a report at the end"],
)
@pytest.mark.parametrize(
    ("name", "place"),
    [("hostile_snapshots", "asan/hostile_snapshots"), ("threads", "tsan/core_tests")],
)
def test_a_report_of_a_sanitizer_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, place: str, script: str
) -> None:
    assert len(run_program(tmp_path, monkeypatch, name, place, script).problems) == 2
