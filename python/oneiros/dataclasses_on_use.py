"""Dataclasses as :mod:`oneiros.declaring` makes them: type checkers see the standard library's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, replace
else:
    from oneiros.declaring import MISSING, asdict, dataclass, field, fields, replace

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "replace"]
