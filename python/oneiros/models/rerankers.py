"""Rerankers: anything that scores texts against a query. No model comes with Oneiros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from oneiros._lazy import np
from oneiros.display.escaping import shortened
from oneiros.model.validation import require_int
from oneiros.models.deadlines import MOST_LEFT, answer_within
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "MOST_LEFT",
    "Judged",
    "Judgement",
    "PairScorer",
    "Reranker",
    "TextScorer",
    "call_of",
    "checked_scores",
    "judge",
    "one_a_pair",
    "order_by",
    "require_reranker",
    "shares_of",
]


_MOST_TOKENS: Final = 2**53

Scores: TypeAlias = "npt.ArrayLike | Sequence[float | None]"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reranker returns that also tells what it used, such as one that asks a language model.

    Raises:
        TypeError, ValueError: a number of tokens that is none.
    """

    scores: Scores
    """One a text, in their order; None or NaN for a text that it has no score for."""
    prompt_tokens: int = 0
    """Read by language models for this answer; 0 to 2^53."""
    completion_tokens: int = 0
    """Written by them."""

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "completion_tokens"):
            require_int(name, getattr(self, name), low=0, high=_MOST_TOKENS)


class TextScorer(Protocol):
    """A callable from a question and texts to one score each, the higher the better."""

    def __call__(self, query: str, texts: list[str], /) -> Scores | Judged:
        """Return shape (len(texts),)."""
        ...


class PairScorer(Protocol):
    """An object that scores pairs of a question and a text, such as a cross-encoder."""

    def predict(self, pairs: list[tuple[str, str]], /) -> Any:
        """Return one score a pair, or a :class:`Judged`."""
        ...


Reranker: TypeAlias = TextScorer | PairScorer
"""One that has a ``predict`` is asked by it, even where it can be called besides."""


def require_reranker(name: str, value: object) -> None:
    """Raise TypeError for what can neither be called nor predict."""
    if not (callable(value) or callable(getattr(value, "predict", None))):
        msg = (
            f"{name}: expected a callable (query, texts) -> scores, or an object with "
            f"predict(pairs), got {type(value).__name__} {value!r}"
        )
        raise TypeError(msg)


def call_of(reranker: Reranker) -> Callable[[str, list[str]], object]:
    """Return how a reranker is asked."""
    predict = getattr(reranker, "predict", None)
    if callable(predict):
        return lambda query, texts: predict([(query, text) for text in texts])
    assert callable(reranker)
    return reranker


if TYPE_CHECKING:
    Array = npt.NDArray[np.float64]


def checked_scores(scores: object, count: int) -> Array:
    """Return what a reranker gave as float64, NaN where a text has no finite score.

    Args:
        scores: its answer; None stands for no score.
        count: texts it was given.

    Raises:
        TypeError: no numbers.
        ValueError: another number of them.
    """
    given = np.asarray(scores)
    if given.dtype.kind == "O" and given.ndim == 1:
        given = np.asarray([np.nan if one is None else one for one in given.tolist()])
    if given.dtype.kind not in "fiub":
        msg = f"expected numbers, got dtype {given.dtype}"
        raise TypeError(msg)
    if given.shape != (count,):
        msg = f"expected {count} scores, one a text, got shape {given.shape}"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        values = given.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return values


def shares_of(scores: Array) -> Array:
    """Return scores by minimum and maximum in [0, 1]; all 0 where they are equal, NaN stays NaN.

    Of equal scores, or a single one, nothing can be said of one against another (ours).

    Source: docs/systems/omega.md O25.
    """
    halves = scores / 2.0  # the difference of the largest numbers there are is finite then
    low, high = float(np.nanmin(halves)), float(np.nanmax(halves))
    if low == high:
        return halves * 0.0
    return np.clip((halves - low) / (high - low), 0.0, 1.0)


def order_by(scores: Array) -> list[int]:
    """Return the places in the order of their scores, the best first; ties keep their order.

    What has no score keeps its place (ours).

    Source: docs/systems/cognitive.md C8.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    best_first = scored[np.argsort(-scores[scored], kind="stable")]
    order = np.arange(len(scores))
    order[scored] = best_first
    return [int(place) for place in order]


def one_a_pair(output: object, count: int) -> Array:
    """Return a model's output of shape (count,) or (count, 1) as (count,).

    Raises:
        ValueError: another shape, such as that of a classifier of several labels.
    """
    scores: Array = np.asarray(output, np.float64)
    if scores.shape == (count, 1):
        scores = scores[:, 0]
    if scores.shape != (count,):
        msg = f"model: expected one score a pair, shape ({count},), got {scores.shape}"
        raise ValueError(msg)
    return scores


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
