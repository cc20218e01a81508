"""Memories that state different values of one fact. Source: docs/systems/house.md H12."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.conflicts import finding, model, words
    from oneiros.conflicts.finding import Conflict

__all__ = ["Conflict", "finding", "model", "words"]

__getattr__ = door(__name__, ("finding", "model", "words"), {"Conflict": "finding"})
