"""What comes back in deep recall counts less. Source: docs/systems/cognitive.md C4, C6, C7."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from oneiros.ranking.declaration import settle_numbers

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile
    from oneiros.ranking.program import ProgramBuilder

__all__ = ["LAPSED", "DeepRecall", "in_deep_recall"]

LAPSED: Final = "lapsed"
"""The signal: 1 for what is past its validity and came back all the same."""

_SHARE = (0.0, 1.0, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepRecall:
    """Weigh down what is superseded, and what is past its validity.

    Of the second the signal ``lapsed`` tells.

    Source: docs/systems/cognitive.md C6, C7.
    """

    name: ClassVar[str] = "deep_recall"
    is_lifecycle: ClassVar[bool] = False

    superseded: float = 0.5
    """0 to 1."""

    lapsed: float = 0.5
    """0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, superseded=_SHARE, lapsed=_SHARE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        one = program.constant(1.0)
        replaced = program.call(
            "select", program.column("superseded"), program.constant(self.superseded), one
        )
        late = program.call(
            "select", program.signal(LAPSED, 0.0), program.constant(self.lapsed), one
        )
        return program.call("multiply", replaced, late)


@lru_cache(maxsize=64)
def in_deep_recall(profile: Profile) -> Profile:
    """Return the profile as it ranks in deep recall. Equal profiles give the same object."""
    return profile.replace(factors=(*profile.factors, DeepRecall()))
