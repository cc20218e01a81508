"""The keywords of ``add``, ``update`` and ``where``, for type checkers.

The names and types follow :data:`oneiros.model.fields.FIELDS`;
``tests/model/test_keywords.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from datetime import timedelta

    import numpy.typing as npt

    from oneiros.clock import Time

__all__ = ["AddFields", "ChangedFields", "Conditions"]


class ChangedFields(TypedDict, total=False):
    """The fields that ``update`` changes. None clears a field that may lack a value."""

    text: str
    title: str
    embedding: npt.ArrayLike | None
    kind: str
    category: str
    topic: str | None
    project: str | None
    session: str | None
    user: str | None
    agent: str | None
    namespace: str | None
    labels: Iterable[str]
    source: str | None
    source_ref: str | None
    derived_from: Iterable[str]
    trust: float
    sessions: Iterable[str]
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    created_at: Time
    updated_at: Time
    last_accessed_at: Time | None
    event_at: Time | None
    valid_from: Time | None
    valid_until: Time | None
    ttl: float | timedelta | None
    importance: float
    certainty: float
    impact: float
    priority: int
    veracity: str
    pinned: bool
    feedback: int
    access_count: int
    revision_count: int
    duplicate_count: int
    session_spread: int
    strength: float
    depth: int
    stability: float
    consolidation_quality: float
    importance_tag: str
    status: str
    core: bool
    canonical_layer: str
    at_floor_since: Time | None
    cold_since: Time | None
    tier: str
    superseded_by: str | None
    deleted_at: Time | None


class AddFields(TypedDict, total=False):
    """The fields of a new memory next to its text. None counts as not given."""

    id: str | None
    title: str | None
    embedding: npt.ArrayLike | None
    kind: str | None
    category: str | None
    topic: str | None
    project: str | None
    session: str | None
    user: str | None
    agent: str | None
    namespace: str | None
    labels: Iterable[str] | None
    source: str | None
    source_ref: str | None
    derived_from: Iterable[str] | None
    trust: float | None
    sessions: Iterable[str] | None
    tags: Iterable[str] | None
    metadata: Mapping[str, Any] | None
    created_at: Time | None
    updated_at: Time | None
    last_accessed_at: Time | None
    learned_at: Time | None
    event_at: Time | None
    valid_from: Time | None
    valid_until: Time | None
    ttl: float | timedelta | None
    importance: float | None
    certainty: float | None
    impact: float | None
    priority: int | None
    veracity: str | None
    pinned: bool | None
    feedback: int | None
    access_count: int | None
    revision_count: int | None
    duplicate_count: int | None
    session_spread: int | None
    strength: float | None
    depth: int | None
    stability: float | None
    consolidation_quality: float | None
    importance_tag: str | None
    status: str | None
    core: bool | None
    canonical_layer: str | None
    at_floor_since: Time | None
    cold_since: Time | None
    tier: str | None
    superseded_by: str | None
    deleted_at: Time | None


if TYPE_CHECKING:
    Words: TypeAlias = str | Iterable[str]
    TimeRange: TypeAlias = tuple[Time | None, Time | None] | Sequence[Time | None]
    NumberRange: TypeAlias = float | tuple[float | None, float | None] | Sequence[float | None]
    Flags: TypeAlias = bool | tuple[bool | None, bool | None] | Sequence[bool | None]


class Conditions(TypedDict, total=False):
    """The conditions of ``where``."""

    id: Words
    kind: Words
    category: Words
    topic: Words
    project: Words
    session: Words
    user: Words
    agent: Words
    namespace: Words
    labels: Words
    labels_all: Words
    source: Words
    source_ref: Words
    trust: NumberRange
    tags: Words
    tags_all: Words
    metadata: Mapping[str, Any]
    created_at: TimeRange
    updated_at: TimeRange
    last_accessed_at: TimeRange
    learned_at: TimeRange
    event_at: TimeRange
    occurred_at: TimeRange
    valid_from: TimeRange
    valid_until: TimeRange
    ttl: NumberRange
    importance: NumberRange
    certainty: NumberRange
    impact: NumberRange
    priority: NumberRange
    veracity: Words
    pinned: Flags
    feedback: NumberRange
    access_count: NumberRange
    revision_count: NumberRange
    duplicate_count: NumberRange
    session_spread: NumberRange
    strength: NumberRange
    depth: NumberRange
    stability: NumberRange
    consolidation_quality: NumberRange
    importance_tag: Words
    status: Words
    core: Flags
    canonical_layer: Words
    at_floor_since: TimeRange
    cold_since: TimeRange
    tier: Words
