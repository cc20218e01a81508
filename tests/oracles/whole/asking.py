"""One question to a store, and what it may see: cognitive.md C4, C6, C7, omega.md O23, fields.md."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.oracles.records import Record, time_of, value

__all__ = ["Question", "Surroundings", "is_found", "is_lapsed", "is_superseded", "is_visible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """O16, O20: what the caller is doing."""

    file: str | None = None
    tags: tuple[str, ...] = ()
    project: str | None = None
    situation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, as ``Engine.search`` takes it; defaults are its own."""

    words: str = ""
    vector: tuple[float, ...] | None = None
    k: int = 10
    now: float = 0.0
    session: str | None = None
    wanted: tuple[tuple[str, Any], ...] = ()
    """Fields and what they must equal."""
    hint: str | None = None
    around: Surroundings | None = None
    date_range: tuple[float, float] | None = None
    is_soft: bool = False
    """Whether the range that is given is soft."""
    deep_recall: bool = False
    include_expired: bool = False
    include_expired_in_deep_recall: bool = False
    valid_at: float | None = None
    status: tuple[str, ...] = ()
    is_judged: bool = False
    """Whether a reranker judges the first results."""


def is_lapsed(record: Record, question: Question, expiring: Collection[str] = ()) -> bool:
    """Tell whether a memory is past its validity at the asked time (strict). C7.

    ``expiring``: the kinds that expire in the profile; none given: every kind does (O23, H7).
    """
    if expiring and value(record, "kind") not in expiring:
        return False
    moment = question.now if question.valid_at is None else question.valid_at
    end, ttl = record.get("valid_until"), record.get("ttl")
    born = time_of(record, question.now, "created_at")
    return (end is not None and moment > end) or (ttl is not None and moment > born + ttl)


def is_superseded(record: Record) -> bool:
    """Tell whether a newer memory has taken its place."""
    return record.get("superseded_by") is not None


def is_visible(record: Record, question: Question, expiring: Collection[str] = ()) -> bool:
    """Tell whether any way may lead to a memory: words, meaning, time, session or links."""
    moment = question.now if question.valid_at is None else question.valid_at
    starts = record.get("valid_from")
    status = value(record, "status")
    takes_lapsed = question.include_expired or (
        question.deep_recall and question.include_expired_in_deep_recall
    )
    return (
        not record.get("is_deleted")
        and (status in question.status if question.status else status != "archived")
        and all(record.get(name, "note") == wanted for name, wanted in question.wanted)
        and (question.deep_recall or not is_superseded(record))
        and (takes_lapsed or not is_lapsed(record, question, expiring))
        and not (starts is not None and starts > moment)
    )


def is_found(
    record: Record, question: Question, expiring: Collection[str] = (), *, hides_cold: bool
) -> bool:
    """Tell whether channels may find a memory. C4: hot, or superseded of any tier."""
    cold = value(record, "tier") != "hot" and not is_superseded(record)
    return is_visible(record, question, expiring) and not (hides_cold and cold)
