"""What the kernels of ``oneiros.kernels`` accept: the conventions of docs/systems/README.md."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oneiros.ranking.declaration import require_int

__all__ = ["FloatArray", "Result", "judged", "run"]

FloatArray: TypeAlias = npt.NDArray[Any]
Result: TypeAlias = Any  # a float, a NumPy scalar or an array, as the arguments say
Kernel: TypeAlias = Callable[..., FloatArray]

_MOST_THREADS = 256


def judged(kind: Callable[..., Any], **parameters: float) -> dict[str, float] | None:
    """Check a formula's own numbers by its declaration; None where one is NaN.

    Args:
        kind: the declaration's class.
        **parameters: its fields.

    Raises:
        TypeError: no number.
        ValueError: out of its range.
    """
    if any(_is_nan(value) for value in parameters.values()):
        return None
    declaration = kind(**parameters)
    return {name: getattr(declaration, name) for name in parameters}


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def run(
    kernel: Kernel,
    values: dict[str, npt.ArrayLike],
    parameters: Mapping[str, Any] | None,
    out: FloatArray | None,
    threads: int,
) -> Result:
    """Bring ``values`` to one shape and dtype, call the kernel, bring the result back.

    Args:
        kernel: a binding of ``oneiros._core``.
        values: the formula's arguments by name: numbers or arrays that broadcast.
        parameters: the formula's own numbers; None (one of them is NaN): the result is NaN.
        out: where the result goes, or None.
        threads: 1 to 256.

    Returns:
        ``out`` where given; a float where every value is a Python number; else an array, or a NumPy
        scalar where the shape is ().

    Raises:
        TypeError: a value, ``out`` or ``threads`` of another type or dtype.
        ValueError: shapes that do not broadcast, an unfit ``out``, ``threads`` out of its range,
            and whatever the kernel refuses.
    """
    require_int("threads", threads, low=1, high=_MOST_THREADS)
    arrays = {name: _as_array(name, value) for name, value in values.items()}
    given = [array.dtype for name, array in arrays.items() if _has_float_dtype(values[name], array)]
    dtype = np.result_type(*given).newbyteorder("=") if given else np.dtype(np.float64)
    shape = _common_shape(arrays)
    place = _checked_out(out, dtype, shape)
    flat = {name: _flattened(array, dtype, shape) for name, array in arrays.items()}
    direct = place is not None and _can_take(place, flat.values())
    if parameters is None:
        result = np.full(math.prod(shape), math.nan, dtype)
    else:
        target = place.reshape(-1) if place is not None and direct else None
        result = kernel(**flat, **parameters, out=target, threads=threads)
    if place is not None:
        if not (direct and parameters is not None):
            place[...] = result.reshape(shape)
        return place
    if all(_is_python_number(value) for value in values.values()):
        return float(result[0])
    return result.reshape(shape)[()]


def _is_python_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, np.generic)


def _has_float_dtype(value: object, array: FloatArray) -> bool:
    return array.dtype.kind == "f" and not _is_python_number(value)


def _as_array(name: str, value: npt.ArrayLike) -> FloatArray:
    if _is_python_number(value) and not isinstance(value, bool):
        try:
            return np.array(float(value))  # type: ignore[arg-type]
        except OverflowError:  # an int beyond every float
            return np.array(math.inf if str(value)[0] != "-" else -math.inf)
    array = np.asarray(value)
    if array.dtype.kind in "iu" or array.dtype.newbyteorder("=") in (np.float32, np.float64):
        return array
    msg = f"{name}: expected numbers, float32, float64 or integers, got {array.dtype}"
    raise TypeError(msg)


def _common_shape(arrays: dict[str, FloatArray]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        msg = f"shapes do not broadcast: {shapes}"
        raise ValueError(msg) from error


def _flattened(array: FloatArray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> FloatArray:
    with np.errstate(over="ignore"):  # a Python number beyond float32 is its infinity
        cast = array.astype(dtype, copy=False)
    return np.require(np.broadcast_to(cast, shape), requirements=["C", "A"]).reshape(-1)


def _checked_out(out: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> FloatArray | None:
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


def _can_take(out: FloatArray, inputs: Any) -> bool:
    """Whether the kernel may write into ``out`` while it reads ``inputs``."""
    if not (out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative):
        return False
    return all(
        not np.may_share_memory(out, array) or out.ctypes.data == array.ctypes.data
        for array in inputs
    )
