"""A reranker's place among the stages. Source: docs/systems/cognitive.md C8, omega.md O25."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np
from oneiros.ranking.factors import Rerank
from oneiros.remember.batch import embedded_text
from oneiros.rerank.judging import judge
from oneiros.rerank.scores import order_by, shares_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Question, Stages

__all__ = ["rerank"]


def rerank(working: WorkingList, stages: Stages) -> None:
    """Let a reranker judge the first results again; where it fails, they stay as they are.

    Called once a search, where ``profile.rerank`` stands: before links are followed or after. What
    it judges beyond ``k`` must have been ranked: ``WorkingList._depth``.

    Args:
        working: the results so far. With the factor "rerank" in the profile they are rescored (O25),
            without it put in an order that all that follows keeps (C8).
        stages: the trace; one stage is ended here, with a note where not all was judged.
    """
    question, count = working.question, len(working.results)
    reranker, rule = question.reranker, question.profile.rerank
    assert rule is not None
    if reranker is None:
        stages.end("rerank", count, count, "absent: no reranker")
        return
    ids = working.gathered.lifecycle.ids
    first = working.results[: rule.top]
    memories = working.load([ids[row] for row, *_ in first])
    texts = [(place, embedded_text(one)) for place, one in enumerate(memories) if one is not None]
    if not texts:
        stages.end("rerank", count, count)
        return
    told = judge(
        reranker,
        question.spoken,
        [text for _, text in texts],
        rule.deadline_seconds if question.until is None else question.until - monotonic(),
    )
    note = told.reason
    if told.scores is None:
        note = f"as it was without: {note}"
    else:
        scores = np.full(len(first), np.nan)
        scores[[place for place, _ in texts]] = told.scores
        _apply(working, scores)
    stages.end("rerank", count, count, note, (told.prompt_tokens, told.completion_tokens))


def _apply(working: WorkingList, scores: npt.NDArray[np.float64]) -> None:
    """Let the first results stand as their scores say; NaN: it has none."""
    results = working.results
    values = _values(working.question, working, scores)
    if values is None:
        order = order_by(scores)
        working.results = [results[place] for place in order] + results[len(order) :]
        return
    is_scored = np.isfinite(scores).tolist()
    working.multiply(
        "rerank",
        {
            results[place][0]: value
            for place, value in enumerate(values.tolist())
            if is_scored[place]
        },
    )


def _values(
    question: Question, working: WorkingList, scores: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """What the profile's factor makes of scores by their places; None where it has no such factor."""
    compiled = working.gathered.compiled
    held = [isinstance(factor, Rerank) for factor in question.profile.factors]
    if not any(held):
        return None
    shares = np.nan_to_num(shares_of(scores))
    places = np.arange(1.0, len(scores) + 1.0)
    (values,), _ = compiled.program.run(
        operands={"rerank_score": shares, "rerank_place": places},
        now_seconds=question.now,
        size=len(scores),
        outputs=[compiled.factors[held.index(True)]],
        dtype="float64",
        out=None,
        threads=1,
    )
    return values
