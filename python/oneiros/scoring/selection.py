"""What a profile hides from recall, beyond what is deleted or archived."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import settle, settle_flags
from oneiros.model.validation import text as text_check
from oneiros.runtime.dataclasses import dataclass

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which memories recall may return.

    Deleted memories never come back; archived ones do when the caller asks by ``status=``.

    Source: docs/systems/fields.md, "Hidden from recall".
    """

    reads_aliases: ClassVar[tuple[str, ...]] = ("expiring_kinds",)

    hide_superseded: bool = True
    """Leave out what a newer memory has replaced."""

    hide_expired: bool = True
    """Leave out what is past its ``valid_until`` or its ``ttl`` at ``now``, of the kinds that expire."""

    expiring_kinds: tuple[str, ...] = ()
    """The kinds that expire; empty: every kind. Memories of another kind stay, whatever their
    ``valid_until`` and ``ttl`` say. Other words for a kind expire alike. Source: docs/systems/cognitive.md C7."""

    hide_cold: bool = False
    """Leave out what is not of the hot tier. Source: docs/systems/cognitive.md C4."""

    hidden_kinds: tuple[str, ...] = ()
    """Kinds that are left out unless the filter or scope asks for kinds. Source: docs/systems/omega.md
    O23."""

    def __post_init__(self) -> None:
        for field in ("hidden_kinds", "expiring_kinds"):
            settle(self, field, checked_kinds(field, getattr(self, field)))
        settle_flags(self, "hide_superseded", "hide_expired", "hide_cold")

    def record(self) -> dict[str, object]:
        """Return the fields; tiers and kinds only where they are set: other profiles keep their hashes."""
        told: dict[str, object] = {
            "hide_superseded": self.hide_superseded,
            "hide_expired": self.hide_expired,
        }
        if self.hide_cold:
            told["hide_cold"] = True
        if self.hidden_kinds:
            told["hidden_kinds"] = list(self.hidden_kinds)
        if self.expiring_kinds:
            told["expiring_kinds"] = list(self.expiring_kinds)
        return told


def checked_kinds(field: str, kinds: object) -> tuple[str, ...]:
    """Return kinds as a tuple.

    Raises:
        TypeError, ValueError: no list of texts of 1 to 64 bytes.
    """
    if not isinstance(kinds, (list, tuple)):
        msg = f"{field}: expected a list of kinds, got {kinds!r}"
        raise TypeError(msg)
    check = text_check(field, low=1, high=64)
    for kind in kinds:
        check(kind)
    return tuple(kinds)
