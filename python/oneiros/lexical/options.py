"""Checks of a lexical index's arguments, its settings, and the file that stores it."""

from __future__ import annotations

import json
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import SnapshotDamaged, TextEncodingError
from oneiros.lexical import analyzers
from oneiros.model.validation import (
    as_float,
    brief,
    index_of,
    is_scalar_array,
    not_an_integer,
    require_flag,
    require_text,
    require_utf8,
)
from oneiros.runtime.dataclasses import TypedDict, dataclass, fields

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "FIELD_WEIGHTS",
    "PUBLISHED_DELTA",
    "Id",
    "MadeWith",
    "checked_count",
    "checked_id",
    "checked_ids",
    "checked_number",
    "checked_reading",
    "checked_syntax",
    "checked_tags",
    "checked_texts",
    "checked_weights",
    "open_saved",
]


Id = int | str

T = TypeVar("T")

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def checked_number(value: object, name: str) -> float:
    """Return a real number as a float; raise TypeError for anything else."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        msg = f"{name}: must be a number, got {type(value).__name__}"
        raise TypeError(msg)
    return as_float(value)


def checked_id(id: object, name: str) -> Id:
    """Return an id as a 64-bit int or a str; raise TypeError or ValueError for anything else."""
    if isinstance(id, str):
        try:
            id.encode()
        except UnicodeEncodeError:
            msg = f"{name}: must have no lone surrogates, got {id!a}"
            raise TextEncodingError(msg) from None
        return str(id)
    if isinstance(id, bool | np.bool_) or not hasattr(id, "__index__"):
        msg = f"{name}: must be an int or a str, got {type(id).__name__}"
        raise TypeError(msg)
    number = _index(id, f"{name}: must be an int or a str")
    if not INT64_MIN <= number <= INT64_MAX:
        msg = f"{name}: must fit 64 bits, got {number}"
        raise ValueError(msg)
    return number


def checked_ids(ids: Collection[Id] | npt.NDArray[Any], name: str) -> list[Id]:
    """Return ids as a list. Errors name the position."""
    is_scalar = isinstance(ids, str | bytes) or is_scalar_array(ids)
    if is_scalar or not isinstance(ids, Collection | np.ndarray):
        msg = f"{name}: must be a collection of ids, got {type(ids).__name__}"
        raise TypeError(msg)
    items = ids.tolist() if isinstance(ids, np.ndarray) else ids
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i" and ids.ndim == 1:
        return list(items)
    if isinstance(ids, range) and all(
        INT64_MIN <= end <= INT64_MAX for end in (*ids[:1], *ids[-1:])
    ):
        return list(ids)
    return [
        id
        if (type(id) is int and INT64_MIN <= id <= INT64_MAX) or (type(id) is str and id.isascii())
        else checked_id(id, f"{name}[{place}]")
        for place, id in enumerate(items)
    ]


def checked_weights(
    fields: object, given: Mapping[str, object], default: Mapping[str, float]
) -> dict[str, float]:
    """Return the weights of an index's fields; empty if it has no fields."""
    if require_flag("fields", fields):
        return {
            name: default[name] if weight is None else checked_number(weight, name)
            for name, weight in given.items()
        }
    for name, weight in given.items():
        if weight is not None:
            msg = f"{name}: only an index with fields has one, got {weight!r}"
            raise ValueError(msg)
    return {}


class QueryOptions(TypedDict):
    """Keyword arguments of the core that define how a query is parsed."""

    syntax: str
    minimum_should_match: int


_SYNTAXES: Final = ("plain", "query")

_PLAIN: Final = QueryOptions(syntax="plain", minimum_should_match=0)


def checked_reading(syntax: object, minimum_should_match: object) -> QueryOptions:
    """Return the options of a query, checked."""
    if syntax == "plain" and type(minimum_should_match) is int and minimum_should_match == 0:
        return _PLAIN
    least = checked_count(minimum_should_match, "minimum_should_match", least=0)
    return QueryOptions(syntax=checked_syntax(syntax), minimum_should_match=least)


def checked_syntax(value: object) -> str:
    """Return the name of a syntax of queries.

    Raises:
        TypeError, ValueError: it is none.
    """
    require_utf8("syntax", value)
    if value not in _SYNTAXES:
        msg = f"syntax: must be 'plain' or 'query', got {brief(value)}"
        raise ValueError(msg)
    return str(value)


def checked_tags(tags: Sequence[str], name: str) -> str:
    """Return the tags as the core expects them: one string with a line per tag."""
    items = checked_texts(tags, name)
    for place, tag in enumerate(items):
        require_text(f"{name}[{place}]", tag)
    return "\n".join(items)


def checked_texts(texts: Sequence[T], name: str) -> list[T]:
    """Return the texts as a list. The core checks its items."""
    is_scalar = isinstance(texts, str | bytes) or is_scalar_array(texts)
    if is_scalar or not isinstance(texts, Sequence | np.ndarray):
        msg = f"{name}: must be a sequence of str, got {type(texts).__name__}"
        raise TypeError(msg)
    return list(texts)


def checked_count(value: object, name: str, *, least: int) -> int:
    """Return an int >= ``least``, clamped to 64 bits."""
    if type(value) is int and least <= value <= INT64_MAX:
        return value
    if isinstance(value, np.bool_):
        raise not_an_integer(name, value)
    count = index_of(name, value)
    if count < least:
        msg = f"{name}: must be at least {least}, got {count}"
        raise ValueError(msg)
    return min(count, INT64_MAX)


def _index(value: Any, rule: str) -> int:
    try:
        return operator.index(value)
    except TypeError:  # arrays have __index__ too
        msg = f"{rule}, got {type(value).__name__}"
        raise TypeError(msg) from None


PUBLISHED_DELTA: Final = {"bm25plus": 1.0, "bm25+": 1.0, "bm25l": 0.5}
"""Lower bound of a match, by variant: Lv and Zhai (2011)."""

FIELD_WEIGHTS: Final = {"title_weight": 2.0, "tags_weight": 1.5, "title_length": 1.0}
"""Default weight of a word in a field, relative to 1 for the text, and the share of the title's
weight that counts in the length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """The settings of an index."""

    analyzer: str
    variant: str
    k1: float
    b: float
    delta: float
    half_length: float = 0.0
    title_weight: float | None = None
    tags_weight: float | None = None
    title_length: float = 1.0

    @property
    def has_fields(self) -> bool:
        """Whether titles and tags are indexed as fields."""
        return self.title_weight is not None or self.tags_weight is not None

    def __str__(self) -> str:
        text = f"variant={self.variant!r}, k1={self.k1!r}, b={self.b!r}, analyzer={self.analyzer!r}"
        if self.half_length:
            text += f", half_length={self.half_length!r}"
        if self.has_fields:
            weights = f"title_weight={self.title_weight!r}, tags_weight={self.tags_weight!r}"
            text += f", fields=True, {weights}"
            if self.title_length != 1.0:
                text += f", title_length={self.title_length!r}"
        return text

    def identity(self, **others: object) -> str:
        """Return everything besides the texts that determines the index, as JSON.

        Args:
            **others: further values that distinguish one file from another.
        """
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.half_length:  # files of 0.1.0 do not name it
            del settings["half_length"]
        if self.title_length == 1.0:  # nor this
            del settings["title_length"]
        identity = {**settings, "analysis": analyzers.identity(self.analyzer), **others}
        return json.dumps(identity, sort_keys=True)

    def _core_arguments(self) -> dict[str, Any]:
        """Return the settings as keyword arguments of the core, with a new analyzer."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        analyzer = analyzers.make(settings.pop("analyzer"))
        return {"analyzer": analyzer, "bm25": _core.Bm25(**settings)}

    def new_index(self) -> _core.LexicalIndex:
        """Return an empty index."""
        return _core.LexicalIndex(**self._core_arguments())

    def saved(self, snapshot: _core.StoreSnapshot) -> _core.LexicalIndex:
        """Return the index of a store's snapshot that was saved with these settings.

        Raises:
            SnapshotDamaged: the index in the snapshot is damaged.
        """
        return snapshot.lexical_index(**self._core_arguments())

    def save(
        self,
        index: _core.LexicalIndex,
        path: str,
        attachment: bytes,
    ) -> None:
        """Write an index that was made with these settings.

        Raises:
            OSError: the file cannot be written.
        """
        with _named(path):
            _core.save_lexical_index(
                index=index,
                path=path,
                identity=self.identity(),
                attachment=attachment,
                revision=0,
            )

    def open(self, path: str) -> tuple[_core.LexicalIndex, bytes]:
        """Return the index and the attachment of a file that was saved with these settings.

        Raises:
            SnapshotDamaged: the file is damaged or was saved with other settings.
            OSError: the file cannot be read.
        """
        index, attachment, _ = _core.open_lexical_index(
            path=path, identity=self.identity(), **self._core_arguments()
        )
        return index, attachment


def open_saved(path: str) -> tuple[MadeWith, _core.LexicalIndex, bytes]:
    """Return the settings, the index and the attachment of a file.

    Raises:
        SnapshotDamaged, OSError: as ``MadeWith.open``.
    """
    try:
        with _named(path):
            identity = _core.snapshot_identity(path=path)
        settings = json.loads(identity)
        made_with = MadeWith(
            analyzer=str(settings["analyzer"]),
            variant=str(settings["variant"]),
            k1=float(settings["k1"]),
            b=float(settings["b"]),
            delta=float(settings["delta"]),
            half_length=float(settings.get("half_length", 0.0)),
            title_weight=_optional_float(settings["title_weight"]),
            tags_weight=_optional_float(settings["tags_weight"]),
            title_length=float(settings.get("title_length", 1.0)),
        )
        with _named(path):
            index, attachment = made_with.open(path)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"its settings cannot be read: {error}"
        raise SnapshotDamaged(msg) from error
    return made_with, index, attachment


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Add the path to errors of the system, which the core raises without it."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def _optional_float(value: object) -> float | None:
    return None if value is None else float(str(value))
