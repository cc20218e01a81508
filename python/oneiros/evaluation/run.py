"""Evaluation of a search over judged questions, overall and by type of question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from oneiros.display.counts import count_of
from oneiros.evaluation.metrics import mean, ndcg_at, recall_at, reciprocal_rank
from oneiros.runtime.dataclasses import dataclass

__all__ = ["JudgedQuestion", "Report", "Scores", "evaluate"]


class JudgedQuestion(Protocol):
    """The attributes of a question that :func:`evaluate` reads."""

    @property
    def id(self) -> str:
        """Name of the question, unique among those evaluated together."""

    @property
    def type(self) -> str:
        """Group it is reported under."""

    @property
    def answers(self) -> Mapping[str, float]:
        """Memory id -> grade; above 0 is relevant."""


Question = TypeVar("Question", bound=JudgedQuestion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Averages over a group of questions, each in [0, 1]."""

    count: int
    ndcg: float
    recalls: tuple[float, ...]
    """One per recall depth of the report."""
    mrr: float

    @property
    def recall(self) -> float:
        """Recall at the first depth."""
        return self.recalls[0]

    def to_document(self, recall_depths: Sequence[int]) -> dict[str, object]:
        """Return the figures as plain JSON values; "recall" is at the first depth."""
        by_depth = {str(k): value for k, value in zip(recall_depths, self.recalls, strict=True)}
        return {
            "count": self.count,
            "ndcg": self.ndcg,
            "recall": self.recall,
            "recall_at": by_depth,
            "mrr": self.mrr,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The result of :func:`evaluate`."""

    ndcg_depth: int
    recall_depths: tuple[int, ...]
    overall: Scores
    by_type: Mapping[str, Scores]
    """In order of first appearance."""
    by_question: Mapping[str, Scores]
    """Question id -> figures of that question (``count`` 1)."""
    unanswerable_count: int
    """Questions without a relevant memory. They are skipped, since no ranking is right for them."""

    def __repr__(self) -> str:
        scores = self.overall
        figures = f"nDCG@{self.ndcg_depth} {scores.ndcg:.3f}, MRR {scores.mrr:.3f}"
        return f"<Report: {count_of(scores.count, 'question')}, {figures}>"

    @property
    def recall_depth(self) -> int:
        """The first recall depth."""
        return self.recall_depths[0]

    def to_document(self) -> dict[str, object]:
        """Return the averages, without single questions, as plain JSON values."""
        return {
            "ndcg_depth": self.ndcg_depth,
            "recall_depth": self.recall_depth,
            "overall": self.overall.to_document(self.recall_depths),
            "by_type": {
                name: scores.to_document(self.recall_depths)
                for name, scores in self.by_type.items()
            },
            "unanswerable_count": self.unanswerable_count,
        }


def evaluate(
    search: Callable[[Question], Sequence[str]],
    questions: Iterable[Question],
    *,
    ndcg_depth: int = 10,
    recall_depths: Sequence[int] = (5,),
) -> Report:
    """Search for every answerable question once and average the metrics.

    Args:
        search: question -> ids, best first. The reciprocal rank uses all of them, so their number
            is the depth of the MRR.
        questions: see :class:`JudgedQuestion`; unique ids.
        ndcg_depth: k of nDCG@k, >= 1.
        recall_depths: each k of recall@k, >= 1; at least one.

    Returns:
        The report; all questions have equal weight, so a type weighs by its number of questions.

    Raises:
        ValueError: duplicate ids, no answerable question, no recall depth, or a depth below 1.
    """
    depths = tuple(recall_depths)
    if not depths:
        msg = "recall_depths: must not be empty"
        raise ValueError(msg)
    types: dict[str, list[Scores]] = {}
    by_question: dict[str, Scores] = {}
    unanswerable_count = 0
    for question in questions:
        if not any(grade > 0 for grade in question.answers.values()):
            unanswerable_count += 1
            continue
        if question.id in by_question:
            msg = f"questions: ids must be unique, got {question.id!r} twice"
            raise ValueError(msg)
        scores = _scores(search(question), question.answers, ndcg_depth, depths)
        by_question[question.id] = scores
        types.setdefault(question.type, []).append(scores)
    if not by_question:
        msg = "questions: none of them has a relevant memory"
        raise ValueError(msg)
    return Report(
        ndcg_depth=ndcg_depth,
        recall_depths=depths,
        overall=_average(list(by_question.values())),
        by_type={name: _average(group) for name, group in types.items()},
        by_question=by_question,
        unanswerable_count=unanswerable_count,
    )


def _scores(
    ranking: Sequence[str],
    answers: Mapping[str, float],
    ndcg_depth: int,
    recall_depths: tuple[int, ...],
) -> Scores:
    return Scores(
        count=1,
        ndcg=ndcg_at(ranking, answers, ndcg_depth),
        recalls=tuple(recall_at(ranking, answers, depth) for depth in recall_depths),
        mrr=reciprocal_rank(ranking, answers),
    )


def _average(group: Sequence[Scores]) -> Scores:
    return Scores(
        count=len(group),
        ndcg=mean(each.ndcg for each in group),
        recalls=tuple(mean(depth) for depth in zip(*(each.recalls for each in group), strict=True)),
        mrr=mean(each.mrr for each in group),
    )
