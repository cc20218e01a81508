"""Arguments and results of kernels: checks, conversion and broadcasting.

Source: the conventions of docs/systems/README.md.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.model.validation import (
    as_float,
    brief,
    is_scalar_array,
    require_threads,
    unmasked,
)
from oneiros.scoring.program import Parameter

__all__ = [
    "FloatArray",
    "Result",
    "as_array",
    "checked_out",
    "coded",
    "has_nan",
    "is_scalar",
    "judged",
    "listed",
    "run",
]

FloatArray: TypeAlias = npt.NDArray[Any]
Result: TypeAlias = Any  # a float, a NumPy scalar or an array, depending on the arguments


def judged(kind: Callable[..., Any], **parameters: object) -> dict[str, Parameter] | None:
    """Check the parameters of a formula by its declaration; None if one is NaN.

    Args:
        kind: the class of the declaration.
        **parameters: its fields.

    Raises:
        TypeError: not a number.
        ValueError: out of its range.
    """
    if any(has_nan(value) for value in parameters.values()):
        return None
    try:  # types are part of the cache key: True equals 1, but is not a number
        checked = _checked(
            kind, tuple((name, type(value), value) for name, value in parameters.items())
        )
    except TypeError:  # a list, which cannot be a cache key, or an invalid value
        checked = _numbers(kind, parameters)
    return dict(checked)


@lru_cache(maxsize=1024)
def _checked(
    kind: Callable[..., Any], parameters: tuple[tuple[str, type, object], ...]
) -> dict[str, Parameter]:
    return _numbers(kind, {name: value for name, _, value in parameters})


def _numbers(kind: Callable[..., Any], parameters: Mapping[str, object]) -> dict[str, Parameter]:
    declaration = kind(**parameters)
    return {name: _plain(getattr(declaration, name)) for name in parameters}


def _plain(value: object) -> Any:
    return list(value) if isinstance(value, tuple) else value


def has_nan(value: object) -> bool:
    """Return whether a number, or any item of a list or array of numbers, is NaN."""
    if isinstance(value, tuple | list | np.ndarray):
        return not is_scalar_array(value) and any(map(has_nan, value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def is_scalar(value: object) -> bool:
    """Return whether ``value`` is one number. Durations of NumPy, which it counts as such, are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, np.timedelta64)


def listed(name: str, value: object) -> FloatArray:
    """Return a number, or a list or an array of any dtype, as an array.

    Raises:
        ValueError: lists of several lengths.
    """
    try:
        return np.asarray(value)
    except ValueError:
        msg = f"{name}: expected lists of one length, got {brief(value)}"
        raise ValueError(msg) from None


def coded(name: str, value: object, words: Mapping[str, int]) -> Any:
    """Replace words by their codes in a word, a code, or a list or array of either.

    Raises:
        ValueError: an unknown word, or lists of several lengths.
    """
    if isinstance(value, str):
        return _code(name, value, words)
    if is_scalar(value):
        return value
    array = listed(name, value)
    if array.dtype.kind not in "UOT":
        return array
    codes = [_code(name, word, words) for word in array.ravel().tolist()]
    return np.array(codes, np.uint8).reshape(array.shape)


def _code(name: str, word: object, words: Mapping[str, int]) -> int:
    if isinstance(word, str) and word in words:
        return words[word]
    if isinstance(word, int) and not isinstance(word, bool) and word in words.values():
        return word
    msg = f"{name}: must be one of {', '.join(words)}, got {word!r}"
    raise ValueError(msg)


def run(
    kernel: str,
    values: Mapping[str, npt.ArrayLike],
    parameters: Mapping[str, Parameter] | None,
    out: FloatArray | None,
    threads: int,
) -> Result:
    """Broadcast ``values`` and call a kernel on them.

    Args:
        kernel: its name in the core.
        values: the arguments of the formula by name, in order: numbers or arrays that broadcast.
        parameters: the parameters of the formula; None if one is NaN, then the result is NaN.
        out: an array for the result, or None.
        threads: 1 to 256.

    Returns:
        ``out`` if given; a float if every value is a Python number; else an array, or a NumPy
        scalar if the shape is ().

    Raises:
        TypeError: a value, ``out`` or ``threads`` of another type or dtype.
        ValueError: shapes that do not broadcast, ``out`` of another shape or read-only, ``threads``
            out of its range, or an error of the kernel.
    """
    threads = require_threads(threads)
    if out is None and all(type(value) in (float, int) for value in values.values()):
        return _of_numbers(kernel, values, parameters)
    arrays = {name: as_array(name, value) for name, value in values.items()}
    floats = [
        array.dtype for name, array in arrays.items() if _has_float_dtype(values[name], array)
    ]
    dtype = np.result_type(*floats).newbyteorder("=") if floats else np.dtype(np.float64)
    shape = _common_shape(arrays)
    target = checked_out(out, dtype, shape)
    flat = [_flattened(array, shape) for array in arrays.values()]
    is_direct = target is not None and _can_take(target, flat)
    if parameters is None or 0 in shape:
        result = np.full(math.prod(shape), math.nan, dtype)
        is_direct = False
    else:
        result = _core.evaluate(
            kernel=kernel,
            inputs=flat,
            parameters=dict(parameters),
            dtype=dtype.name,
            out=target.reshape(-1) if target is not None and is_direct else None,
            threads=threads,
        )
    if target is not None:
        if not is_direct:
            target[...] = result.reshape(shape)
        return target
    if all(_is_python_number(value) for value in values.values()):
        return float(result[0])
    return result.reshape(shape)[()]


def _of_numbers(
    kernel: str, values: Mapping[str, Any], parameters: Mapping[str, Parameter] | None
) -> float:
    """Return the kernel's value for Python numbers."""
    if parameters is None:
        return math.nan
    result = _core.evaluate(
        kernel=kernel,
        inputs=[as_array(name, value).reshape(1) for name, value in values.items()],
        parameters=dict(parameters),
        dtype="float64",
        out=None,
        threads=1,
    )
    return float(result[0])


def _is_python_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, np.generic)


def _has_float_dtype(value: object, array: FloatArray) -> bool:
    return array.dtype.kind == "f" and not _is_python_number(value)


def as_array(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return an argument of a formula as an array.

    Args:
        name: its name, for the error.
        value: a number, or an array of float32, float64 or integers. What the mask of a masked array
            hides is NaN.

    Raises:
        TypeError: another type or dtype.
        ValueError: lists of several lengths.
    """
    if _is_python_number(value) and not isinstance(value, bool):
        return np.array(as_float(value))  # type: ignore[arg-type]
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fiu":
        value = unmasked(value)
    array = listed(name, value)
    if array.dtype.kind in "iu" or array.dtype.newbyteorder("=") in (np.float32, np.float64):
        return array
    msg = f"{name}: expected numbers, float32, float64 or integers, got {array.dtype}"
    raise TypeError(msg)


def _common_shape(arrays: dict[str, FloatArray]) -> tuple[int, ...]:
    shapes_found = {array.shape for array in arrays.values()}
    if len(shapes_found) == 1:
        return shapes_found.pop()
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        msg = f"shapes do not broadcast: {shapes}"
        raise ValueError(msg) from error


def _flattened(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return one value per row, or one for all rows; copied only if the layout requires it."""
    flags = array.flags
    if array.shape == shape and array.dtype.isnative and flags.c_contiguous and flags.aligned:
        return array.reshape(-1)
    spread = array if array.size == 1 else np.broadcast_to(array, shape)
    native = spread.astype(spread.dtype.newbyteorder("="), copy=False)
    return np.require(native, requirements=["C", "A"]).reshape(-1)


def checked_out(out: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> FloatArray | None:
    """Return an array for a result, if there is one, checked.

    Raises:
        TypeError: no array, or of another dtype.
        ValueError: another shape, or read-only.
    """
    if out is None:
        return None
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        kind = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        msg = f"out: expected an array of {dtype}, got {kind}"
        raise TypeError(msg)
    if out.shape != shape:
        msg = f"out: expected shape {shape}, got {out.shape}"
        raise ValueError(msg)
    if not out.flags.writeable:
        msg = "out: must be writable, got a read-only array"
        raise ValueError(msg)
    return out


def _can_take(out: FloatArray, inputs: Iterable[FloatArray]) -> bool:
    """Return whether the kernel may write into ``out`` while it reads ``inputs``."""
    if not (out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative):
        return False
    return all(
        not np.may_share_memory(out, array)
        or (out.ctypes.data, out.dtype, out.size) == (array.ctypes.data, array.dtype, array.size)
        for array in inputs
    )
