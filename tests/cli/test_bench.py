"""``oneiros bench``, over so few memories that it takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from oneiros.benchmark.rivals import ENTRANTS
from oneiros.cli import bench
from oneiros.cli.application import application

TINY = ("bench", "--size", "100", "--rounds", "1", "--task", "words")
WORDS = [one for one in ENTRANTS if one.task == "words"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "oneiros", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def shown() -> subprocess.CompletedProcess[str]:
    return run(*TINY)


def test_the_table_has_every_engine_or_its_reason(
    shown: subprocess.CompletedProcess[str],
) -> None:
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("cpu: ")
    assert "Words alone (BM25), ten ids of all memories" in lines
    row = next(line for line in lines if line.startswith("Oneiros, lexical index"))
    assert row.split()[-2:] == ["1.00", "1.000"]
    for one in WORDS:
        if missing := one.missing():
            assert f"{one.name}: not installed: pip install {' '.join(missing)}" in lines
        else:
            assert any(line.startswith(f"{one.name}  ") for line in lines)
    assert max(map(len, (line for line in lines if line.startswith("─")))) <= 80


def test_the_time_it_takes_is_said_beforehand(shown: subprocess.CompletedProcess[str]) -> None:
    there = sum(not one.missing() for one in WORDS)
    first = shown.stderr.splitlines()[0]
    assert first.startswith(f"{there} engines over 100 memories, 1 round: about ")


def test_json_is_one_document() -> None:
    done = run(*TINY, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    rows = {row["name"]: row for row in document["tasks"]["words"]}
    assert rows["Oneiros, lexical index"]["share_found"] == 1.0
    assert set(rows) | set(document["left_out"]) == {one.name for one in WORDS}
    assert document["tasks"]["memories"] == []


def test_plain_is_lines_of_cells() -> None:
    done = run(*TINY, "--plain")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert {len(row) for row in rows} == {6}
    assert ["words", "Oneiros, lexical index"] in [row[:2] for row in rows]
    assert "cpu: " in done.stderr


def test_an_interrupt_shows_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the midst of the second round."""

    @contextmanager
    def interrupting(_label: str, total: int) -> Iterator[Callable[[int], None]]:
        engines = total // 4  # each is built, and has three turns
        steps = 0

        def advance(count: int) -> None:
            nonlocal steps
            steps += count
            if steps > 2 * engines:
                raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr(bench, "progress_bar", interrupting)
    arguments = ["bench", "--size", "100", "--rounds", "3", "--task", "vectors"]
    outcome = CliRunner().invoke(application, arguments)
    assert outcome.exit_code == 130
    assert outcome.stderr.endswith("error: interrupted\n")
    assert "\nNumPy  " in outcome.stdout
    assert "Interrupted after 1 of 3 rounds." in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--size", "5"), "--size: must be "),
        (("--rounds", "0"), "--rounds: must be "),
        (("--task", "graphs"), "--task: must be one of memories, words, vectors, got 'graphs'"),
        (("--task", "words", "--task", "words"), "--task: each once"),
        (("--json", "--plain"), "--plain, --json: only one of them"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...], message: str) -> None:
    outcome = CliRunner().invoke(application, ["bench", *arguments])
    assert outcome.exit_code == 2
    assert message in outcome.stderr
