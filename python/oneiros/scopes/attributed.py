"""The values that a memory is found by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from oneiros.scopes.fields import scalar_key

__all__ = ["TAGS", "Attributed", "Place", "scalars_of", "values_of"]

Place = tuple[str, ...]
"""Where a value stands: a field, or "metadata" and a key."""

TAGS: Final = ("tags",)


class Attributed(Protocol):
    """What the index reads of a memory; :class:`oneiros.Memory` has it."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def project(self) -> str | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, object]: ...


def values_of(record: Attributed) -> Iterable[tuple[Place, object]]:
    """Yield the values a record is found by, each once or more."""
    yield ("kind",), record.kind
    if record.project is not None:
        yield ("project",), record.project
    if record.session is not None:
        yield ("session",), record.session
    if record.topic is not None:
        yield ("topic",), record.topic
    for tag in record.tags:
        yield TAGS, tag
    for key, scalar in scalars_of(record.metadata):
        yield ("metadata", key), scalar


def scalars_of(metadata: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Yield what of the metadata can be filtered on; lists and objects cannot."""
    for key, value in metadata.items():
        if value is None or isinstance(value, str | bool | int | float):
            yield key, scalar_key(value)
