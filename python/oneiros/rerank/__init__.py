"""Rerankers: anything that scores texts against a question. Adapters for models load them on first use.

No model comes with Oneiros, and none is downloaded by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_int

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Judged", "PairScorer", "Reranker", "TextScorer", "call_of", "require_reranker"]

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
