"""A reranker asked, under a deadline: its scores, or why there are none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import dataclass
from oneiros.deadlines import MOST_LEFT, answer_within
from oneiros.numpy_on_use import np
from oneiros.rerank import Judged, call_of
from oneiros.rerank.scores import checked_scores
from oneiros.visible_text import shortened

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.rerank import Reranker

__all__ = ["MOST_LEFT", "Judgement", "judge"]

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of asking a reranker."""

    scores: npt.NDArray[np.float64] | None
    """One a text, NaN where one has none; None: there is not one."""
    reason: str = ""
    """Why some or all are missing; empty where none is."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


def judge(reranker: Reranker, query: str, texts: list[str], seconds: float) -> Judgement:
    """Ask a reranker, and wait for it no longer than ``seconds``.

    It runs in a thread of its own, which is left behind where it takes longer: nothing can end it,
    and its answer is not heard. One that raises, or gives another number of scores or no finite one,
    has said nothing.

    Args:
        reranker: asked once, for all texts.
        query: the question.
        texts: at least one.
        seconds: how long; infinity: it runs in this thread, however long it takes.
    """
    return answer_within(
        seconds,
        reranker,
        partial(_asked, reranker, query, texts),
        partial(Judgement, None),
        name="oneiros-rerank",
    )


def _asked(reranker: Reranker, query: str, texts: list[str]) -> Judgement:
    try:
        told = call_of(reranker)(query, list(texts))
        held = told if isinstance(told, Judged) else Judged(told)  # type: ignore[arg-type]
        scores = checked_scores(held.scores, len(texts))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it is, it is told)
        return Judgement(None, shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON))
    tokens = held.prompt_tokens, held.completion_tokens
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing == len(texts):
        return Judgement(None, "no score is a finite number", *tokens)
    reason = f"{missing} of {len(texts)} have no finite score" if missing else ""
    return Judgement(scores, reason, *tokens)
