"""Comparisons over so few memories that they take seconds."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from oneiros.benchmark.comparison import QUESTIONS, EngineComparison
from oneiros.benchmark.corpus import PROJECTS, Corpus, draw
from oneiros.benchmark.exact import BEST, exact_answers
from oneiros.benchmark.rivals import ENTRANTS, TASKS, Entrant
from tests.benchmark.rivals import entrant
from tests.oracles import bm25

SIZE = 300


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return draw(tmp_path_factory.mktemp("corpus"), size=SIZE, questions=40, seed=3)


def of(*names: str) -> list[Entrant]:
    found = [one for one in ENTRANTS if one.name in names]
    assert len(found) == len(names)
    return found


ALWAYS_THERE = [one for one in ENTRANTS if not one.needs]


@pytest.fixture(scope="module")
def comparison() -> EngineComparison:
    """One run of every engine that needs no package beyond those of Oneiros."""
    made = EngineComparison(size=SIZE, rounds=2, seed=3, entrants=ALWAYS_THERE)
    made.run()
    return made


def test_every_engine_that_is_always_there_is_measured(comparison: EngineComparison) -> None:
    assert comparison.left_out == {}
    assert comparison.rounds_done == 2
    for task in TASKS:
        rows = comparison.rows(task)
        assert {row["name"] for row in rows} == {
            one.name for one in ALWAYS_THERE if one.task == task
        }
        times = [row["p50_ms"] for row in rows]
        assert times == sorted(times)
        for row in rows:
            assert 0 < row["p50_ms"] <= row["p99_ms"]
            assert BEST <= row["questions"] <= QUESTIONS


def test_every_engine_that_is_always_there_finds_the_exact_answer(
    comparison: EngineComparison,
) -> None:
    for task in TASKS:
        for row in comparison.rows(task):
            if row["judged_by"] == "nothing":
                assert row["share_found"] is None
            else:  # FTS5 has another idf
                assert row["share_found"] > (0.95 if "FTS5" in row["name"] else 0.99), row["name"]


def test_ratios_are_those_beside_the_default_profile(comparison: EngineComparison) -> None:
    rows = {row["name"]: row for row in comparison.rows("memories")}
    ours = rows["Oneiros, default profile, reinforcing"]
    assert ours["ratio"] == 1.0
    for row in rows.values():
        assert row["ratio"] == pytest.approx(row["p50_ms"] / ours["p50_ms"])


def test_a_document_has_everything(comparison: EngineComparison) -> None:
    document = comparison.document()
    assert (document["size"], document["rounds"], document["seed"]) == (SIZE, 2, 3)
    assert set(document["tasks"]) == set(TASKS)
    assert document["other_cores"] >= 0
    assert {"cpu", "versions", "load (1, 5, 15 min)", "memories", "rounds"} <= set(
        document["conditions"]
    )


def test_engines_that_fail_are_named_and_stop_no_other() -> None:
    entrants = [
        entrant("Raising"),
        entrant("Ending"),
        entrant("OtherTexts", task="memories", judged_by="both"),
        entrant("NoSuchClass"),
        entrant("Slow", needs=("a-package-that-is-not-there",)),
        entrant("Wrong", most=SIZE - 1),
        *of("Oneiros, lexical index"),
    ]
    steps: list[int] = []
    made = EngineComparison(size=SIZE, rounds=2, entrants=entrants)
    made.run(steps.append)
    assert [row["name"] for row in made.rows("words")] == ["Oneiros, lexical index"]
    assert made.rows("memories") == []
    reasons = made.left_out
    assert reasons["Raising"] == "build: RuntimeError: no room for texts"
    assert reasons["Ending"] == "the process ended with code 3"
    assert "not its text or project" in reasons["OtherTexts"]
    assert reasons["NoSuchClass"].startswith("AttributeError")
    assert reasons["Slow"] == "not installed: pip install a-package-that-is-not-there"
    assert reasons["Wrong"] == f"takes minutes beyond {SIZE - 1} memories"
    assert sum(steps) == made.step_count() == 5 * 3  # two do not take part


def test_a_fast_wrong_engine_is_found_out_and_a_slow_one_is_asked_less() -> None:
    entrants = [entrant("Wrong"), entrant("Slow"), *of("Oneiros, lexical index")]
    made = EngineComparison(size=SIZE, rounds=1, entrants=entrants)
    made.run()
    rows = {row["name"]: row for row in made.rows("words")}
    assert rows["Wrong"]["share_found"] < 0.2
    assert rows["Slow"]["share_found"] > 0.99
    assert rows["Slow"]["questions"] < rows["Oneiros, lexical index"]["questions"] == QUESTIONS
    assert rows["Slow"]["p50_ms"] >= 50


def test_what_is_measured_before_an_interrupt_is_kept() -> None:
    made = EngineComparison(size=SIZE, rounds=3, entrants=of("NumPy", "FAISS, flat"))
    steps = 0

    def interrupt(count: int) -> None:
        nonlocal steps
        steps += count
        for process in multiprocessing.active_children():
            os.kill(int(process.pid or 0), signal.SIGINT)  # a terminal sends it to them, too
        if steps == 2 + 2 + 1:  # two built, one round, and the first turn of the next
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run(interrupt)
    assert made.rounds_done == 1
    assert made.left_out == {}
    assert {row["name"] for row in made.rows("vectors")} == {"NumPy", "FAISS, flat"}
    assert made.conditions()["rounds"].startswith("1 of 3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 99}, "size: must be .*100.*got 99"),
        ({"rounds": 0}, "rounds: must be .*1.*got 0"),
        ({"seed": -1}, "seed: must be .*0.*got -1"),
    ],
    ids=["size", "rounds", "seed"],
)
def test_numbers_out_of_range_are_refused(given: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EngineComparison(**{"size": SIZE, "rounds": 1, **given})


def test_the_estimate_grows_with_size_and_rounds() -> None:
    def expected(size: int, rounds: int) -> float:
        return EngineComparison(size=size, rounds=rounds, entrants=ALWAYS_THERE).expected_seconds()

    assert 0 < expected(1_000, 1) < expected(1_000, 5) < expected(50_000, 5)
    assert expected(10_000, 5) < 120  # the default


def test_the_same_seed_draws_the_same_memories(corpus: Corpus, tmp_path: Path) -> None:
    again, other = tmp_path / "again", tmp_path / "other"
    again.mkdir()
    other.mkdir()
    same = draw(again, size=SIZE, questions=40, seed=3)
    assert same.texts() == corpus.texts()
    np.testing.assert_array_equal(same.vectors(), corpus.vectors())
    assert same.questions()[5].words == corpus.questions()[5].words
    assert draw(other, size=SIZE, questions=40, seed=4).texts() != corpus.texts()


def test_memories_are_as_described(corpus: Corpus) -> None:
    texts, vectors, projects = corpus.texts(), corpus.vectors(), corpus.projects()
    assert len(texts) == len(vectors) == len(projects) == SIZE
    assert np.mean([len(text.split()) for text in texts]) == pytest.approx(11, abs=1)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    counts = [projects.count(f"p{number}") for number in range(PROJECTS)]
    assert min(counts) > 0
    assert counts[0] > 2 * counts[-1]
    words = [set(text.split()) for text in texts]
    assert sum("w0" in one for one in words) > SIZE / 20  # the most common word
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, 0)
    assert np.median(cosines.max(axis=1)) > 0.4  # clusters
    assert np.median(cosines) < 0.3
    questions = corpus.questions()
    assert {len(question.words.split()) for question in questions} <= {2, 3, 4, 5, 6}
    assert {question.project for question in questions} == {f"p{n}" for n in range(PROJECTS)}


def test_exact_answers_agree_with_the_oracle(corpus: Corpus) -> None:
    texts, vectors, projects = corpus.texts(), corpus.vectors(), corpus.projects()
    documents = {id: text.split() for id, text in enumerate(texts)}
    (words,) = of("Oneiros, lexical index")
    (both,) = of("Oneiros, reciprocal ranks alone")
    (nearest,) = of("NumPy")
    by_words, fused, near = (exact_answers(corpus, one) for one in (words, both, nearest))
    for place, question in enumerate(corpus.questions()):
        ranked = bm25.rank(documents, question.words.split(), SIZE)
        assert {id for id, _ in ranked[:BEST]} <= by_words[place]
        cosines = vectors @ question.vector
        assert set(np.argsort(-cosines)[:BEST].tolist()) == near[place]
        own = [id for id, project in enumerate(projects) if project == question.project]
        lists = (
            [id for id, _ in ranked if projects[id] == question.project][:100],
            sorted(own, key=lambda id: -cosines[id])[:100],
        )
        scores: dict[int, float] = {}
        for found in lists:
            for rank, id in enumerate(found, 1):
                scores[id] = scores.get(id, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda id: (-scores[id], id))[: min(BEST, len(own))]
        assert len(set(best) & fused[place]) >= len(best) - 1  # ties may take another place
