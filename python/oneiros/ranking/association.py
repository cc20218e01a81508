"""How a link between two memories fades."""

from __future__ import annotations

import math

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import settle_numbers

__all__ = ["AssociationDecay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationDecay:
    """``weight * exp(-days / tau_days)``, days since the two were last found together.

    Source: docs/systems/cognitive.md C16; published 90 days.
    """

    tau_days: float = 90.0
    """Days after which the weight has fallen to 1/e, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, tau_days=(0.0, math.inf, True))
