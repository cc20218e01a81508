"""Rerankers: callables that score texts against a query. Oneiros ships no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from oneiros._lazy import np
from oneiros.display.escaping import shortened
from oneiros.model.validation import require_int, require_plain, unmasked
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
    """A reranker's result with its token usage, for rerankers that call a language model.

    Raises:
        TypeError, ValueError: an invalid number of tokens.
    """

    scores: Scores
    """One per text, in order; None or NaN for a text without a score."""
    prompt_tokens: int = 0
    """Tokens read by language models; 0 to 2^53."""
    completion_tokens: int = 0
    """Tokens written by language models; 0 to 2^53."""

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "completion_tokens"):
            require_int(name, getattr(self, name), low=0, high=_MOST_TOKENS)


class TextScorer(Protocol):
    """A callable from a query and texts to one score each; higher is better."""

    def __call__(self, query: str, texts: list[str], /) -> Scores | Judged:
        """Return shape (len(texts),)."""
        ...


class PairScorer(Protocol):
    """An object that scores pairs of query and text, such as a cross-encoder."""

    def predict(self, pairs: list[tuple[str, str]], /) -> Any:
        """Return one score per pair, or a :class:`Judged`."""
        ...


Reranker: TypeAlias = TextScorer | PairScorer
"""If it has a ``predict`` method, that is called, even if the object itself is callable."""


def require_reranker(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is callable or has a ``predict`` method, neither awaited."""
    predict = getattr(value, "predict", None)
    if not (callable(value) or callable(predict)):
        msg = (
            f"{name}: expected a callable (query, texts) -> scores, or an object with "
            f"predict(pairs), got {type(value).__name__} {value!r}"
        )
        raise TypeError(msg)
    require_plain(name, predict if callable(predict) else value)


def call_of(reranker: Reranker) -> Callable[[str, list[str]], object]:
    """Return a function of query and texts that calls the reranker."""
    predict = getattr(reranker, "predict", None)
    if callable(predict):
        return lambda query, texts: predict([(query, text) for text in texts])
    assert callable(reranker)
    return reranker


if TYPE_CHECKING:
    Array = npt.NDArray[np.float64]


def checked_scores(scores: object, count: int) -> Array:
    """Return a reranker's scores as float64; NaN if a text has no finite score.

    Args:
        scores: the scores; None, NaN and what a mask hides mean no score.
        count: number of texts given to the reranker.

    Raises:
        TypeError: not numbers.
        ValueError: not ``count`` of them.
    """
    given = np.asarray(unmasked(scores))
    if given.dtype.kind == "O" and given.ndim == 1:
        given = np.asarray([np.nan if score is None else score for score in given.tolist()])
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
    """Scale scores by minimum and maximum to [0, 1]; NaN stays NaN.

    Equal scores, or a single one, become 0, since they give no order (our choice).

    Source: docs/systems/omega.md O25.
    """
    halves = scores / 2.0  # so that the difference of the largest floats is finite
    low, high = float(np.nanmin(halves)), float(np.nanmax(halves))
    if low == high:
        return halves * 0.0
    return np.clip((halves - low) / (high - low), 0.0, 1.0)


def order_by(scores: Array) -> list[int]:
    """Return indices in the order of their scores, the best first; ties keep their order.

    Entries without a score keep their position (our choice).

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
    """The outcome of a call of a reranker."""

    scores: npt.NDArray[np.float64] | None
    """One per text, NaN if it has none; None: no text has one."""
    reason: str = ""
    """Why some or all scores are missing; empty if none is."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


def judge(reranker: Reranker, query: str, texts: list[str], seconds: float) -> Judgement:
    """Call a reranker with a deadline; see :func:`answer_within`.

    A reranker that raises, or returns a wrong number of scores or no finite one, gives a judgement
    without scores.

    Args:
        reranker: called once, for all texts.
        query: the query.
        texts: at least one.
        seconds: the deadline; infinity: the call runs in the current thread, without a limit.
    """
    return answer_within(
        seconds,
        reranker,
        partial(_judged, reranker, query, texts),
        partial(Judgement, None),
        name="oneiros-rerank",
    )


def _judged(reranker: Reranker, query: str, texts: list[str]) -> Judgement:
    try:
        output = call_of(reranker)(query, list(texts))
        judged = output if isinstance(output, Judged) else Judged(output)  # type: ignore[arg-type]
        scores = checked_scores(judged.scores, len(texts))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (any error becomes the reason)
        return Judgement(None, shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON))
    tokens = judged.prompt_tokens, judged.completion_tokens
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing == len(texts):
        return Judgement(None, "no score is a finite number", *tokens)
    reason = f"{missing} of {len(texts)} have no finite score" if missing else ""
    return Judgement(scores, reason, *tokens)
