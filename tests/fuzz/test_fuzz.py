"""The short form of each campaign: the kept inputs and some changed ones; ``python -m tests.fuzz`` runs on."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from tests.fuzz import campaign, native
from tests.fuzz.campaign import CORPUS, Target, run, seeds_of
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import TARGETS

INPUTS = 60


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_refused_or_hold_what_is_promised(tmp_path: Path, name: str) -> None:
    report = run(name, TARGETS[name], tmp_path, seed=3, runs=INPUTS)
    assert report.findings == {}
    assert report.runs == INPUTS
    assert report.kept >= len(seeds_of(name))


def read_number(data: bytes) -> int:
    if data[:1] != b"n":
        return 0
    return int(data[1:])  # the fault: an error of an undocumented type


NUMBERS = Target(read_number, ("tests/fuzz/test_fuzz.py",), (b"n", b"7"))


@pytest.fixture
def numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = tmp_path / "corpus"
    (corpus / "numbers").mkdir(parents=True)
    (corpus / "numbers/seeds.lines").write_bytes(b"n12\nm")
    monkeypatch.setattr(campaign, "CORPUS", corpus)
    return tmp_path / "campaigns"


def test_a_finding_is_kept_with_its_input(numbers: Path) -> None:
    report = run("numbers", NUMBERS, numbers, seed=1, runs=50)
    ((place, said),) = report.findings.items()
    assert place.startswith("ValueError at test_fuzz.py:")
    kept = numbers / "numbers/findings" / said.rpartition("(")[2].rstrip(")")
    with pytest.raises(ValueError, match="invalid literal"):
        read_number(kept.read_bytes())
    assert "read_number" in kept.with_suffix(".txt").read_text()


def test_a_campaign_goes_on_where_it_ended(numbers: Path) -> None:
    first = run("numbers", NUMBERS, numbers, seed=1, runs=20)
    second = run("numbers", NUMBERS, numbers, seed=2, runs=30)
    assert (first.runs, second.runs, second.seed) == (20, 50, 1)
    assert second.seconds > first.seconds
    assert second.findings.items() >= first.findings.items()
    assert json.loads((numbers / "numbers/state.json").read_text())["runs"] == 50


def test_an_input_that_reaches_a_new_line_becomes_a_parent(numbers: Path) -> None:
    (campaign.CORPUS / "numbers/seeds.lines").write_bytes(b"m")
    report = run("numbers", NUMBERS, numbers, seed=1, runs=200)
    kept = [path.read_bytes() for path in (numbers / "numbers/kept").iterdir()]
    assert kept
    assert all(data[:1] == b"n" for data in kept)
    assert report.kept == 1 + len(kept)


def test_what_takes_too_long_is_a_finding(numbers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(data: bytes) -> None:
        while data:
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001, S112 - a loop that hides errors
                continue

    monkeypatch.setattr(campaign, "SLOWEST_SECONDS", 0.05)
    report = run("numbers", Target(wait, ()), numbers, seed=1, runs=0)
    assert list(report.findings) == ["too slow"]


@pytest.mark.parametrize(("waits", "is_found"), [(4, False), (30, True)])
def test_a_stopped_machine_is_no_finding_but_an_endless_wait_is(
    numbers: Path, monkeypatch: pytest.MonkeyPatch, waits: int, is_found: bool
) -> None:
    monkeypatch.setattr(campaign, "SLOWEST_SECONDS", 0.05)
    wait = Target(lambda _: [time.sleep(0.05) for _ in range(waits)], ())
    report = run("numbers", wait, numbers, seed=1, runs=0)
    assert list(report.findings) == ["too slow"] * is_found


def test_equal_seeds_change_inputs_alike() -> None:
    parents, words = [b"a 1", b"bb"], [b"word"]
    first = [mutated(parents, words, random.Random(seed)) for seed in range(300)]
    assert first == [mutated(parents, words, random.Random(seed)) for seed in range(300)]
    assert len(set(first)) > 150
    assert (
        max(map(len, (mutated([b"x" * 90], words, random.Random(n), 100) for n in range(99))))
        == 100
    )


def test_the_corpora_are_small_and_complete() -> None:
    sizes = {path: path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < 100_000
    assert {path.parent.name for path in sizes} == {*TARGETS, *native.NATIVE} - {*native.MADE}


def test_a_target_that_is_not_built_says_how(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nox -s fuzz"):
        native.run("text", tmp_path, seed=1, seconds=1, build=tmp_path)


def test_a_native_run_is_counted_and_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "fuzz_text"
    program.write_text('#!/bin/sh\necho "$@"\necho "stat::number_of_executed_units: 40"\n')
    program.chmod(0o755)
    folder = tmp_path / "campaigns"
    first = native.run("text", folder, seed=5, seconds=1, build=tmp_path)
    second = native.run("text", folder, seed=9, seconds=1, build=tmp_path)
    assert (first.runs, second.runs, second.seed) == (40, 80, 5)
    said = (folder / "text/log.txt").read_text()
    assert "-seed=5 " in said
    assert "-seed=45 " in said
    (folder / "text/findings/crash-1").write_bytes(b"x")
    assert native.run("text", folder, seed=5, seconds=1, build=tmp_path).findings
