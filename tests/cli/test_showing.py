"""``oneiros demo`` from its beginning to its end, without any model."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from oneiros import demo
from oneiros.demo import QUESTION_TYPES
from oneiros.engine import Engine
from tests.cli.conftest import Run


def test_the_demo_runs_to_its_end_in_a_process_of_its_own(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "oneiros.cli", "demo"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - started < 30
    for word in ("lexical", "vector", "hybrid", "recall@5", "MRR@10", "time", "strength", "times:"):
        assert word in done.stdout
    for question in demo.load().shown():
        assert question.text[:60] in done.stdout
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_the_document_holds_answers_and_figures(run: Run) -> None:
    outcome = run("demo", "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    document = outcome.document
    assert {question["type"] for question in document["questions"]} == set(QUESTION_TYPES)
    assert [question["way"] for question in document["questions"]] == ["hybrid"] * 8 + ["lifecycle"]
    for question in document["questions"]:
        for result in question["response"]["results"]:
            assert [channel["name"] for channel in result["explanation"]["channels"]] == [
                "lexical",
                "vector",
            ]
    measured = document["measured"]
    assert set(measured) == {"lexical", "vector", "hybrid", "lifecycle"}
    for report in measured.values():
        assert set(report["by_type"]) == set(QUESTION_TYPES) - {"unanswerable"}
        assert (
            report["overall"]["count"] + report["unanswerable_count"]
            == (document["question_count"])
        )
    # Loose: the data is small. What must not happen is that a channel finds next to nothing.
    assert measured["lexical"]["overall"]["recall"] > 0.3
    assert measured["vector"]["overall"]["recall"] > 0.3
    assert measured["hybrid"]["overall"]["mrr"] > 0.4
    lexical, hybrid = (
        measured[way]["by_type"]["paraphrase"]["recall"] for way in ("lexical", "hybrid")
    )
    assert hybrid > lexical


def test_the_demo_gives_the_same_figures_every_time(run: Run) -> None:
    first, second = (run("demo", "--json").document["measured"] for _ in range(2))
    assert first == second


def test_the_store_may_be_kept(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    outcome = run("demo", "--keep", path)
    assert outcome.exit_code == 0
    assert str(path) in outcome.stdout.replace("\n", "")
    with Engine(path) as engine:
        assert len(engine) == len(demo.load().memories)
        assert engine.check() == []
        assert engine.get("m0001").access_count == demo.load().memories[0].get("access_count", 0)


def test_a_kept_store_never_overwrites(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    path.write_text("mine", encoding="utf-8")
    outcome = run("demo", "--keep", path)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: --keep: {path} exists")
    assert path.read_text(encoding="utf-8") == "mine"
