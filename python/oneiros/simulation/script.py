"""What is told, in its order, and which facts it states; when, is for a workload to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["NEVER_TRUE", "Fact", "Line", "Phrase", "Script"]

NEVER_TRUE: Final = -1
"""The version of a line that contradicts its fact."""


class Phrase(NamedTuple):
    """One way in which a fact is asked about."""

    text: str
    vector: npt.NDArray[np.float32] | None = None
    """Shape (dimension,); None: the run's embedder makes it."""


class Line(NamedTuple):
    """One memory, and what it states."""

    record: Mapping[str, Any]
    """As ``Engine.add`` takes it, without session and times; an ``id``, if any, names it here only."""
    fact: int | None = None
    """The place of the fact among the script's; None: nobody will ever ask about this."""
    version: int = 0
    """Which value of the fact it states, from 0; :data:`NEVER_TRUE` where it contradicts it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is asked about, whose value may change."""

    kind: str
    phrases: tuple[Phrase, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class Script:
    """Lines in the order in which they are told.

    Of a fact the value told last holds: a line of a version makes those of lower versions untrue.
    """

    lines: Sequence[Line]
    facts: Sequence[Fact]
