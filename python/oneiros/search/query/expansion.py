"""A question said in other words, by a callable of the user's: asked under a deadline, or not at all.

Source: docs/systems/omega.md O6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from oneiros.display.escaping import shortened
from oneiros.model.validation import require_int, require_utf8
from oneiros.models.deadlines import answer_within
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.scoring.understanding import Understanding
    from oneiros.search.text_match import Sought

__all__ = ["Expanded", "Rephrased", "Variant", "expanded_by"]

LONGEST_VARIANT: Final = 500
_LONGEST_REASON: Final = 200
_MOST_TOKENS: Final = 2**53


@dataclass(frozen=True, slots=True)
class Rephrased:
    """What an expander returns that also tells what it used, such as one that asks a language model.

    Raises:
        TypeError, ValueError: a number of tokens that is none.
    """

    texts: Sequence[str]
    """The question in other words, the best first."""
    prompt_tokens: int = 0
    """Read by language models for this answer; 0 to 2^53."""
    completion_tokens: int = 0
    """Written by them."""

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "completion_tokens"):
            require_int(name, getattr(self, name), low=0, high=_MOST_TOKENS)


Expander: TypeAlias = Callable[[str], Sequence[str] | Rephrased]
"""From a question to the same in other words."""


class Variant(NamedTuple):
    """A question in other words, ready to be searched."""

    text: str
    vector: npt.NDArray[np.float32] | None
    sought: Sought | None


class Expanded(NamedTuple):
    """What came of asking an expander."""

    texts: tuple[str, ...] = ()
    reason: str = ""
    """Why there are none, or fewer than it gave; empty where there is nothing to say."""
    tokens: tuple[int, int] = (0, 0)
    """Of prompt and completion."""
    duration_ms: float = 0.0
    variants: tuple[Variant, ...] = ()
    """One a text, once they are embedded."""
    has_failed: bool = False
    """Whether it raised, or had no time to answer: the next time it may."""


def expanded_by(expander: Expander, query: str, reader: Understanding, seconds: float) -> Expanded:
    """Ask an expander for a question in other words, and wait for it no longer than ``seconds``.

    Blank texts, the question itself and repetitions are passed over, and what is longer than 500
    characters. One that raises, or gives no texts, has said nothing.

    Args:
        expander: asked once.
        query: the question.
        reader: says how many variants count.
        seconds: how long; infinity: however long it takes.
    """
    started = perf_counter()
    told = answer_within(
        seconds,
        expander,
        partial(_asked, expander, query, reader.most_variants),
        _failed,
        name="oneiros-expander",
    )
    return told._replace(duration_ms=(perf_counter() - started) * 1e3)


def _asked(expander: Expander, query: str, most: int) -> Expanded:
    try:
        told = expander(query)
        held = told if isinstance(told, Rephrased) else Rephrased(told)
        texts = _checked(held.texts)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it is, it is told)
        return _failed(shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON))
    distinct = dict.fromkeys(text for text in texts if text and text != query.strip())
    fit = [text for text in distinct if len(text) <= LONGEST_VARIANT]
    kept = tuple(fit[:most])
    left = len(distinct) - len(kept)
    reason = f"{left} too long or beyond the first {most}" if left else ""
    return Expanded(kept, reason or ("" if kept else "no other words"), _tokens(held))


def _failed(reason: str) -> Expanded:
    return Expanded(reason=reason, has_failed=True)


def _checked(texts: object) -> list[str]:
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        msg = f"expected a sequence of texts, got {type(texts).__name__}"
        raise TypeError(msg)
    held = list(texts)
    for text in held:
        if not isinstance(text, str):
            msg = f"expected texts, got {type(text).__name__}"
            raise TypeError(msg)
        require_utf8("variant", text)
    return [text.strip() for text in held]


def _tokens(held: Rephrased) -> tuple[int, int]:
    return held.prompt_tokens, held.completion_tokens
