"""What profiles ask of a table: the fields that they read, and what these may be."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import dataclass
from oneiros.fields import FIELDS
from oneiros.ranking.callable_factor import CallableFactor
from oneiros.ranking.row_scores import columns_read

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = ["MISSING", "ORIGINS", "Reading", "may_lack", "reading_of"]

ORIGINS: Final = {"priority": "kind", "updated_at": "created_at"}
"""Field to the one that its default is made of."""

MISSING: Final = ("raise", "default")
"""Answers to a column that a table lacks: an error, or the default of its field."""

_MARKS: Final = ("pinned", "core", "tier")
"""States that Oneiros gives to single memories. No row has one where there is no such column."""


def may_lack(field: str, names: Container[str]) -> bool:
    """Return whether the absence of a field has a meaning in a table with the columns ``names``.

    It has one for times that a memory may be without, whose factors say what holds then; for fields
    whose value follows from another column; and for marks, which no row has then.
    """
    return FIELDS[field].nullable or field in _MARKS or ORIGINS.get(field) in names


@dataclass(frozen=True, slots=True)
class Reading:
    """What some profiles ask of a table."""

    scored: tuple[str, ...]
    """The fields that scores are made of."""
    fields: tuple[str, ...]
    """Those to read: also those that defaults of others are made of."""
    not_after_now: frozenset[str]
    has_functions: bool
    """Functions of the user's own see nothing that breaks a rule."""


@lru_cache(maxsize=64)
def reading_of(profiles: tuple[Profile, ...]) -> Reading:
    """Return what these profiles ask together."""
    found: dict[str, None] = {}
    for profile in profiles:
        compiled = profile.compile(())
        found |= dict.fromkeys(columns_read(compiled))
        if compiled.reads_kinds:
            found["kind"] = None
    scored = [name for name in found if name in FIELDS and FIELDS[name].column is not None]
    origins = [ORIGINS[name] for name in scored if name in ORIGINS]
    return Reading(
        scored=tuple(scored),
        fields=tuple(dict.fromkeys((*scored, *origins))),
        not_after_now=frozenset(name for one in profiles for name in one.not_after_now),
        has_functions=any(
            isinstance(factor, CallableFactor) for one in profiles for factor in one.factors
        ),
    )
