"""Conditions on metadata: ``oneiros.meta``, and their JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from oneiros import filters
from oneiros.filters.conditions import (
    And,
    MetadataExists,
    MetadataHas,
    MetadataIn,
    MetadataIs,
    MetadataPrefix,
    MetadataRange,
    MetadataSubstring,
    Where,
    joined,
)
from oneiros.filters.fields import Scalar, is_finite
from oneiros.filters.metadata_paths import Key, label, read_key
from oneiros.model.calls import nearest
from oneiros.model.validation import (
    brief,
    is_scalar_array,
    plain,
    require_flag,
    require_utf8,
    shown,
)
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

__all__ = ["MetadataPath", "meta", "read_conditions", "to_json"]


class MetadataPath:
    """The value at one path of the metadata. Make one with :func:`oneiros.meta`."""

    __slots__ = ("_key",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # its == makes a filter

    def __init__(self, key: Key) -> None:
        self._key = key

    def __eq__(self, value: object) -> Where:  # type: ignore[override]
        return MetadataIs(self._key, _scalar(self._key, value))

    def __ne__(self, value: object) -> Where:  # type: ignore[override]
        return ~(self == value)

    def __lt__(self, high: float | str | date) -> Where:
        return _range(self._key, None, high, has_high=False)

    def __le__(self, high: float | str | date) -> Where:
        return _range(self._key, None, high)

    def __gt__(self, low: float | str | date) -> Where:
        return _range(self._key, low, None, has_low=False)

    def __ge__(self, low: float | str | date) -> Where:
        return _range(self._key, low, None)

    def between(self, low: float | str | date | None, high: float | str | date | None) -> Where:
        """Match numbers in [low, high], or times in [low, high), as in :func:`oneiros.where`.

        Args:
            low: a number or a time; None: no lower end.
            high: the same; at least ``low``.

        Raises:
            ValueError: not finite, no time or without a time zone, or ``low`` after ``high``.
            TypeError: a number and a time, another type, or None twice.
        """
        return _between(self._key, low, high)

    def in_(self, values: Iterable[Scalar]) -> Where:
        """Match values that equal one of ``values``."""
        return _in(self._key, _scalars(self._key, values))

    def not_in(self, values: Iterable[Scalar]) -> Where:
        """Match all memories that ``in_(values)`` does not, those without a value too."""
        return ~self.in_(values)

    def is_null(self) -> Where:
        """Match JSON null, which is not the same as no value."""
        return MetadataIs(self._key, None)

    def exists(self) -> Where:
        """Match any value: null, lists and objects, too."""
        return MetadataExists(self._key)

    def contains(self, value: Scalar) -> Where:
        """Match lists with an item that equals ``value``."""
        return MetadataHas(self._key, (_scalar(self._key, value),))

    def contains_any(self, values: Iterable[Scalar]) -> Where:
        """Match lists with an item that equals one of ``values``."""
        return MetadataHas(self._key, _scalars(self._key, values))

    def contains_all(self, values: Iterable[Scalar]) -> Where:
        """Match lists that have all of ``values``. Without values, every memory matches."""
        return joined(And, map(self.contains, _scalars(self._key, values)))

    def prefix(self, text: str) -> Where:
        """Match texts that start with ``text``, upper and lower case being different."""
        require_utf8(label(self._key), text)
        return MetadataPrefix(self._key, text)

    def substring(self, text: str, *, ignore_case: bool = False) -> Where:
        """Match texts that contain ``text``. It compares each distinct value once.

        Args:
            text: the part to find; "" is in every text.
            ignore_case: compare both case-folded (``str.casefold``).
        """
        require_utf8(label(self._key), text)
        return MetadataSubstring(self._key, text, require_flag("ignore_case", ignore_case))

    def __repr__(self) -> str:
        return f"oneiros.meta({self._key!r})"

    def __getattr__(self, name: str) -> NoReturn:
        msg = f"{label(self._key)}: no comparison has the name {name!r}"
        if not name.startswith("_"):
            known = [word for word in vars(type(self)) if not word.startswith("_")]
            msg += _known(name, known, "and ==, !=, <, <=, >, >=")
        raise AttributeError(msg, name=name, obj=self)

    def __bool__(self) -> bool:
        msg = f"{label(self._key)}: has no truth value; compare it, or use .exists()"
        raise TypeError(msg)

    def __contains__(self, value: object) -> NoReturn:
        msg = f"{label(self._key)}: use .contains({shown(value)}) instead of `in`"
        raise TypeError(msg)

    def _unbracketed(self, _: object) -> NoReturn:
        msg = f"{label(self._key)}: put comparisons into brackets before joining them with & and |"
        raise TypeError(msg)

    # `a & meta("k") == 1` is `(a & meta("k")) == 1` in Python.
    __and__ = __rand__ = __or__ = __ror__ = _unbracketed


def meta(path: str | Sequence[str]) -> MetadataPath:
    """Return the value at a path of the metadata, to compare with.

    Comparisons make filters, which combine with ``&``, ``|`` and ``~``:

    - ``==``, ``!=``, :meth:`~MetadataPath.in_`, :meth:`~MetadataPath.not_in`: texts, numbers, bools,
      None for JSON null. 1 equals 1.0; True does not equal 1; a list equals nothing.
    - ``<``, ``<=``, ``>``, ``>=``, :meth:`~MetadataPath.between`: numbers are compared with numbers,
      and times with texts in ISO 8601 with an offset. A date alone is midnight in UTC.
    - :meth:`~MetadataPath.contains`, :meth:`~MetadataPath.contains_any`,
      :meth:`~MetadataPath.contains_all`: items of a list.
    - :meth:`~MetadataPath.prefix`, :meth:`~MetadataPath.substring`: texts.
    - :meth:`~MetadataPath.exists`, :meth:`~MetadataPath.is_null`.

    Without a value at the path, no comparison matches. ``!=``, ``not_in`` and ``~`` match all
    memories that the comparison does not, also those without a value.

    Args:
        path: a key; or a dotted path such as ``"customer.plan"``, which is one key in metadata that
            has this key, else a path through objects; or a sequence of keys, one for each level.

    Raises:
        TypeError: a key that is no text.
        ValueError: no key.
        QueryTooLarge: more than 32 keys.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> id = engine.add("An order", metadata={"price": 12.5, "customer": {"plan": "pro"}})
        >>> engine.count((oneiros.meta("price") >= 10) & (oneiros.meta("customer.plan") == "pro"))
        1
        >>> (oneiros.meta("price") >= 10).to_json()
        {'metadata': {'price': {'$gte': 10}}}
    """
    return MetadataPath(read_key(path))


def _scalar(key: Key, value: object) -> Scalar:
    value = plain(value)
    if value is not None and not isinstance(value, str | bool | int | float):
        msg = f"{label(key)}: expected text, number, truth value or None, got {shown(value)}"
        raise TypeError(msg)
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"{label(key)}: must be finite, got {shown(value)}"
        raise ValueError(msg)
    return value


def _scalars(key: Key, values: object) -> tuple[Scalar, ...]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        msg = f"{label(key)}: expected a list of values, got {shown(values)}"
        raise TypeError(msg)
    if is_scalar_array(values):
        msg = f"{label(key)}: expected a list of values, got {shown(values)}"
        raise TypeError(msg)
    return tuple(_scalar(key, value) for value in values)


def _in(key: Key, values: tuple[Scalar, ...]) -> Where:
    return MetadataIs(key, values[0]) if len(values) == 1 else MetadataIn(key, values)


class _Bound(NamedTuple):
    """One end of a range: a number, or a time in seconds since 1970."""

    value: float
    is_time: bool


def _bound(key: Key, value: object) -> _Bound:
    value = plain(value)
    if isinstance(value, bool) or value is None:
        msg = f"{label(key)}: must be a number or a time, got {shown(value)}"
        raise TypeError(msg)
    if not isinstance(value, int | float):
        return _Bound(filters.metadata_times.read_time(label(key), value), True)
    if not is_finite(value):
        msg = f"{label(key)}: must be finite, got {brief(value)}"
        raise ValueError(msg)
    return _Bound(value, False)


def _range(
    key: Key, low: object, high: object, *, has_low: bool = True, has_high: bool = True
) -> Where:
    """Return the condition that a value lies between two ends, of which None is open."""
    first = None if low is None else _bound(key, low)
    last = None if high is None else _bound(key, high)
    ends = [end for end in (first, last) if end is not None]
    if not ends:
        msg = f"{label(key)}: must be a number or a time, got None; .exists() matches any value"
        raise TypeError(msg)
    if ends[0].is_time != ends[-1].is_time:
        msg = f"{label(key)}: both ends must be numbers, or both times, got ({shown(low)}, {shown(high)})"
        raise TypeError(msg)
    if ends[0].value > ends[-1].value:
        msg = f"{label(key)}: start must not be after end, got ({shown(low)}, {shown(high)})"
        raise ValueError(msg)
    return MetadataRange(
        key,
        None if first is None else first.value,
        None if last is None else last.value,
        has_low and first is not None,
        has_high and last is not None,
        ends[0].is_time,
    )


def _between(key: Key, low: object, high: object) -> Where:
    is_time = any(end is not None and _bound(key, end).is_time for end in (low, high))
    return _range(key, low, high, has_high=not is_time)


# -- JSON ------------------------------------------------------------------------------------------

_LOWS: Final = {"$gte": True, "$gt": False}
_HIGHS: Final = {"$lte": True, "$lt": False}
_RANGES: Final = (*_LOWS, *_HIGHS)

_OPERATORS: Final[Mapping[str, Callable[[MetadataPath, Any], Where]]] = {
    "$eq": MetadataPath.__eq__,
    "$ne": MetadataPath.__ne__,
    "$in": MetadataPath.in_,
    "$nin": MetadataPath.not_in,
    "$contains": MetadataPath.contains,
    "$contains_any": MetadataPath.contains_any,
    "$contains_all": MetadataPath.contains_all,
    "$prefix": MetadataPath.prefix,
    "$substring": MetadataPath.substring,
    "$isubstring": lambda path, value: path.substring(value, ignore_case=True),
    "$exists": lambda path, value: (
        path.exists() if require_flag("metadata: $exists", value) else ~path.exists()
    ),
}
_PATH: Final = "$path"
_KNOWN: Final = (*_OPERATORS, *_RANGES, _PATH)


def read_conditions(value: object) -> list[Where]:
    """Return the conditions of ``where(metadata=value)``.

    ``value`` is a dict of key or dotted path to a scalar, to a dict of the keys below, or to a dict
    of operators.

    Raises:
        TypeError, ValueError, QueryTooLarge: see :func:`oneiros.where` and :func:`meta`.
    """
    if not isinstance(value, Mapping):
        msg = f"metadata: expected a dict of key to value, got {shown(value)}"
        raise TypeError(msg)
    return [part for key, item in value.items() for part in _read(_text_key(key), item)]


def _text_key(key: object) -> str:
    if not isinstance(key, str):
        msg = f"metadata: keys are text, got {shown(key)}"
        raise TypeError(msg)
    return key


def _read(key: Key, item: object) -> list[Where]:
    key = read_key(key)
    if not isinstance(item, Mapping) or not item:
        return [MetadataIs(key, _scalar(key, item))]
    words = [_text_key(word) for word in item]
    if any(word.startswith("$") for word in words):
        return _read_operators(key, item)
    above = key if isinstance(key, tuple) else (key,)
    return [part for word, below in item.items() for part in _read((*above, word), below)]


def _read_operators(key: Key, item: Mapping[str, Any]) -> list[Where]:
    for name in item:
        if name not in _KNOWN:
            msg = f"{label(key)}: unknown operator {name!r}{_known(name, _KNOWN)}"
            raise ValueError(msg)
    operators = dict(item)
    if _PATH in operators:
        key = _read_path(key, operators.pop(_PATH))
    path = MetadataPath(key)
    parts = [
        _OPERATORS[name](path, value) for name, value in operators.items() if name in _OPERATORS
    ]
    low, has_low = _end_of(key, operators, _LOWS)
    high, has_high = _end_of(key, operators, _HIGHS)
    if low is not None or high is not None:
        parts.append(_range(key, low, high, has_low=has_low, has_high=has_high))
    if not parts:
        msg = f"{label(key)}: {_PATH} alone is no condition; add an operator"
        raise ValueError(msg)
    return parts


def _read_path(key: Key, given: object) -> Key:
    """Return the path of ``$path``, of which the key must be the dotted form."""
    dotted = key if isinstance(key, str) else ".".join(key)
    if not isinstance(given, list | tuple) or ".".join(map(str, given)) != dotted:
        msg = f"{label(key)}: $path must list the keys of {dotted!r}, got {shown(given)}"
        raise ValueError(msg)
    return read_key(given)


def _end_of(key: Key, item: Mapping[str, Any], names: Mapping[str, bool]) -> tuple[Any, bool]:
    """Return the end of a range that one of the operators gives, and whether it matches."""
    given = [name for name in names if name in item]
    if len(given) > 1:
        msg = f"{label(key)}: give one of {' and '.join(names)}"
        raise ValueError(msg)
    if not given:
        return None, True
    value = item[given[0]]
    if value is None:
        _bound(key, value)  # raises
    return value, names[given[0]]


def _known(name: str, known: Iterable[str], more: str = "") -> str:
    """Return the end of a message about an unknown name."""
    names = list(known)
    near = nearest(name, names, 0.5)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"; known: {', '.join([*names, *([more] if more else [])])}{hint}"


def to_json(condition: Where) -> dict[str, object]:
    """Return a condition on metadata as JSON, which :func:`read_conditions` reads."""
    match condition:
        case MetadataIs(key=key, value=value):
            return _placed(key, "$eq", value)
        case MetadataIn(key=key, values=values):
            return _placed(key, "$in", list(values))
        case MetadataHas(key=key, values=values):
            if len(values) == 1:
                return _placed(key, "$contains", values[0])
            return _placed(key, "$contains_any", list(values))
        case MetadataPrefix(key=key, prefix=prefix):
            return _placed(key, "$prefix", prefix)
        case MetadataSubstring(key=key, text=text, ignores_case=ignores_case):
            return _placed(key, "$isubstring" if ignores_case else "$substring", text)
        case MetadataExists(key=key):
            return _placed(key, "$exists", True)
        case MetadataRange():
            return _range_json(condition)
        case _:
            msg = f"where: no JSON form of {type(condition).__name__}"
            raise TypeError(msg)


def _range_json(condition: MetadataRange) -> dict[str, object]:
    def shown(end: float) -> float | str:
        if not condition.is_time:
            return end
        return filters.metadata_times.time_text(end)

    operators: dict[str, object] = {}
    if condition.low is not None:
        operators["$gte" if condition.has_low else "$gt"] = shown(condition.low)
    if condition.high is not None:
        operators["$lte" if condition.has_high else "$lt"] = shown(condition.high)
    return _with_operators(condition.key, operators)


def _placed(key: Key, operator: str, value: object) -> dict[str, object]:
    if operator == "$eq" and (isinstance(key, str) or _nests(key)):
        return _nested(key, value)
    return _with_operators(key, {operator: value})


def _with_operators(key: Key, operators: dict[str, object]) -> dict[str, object]:
    if isinstance(key, str) or _nests(key):
        return _nested(key, operators)
    return {".".join(key): {_PATH: list(key), **operators}}


def _nests(key: tuple[str, ...]) -> bool:
    """Return whether nested dicts can state a path: no key below the first looks like an operator."""
    return len(key) > 1 and not any(word.startswith("$") for word in key[1:])


def _nested(key: Key, value: object) -> dict[str, object]:
    for word in reversed(key if isinstance(key, tuple) else (key,)):
        value = {word: value}
    assert isinstance(value, dict)
    return value
