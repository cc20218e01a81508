"""Checks of arguments and of fields. Each message names the field, the value and the rule."""

from __future__ import annotations

import math
import operator
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeGuard

from oneiros import _core
from oneiros.errors import TextEncodingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "LARGEST_K",
    "LARGEST_WEIGHT",
    "Check",
    "as_float",
    "count",
    "file_name",
    "index_of",
    "is_real",
    "is_scalar_array",
    "not_an_integer",
    "require_callable",
    "require_choice",
    "require_flag",
    "require_instance",
    "require_int",
    "require_number",
    "require_numbers",
    "require_text",
    "require_utf8",
    "settle",
    "settle_numbers",
    "statuses",
    "texts",
    "within",
]


Check = Callable[[Any], Any]

TEXT_LIMIT = 16 * 2**20
"""Bytes of UTF-8 in a text."""
JSON_LIMIT = 2**20
"""Bytes of JSON in metadata, tags or sessions."""
LAST_NUMBER = 1e11
"""A time given as a number above this is milliseconds by mistake."""
FIRST_MOMENT = -62_135_596_800.0
"""The beginning of year 1; no clock shows less, though a memory may be of a million years."""
LAST_MOMENT = 253_402_300_800.0
"""The end of year 9999: times up to it are told as a datetime or in ISO 8601, and the store holds them."""
TIME_RULE = "seconds since 1970, at most 1e11 (milliseconds by mistake?)"
FLOAT32_MAX = 3.4028234663852886e38
# A float32 vector of length 1 is off by up to 2**-23 in its squared length: such a one is left as
# it is, so that what was exported comes back with the same bits.


def wrong(name: str, rule: str, value: object) -> str:
    """Return the message of every refusal: the field, the rule and the (shortened) value."""
    return f"{name}: must be {rule}, got {reprlib.repr(value)}"


def plain(value: object) -> object:
    """Return the Python scalar inside a NumPy scalar, anything else unchanged."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        item: object = value.item()  # type: ignore[attr-defined]
        return item
    return value


def text(name: str, *, low: int, high: int) -> Check:
    """Return the check of a string of ``low`` to ``high`` bytes of UTF-8."""

    def check(value: Any) -> str:
        if type(value) is not str:
            value = _exact_str(name, value)
        size = len(value) if value.isascii() else len(encoded(name, value))
        if low <= size <= high:
            return value  # type: ignore[no-any-return]
        raise ValueError(wrong(name, f"{low} to {high} bytes of UTF-8, not {size}", value))

    return check


def _exact_str(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(wrong(name, "a str", value))
    return str.__str__(value)  # a subclass may carry behaviour; the store holds none


def encoded(name: str, value: str) -> bytes:
    """Return ``value`` as UTF-8.

    Raises:
        TextEncodingError: it holds a lone surrogate.
    """
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        msg = f"{name}: holds a lone surrogate at position {error.start}, so it is not text"
        raise TextEncodingError(msg) from None


def number(name: str, *, low: float, high: float, rule: str) -> Check:
    """Return the check of a finite float in [low, high]."""

    def check(value: Any) -> float:
        if type(value) is not float:
            value = _exact_float(name, value)
        if low <= value <= high:  # false for NaN
            return value  # type: ignore[no-any-return]
        raise ValueError(wrong(name, rule, value))

    return check


def _exact_float(name: str, value: object) -> float:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(wrong(name, "a number", value))
    try:
        return float(value)
    except OverflowError:
        raise ValueError(wrong(name, "a finite number", value)) from None


def integer(name: str, *, low: int, high: int) -> Check:
    """Return the check of an int in [low, high]."""

    def check(value: Any) -> int:
        if type(value) is not int:
            value = plain(value)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(wrong(name, "an int", value))
        if low <= value <= high:
            return int(value)
        raise ValueError(wrong(name, f"an int in [{low}, {high}]", value))

    return check


def require_flag(name: str, value: object) -> bool:
    """Return True or False, whether it is Python's or NumPy's.

    Raises:
        TypeError: ``value`` is anything else, 0 and 1 included.
    """
    if value is True or value is False:
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.bool_):
        return bool(value)
    raise TypeError(wrong(name, "True or False", value))


def boolean(name: str) -> Check:
    """Return the check of True or False."""
    return partial(require_flag, name)


def one_of(name: str, values: tuple[str, ...]) -> Check:
    """Return the check of one of a few words."""
    known = {word: word for word in values}

    def check(value: Any) -> str:
        try:
            return known[value]
        except (KeyError, TypeError):
            raise ValueError(wrong(name, "one of " + ", ".join(values), value)) from None

    return check


def time(name: str) -> Check:
    """Return the check of a time: seconds, an aware datetime or ISO 8601 with an offset."""

    def check(value: Any) -> float:
        if type(value) is float and -math.inf < value <= LAST_NUMBER:
            return value
        return _time_of(name, value)

    return check


def moment(name: str) -> Check:
    """Return the check of a time that a clock can show: as :func:`time`, from year 1 on."""
    check_time = time(name)

    def check(value: Any) -> float:
        seconds: float = check_time(value)
        if seconds < FIRST_MOMENT:
            raise ValueError(wrong(name, "in year 1 or later, seconds since 1970", value))
        return seconds

    return check


def _time_of(name: str, value: object) -> float:
    from datetime import datetime  # noqa: PLC0415 - takes a while to load; most times are floats

    given = value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(wrong(name, "ISO 8601 with an offset", value)) from None
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(wrong(name, "aware (it has no time zone)", given))
        return value.timestamp()
    seconds = _exact_float(name, value)
    if not math.isfinite(seconds):
        raise ValueError(wrong(name, "finite", value))
    if seconds > LAST_NUMBER:
        raise ValueError(wrong(name, TIME_RULE, value))
    return seconds


def words(name: str) -> Callable[[Any], list[str]]:
    """Return the check of a list of strings, kept in order."""

    def check(value: Any) -> list[str]:
        is_one = isinstance(value, (str, bytes, Mapping)) or getattr(value, "shape", None) == ()
        if is_one or not isinstance(value, Iterable):
            raise TypeError(wrong(name, "a list of str", value))
        found = [
            word if type(word) is str else _exact_str(f"{name}[{place}]", word)
            for place, word in enumerate(value)
        ]
        size = len(encoded(name, "".join(found))) + len(found)
        if size > JSON_LIMIT:
            raise ValueError(wrong(name, f"at most {JSON_LIMIT} bytes of UTF-8, not {size}", found))
        return found

    return check


def word_set(name: str) -> Check:
    """Return the check of a set of strings (any iterable of them)."""
    check_words = words(name)
    return lambda value: frozenset(check_words(value))


def embedding(name: str) -> Check:
    """Return the check of a vector: float32 of length 1, or None for the zero vector."""

    def check(value: Any) -> npt.NDArray[np.float32] | None:
        import numpy as np  # noqa: PLC0415 - only who gives vectors pays for it

        given = np.asarray(value)
        if given.dtype.kind not in "fiu":
            rule = f"an array of real numbers, not {given.dtype}"
            raise TypeError(wrong(name, rule, value))
        if given.ndim != 1 or given.size == 0:
            rule = f"of shape (n,) with n >= 1, not {given.shape}"
            raise ValueError(wrong(name, rule, value))
        unit = _unit(given)
        if unit is None:
            _require_zero(name, given)
        return unit

    return check


def _unit(given: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None:
    """Return the unit vector of real numbers; None where there is none."""
    flags = given.flags
    is_plain = _is_plain(given.dtype) and flags.c_contiguous and flags.aligned
    return _core.unit_vector(values=given if is_plain else given.astype(float))


def _is_plain(kind: np.dtype[Any]) -> bool:
    return kind.char in "fd" and kind.isnative


def _require_zero(name: str, given: npt.NDArray[Any]) -> None:
    """Refuse a vector that is not the zero vector, which has no unit vector: why is told."""
    import numpy as np  # noqa: PLC0415 - only who gives vectors pays for it

    wide = given.astype(np.float64)
    finite = np.isfinite(wide)
    if not finite.all():
        place = int(np.argmin(finite))
        raise ValueError(wrong(f"{name}[{place}]", "finite", wide[place].item()))
    if np.abs(wide).max() > 1.0:  # its square is beyond every number, not below
        raise ValueError(wrong(name, "of finite length", wide))


def unit_rows(given: Sequence[Any]) -> npt.NDArray[np.float32] | None:
    """Return vectors as the check of an embedding returns each, with equal bits, shape (n, d).

    Args:
        given: at least one.

    Returns:
        None where they have to be checked one by one: one is refused, is the zero vector, or has
        another width than the first.
    """
    import numpy as np  # noqa: PLC0415 - only who gives vectors pays for it

    rows = list(map(np.asarray, given))
    shape = rows[0].shape
    if len(shape) != 1 or not shape[0]:
        return None
    if any(row.shape != shape or row.dtype.kind not in "fiu" for row in rows):
        return None
    if len({row.dtype for row in rows}) == 1 and _is_plain(rows[0].dtype):
        return _core.unit_vectors(values=np.stack(rows))
    found = np.empty((len(rows), *shape), np.float32)
    for place, row in enumerate(rows):
        unit = _unit(row)
        if unit is None:
            return None
        found[place] = unit
    return found


_repr = reprlib.repr


def require_instance(name: str, value: object, kinds: tuple[type, ...], words: str) -> None:
    """Raise TypeError, saying what ``words`` say, unless ``value`` is one of ``kinds``."""
    if not isinstance(value, kinds):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def require_text(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str."""
    require_instance(name, value, (str,), "str")


def require_utf8(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str, TextEncodingError if it holds lone surrogates."""
    require_text(name, value)
    encoded(name, str(value))


def require_callable(name: str, value: object, words: str) -> None:
    """Raise TypeError, saying what ``words`` say, unless ``value`` can be called."""
    if not callable(value):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def file_name(name: str, value: object) -> str:
    """Return the path that a str or ``os.PathLike`` is.

    Raises:
        TypeError: something else, bytes too.
        ValueError: an empty path, one with a NUL or a lone surrogate.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    require_instance(name, path, (str,), "a str or a path of str")
    text = str(path)
    if not text or "\0" in text:
        msg = f"{name}: must be a file's name, got {text!r}"
        raise ValueError(msg)
    encoded(name, text)
    return text


def is_real(value: object) -> TypeGuard[SupportsFloat]:
    """Return whether a value is a real number and no bool."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool)
    from numbers import Real  # noqa: PLC0415 - a float32 of NumPy, a Fraction, or no number

    return isinstance(value, Real)


def as_float(value: SupportsFloat) -> float:
    """Return a real number as a float; an int beyond every float is infinite."""
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf  # type: ignore[operator]


def is_scalar_array(value: object) -> bool:
    """Whether it is an array of NumPy without a dimension, which only looks as if it iterated."""
    return getattr(value, "shape", None) == ()


def texts(name: str, values: object) -> Sequence[str]:
    """Return several str as a sequence; a single str is none."""
    if (
        isinstance(values, str | bytes)
        or not isinstance(values, Iterable)
        or is_scalar_array(values)
    ):
        msg = f"{name}: expected a sequence of str, got {type(values).__name__}"
        raise TypeError(msg)
    found = values if isinstance(values, Sequence) else list(values)
    for place, value in enumerate(found):
        require_text(f"{name}[{place}]", value)
    return found


def require_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the known words."""
    if not isinstance(value, str) or value not in known:
        msg = f"{name}: must be one of {', '.join(known)}, got {reprlib.repr(value)}"
        raise ValueError(msg)


def count(name: str, value: object, *, low: int = 0) -> int:
    """Return an int from ``low`` to 2^31 - 1; anything that indexes is one, a truth value is not."""
    return within(name, index_of(name, value), low, 2**31 - 1)


def index_of(name: str, value: object) -> int:
    """Return anything that indexes as an int.

    Raises:
        TypeError: it does not, or is a truth value.
    """
    if isinstance(value, bool):
        raise not_an_integer(name, value)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise not_an_integer(name, value) from None


def not_an_integer(name: str, value: object) -> TypeError:
    """Return the error for an argument that must be an integer."""
    return TypeError(f"{name}: expected an integer, got {type(value).__name__} {_repr(value)}")


def within(name: str, number: int, low: int, high: int) -> int:
    """Return an integer from ``low`` to ``high``.

    Raises:
        ValueError: it lies outside.
    """
    if not low <= number <= high:
        msg = f"{name}: must be in {low} to {high}, got {number!r}"
        raise ValueError(msg)
    return number


def statuses(status: str | Sequence[str] | None) -> Sequence[str] | None:
    """Return a list of statuses where one was given."""
    if status is None or isinstance(status, str):
        return None if status is None else [status]
    require_instance("status", status, (Sequence, set, frozenset), "a str or several")
    return list(status)


LARGEST_WEIGHT = 1e6
LARGEST_K = 1e9
"""With it as the bound of every weight, no product of factors overflows."""


def settle(declaration: object, field: str, value: object) -> None:
    """Set ``field`` of a frozen declaration that is still being made."""
    object.__setattr__(declaration, field, value)


def require_number(
    field: str,
    value: object,
    *,
    low: float,
    high: float = math.inf,
    above_low: bool = False,
    below_high: bool = False,
    finite: bool = True,
) -> float:
    """Return ``value`` as a float.

    Args:
        field: its name, for the error.
        value: an int, a float or another real number; bool is refused.
        low: the least value allowed.
        high: the greatest value allowed.
        above_low: ``low`` itself is refused too.
        below_high: ``high`` itself is refused too.
        finite: infinity is refused; NaN always is.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: ``value`` lies outside.
    """
    if not is_real(value):
        msg = f"{field}: expected a number, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    number = as_float(value)
    low_holds = number > low if above_low else number >= low
    high_holds = number < high if below_high else number <= high
    if not (low_holds and high_holds) or (finite and math.isinf(number)):
        bounds = [f"> {low:g}" if above_low else f">= {low:g}"]
        bounds += [f"{'<' if below_high else '<='} {high:g}"] if math.isfinite(high) else []
        bounds += ["finite"] if finite and not math.isfinite(high) else []
        msg = f"{field}: must be {' and '.join(bounds)}, got {value!r}"
        raise ValueError(msg)
    return number


def settle_numbers(declaration: object, **rules: tuple[float, float, bool]) -> None:
    """Check fields by (low, high, low itself refused) and store them as floats."""
    for field, (low, high, above_low) in rules.items():
        value = require_number(
            field, getattr(declaration, field), low=low, high=high, above_low=above_low
        )
        settle(declaration, field, value)


def require_numbers(
    field: str,
    value: object,
    *,
    low: float,
    high: float = math.inf,
    above_low: bool = False,
    finite: bool = True,
    count: int | None = None,
) -> tuple[float, ...]:
    """Return ``value``, a tuple, list or array of numbers, as a tuple of floats.

    Args:
        field: its name, for the error.
        value: what to check; each item as :func:`require_number`.
        low: the least number allowed.
        high: the greatest number allowed.
        above_low: ``low`` itself is refused too.
        finite: infinity is refused.
        count: how many there must be; None: at least one.

    Raises:
        TypeError: ``value`` is no sequence of numbers.
        ValueError: another count, or a number outside.
    """
    is_one = isinstance(value, str | bytes) or is_scalar_array(value)
    if is_one or not hasattr(value, "__len__"):
        msg = f"{field}: expected a list of numbers, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    items = list(value) if isinstance(value, Iterable) else []
    if len(items) != count if count is not None else not items:
        wanted = "at least one number" if count is None else f"{count} numbers"
        msg = f"{field}: expected {wanted}, got {value!r}"
        raise ValueError(msg)
    return tuple(
        require_number(
            f"{field}[{index}]", item, low=low, high=high, above_low=above_low, finite=finite
        )
        for index, item in enumerate(items)
    )


def require_int(field: str, value: object, *, low: int, high: int) -> int:
    """Return ``value``, an int from ``low`` to ``high``.

    Raises:
        TypeError: ``value`` is no int (bool is none).
        ValueError: ``value`` lies outside.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise not_an_integer(field, value)
    return within(field, value, low, high)


def settle_flags(declaration: object, *fields: str) -> None:
    """Check that fields are True or False, Python's or NumPy's, and store them as Python's.

    Raises:
        TypeError: one is anything else, 0 and 1 included.
    """
    for field in fields:
        settle(declaration, field, require_flag(field, getattr(declaration, field)))
