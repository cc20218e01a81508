"""Verdicts that were given for a question count for similar questions. docs/systems/house.md H19."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.errors import UnknownMemory
from oneiros.search import pipeline
from tests.engine.sqlite_steps import steps_of
from tests.oracles import house, omega

NOW = 1_750_000_000.0
QUESTION = "when did Ada move to Oslo"
TEXTS = {
    "moved": "Ada moved to Oslo in May",
    "likes": "Ada likes Oslo and its coffee",
    "fjord": "Oslo lies at a fjord",
}


def embedder(texts: Sequence[str]) -> np.ndarray:
    """Vectors by the words' letters: questions of almost the same words are near."""
    rows = np.zeros((len(texts), 32), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[sum(word.encode()) % 32] += 1.0
    return rows


def filled(path: str | Path = ":memory:", **options: object) -> oneiros.Engine:
    mind = oneiros.Engine(path, clock=lambda: NOW, **options)  # type: ignore[arg-type]
    for id, text in TEXTS.items():
        mind.add(text, id=id, created_at=NOW)
    return mind


def factors(mind: oneiros.Memories, query: str, **options: object) -> dict[str, float]:
    """The factor of each result; each explanation is its score to the bit."""
    found = {}
    for result in mind.search(query, reinforce=False, explain=True, **options):  # type: ignore[arg-type]
        explanation = result.explanation
        assert explanation is not None
        assert explanation.evaluate() == result.score
        found[result.id] = {part.name: part.value for part in explanation.factors}[
            "question_feedback"
        ]
    return found


def stored(path: Path) -> list[bytes | None]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT question FROM feedback_event ORDER BY number"
    return [row[0] for row in connection.execute(sql)]


def unit(*components: float) -> list[float]:
    vector = np.array(components, np.float64)
    return list(vector / np.linalg.norm(vector))


def test_results_are_those_of_the_page() -> None:
    mind = filled()
    near, far = unit(1, 0.45, 0, 0), unit(0, 0, 1, 0.2)
    asked = unit(1, 0.1, 0.05, 0)
    for verdict, vector in (("helpful", asked), ("helpful", near), ("unhelpful", far)):
        mind.feedback("fjord", verdict, query=QUESTION, embedding=vector)
    mind.feedback("likes", "unhelpful", embedding=near)
    got = factors(mind, QUESTION, embedding=asked)
    points = [(1, house.likeness(asked, asked)), (1, house.likeness(near, asked))]
    want = house.question_feedback([*points, (-1, house.likeness(far, asked))])
    assert 1.15 < want < 1.3
    assert got["fjord"] == pytest.approx(want, abs=1e-7)
    worse = house.question_feedback([(-1, house.likeness(near, asked))])
    assert 0.7 < worse < 0.95
    assert got["likes"] == pytest.approx(worse, abs=1e-7)
    assert got["moved"] == 1.0
    assert set(factors(mind, QUESTION, embedding=unit(0, 1, 0, 0)).values()) == {1.0}
    with_others = factors(mind, QUESTION, embedding=unit(1, 0.1, 0.05))  # of another width
    assert with_others.keys() <= TEXTS.keys()
    assert set(with_others.values()) == {1.0}


def test_a_repeated_question_finds_what_helped_first() -> None:
    mind = filled(embedder=embedder)
    before = mind.search(QUESTION, reinforce=False)
    others = {query: mind.search(query, reinforce=False) for query in ("coffee", "a fjord at sea")}
    for _ in range(3):
        mind.feedback("likes", "helpful", query=QUESTION)
        mind.feedback(before.ids[0], "unhelpful", query=before.query)
    after = mind.search(QUESTION, reinforce=False)
    assert before.ids[0] == "moved"
    assert after.ids[0] == "likes"
    for query, response in others.items():
        again = mind.search(query, reinforce=False)
        assert (again.ids, again.scores) == (response.ids, response.scores)
    assert mind.get("likes").feedback == 3
    assert mind.get("moved").feedback == -3


def test_words_stand_in_where_there_is_no_vector() -> None:
    mind = filled()
    mind.feedback("fjord", "helpful", query=QUESTION)
    alike = "When did ADA move from Oslo?"
    for query in (QUESTION, alike, "where is Oslo"):
        want = house.question_feedback([(1, house.common_words(QUESTION, query))])
        assert factors(mind, query)["fjord"] == pytest.approx(want, abs=1e-12)
    assert factors(mind, QUESTION)["fjord"] == 1.15
    assert 1.0 < factors(mind, alike)["fjord"] < 1.15
    assert factors(mind, "where is Oslo")["fjord"] == 1.0


words = st.lists(
    st.sampled_from(["ada", "oslo", "Oslo", "fjord", "ﬁn", "STRASSE", "straße", "move_d", "7"]),
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(
    verdicts=st.lists(st.tuples(st.sampled_from(["helpful", "unhelpful"]), words), max_size=12),
    query=words,
)
def test_any_verdicts_give_what_the_oracle_gives(
    verdicts: list[tuple[str, list[str]]], query: list[str]
) -> None:
    asked = " ".join(["oslo", *query])
    with filled() as mind:
        given_for = []
        total = 0
        for verdict, question in verdicts:
            mind.feedback("fjord", verdict, query=" ".join(question))
            point = 1 if verdict == "helpful" else -1
            total += point
            if question:
                given_for.append((point, house.common_words(" ".join(question), asked)))
        bad = sum(min(point, 0) for point, _ in given_for[-8:])
        got = factors(mind, asked)
        if omega.leaves(total - bad):
            assert "fjord" not in got
        else:
            assert got["fjord"] == pytest.approx(house.question_feedback(given_for), abs=1e-12)


def test_verdicts_with_a_question_take_no_memory_from_other_questions() -> None:
    mind = filled()
    for question in ("who moved", "what is red", "how tall is it", "why at all"):
        mind.feedback("fjord", "unhelpful", query=question)
    assert mind.get("fjord").feedback == -4
    assert "fjord" in mind.search("fjord", reinforce=False).ids
    assert "fjord" not in mind.search("fjord", profile="omega", reinforce=False).ids  # O12
    for _ in range(2):
        mind.feedback("fjord", "outdated", query="where is Oslo")  # a verdict on the memory
    assert "fjord" not in mind.search("fjord", reinforce=False).ids


def test_a_sum_that_is_set_again_takes_no_memory_away() -> None:
    mind = filled()
    for _ in range(4):
        mind.feedback("fjord", "helpful", query=QUESTION)
    mind.update("fjord", feedback=0)
    before = mind.search("fjord", reinforce=False)
    assert before.ids == ["fjord"]
    for _ in range(2):
        mind.feedback("moved", "helpful", query=QUESTION)
        mind.feedback("moved", "unhelpful")
    assert factors(mind, "moved") == {"moved": 1.0}  # good ones make up for bad ones


def test_verdicts_without_a_question_raise_nothing() -> None:
    mind = filled()
    before = mind.search("Oslo", reinforce=False)
    for _ in range(5):
        mind.feedback("likes", "helpful")
    mind.feedback("likes", "helpful", query="?!")  # no word and no vector
    after = mind.search("Oslo", reinforce=False)
    assert (after.ids, after.scores) == (before.ids, before.scores)


def test_a_bad_verdict_without_a_question_lowers_by_its_damped_factor() -> None:
    mind = filled()
    before = {one.id: one.score for one in mind.search("Oslo", reinforce=False)}
    mind.feedback("moved", "unhelpful")
    after = {one.id: one.score for one in mind.search("Oslo", reinforce=False)}
    assert after["moved"] == pytest.approx(before["moved"] * house.damp(0.8, 0.4), rel=1e-6)


def test_the_newest_eight_questions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as mind:
        for number in range(10):
            mind.feedback("fjord", "helpful", query=f"question{number} oslo")
        assert [question is None for question in stored(path)] == [True] * 2 + [False] * 8
        assert factors(mind, "question1 oslo")["fjord"] == 1.0
        assert factors(mind, "question2 oslo")["fjord"] == 1.15
        assert mind.check(deep=True) == []
    with oneiros.Engine(path) as again:
        assert again.check(deep=True) == []
        assert factors(again, "question1 oslo")["fjord"] == 1.0
        assert factors(again, "question2 oslo")["fjord"] == 1.15


def test_a_verdict_takes_as_many_steps_after_a_thousand_others(tmp_path: Path) -> None:
    with filled(tmp_path / "a.db") as mind:

        def give(count: int) -> None:
            for number in range(count):
                mind.feedback("fjord", "helpful", query=f"question{number} oslo")
                mind.feedback("moved", "helpful")

        give(20)
        before = steps_of(mind, lambda: give(1))
        give(1_000)
        assert steps_of(mind, lambda: give(1)) < 1.5 * before


def test_the_store_holds_no_text_of_a_question(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as mind:
        mind.feedback("fjord", "helpful", query="xylophones quietly")
        mind.feedback("moved", "helpful", query="xylophones quietly", embedding=unit(1, 2, 3))
    for file in tmp_path.iterdir():
        held = file.read_bytes().lower()
        assert b"xylophones" not in held
        assert b"quietly" not in held


def test_forgetting_a_memory_erases_its_questions(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as mind:
        mind.feedback("fjord", "helpful", embedding=unit(*range(1, 40)))
        mind.feedback("moved", "helpful", query=QUESTION)
        (question, other) = stored(path)
        assert question is not None
        assert len(question) == 1 + 39
        assert len(mind._scope.shared.sync.read_model.questions.verdicts) == 2
        receipt = mind.forget("fjord")
        assert receipt.verdicts == 1
        assert stored(path) == [other]
        assert len(mind._scope.shared.sync.read_model.questions.verdicts) == 1
        for file in tmp_path.iterdir():
            assert question not in file.read_bytes()
        assert factors(mind, QUESTION)["moved"] == 1.15
        mind.add("Oslo again", id="fjord")
        assert factors(mind, QUESTION)["fjord"] == 1.0


def test_another_process_and_another_opening_know_them(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as here, oneiros.Engine(path, clock=lambda: NOW) as there:
        there.feedback("fjord", "helpful", query=QUESTION)
        assert factors(here, QUESTION)["fjord"] == 1.15
        here.feedback("fjord", "helpful", query=QUESTION)
        assert factors(there, QUESTION)["fjord"] == 1.3
    with oneiros.Engine(path, read_only=True) as reader:
        assert factors(reader, QUESTION)["fjord"] == 1.3
    with oneiros.Engine(path, clock=lambda: NOW) as again:
        assert factors(again, QUESTION)["fjord"] == 1.3


def test_a_scope_sees_its_own_memories_only() -> None:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    mind.add("ant", id="a", user="ada")
    mind.add("ant", id="b", user="bob")
    ada, bob = mind.scope(user="ada"), mind.scope(user="bob")
    with pytest.raises(UnknownMemory):
        bob.feedback("a", "helpful", query="ant")
    alone = bob.search("ant", reinforce=False).scores
    ada.feedback("a", "helpful", query="ant")
    assert factors(ada, "ant") == {"a": 1.15}
    assert factors(bob, "ant") == {"b": 1.0}
    assert bob.search("ant", reinforce=False).scores == alone


def test_another_embedder_drops_the_vectors_but_not_the_words(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as mind:
        mind.feedback("moved", "helpful", query=QUESTION)
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.reembed(embedder)
        mind.feedback("fjord", "helpful", query=QUESTION)
        got = factors(mind, QUESTION)
        assert got["fjord"] == pytest.approx(1.15, abs=1e-4)
        assert got["moved"] == 1.15

        def shifted(texts: Sequence[str]) -> np.ndarray:
            return np.roll(embedder(texts), 1, axis=1)

        mind.reembed(shifted)
        got = factors(mind, QUESTION)
        assert (got["fjord"], got["moved"]) == (1.0, 1.15)
        assert [len(question or b"") for question in stored(path)] == [25, 1]
        assert mind.check(deep=True) == []


def test_another_embedder_makes_no_verdict_one_for_all_questions(tmp_path: Path) -> None:
    def mirrored(texts: Sequence[str]) -> np.ndarray:
        return embedder(texts)[:, ::-1]

    path = tmp_path / "a.db"
    with filled(path, embedder=embedder) as mind:
        before = mind.search("fjord", reinforce=False)
        for asked in ("what is on the list", "where do we go", "who sings at noon", "is it late"):
            mind.feedback("fjord", "unhelpful", query=asked)
        mind.reembed(mirrored)
        assert mind.get("fjord").feedback == -4
        assert mind.search("fjord", reinforce=False).ids == before.ids
        assert factors(mind, "fjord")["fjord"] == 1.0
        mind.feedback("fjord", "unhelpful")
        assert mind.search("fjord", reinforce=False).scores[0] < before.scores[0]
        assert mind.check(deep=True) == []
    with oneiros.Engine(path, embedder=mirrored, clock=lambda: NOW) as mind:
        assert "fjord" in mind.search("fjord").ids


def test_the_past_has_its_own_verdicts(tmp_path: Path) -> None:
    now = [NOW]
    with oneiros.Engine(tmp_path / "a.db", clock=lambda: now[0], history="all") as mind:
        mind.add("Oslo lies at a fjord", id="fjord")
        now[0] += 60
        mind.feedback("fjord", "helpful", query="fjord")
        then = now[0]
        now[0] += 60
        mind.feedback("fjord", "helpful", query="fjord")
        assert factors(mind, "fjord") == {"fjord": 1.3}
        assert factors(mind, "fjord", as_of=then) == {"fjord": 1.15}


def test_a_backup_and_a_rebuilt_index_keep_them(tmp_path: Path) -> None:
    with filled(tmp_path / "a.db") as mind:
        mind.feedback("fjord", "helpful", query=QUESTION)
        mind.backup(tmp_path / "b.db")
        services = mind._scope.services

        def rebuild() -> None:
            services.read_model = services.sync.rebuild()

        services.sync.writer.run(rebuild)
        assert factors(mind, QUESTION)["fjord"] == 1.15
    with oneiros.Engine(tmp_path / "b.db", clock=lambda: NOW) as copy:
        assert factors(copy, QUESTION)["fjord"] == 1.15


def test_a_verdict_stays_where_its_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    filled(path).close()
    program = (
        "import os, signal, oneiros\n"
        f"mind = oneiros.Engine({str(path)!r})\n"
        f"mind.feedback('fjord', 'helpful', query={QUESTION!r})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert ended.returncode == -9
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        assert mind.check(deep=True) == []
        assert mind.get("fjord").feedback == 1
        assert factors(mind, QUESTION)["fjord"] == 1.15


def test_a_damaged_question_is_reported_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with filled(path) as mind:
        mind.feedback("fjord", "helpful", query=QUESTION)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE feedback_event SET question = x'0200000000'")
    connection.close()
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        assert factors(mind, QUESTION)["fjord"] == 1.0
        assert any("feedback_event" in problem for problem in mind.check(deep=True))


def test_a_batch_and_why_not_agree_with_the_search() -> None:
    mind = filled(embedder=embedder)
    mind.feedback("fjord", "helpful", query=QUESTION)
    single = mind.search(QUESTION, reinforce=False)
    (batch,) = mind.search_many([QUESTION], reinforce=False)
    assert (batch.ids, batch.scores) == (single.ids, single.scores)
    explanation = mind.why_not(QUESTION, "fjord").explanation
    assert explanation is not None
    (score,) = (one.score for one in single if one.id == "fjord")
    assert explanation.evaluate() == score


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"query": 1}, TypeError, "query: expected str"),
        ({"query": "a", "embedding": [1.0, 2.0]}, ValueError, "embedding: expected 32 values"),
        ({"embedding": [float("nan")] * 32}, ValueError, r"embedding\[0\]: "),
        ({"embedding": "x"}, (TypeError, ValueError), "embedding: "),
    ],
)
def test_wrong_questions_are_refused_and_change_nothing(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    mind = filled(embedder=embedder)
    with pytest.raises(error, match=message):
        mind.feedback("fjord", "helpful", **options)  # type: ignore[arg-type]
    assert mind.get("fjord").feedback == 0


def test_an_embedder_that_fails_gives_no_verdict() -> None:
    fails = False

    def failing(texts: Sequence[str]) -> np.ndarray:
        if fails:
            msg = "no model"
            raise RuntimeError(msg)
        return embedder(texts)

    mind = filled(embedder=failing)
    fails = True
    with pytest.raises(RuntimeError, match="no model"):
        mind.feedback("fjord", "helpful", query=QUESTION)
    assert mind.get("fjord").feedback == 0


def test_without_verdicts_no_words_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(text: str) -> list[int]:
        read.append(text)
        return word_hashes(text)

    word_hashes: Callable[[str], list[int]] = pipeline.word_hashes
    monkeypatch.setattr(pipeline, "word_hashes", noted)
    mind = filled()
    mind.feedback("fjord", "helpful")
    mind.search(QUESTION, reinforce=False)
    assert read == []
    mind.feedback("fjord", "helpful", query=QUESTION)
    mind.search(QUESTION, reinforce=False)
    assert read == [QUESTION]
