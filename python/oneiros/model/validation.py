"""Checks of arguments and of fields. Each message names the field, the value and the rule."""

from __future__ import annotations

import math
import operator
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, SupportsFloat, TypeGuard

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import TextEncodingError
from oneiros.model.calls import is_coroutine

if TYPE_CHECKING:
    import re

    import numpy.typing as npt

__all__ = [
    "LARGEST_K",
    "LARGEST_WEIGHT",
    "Check",
    "as_float",
    "brief",
    "checked_threads",
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
    "require_match",
    "require_number",
    "require_numbers",
    "require_seconds",
    "require_text",
    "require_threads",
    "require_utf8",
    "seconds_of",
    "settle",
    "settle_numbers",
    "shown",
    "statuses",
    "texts",
    "unmasked",
    "within",
]


Check = Callable[[Any], Any]

TEXT_LIMIT = 16 * 2**20
"""Bytes of UTF-8 in a text."""
JSON_LIMIT = 2**20
"""Bytes of JSON in metadata, and of UTF-8 in tags, labels or ids."""
LAST_NUMBER = 1e11
"""The largest time as a number. A larger one is taken for milliseconds and refused."""
FIRST_MOMENT = -62_135_596_800.0
"""The beginning of year 1, the lower limit of clocks. Times of memories have no lower limit."""
LAST_MOMENT = 253_402_300_800.0
"""The end of year 9999, the upper limit of stored times and of those given as a datetime."""
TIME_FORMS = "a number of seconds, an aware datetime or ISO 8601 with an offset"
TIME_RULE = "seconds since 1970, at most 1e11 (milliseconds by mistake?)"
FLOAT32_MAX = 3.4028234663852886e38


def wrong(name: str, rule: str, value: object) -> str:
    """Return the error message for an invalid value: field, rule and shortened value."""
    return f"{name}: must be {rule}, got {brief(value)}"


class _Brief(reprlib.Repr):
    """Shortened representations, also of ints with more digits than Python prints."""

    def __init__(self) -> None:
        super().__init__()
        self.maxother = 80  # enough for a datetime with its zone

    def repr_int(self, x: int, level: int) -> str:
        try:
            repr(x)
        except ValueError:  # since Python 3.14 the library's own text names an address
            return f"an int of {x.bit_length()} bits"
        return super().repr_int(x, level)


brief: Final = _Brief().repr
"""A function that returns a shortened ``repr`` of a value, for messages."""


def shown(value: object) -> str:
    """Return ``repr(value)``, shortened if Python cannot print it: too many digits or levels."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return brief(value)


def plain(value: object) -> object:
    """Return the Python value of a NumPy scalar, anything else unchanged.

    So are NumPy's times and durations: those in nanoseconds would become their numbers.
    """
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        if value.dtype.kind in "mM":  # type: ignore[attr-defined]
            return value
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
    return str.__str__(value)  # a plain str, even for a subclass


def encoded(name: str, value: str) -> bytes:
    """Return ``value`` as UTF-8.

    Raises:
        TextEncodingError: ``value`` contains a lone surrogate.
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


def seconds(name: str, *, low: float, high: float, rule: str) -> Check:
    """Return the check of a duration: a finite number in [low, high], or a ``timedelta``."""
    check_number = number(name, low=low, high=high, rule=rule)
    return lambda value: check_number(seconds_of(value))


def _exact_float(name: str, value: object, rule: str = "a number") -> float:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(wrong(name, rule, value))
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
    """Return a bool of Python or NumPy as a Python bool.

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
    """Return the check of a word from a list."""
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
    """Return the check of a clock's time: as :func:`time`, but not before year 1."""
    check_time = time(name)

    def check(value: Any) -> float:
        seconds: float = check_time(value)
        if seconds < FIRST_MOMENT:
            raise ValueError(wrong(name, "in year 1 or later, seconds since 1970", value))
        return seconds

    return check


def _time_of(name: str, value: object) -> float:
    from datetime import datetime  # noqa: PLC0415 - slow to load, and most times are floats

    given = value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(wrong(name, "ISO 8601 with an offset", value)) from None
    if isinstance(value, datetime):
        if value != value:  # noqa: PLR0124 - NaT of pandas, a datetime without methods
            raise ValueError(wrong(name, "a time", given))
        if value.utcoffset() is None:
            raise ValueError(wrong(name, "aware (it has no time zone)", given))
        seconds = value.timestamp()
        if seconds < LAST_MOMENT:
            return seconds
        if seconds > LAST_MOMENT or value.microsecond < 500_000:
            raise ValueError(wrong(name, "in year 9999 or earlier (UTC)", given))
        return math.nextafter(LAST_MOMENT, 0.0)  # float64 rounds the last microseconds up
    seconds = _exact_float(name, value, TIME_FORMS)
    if not math.isfinite(seconds):
        raise ValueError(wrong(name, "finite", value))
    if seconds > LAST_NUMBER:
        raise ValueError(wrong(name, TIME_RULE, value))
    return seconds


def words(name: str, *, high: int = JSON_LIMIT) -> Callable[[Any], list[str]]:
    """Return the check of a list of strings, kept in order.

    Args:
        name: the field.
        high: maximum number of bytes of UTF-8, one more for each string.
    """

    def check(value: Any) -> list[str]:
        is_scalar = isinstance(value, (str, bytes, Mapping)) or is_scalar_array(value)
        if is_scalar or not isinstance(value, Iterable):
            raise TypeError(wrong(name, "a list of str", value))
        found = [
            word if type(word) is str else _exact_str(f"{name}[{place}]", word)
            for place, word in enumerate(value)
        ]
        size = len(encoded(name, "".join(found))) + len(found)
        if size > high:
            raise ValueError(wrong(name, f"at most {high} bytes of UTF-8, not {size}", found))
        return found

    return check


def ids(name: str, *, high: int) -> Check:
    """Return the check of a list of ids of 1 to ``high`` bytes. It returns a tuple, each id once."""
    check_words, check_id = words(name), text(name, low=1, high=high)

    def check(value: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(check_id, check_words(value))))

    return check


def path(name: str, *, high: int, most: int) -> Check:
    """Return the check of segments joined by "/".

    Args:
        name: the field.
        high: maximum number of bytes of UTF-8.
        most: maximum number of segments. Each has at least one character.
    """
    check_text = text(name, low=1, high=high)

    def check(value: Any) -> str:
        checked: str = check_text(value)
        segments = checked.split("/")
        if "" in segments:
            raise ValueError(wrong(name, "segments joined by single slashes, as in a/b", value))
        if len(segments) > most:
            raise ValueError(wrong(name, f"at most {most} segments, not {len(segments)}", value))
        return checked

    return check


def word_set(name: str) -> Check:
    """Return the check of a set of strings, given as any iterable."""
    check_words = words(name, high=TEXT_LIMIT)  # use adds to the set: what it makes can come back
    return lambda value: frozenset(check_words(value))


def embedding(name: str) -> Check:
    """Return the check of a vector. It returns float32 of length 1, or None for the zero vector."""

    def check(value: Any) -> npt.NDArray[np.float32] | None:
        try:
            given = np.asarray(unmasked(value))
        except ValueError:  # lists of several lengths
            raise ValueError(wrong(name, "of shape (n,) with n >= 1", value)) from None
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
    """Return the unit vector in the direction of ``given``; None if there is none.

    A float32 vector whose length is 1 up to rounding is returned unchanged, so that exporting and
    importing keep its bits.
    """
    flags = given.flags
    is_plain = _is_plain(given.dtype) and flags.c_contiguous and flags.aligned
    return _core.unit_vector(values=given if is_plain else given.astype(float))


def _is_plain(kind: np.dtype[Any]) -> bool:
    return kind.char in "fd" and kind.isnative


def _require_zero(name: str, given: npt.NDArray[Any]) -> None:
    """Raise a ValueError for a vector without a unit vector, unless it is the zero vector."""
    wide = given.astype(np.float64)
    finite = np.isfinite(wide)
    if not finite.all():
        place = int(np.argmin(finite))
        raise ValueError(wrong(f"{name}[{place}]", "finite", wide[place].item()))
    if np.abs(wide).max() > 1.0:  # the square overflowed; it did not underflow
        raise ValueError(wrong(name, "of finite length", wide))


def unit_rows(given: Sequence[Any]) -> npt.NDArray[np.float32] | None:
    """Return unit vectors with the same bits as the check of an embedding, shape (n, d).

    Args:
        given: at least one vector.

    Returns:
        None if the vectors have to be checked one by one, because one is invalid, is the zero
        vector or differs in width from the first.
    """
    rows = [np.asarray(unmasked(vector)) for vector in given]
    shape = rows[0].shape
    if len(shape) != 1 or not shape[0]:
        return None
    dtypes = {row.dtype for row in rows}
    if {row.shape for row in rows} != {shape} or any(one.kind not in "fiu" for one in dtypes):
        return None
    if len(dtypes) == 1 and _is_plain(rows[0].dtype):
        # np.stack would make a view of each row first.
        return _core.unit_vectors(values=np.concatenate(rows).reshape(len(rows), *shape))
    found = np.empty((len(rows), *shape), np.float32)
    for place, row in enumerate(rows):
        unit = _unit(row)
        if unit is None:
            return None
        found[place] = unit
    return found


def require_instance(name: str, value: object, kinds: tuple[type, ...], words: str) -> None:
    """Raise TypeError ("expected ``words``") unless ``value`` is an instance of ``kinds``."""
    if not isinstance(value, kinds):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def require_text(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str."""
    require_instance(name, value, (str,), "str")


def require_match(name: str, value: object, pattern: re.Pattern[str]) -> None:
    """Raise TypeError unless ``value`` is a str, ValueError unless all of it matches a pattern."""
    if not isinstance(value, str):
        msg = f"{name}: expected str, got {type(value).__name__} {brief(value)}"
        raise TypeError(msg)
    if not pattern.fullmatch(value):
        msg = f"{name}: must match {pattern.pattern}, got {brief(value)}"
        raise ValueError(msg)


def require_utf8(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str, TextEncodingError for lone surrogates."""
    require_text(name, value)
    encoded(name, str(value))


def require_callable(name: str, value: object, words: str) -> None:
    """Raise TypeError ("expected ``words``") unless ``value`` is callable, and not to be awaited."""
    if not callable(value):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)
    require_plain(name, value)


def require_plain(name: str, function: object) -> None:
    """Raise TypeError if the callable ``function`` is a coroutine function."""
    if is_coroutine(function):
        msg = f"{name}: expected a plain callable, got a coroutine function, {function!r}"
        raise TypeError(msg)


def file_name(name: str, value: object) -> str:
    """Return the path of a str or ``os.PathLike`` as a str.

    Raises:
        TypeError: ``value`` is anything else, for example bytes.
        ValueError: an empty path, or one with a NUL or a lone surrogate.
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
    """Return whether a value is a real number, such as a NumPy float or a Fraction, but no bool."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool)
    # NumPy derives its durations from integers.
    return isinstance(value, Real) and getattr(getattr(value, "dtype", None), "kind", "") != "m"


def as_float(value: SupportsFloat) -> float:
    """Return a real number as a float; infinity if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf  # type: ignore[operator]


def is_scalar_array(value: object) -> bool:
    """Return whether a value is a NumPy array without dimensions, which cannot be iterated."""
    return getattr(value, "shape", None) == ()


def unmasked(value: Any) -> Any:
    """Return a masked array of numbers with NaN for what its mask hides; other values unchanged."""
    is_masked = type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray)
    if not is_masked or value.dtype.kind not in "fiub":
        return value
    if not np.ma.is_masked(value):
        return value.data
    dtype = value.dtype if value.dtype.kind == "f" else np.float64
    return np.where(np.ma.getmaskarray(value), math.nan, value.data).astype(dtype)


def texts(name: str, values: object) -> Sequence[str]:
    """Return an iterable of str as a sequence.

    Raises:
        TypeError: ``values`` is a single str or no iterable, or an item is no str.
    """
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
        msg = f"{name}: must be one of {', '.join(known)}, got {brief(value)}"
        raise ValueError(msg)


def count(name: str, value: object, *, low: int = 0) -> int:
    """Return an integer from ``low`` to 2^31 - 1, checked as by :func:`index_of`."""
    return within(name, index_of(name, value), low, 2**31 - 1)


def index_of(name: str, value: object) -> int:
    """Return anything with ``__index__`` as an int.

    Raises:
        TypeError: ``value`` is a bool or has no ``__index__``.
    """
    if isinstance(value, bool):
        raise not_an_integer(name, value)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise not_an_integer(name, value) from None


def not_an_integer(name: str, value: object) -> TypeError:
    """Return the error for an argument that must be an integer."""
    return TypeError(f"{name}: expected an integer, got {type(value).__name__} {brief(value)}")


def within(name: str, number: int, low: int, high: int) -> int:
    """Return an integer from ``low`` to ``high``.

    Raises:
        ValueError: ``number`` is outside.
    """
    if not low <= number <= high:
        msg = f"{name}: must be in {low} to {high}, got {shown(number)}"
        raise ValueError(msg)
    return number


def statuses(status: str | Sequence[str] | None) -> Sequence[str] | None:
    """Return one or several statuses as a list; None for None."""
    if status is None or isinstance(status, str):
        return None if status is None else [status]
    require_instance("status", status, (Sequence, set, frozenset), "a str or several")
    return list(status)


LARGEST_WEIGHT = 1e6
"""The upper limit of weights, so that no product of factors overflows."""
LARGEST_K = 1e9


def settle(declaration: object, field: str, value: object) -> None:
    """Set a field of a frozen declaration in its ``__post_init__``."""
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
    """Return ``value`` as a float; -0.0 as 0.0, so that equal numbers are written alike.

    Args:
        field: the field's name, for the error.
        value: an int, a float or another real number; bool is refused.
        low: the smallest value allowed.
        high: the largest value allowed.
        above_low: whether ``low`` itself is refused.
        below_high: whether ``high`` itself is refused.
        finite: whether infinity is refused; NaN always is.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: ``value`` is outside the range.
    """
    if not is_real(value):
        msg = f"{field}: expected a number, got {type(value).__name__} {shown(value)}"
        raise TypeError(msg)
    number = as_float(value)
    low_holds = number > low if above_low else number >= low
    high_holds = number < high if below_high else number <= high
    if not (low_holds and high_holds) or (finite and math.isinf(number)):
        bounds = [f"> {low:g}" if above_low else f">= {low:g}"]
        bounds += [f"{'<' if below_high else '<='} {high:g}"] if math.isfinite(high) else []
        bounds += ["finite"] if finite and not math.isfinite(high) else []
        msg = f"{field}: must be {' and '.join(bounds)}, got {shown(value)}"
        raise ValueError(msg)
    return number + 0.0


def require_seconds(
    field: str,
    value: object,
    *,
    above_low: bool = False,
    finite: bool = True,
) -> float:
    """Return a duration of at least 0, given in seconds or as a ``timedelta``, as seconds.

    Args:
        field: the field's name, for the error.
        value: a number or a ``datetime.timedelta``.
        above_low: whether 0 is refused.
        finite: whether infinity is refused; NaN always is.

    Raises:
        TypeError, ValueError: as :func:`require_number`.
    """
    return require_number(field, seconds_of(value), low=0.0, above_low=above_low, finite=finite)


def seconds_of(value: Any) -> Any:
    """Return the seconds of a ``timedelta``, anything else unchanged."""
    datetime = sys.modules.get("datetime")  # slow to load; a timedelta's caller has loaded it
    if datetime is not None and isinstance(value, datetime.timedelta):
        return value.total_seconds()
    return value


def settle_numbers(declaration: object, **rules: tuple[float, float, bool]) -> None:
    """Check fields and store them as floats.

    Args:
        declaration: a frozen dataclass.
        **rules: by field, the smallest and largest value and whether the smallest is refused.
    """
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
        field: the field's name, for the error.
        value: the numbers, each checked as by :func:`require_number`.
        low: the smallest number allowed.
        high: the largest number allowed.
        above_low: whether ``low`` itself is refused.
        finite: whether infinity is refused.
        count: the required length; None: at least 1.

    Raises:
        TypeError: ``value`` is no sequence of numbers.
        ValueError: another length, or a number outside the range.
    """
    is_scalar = isinstance(value, str | bytes) or is_scalar_array(value)
    if is_scalar or not hasattr(value, "__len__"):
        msg = f"{field}: expected a list of numbers, got {type(value).__name__} {brief(value)}"
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
        TypeError: ``value`` is no int, or is a bool.
        ValueError: ``value`` is outside the range.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise not_an_integer(field, value)
    return within(field, value, low, high)


def settle_flags(declaration: object, *fields: str) -> None:
    """Check that fields are bools of Python or NumPy and store them as Python bools.

    Raises:
        TypeError: a field is anything else, 0 and 1 included.
    """
    for field in fields:
        settle(declaration, field, require_flag(field, getattr(declaration, field)))


def settle_optional_flags(declaration: object, *fields: str) -> None:
    """Check that fields are bools or None, and store False as None, which a record leaves out.

    Raises:
        TypeError: a field is anything else.
    """
    for field in fields:
        given = getattr(declaration, field)
        if given is not None:
            settle(declaration, field, require_flag(field, given) or None)


MOST_THREADS = 256


def require_threads(threads: object) -> int:
    """Return a number of threads, 1 to 256.

    Raises:
        TypeError: ``threads`` is no int.
        ValueError: out of range.
    """
    return require_int("threads", plain(threads), low=1, high=MOST_THREADS)


def checked_threads(threads: int | None) -> int:
    """Return the number of threads to use; one per core for None.

    Raises:
        TypeError, ValueError: as :func:`require_threads`.
    """
    return min(os.cpu_count() or 1, MOST_THREADS) if threads is None else require_threads(threads)
