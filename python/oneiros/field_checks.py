"""What a field accepts: one check a kind of field, each a closure made once.

A check takes what the user gave and returns what a memory holds, or raises ``ValueError`` or
``TypeError`` naming the field, the rule and the value. The first line of most checks is the common
case, since imports run them by the million.
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from oneiros import _core
from oneiros.errors import TextEncodingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Check"]

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
    kind, flags = given.dtype, given.flags
    is_plain = kind.char in "fd" and kind.isnative and flags.c_contiguous and flags.aligned
    return _core.unit_vector(values=given if is_plain else given.astype(float))


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
    found = np.empty((len(rows), *shape), np.float32)
    for place, row in enumerate(rows):
        unit = _unit(row)
        if unit is None:
            return None
        found[place] = unit
    return found
