"""A memory that links led to, scored as any other, times what the links leave of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile
    from oneiros.ranking.program import ProgramBuilder

__all__ = ["PATH_WEIGHT", "PathWeight", "by_links"]

PATH_WEIGHT: Final = "path_weight"
"""The signal: the product of what is left of the links on the way; NaN for what may not stay."""


@dataclass(frozen=True, slots=True)
class PathWeight:
    """Weigh by the way that links led: the signal ``path_weight``.

    Source: docs/systems/cognitive.md C9, C10.
    """

    name: ClassVar[str] = "association"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.signal(PATH_WEIGHT, 1.0)


@lru_cache(maxsize=64)
def by_links(profile: Profile) -> Profile:
    """Return the profile as it ranks what links led to. Equal profiles give the same object."""
    return profile.replace(factors=(*profile.factors, PathWeight()))
