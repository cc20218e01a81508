"""A memory that links led to, scored as any other, times what the links leave of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    from oneiros.ranking.program import ProgramBuilder

__all__ = ["PATH_WEIGHT", "PathWeight"]

PATH_WEIGHT: Final = "path_weight"
"""The signal: the product of what is left of the links on the way; NaN for what may not stay."""


@dataclass(frozen=True, slots=True)
class PathWeight:
    """Weigh by the way that links led: the signal ``path_weight``.

    A search adds this factor for what it reaches by links, after those of the profile; no profile
    holds one.

    Source: docs/systems/cognitive.md C9, C10.
    """

    name: ClassVar[str] = "association"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.signal(PATH_WEIGHT, 1.0)
