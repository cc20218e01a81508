"""Filters: typed conditions on memories, combined with ``&``, ``|`` and ``~``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Unpack

from oneiros import filters
from oneiros.display.escaping import LONGEST_NAMED, shortened
from oneiros.display.json_values import decoding_problem
from oneiros.errors import QueryTooLarge
from oneiros.filters.fields import (
    MEASURES,
    NAMED,
    TIMES,
    WORDS,
    Scalar,
    read_bounds,
    read_words,
    scalar_key,
)
from oneiros.filters.metadata_paths import Key
from oneiros.model.calls import nearest
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.validation import LAST_NUMBER
from oneiros.runtime.dataclasses import dataclass, field

if TYPE_CHECKING:
    from oneiros.model.keywords import Conditions

__all__ = [
    "AllOf",
    "And",
    "AnyOf",
    "Everything",
    "Measured",
    "MetadataExists",
    "MetadataHas",
    "MetadataIn",
    "MetadataIs",
    "MetadataPrefix",
    "MetadataRange",
    "MetadataSubstring",
    "Not",
    "OnMetadata",
    "Or",
    "Where",
    "Within",
    "from_json",
    "joined",
    "metadata_keys",
    "to_json",
    "where",
]


MAX_DEPTH: Final = 32
MAX_VALUES: Final = 100_000

_ALL_OF: Final = {f"{name}_all": name for name in WORDS}
_KNOWN: Final = (*NAMED, *_ALL_OF, "metadata", *ENUMS, *TIMES, *MEASURES)


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on memories. Make one with :func:`where`; combine with ``&``, ``|``, ``~``.

    Equal conditions are equal objects with equal hashes. A filter is at most 32 levels deep with at
    most 100,000 values; more raises :class:`oneiros.QueryTooLarge`.

    Examples:
        >>> import oneiros
        >>> drinks = oneiros.where(tags="drink") & ~oneiros.where(topic="work")
        >>> drinks.to_json()
        {'tags': 'drink', 'not': {'topic': 'work'}}
    """

    depth: int = field(init=False, compare=False, repr=False, default=1)
    """Levels of nesting, this one included."""
    size: int = field(init=False, compare=False, repr=False, default=1)
    """Number of values and conditions."""

    def __and__(self, other: Where) -> Where:
        if not isinstance(other, Where):
            return NotImplemented
        return joined(And, (self, other))

    def __or__(self, other: Where) -> Where:
        if not isinstance(other, Where):
            return NotImplemented
        return joined(Or, (self, other))

    def __invert__(self) -> Where:
        return self.part if isinstance(self, Not) else Not(self)

    def __bool__(self) -> bool:
        # `a and b` would silently drop a, and a typing mistake must never widen a scope.
        msg = "a filter has no truth value; join filters with &, | and ~"
        raise TypeError(msg)

    def to_json(self) -> dict[str, object]:
        """Return the condition as plain JSON values, which :meth:`from_json` reads."""
        return to_json(self)

    @staticmethod
    def from_json(value: str | Mapping[str, object]) -> Where:
        """Return the condition described by JSON, as text or parsed.

        ``{"project": "x", "occurred_at": ["2025-03-01T00:00:00Z", null]}`` has the form of the
        keywords of :func:`where`; ``{"all": [...]}``, ``{"any": [...]}`` and ``{"not": {...}}``
        combine conditions.

        Raises:
            ValueError: not a JSON object, a key that comes twice in one, or as :func:`where`.
            TypeError: as :func:`where`.
            QueryTooLarge: too deep or too many values.

        Examples:
            >>> import oneiros
            >>> from oneiros.filters import Where
            >>> Where.from_json('{"not": {"project": "x"}}') == ~oneiros.where(project="x")
            True
        """
        return from_json(value)


def _measure(node: Where, depth: int, size: int) -> None:
    if depth > MAX_DEPTH:
        msg = f"where: at most {MAX_DEPTH} levels deep, got {depth}"
        raise QueryTooLarge(msg)
    if size > MAX_VALUES:
        msg = f"where: at most {MAX_VALUES} values, got {size}"
        raise QueryTooLarge(msg)
    object.__setattr__(node, "depth", depth)
    object.__setattr__(node, "size", size)


@dataclass(frozen=True, slots=True)
class Everything(Where):
    """Matches every memory: ``where()`` without a condition."""


@dataclass(frozen=True, slots=True)
class AnyOf(Where):
    """The field's value (for ``tags``: one of them) is among ``values``; without values, never."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _measure(self, 1, max(1, len(self.values)))


@dataclass(frozen=True, slots=True)
class AllOf(Where):
    """The memory has all of ``values`` in a field of many words, such as ``tags``."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _measure(self, 1, max(1, len(self.values)))


@dataclass(frozen=True, slots=True)
class Within(Where):
    """A time lies in [start, end), in seconds; None is open. A missing time never matches."""

    name: str
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True)
class Measured(Where):
    """A numeric column lies in [low, high], both ends included. None is open."""

    name: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class OnMetadata(Where):
    """A condition on the value at a path of metadata; without a value, none holds."""

    key: Key


@dataclass(frozen=True, slots=True)
class MetadataIs(OnMetadata):
    """The value equals a scalar: 1 equals 1.0, True does not equal 1, None is JSON null."""

    value: Scalar = field(compare=False)
    canonical: object = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "canonical", scalar_key(self.value))


@dataclass(frozen=True, slots=True)
class _AnyScalar(OnMetadata):
    """A condition that one of several scalars meets; without scalars, it never holds."""

    values: tuple[Scalar, ...] = field(compare=False)
    canonical: frozenset[object] = field(init=False, repr=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "canonical", frozenset(map(scalar_key, self.values)))
        _measure(self, 1, max(1, len(self.values)))


@dataclass(frozen=True, slots=True)
class MetadataIn(_AnyScalar):
    """The value equals one of ``values``."""


@dataclass(frozen=True, slots=True)
class MetadataHas(_AnyScalar):
    """The value is a list, and one of its items equals one of ``values``."""


@dataclass(frozen=True, slots=True)
class MetadataExists(OnMetadata):
    """There is a value, be it null, a list or an object."""


@dataclass(frozen=True, slots=True)
class MetadataPrefix(OnMetadata):
    """The value is a text that starts with ``prefix``."""

    prefix: str


@dataclass(frozen=True, slots=True)
class MetadataSubstring(OnMetadata):
    """The value is a text that contains ``text``."""

    text: str
    ignores_case: bool
    """Whether the case-folded texts are compared."""


@dataclass(frozen=True, slots=True)
class MetadataRange(OnMetadata):
    """The value is a number, or a time in ISO 8601, between two ends; None is open."""

    low: float | None
    high: float | None
    has_low: bool
    """Whether the lower end matches."""
    has_high: bool
    is_time: bool
    """Whether the ends are seconds since 1970 and the value is a time; else it is a number."""


@dataclass(frozen=True, slots=True)
class And(Where):
    """All parts hold."""

    parts: tuple[Where, ...]
    known: frozenset[Where] | None = field(init=False, compare=False, repr=False, default=None)
    """The parts, once another one was added by ``&``."""

    def __post_init__(self) -> None:
        _measure_parts(self, self.parts)


@dataclass(frozen=True, slots=True)
class Or(Where):
    """At least one part holds."""

    parts: tuple[Where, ...]
    known: frozenset[Where] | None = field(init=False, compare=False, repr=False, default=None)
    """The parts, once another one was added by ``|``."""

    def __post_init__(self) -> None:
        _measure_parts(self, self.parts)


@dataclass(frozen=True, slots=True)
class Not(Where):
    """The part does not hold."""

    part: Where

    def __post_init__(self) -> None:
        _measure_parts(self, (self.part,))


def _measure_parts(node: Where, parts: tuple[Where, ...]) -> None:
    depth = 1 + max((part.depth for part in parts), default=0)
    _measure(node, depth, 1 + sum(part.size for part in parts))


def _extended(combined: And | Or, part: Where) -> Where:
    """Return a combination with one more part.

    Thousands are added one by one, so that none of the others may be compared again.
    """
    known = combined.known
    if known is None:
        known = frozenset(combined.parts)
    if part in known:
        return combined
    made = object.__new__(type(combined))
    object.__setattr__(made, "parts", (*combined.parts, part))
    object.__setattr__(made, "known", known | {part})
    _measure(made, max(combined.depth, part.depth + 1), combined.size + part.size)
    return made


def joined(join: type[And | Or], sides: Iterable[Where]) -> Where:
    """Return the sides combined: nested combinations flattened, redundant parts left out.

    Without sides, as in logic, everything for :class:`And` and nothing for :class:`Or`.
    """
    sides = tuple(sides)
    if len(sides) == 1:
        return sides[0]
    if len(sides) == 2:
        left, right = sides
        if isinstance(left, join) and not isinstance(right, And | Or | Everything):
            return _extended(left, right)
    parts: list[Where] = []
    for side in sides:
        parts.extend(side.parts if isinstance(side, join) else (side,))
    if join is And:
        parts = [part for part in parts if not isinstance(part, Everything)]
    elif any(isinstance(part, Everything) for part in parts):
        return Everything()
    unique = tuple(dict.fromkeys(parts))
    if not unique:
        return Everything() if join is And else ~Everything()
    return unique[0] if len(unique) == 1 else join(unique)


def metadata_keys(condition: Where) -> Iterator[Key]:
    """Yield the paths that a condition names, some of them more than once."""
    if isinstance(condition, OnMetadata):
        yield condition.key
    elif isinstance(condition, And | Or):
        for part in condition.parts:
            yield from metadata_keys(part)
    elif isinstance(condition, Not):
        yield from metadata_keys(condition.part)


def where(**conditions: Unpack[Conditions]) -> Where:
    """Return a filter for memories that meet all given conditions; without one, all memories.

    Args:
        **conditions: by field name.

            - ``id``, ``kind``, ``project``, ``session``, ``topic``, ``user``, ``agent``,
              ``source``, ``source_ref``, ``category``, ``status``, ``veracity``, ``tier``,
              ``importance_tag``, ``canonical_layer``: a text, or a list of texts of which one must
              match. ``namespace``: the same; "acme/support" also matches what lies below it, such
              as "acme/support/eu". ``tags`` and ``labels``: the same for any of the memory's tags
              or labels; ``tags_all`` and ``labels_all``: the memory must have all of them.
            - ``created_at``, ``updated_at``, ``last_accessed_at``, ``event_at``, ``occurred_at``
              (``event_at``, else ``created_at``), ``valid_from``, ``valid_until``: a half-open
              range (start, end), so that consecutive days do not overlap. Each end is a number of
              seconds since the epoch, an aware ``datetime``, an ISO 8601 text with offset, or None
              for an open end.
            - ``importance``, ``trust``, ``strength``, ``depth``, ``priority``, ``pinned`` and the
              other numeric fields: a number, or a range (low, high) that includes both ends, so
              ``importance=(0.8, 1.0)`` matches 1.0.
            - ``metadata``: a dict of key to text, number, bool or None; all must be equal. A key
              may be a dotted path, and a value a dict of the keys below. :func:`oneiros.meta` has
              the other comparisons; a dict of operators such as ``{"$gte": 10}`` is their JSON.

    Returns:
        A :class:`Where`.

    Raises:
        ValueError: an unknown field (the message lists the known ones) or an invalid value.
        TypeError: a value of the wrong type, or None: a scope that silently matches everything
            would leak.
        QueryTooLarge: more than 100,000 values.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> id = engine.add("Deploys happen on Tuesdays", kind="fact", importance=0.9)
        >>> engine.count(oneiros.where(kind=["fact", "plan"], importance=(0.5, None)))
        1
    """
    return joined(And, [part for item in conditions.items() for part in _conditions(*item)])


def _conditions(name: str, value: object) -> Iterable[Where]:
    if name in NAMED or name in ENUMS:
        return [AnyOf(name, read_words(name, value))]
    if name in _ALL_OF:
        return [AllOf(_ALL_OF[name], read_words(name, value))]
    if name in TIMES:
        return [Within(name, *read_bounds(name, value))]
    if name in MEASURES:
        return [Measured(name, *read_bounds(name, value))]
    if name == "metadata":
        return filters.metadata.read_conditions(value)
    near = None if name in FIELDS else nearest(name, _KNOWN)
    hint = f"; did you mean {near!r}?" if near else ""
    msg = f"where: unknown field {shortened(repr(name), LONGEST_NAMED)}; known: {', '.join(sorted(_KNOWN))}{hint}"
    raise ValueError(msg)


MAX_BYTES: Final = 16 * 1024 * 1024  # of a filter as text, enough for 100,000 ids


def to_json(condition: Where) -> dict[str, object]:
    """Return a condition as JSON values; times are seconds since the epoch."""
    match condition:
        case And(parts=parts):
            return _conjunction([to_json(part) for part in parts])
        case Or(parts=parts):
            return {"any": [to_json(part) for part in parts]}
        case Not(part=part):
            return {"not": to_json(part)}
        case AnyOf(name=name, values=values):
            return {name: values[0] if len(values) == 1 else list(values)}
        case AllOf(name=name, values=values):
            return {f"{name}_all": list(values)}
        case Within(name=name, start=start, end=end):
            return {name: [_json_time(start), _json_time(end)]}
        case Measured(name=name, low=low, high=high):
            return {name: [low, high]}
        case OnMetadata():
            return {"metadata": filters.metadata.to_json(condition)}
        case Everything():
            return {}
        case _:
            msg = f"where: no JSON form of {type(condition).__name__}"
            raise TypeError(msg)


def _json_time(seconds: float | None) -> float | str | None:
    """Return a time as a number, or as ISO 8601 where a number would be taken for milliseconds."""
    if seconds is None or seconds <= LAST_NUMBER:
        return seconds
    return filters.metadata_times.time_text(seconds)


def _conjunction(parts: list[dict[str, object]]) -> dict[str, object]:
    """Return the parts merged into one object, as keywords of ``where``, unless a name recurs."""
    flat = {name: value for part in parts for name, value in part.items()}
    if len(flat) == sum(len(part) for part in parts):
        return flat
    return {"all": parts}


def from_json(value: str | Mapping[str, object]) -> Where:
    """Return the condition that JSON describes; see :meth:`Where.from_json`."""
    return _read(_parsed(value) if isinstance(value, str) else value, 1)


def _parsed(text: str) -> object:
    """Return the value of a JSON text.

    Raises:
        ValueError: not JSON, or a key comes twice in an object.
        QueryTooLarge: too long or too deep.
    """
    if len(text) > MAX_BYTES:
        msg = f"where: at most {MAX_BYTES} characters of JSON, got {len(text)}"
        raise QueryTooLarge(msg)
    repeated: list[str] = []

    def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, item in pairs:
            if name in found:
                repeated.append(name)
            found[name] = item
        return found

    try:
        parsed: object = json.loads(text, object_pairs_hook=object_of)
    except ValueError as error:
        msg = f"where: not JSON: {decoding_problem(error)}"
        raise ValueError(msg) from error
    except RecursionError as error:
        raise _too_deep() from error
    if repeated:  # a dict keeps the last one, and a condition that is dropped may widen a scope
        msg = (
            f"where: {shortened(repr(repeated[0]), LONGEST_NAMED)} comes twice in an object; "
            '{"all": [...]} joins conditions on one field'
        )
        raise ValueError(msg)
    return parsed


def _read(value: object, depth: int) -> Where:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if not isinstance(value, Mapping):
        msg = f"where: expected a JSON object, got {type(value).__name__}"
        raise TypeError(msg)
    sides: list[Where] = []
    for name, item in value.items():
        if name == "all":
            sides.extend(_parts(name, item, depth))
        elif name == "any":
            sides.append(joined(Or, _parts(name, item, depth)))
        elif name == "not":
            sides.append(~_read(item, depth + 1))
        else:
            sides.append(where(**{str(name): item}))
    return joined(And, sides)


def _parts(name: str, item: object, depth: int) -> list[Where]:
    if not isinstance(item, list | tuple):
        msg = f"where: {name!r} joins a list of objects, got {type(item).__name__}"
        raise TypeError(msg)
    return [_read(part, depth + 1) for part in item]


def _too_deep() -> QueryTooLarge:
    return QueryTooLarge(f"where: at most {MAX_DEPTH} levels deep")
