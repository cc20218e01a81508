"""One answer judged by what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Outcome", "Shown", "judged"]


class Shown(NamedTuple):
    """A result."""

    id: str
    text: str
    """As the store holds it after the search; of a memory that was told and is none of the fact's, any."""
    is_made: bool
    """Whether a dream made the memory."""


class Outcome(NamedTuple):
    """What came of one question."""

    found: bool
    """Whether a memory that states what holds now is among the results."""
    misled: bool
    """Whether an untrue memory of the fact stands above all of those."""
    untrue: bool
    """Whether an untrue one is among the results at all."""


def judged(
    results: Sequence[Shown], current: Mapping[str, str], untrue: Mapping[str, str]
) -> Outcome:
    """Judge the results of a question about one fact.

    A memory that was told states its own text, as long as that stands in it whole: a stub states
    nothing. One that a dream made states every text that stands in it whole; if what holds now is
    among them, that is what it states.

    Args:
        results: the best first.
        current: memories that state the fact's value as it is now, id to the text told.
        untrue: those that state an earlier one, or contradict it.
    """
    first_current = first_untrue = len(results)
    for rank, shown in reversed(list(enumerate(results))):
        if _states(shown, current):
            first_current = rank
        elif _states(shown, untrue):
            first_untrue = rank
    is_untrue = first_untrue < len(results)
    return Outcome(
        found=first_current < len(results),
        misled=is_untrue and first_untrue < first_current,
        untrue=is_untrue,
    )


def _states(shown: Shown, statements: Mapping[str, str]) -> bool:
    if shown.is_made:
        return any(text in shown.text for text in statements.values())
    return shown.id in statements and statements[shown.id] in shown.text
