"""Query expansion: variants of a query from a user's callable, called with a deadline.

Source: docs/systems/omega.md O6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeAlias

from oneiros.display.escaping import shortened
from oneiros.model.validation import require_int, require_utf8
from oneiros.models.deadlines import answer_within
from oneiros.runtime.dataclasses import NamedTuple, dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.scoring.understanding import Understanding
    from oneiros.search.query.parsed import TextMatcher

__all__ = ["Expanded", "Rephrased", "Variant", "expanded_by"]

LONGEST_VARIANT: Final = 500
_LONGEST_REASON: Final = 200
_MOST_TOKENS: Final = 2**53


@dataclass(frozen=True, slots=True)
class Rephrased:
    """The result of an expander that reports the tokens it used, for example of a language model.

    Raises:
        TypeError, ValueError: a token count is no integer from 0 to 2^53.
    """

    texts: Sequence[str]
    """Variants of the query, best first."""
    prompt_tokens: int = 0
    """Tokens read by language models; 0 to 2^53."""
    completion_tokens: int = 0
    """Tokens written by language models; 0 to 2^53."""

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "completion_tokens"):
            require_int(name, getattr(self, name), low=0, high=_MOST_TOKENS)


Expander: TypeAlias = Callable[[str], Sequence[str] | Rephrased]
"""A function from a query to variants of it."""


class Variant(NamedTuple):
    """A variant of a query, ready to be searched."""

    text: str
    vector: npt.NDArray[np.float32] | None
    text_matcher: TextMatcher | None


class Expanded(NamedTuple):
    """The outcome of a call of an expander."""

    texts: tuple[str, ...] = ()
    reason: str = ""
    """Why there are no texts, or fewer than the expander returned; else empty."""
    tokens: tuple[int, int] = (0, 0)
    """Prompt and completion tokens."""
    duration_ms: float = 0.0
    variants: tuple[Variant, ...] = ()
    """One per text, once they are embedded."""
    has_failed: bool = False
    """Whether the expander raised or ran out of time, so that a later call may succeed."""


def expanded_by(expander: Expander, query: str, reader: Understanding, seconds: float) -> Expanded:
    """Call an expander once and wait at most ``seconds`` for it; infinity: no limit.

    Blank texts, the query itself, repetitions and texts longer than 500 characters are dropped. If
    the expander raises or returns no texts, there are no variants.
    """
    started = perf_counter()
    expanded = answer_within(
        seconds,
        expander,
        partial(_call, expander, query, reader.most_variants),
        _failed,
        name="oneiros-expander",
    )
    return expanded._replace(duration_ms=(perf_counter() - started) * 1e3)


def _call(expander: Expander, query: str, most: int) -> Expanded:
    try:
        returned = expander(query)
        rephrased = returned if isinstance(returned, Rephrased) else Rephrased(returned)
        texts = _checked(rephrased.texts)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (any failure goes into the trace)
        return _failed(shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON))
    distinct = dict.fromkeys(text for text in texts if text and text != query.strip())
    fit = [text for text in distinct if len(text) <= LONGEST_VARIANT]
    kept = tuple(fit[:most])
    left = len(distinct) - len(kept)
    reason = f"{left} too long or beyond the first {most}" if left else ""
    tokens = rephrased.prompt_tokens, rephrased.completion_tokens
    return Expanded(kept, reason or ("" if kept else "no other words"), tokens)


def _failed(reason: str) -> Expanded:
    return Expanded(reason=reason, has_failed=True)


def _checked(texts: object) -> list[str]:
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        msg = f"expected a sequence of texts, got {type(texts).__name__}"
        raise TypeError(msg)
    variants = list(texts)
    for text in variants:
        if not isinstance(text, str):
            msg = f"expected texts, got {type(text).__name__}"
            raise TypeError(msg)
        require_utf8("variant", text)
    return [text.strip() for text in variants]
