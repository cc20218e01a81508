"""``oneiros demo`` from its beginning to its end, without any model."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from rich.cells import cell_len

from oneiros import demo, profiles
from oneiros.demo import QUESTION_TYPES
from oneiros.engine import Engine
from oneiros.evaluation.tasks import system_names
from tests.cli.conftest import Run

FIGURES = re.compile(r"( +[01]\.\d{3}){9} *$")


def rows(shown: str) -> list[str]:
    """Return the names in the first column of the table of figures, from the top."""
    lines = shown.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("───"))
    table = itertools.takewhile(FIGURES.search, lines[start + 1 :])
    return [line.split()[0] for line in table]


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
    assert done.stdout.startswith(f"Stored: {len(demo.load().memories)} memories")
    for question in demo.load().shown():
        assert question.text in done.stdout
    assert "✓ 2025-09-10" in done.stdout
    assert "SESSION_TTL_SECONDS is 7200" in done.stdout  # a text that was found
    assert "nothing is returned:\n  the best cosine is" in done.stdout
    abstained = done.stdout.partition("nothing is returned:\n")[2].partition("\n\n")[0]
    assert all(re.match(r"  \S", line) for line in abstained.splitlines())  # wrapped lines, too
    why = done.stdout.partition("Why is the first one first? It has the score ")[2]
    assert re.match(r"0\.57585\n├── relevance 0\.\d+\n│   ├── lexical: rank 1, ", why)
    assert "0.0000" not in why.partition("\n\n")[0]
    assert rows(done.stdout) == ["oneiros", "bm25", "dense", "rrf"]
    assert "oneiros demo --keep demo.db" in done.stdout.partition("What to type next")[2]
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_all_of_it_fits_80_columns(run: Run) -> None:
    shown = run("demo", "--profile", "all").stdout
    widest = max(map(cell_len, shown.splitlines()))
    assert widest <= 80
    published = set(system_names()) - {"oneiros"}
    names = rows(shown)
    assert names[:4] == ["oneiros", "bm25", "dense", "rrf"]
    assert sorted(names[4:]) == sorted(published)


def test_profiles_that_are_named_are_measured_too(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(profiles.get("ciar").replace(name="own").to_toml(), encoding="utf-8")
    named = [option for one in ("reverie", own, "reverie", "bm25") for option in ("--profile", one)]
    assert rows(run("demo", *named).stdout) == ["oneiros", "bm25", "dense", "rrf", "reverie", "own"]
    wrong = run("demo", "--profile", "nobody")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "--profile: name: no profile is called 'nobody'" in wrong.stderr


def test_the_document_holds_answers_and_figures(run: Run) -> None:
    outcome = run("demo", "--json", "--profile", "reverie")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    document = outcome.document
    shown = demo.load().shown()
    assert [question["id"] for question in document["questions"]] == [one.id for one in shown]
    *answered, unanswerable = document["questions"]
    for question in answered:
        assert question["response"]["profile"] == "oneiros"
        ids = [result["memory"]["id"] for result in question["response"]["results"]]
        assert len(ids) == 3
        assert set(ids) & set(question["answers"])
        assert question["abstained"] is False
    assert unanswerable["type"] == "unanswerable"
    assert unanswerable["abstained"] is True
    assert unanswerable["reason"].startswith("the best cosine is")
    assert unanswerable["response"]["results"] == []
    count = sum(not question.answers for question in demo.load().questions)
    assert document["unanswerable"]["count"] == count
    assert 0 <= document["unanswerable"]["abstained"] <= count
    measured = document["measured"]
    assert list(measured) == ["oneiros", "bm25", "dense", "rrf", "reverie"]
    for report in measured.values():
        assert set(report["by_type"]) == set(QUESTION_TYPES) - {"unanswerable"}
        assert report["overall"]["count"] + count == document["question_count"]
    # The data is small: what must not happen is that the product looks worse than none.
    ours = measured["oneiros"]["overall"]
    for other in ("bm25", "dense", "rrf"):
        assert ours["recall"] >= measured[other]["overall"]["recall"]
        assert ours["ndcg"] >= measured[other]["overall"]["ndcg"]


def test_the_figures_are_those_of_evaluate(run: Run) -> None:
    found = run("demo", "--json").document["measured"]
    names = [option for name in found for option in ("--profile", name)]
    measured = run("evaluate", *names, "--json").document["measured"]
    assert found == {name: measured[name]["demo"] for name in found}


def test_the_demo_gives_the_same_answers_every_time(run: Run) -> None:
    first, second = (run("demo", "--json").document for _ in range(2))
    assert first["measured"] == second["measured"]
    for told in (*first["questions"], *second["questions"]):
        for result in told["response"]["results"]:
            del result["memory"]["learned_at"]  # the moment of this run
    for one, other in zip(first["questions"], second["questions"], strict=True):
        assert one["response"]["results"] == other["response"]["results"]


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


def test_what_to_type_next_works_as_printed(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "oneiros"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m oneiros "$@"\n')
    command.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def typed(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line],
            capture_output=True,
            text=True,
            check=False,
            cwd=home,
            env=environment,
        )
        assert (done.returncode, done.stderr) == (0, ""), line
        return done.stdout

    shown = typed("oneiros demo").partition("What to type next")[2]
    commands = re.findall(r"^  (oneiros .+)$", shown, re.MULTILINE)
    assert len(commands) == 3
    *_, searched, added = [typed(line) for line in commands]
    assert "ferry" in searched.lower()
    assert "relevance" in searched
    assert len(added.splitlines()) == 1
    then = re.search(r"then: (oneiros .+)$", shown, re.MULTILINE)
    assert then is not None
    assert "Ada takes her coffee black" in typed(then[1])
    assert {one.name for one in home.glob("*.db")} == {"demo.db", "oneiros.db"}
