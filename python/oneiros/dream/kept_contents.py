"""Validation of a cycle's stored changes outside of columns and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.report_record import is_clock
from oneiros.errors import StoreCorrupt
from oneiros.model.fields import FIELDS
from oneiros.store.embedding_bytes import decoded
from oneiros.store.rows import metadata_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oneiros.store.cycles import StoredContent

__all__ = ["require_valid"]


def require_valid(contents: Iterable[StoredContent]) -> None:
    """Refuse changes that no cycle makes, so that an undo does not write them to a memory.

    Raises:
        StoreCorrupt: a change is invalid; the message has the memory's number and the field.
    """
    for content in contents:
        try:
            check = _CHECKS[content.field]
            check(content.before)
            check(content.after)
        except (KeyError, TypeError, ValueError, RecursionError, StoreCorrupt) as error:
            msg = (
                "the store holds damaged changes of a dream cycle "
                f"(memory {content.sequence}, field {content.field!r}: {error})"
            )
            raise StoreCorrupt(msg) from error


def _require(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        msg = f"must be {kind.__name__}, got {value!r:.80}"
        raise TypeError(msg)


def _text(value: object) -> None:
    _require(value, str)
    FIELDS["text"].check(value)


def _id(value: object) -> None:
    _require(value, str)
    FIELDS["superseded_by"].check(value)


def _metadata(value: Any) -> None:
    _require(value, str)
    metadata_of(value)


def _embedding(value: Any) -> None:
    _require(value, bytes)
    decoded([value])


def _time(value: Any) -> None:
    _require(value, float)
    if not is_clock(value):
        msg = f"is the clock of no cycle, {value!r}"
        raise ValueError(msg)


def _nothing(value: object) -> None:
    _require(value, type(None))


def _or_none(check: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda value: None if value is None else check(value)


_CHECKS: Final[dict[str, Callable[[Any], None]]] = {
    "memory": _nothing,
    "text": _text,
    "embedding": _or_none(_embedding),
    "superseded_by": _or_none(_id),
    "metadata": _or_none(_metadata),
    "replayed_at": _or_none(_time),
}
