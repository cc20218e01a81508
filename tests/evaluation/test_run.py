"""Evaluation over questions: averages, types, what is left out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from oneiros.evaluation.run import evaluate


@dataclass(frozen=True)
class Asked:
    id: str
    type: str
    answers: dict[str, float] = field(default_factory=dict)


QUESTIONS = [
    Asked("q1", "exact", {"a": 2}),
    Asked("q2", "exact", {"b": 1}),
    Asked("q3", "vague", {"a": 1, "c": 1}),
    Asked("q4", "hopeless"),
]


def test_the_report_averages_by_question_and_by_type() -> None:
    report = evaluate(lambda _: ["a", "b"], QUESTIONS, recall_depths=(1,))
    assert report.by_type["exact"].count == 2
    assert report.by_type["exact"].mrr == (1 + 1 / 2) / 2
    assert report.by_type["exact"].recall == 1 / 2
    assert report.by_type["vague"].recall == 1 / 2
    assert report.overall.count == 3
    assert report.overall.mrr == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert report.by_question["q2"].mrr == 1 / 2


def test_unanswerable_questions_are_counted_and_never_asked() -> None:
    asked: list[str] = []

    def search(question: Asked) -> list[str]:
        asked.append(question.id)
        return []

    report = evaluate(search, QUESTIONS)
    assert asked == ["q1", "q2", "q3"]
    assert report.unanswerable_count == 1
    assert list(report.by_type) == ["exact", "vague"]


def test_the_document_is_plain_json() -> None:
    report = evaluate(lambda _: ["a"], QUESTIONS)
    document = json.loads(json.dumps(report.to_document(), allow_nan=False))
    assert document["overall"]["count"] == 3
    assert document["by_type"]["vague"]["mrr"] == 1.0
    assert (document["ndcg_depth"], document["recall_depth"]) == (10, 5)


def test_recall_at_several_depths() -> None:
    report = evaluate(lambda _: ["a", "b"], QUESTIONS, recall_depths=(2, 1))
    assert report.overall.recalls == (pytest.approx(5 / 6), pytest.approx(1 / 2))
    assert report.overall.recall == report.overall.recalls[0]
    document = report.to_document()["overall"]
    assert isinstance(document, dict)
    assert document["recall_at"] == {"2": pytest.approx(5 / 6), "1": pytest.approx(1 / 2)}
    with pytest.raises(ValueError, match="recall_depths: must not be empty"):
        evaluate(lambda _: ["a"], QUESTIONS, recall_depths=())


def test_errors_name_the_rule() -> None:
    with pytest.raises(ValueError, match="ids must be unique, got 'q1' twice"):
        evaluate(lambda _: ["a"], [QUESTIONS[0], QUESTIONS[0]])
    with pytest.raises(ValueError, match="none of them has a relevant memory"):
        evaluate(lambda _: ["a"], QUESTIONS[3:])
