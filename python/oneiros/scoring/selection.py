"""Memories that a profile hides from recall, besides deleted and archived ones."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import settle, settle_flags
from oneiros.model.validation import text as text_check
from oneiros.runtime.dataclasses import dataclass

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Rules for the memories that recall may return.

    Deleted memories are never returned, archived ones only if the caller passes ``status=``.

    Source: docs/systems/fields.md, "Hidden from recall".
    """

    reads_aliases: ClassVar[tuple[str, ...]] = ("expiring_kinds",)

    hide_superseded: bool = True
    """Hide memories that a newer one has replaced."""

    hide_expired: bool = True
    """Hide memories of expiring kinds whose ``valid_until`` or ``ttl`` is past at ``now``."""

    expiring_kinds: tuple[str, ...] = ()
    """The kinds that expire, including their aliases; empty: every kind. ``valid_until`` and
    ``ttl`` of other kinds are ignored. Source: docs/systems/cognitive.md C7."""

    hide_cold: bool = False
    """Hide memories outside of the hot tier. Source: docs/systems/cognitive.md C4."""

    hidden_kinds: tuple[str, ...] = ()
    """Kinds that are hidden unless the filter or scope names kinds. Source: docs/systems/omega.md
    O23."""

    def __post_init__(self) -> None:
        for field in ("hidden_kinds", "expiring_kinds"):
            settle(self, field, checked_kinds(field, getattr(self, field)))
        settle_flags(self, "hide_superseded", "hide_expired", "hide_cold")

    def record(self) -> dict[str, object]:
        """Return the fields; newer ones only if they are set, which keeps older hashes valid."""
        record: dict[str, object] = {
            "hide_superseded": self.hide_superseded,
            "hide_expired": self.hide_expired,
        }
        if self.hide_cold:
            record["hide_cold"] = True
        if self.hidden_kinds:
            record["hidden_kinds"] = list(self.hidden_kinds)
        if self.expiring_kinds:
            record["expiring_kinds"] = list(self.expiring_kinds)
        return record


def checked_kinds(field: str, kinds: object) -> tuple[str, ...]:
    """Return kinds as a tuple.

    Raises:
        TypeError, ValueError: not a list of strings of 1 to 64 bytes.
    """
    if not isinstance(kinds, (list, tuple)):
        msg = f"{field}: expected a list of kinds, got {kinds!r}"
        raise TypeError(msg)
    check = text_check(field, low=1, high=64)
    for kind in kinds:
        check(kind)
    return tuple(kinds)
