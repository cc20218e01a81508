"""What a profile hides from recall, beyond what is deleted or archived."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import require_flag

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which memories recall may return.

    Deleted memories never come back; archived ones do when the caller asks by ``status=``.

    Source: docs/systems/fields.md, "Hidden from recall".
    """

    hide_superseded: bool = True
    """Leave out what a newer memory has replaced."""

    hide_expired: bool = True
    """Leave out what is past its ``valid_until`` or its ``ttl`` at ``now``."""

    hide_cold: bool = False
    """Leave out what is not of the hot tier. Source: docs/systems/cognitive.md C4."""

    def __post_init__(self) -> None:
        require_flag("hide_superseded", self.hide_superseded)
        require_flag("hide_expired", self.hide_expired)
        require_flag("hide_cold", self.hide_cold)

    def record(self) -> dict[str, object]:
        """Return the fields; ``hide_cold`` only where it is so: other profiles keep their hashes."""
        told = {"hide_superseded": self.hide_superseded, "hide_expired": self.hide_expired}
        return {**told, "hide_cold": True} if self.hide_cold else {**told}
