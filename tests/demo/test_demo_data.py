"""The demo's data: complete, consistent, small, and judged with care."""

from __future__ import annotations

from collections import Counter
from importlib import resources

import numpy as np
import pytest

from oneiros import demo
from oneiros.demo import ASKED_IN, QUESTION_TYPES, DemoData
from oneiros.model.memory import Memory
from oneiros.model.validation import time

NOW = time("now")("2026-01-01T00:00:00Z")


@pytest.fixture(scope="module")
def data() -> DemoData:
    return demo.load()


@pytest.fixture(scope="module")
def ids(data: DemoData) -> set[str]:
    return {record["id"] for record in data.memories}


def test_there_is_enough_of_it(data: DemoData) -> None:
    assert len(data.memories) >= 400
    assert len(data.questions) >= 80


def test_ids_are_unique(data: DemoData, ids: set[str]) -> None:
    assert len(ids) == len(data.memories)
    assert len({question.id for question in data.questions}) == len(data.questions)


def test_every_memory_keeps_the_rules_of_its_fields(data: DemoData) -> None:
    for record in data.memories:
        memory = Memory.from_record(record, now=NOW)
        assert memory.id == record["id"]
        assert memory.text.strip() == memory.text != ""
        assert memory.created_at <= NOW


def test_texts_are_written_not_generated(data: DemoData) -> None:
    texts = Counter(record["text"] for record in data.memories)
    assert max(texts.values()) == 1  # near-duplicates there are, but in other words
    beginnings = Counter(" ".join(record["text"].split()[:4]) for record in data.memories)
    assert max(beginnings.values()) <= 5  # templates would begin alike


def test_references_exist(data: DemoData, ids: set[str]) -> None:
    for record in data.memories:
        successor = record.get("superseded_by")
        assert successor is None or (successor in ids and successor != record["id"]), record["id"]
    for question in data.questions:
        assert set(question.answers) <= ids, question.id


def test_nothing_supersedes_itself_in_a_circle(data: DemoData) -> None:
    successor = {record["id"]: record.get("superseded_by") for record in data.memories}
    for start, following in successor.items():
        seen = {start}
        at = following
        while at is not None:
            assert at not in seen
            seen.add(at)
            at = successor[at]


def test_every_type_of_question_is_there(data: DemoData) -> None:
    counts = Counter(question.type for question in data.questions)
    assert set(counts) == set(QUESTION_TYPES)
    assert min(counts.values()) >= 5


def test_grades_are_1_or_2_and_only_the_unanswerable_have_none(data: DemoData) -> None:
    for question in data.questions:
        assert set(question.answers.values()) <= {1.0, 2.0}, question.id
        assert (question.type == "unanswerable") == (not question.answers), question.id
        assert question.type == "unanswerable" or 2.0 in question.answers.values(), question.id


def test_questions_are_asked_after_their_answers_were_known(data: DemoData) -> None:
    created = {
        record["id"]: Memory.from_record(record, now=NOW).created_at for record in data.memories
    }
    for question in data.questions:
        now = time("now")(question.now)
        assert all(created[id] <= now for id in question.answers), question.id


def test_the_full_answer_is_never_superseded(data: DemoData) -> None:
    superseded = {record["id"] for record in data.memories if record.get("superseded_by")}
    for question in data.questions:
        current = {id for id, grade in question.answers.items() if grade == 2}
        assert not current or current - superseded, question.id


def test_answers_pass_the_filter_of_their_question(data: DemoData) -> None:
    memories = {record["id"]: Memory.from_record(record, now=NOW) for record in data.memories}
    for question in data.questions:
        for name, wanted in (question.where or {}).items():
            for memory in (memories[id] for id in question.answers):
                if name == "occurred_at":
                    start, end = (time(name)(moment) for moment in wanted)
                    occurred = memory.created_at if memory.event_at is None else memory.event_at
                    assert start <= occurred < end, (question.id, memory.id)
                else:
                    held = getattr(memory, name)
                    assert held == wanted or held in wanted, (question.id, memory.id)


def test_a_year_several_languages_and_kinds(data: DemoData) -> None:
    months = {record["created_at"][:7] for record in data.memories}
    assert len(months) >= 12
    assert len({record.get("kind") for record in data.memories}) >= 6
    assert len({record.get("session") for record in data.memories}) >= 40
    assert sum(record.get("superseded_by") is not None for record in data.memories) >= 10
    scripts = {
        "cyrillic or greek": ("\u0370", "\u052f"),
        "kana": ("\u3040", "\u30ff"),
        "cjk": ("\u4e00", "\u9fff"),
    }
    everything = "".join(record["text"] for record in data.memories)
    found = [
        name
        for name, (low, high) in scripts.items()
        if any(low <= character <= high for character in everything)
    ]
    assert len(found) >= 2


def test_vectors_are_of_unit_length_one_a_line(data: DemoData) -> None:
    for vectors, count in (
        (data.memory_vectors, len(data.memories)),
        (data.question_vectors, len(data.questions)),
    ):
        assert vectors.shape == (count, 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=2e-3)


def test_vectors_belong_to_their_lines(data: DemoData) -> None:
    """Answers lie nearer to their question than other memories do, for nearly every question."""
    row = {record["id"]: place for place, record in enumerate(data.memories)}
    cosines = data.question_vectors @ data.memory_vectors.T
    nearer = [
        cosines[place, [row[id] for id in question.answers]].max() > np.median(cosines[place])
        for place, question in enumerate(data.questions)
        if question.answers
    ]
    assert np.mean(nearer) > 0.95


def test_the_shown_questions_are_of_different_types_and_the_last_has_no_answer(
    data: DemoData,
) -> None:
    types = [question.type for question in data.shown()]
    assert len(set(types)) == len(types) >= 4
    assert types[-1] == "unanswerable"
    assert set(ASKED_IN) <= {question.id for question in data.shown()}
    assert set(ASKED_IN.values()) <= {record.get("project") for record in data.memories}


def test_each_question_has_its_own_vector(data: DemoData) -> None:
    for place in (0, 7, len(data.questions) - 1):
        vector = data.vector_of(data.questions[place])
        np.testing.assert_array_equal(vector, data.question_vectors[place])


def test_records_carry_their_vectors(data: DemoData) -> None:
    records = data.records()
    assert records[3]["text"] == data.memories[3]["text"]
    np.testing.assert_array_equal(records[3]["embedding"], data.memory_vectors[3])
    assert "embedding" not in data.memories[3]


def test_the_package_stays_small() -> None:
    home = resources.files("oneiros.demo")
    sizes = {file.name: len(file.read_bytes()) for file in home.iterdir() if file.is_file()}
    vectors = sum(size for name, size in sizes.items() if name.endswith(".npy"))
    assert vectors < 1_000_000
    assert sum(sizes.values()) < 2_000_000
