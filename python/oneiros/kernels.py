"""Every formula on its own, over scalars or arrays.

Conventions (docs/systems/README.md): arguments go by position in the order printed or by name;
Python numbers, float32 or float64 arrays, integer arrays. They broadcast; strided or foreign-endian
input is converted; a formula's own numbers (``tau_days`` and the like) are single. ``out=`` takes
the result, ``threads=`` cuts large arrays (no value depends on it). The result has the widest float
dtype given; integers and Python numbers alone: float64; nothing but Python numbers: a Python float.

The strict forms, which convert nothing, are the ``values`` of ``oneiros.ranking.factors``.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.ranking.declaration import require_int
from oneiros.ranking.factors import Depth, Spread, Stability, TimeDecay
from oneiros.ranking.fusion import rrf
from oneiros.ranking.replay import Replay

__all__ = [
    "depth_weight",
    "replay_delta",
    "rrf",
    "spread_weight",
    "stability_boost",
    "time_decay_boost",
]

FloatArray: TypeAlias = npt.NDArray[Any]
Result: TypeAlias = Any  # a float, a NumPy scalar or an array, as the arguments say
Kernel: TypeAlias = Callable[..., FloatArray]

_TIME_DECAY = TimeDecay()
_DEPTH = Depth()
_SPREAD = Spread()
_STABILITY = Stability()
_REPLAY = Replay()
_MOST_THREADS = 256


def time_decay_boost(
    age_days: npt.ArrayLike,
    boost: float = _TIME_DECAY.boost,
    tau_days: float = _TIME_DECAY.tau_days,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + boost * exp(-age_days / tau_days)``, in [1, 1 + boost].

    Args:
        age_days: days since the last update; below 0 counts as 0, NaN (no timestamp) gives 1.
        boost: gain at age 0, 0 to 1e6.
        tau_days: days after which the gain has fallen to 1/e, > 0.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError: an argument of another type or dtype.
        ValueError: a parameter out of its range, shapes that do not broadcast, an unfit ``out``.

    Source: docs/systems/reverie.md R4.
    """
    factor = TimeDecay(boost=boost, tau_days=tau_days)
    return _run(_core.time_decay_boost, {"age_days": age_days}, factor.parameters(), out, threads)


def depth_weight(
    depth: npt.ArrayLike,
    table: tuple[float, float, float] = _DEPTH.table,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``table[depth - 1]``.

    Args:
        depth: 1, 2 or 3; NaN gives NaN.
        table: the weights of depth 1, 2 and 3, each 0 to 1e6.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError: an argument of another type or dtype.
        ValueError: another depth, a weight out of its range, an unfit ``out``.

    Source: docs/systems/reverie.md R6.
    """
    weights = np.array(Depth(table=table).table)
    return _run(_core.depth_weight, {"depth": depth}, {"table": weights}, out, threads)


def spread_weight(
    session_spread: npt.ArrayLike,
    cap: float = _SPREAD.cap,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``min(ln(1 + session_spread) / ln(2), cap)``, exactly 1 at a spread of 1.

    Args:
        session_spread: sessions that used the memory, >= 0; NaN gives NaN.
        cap: the greatest factor, > 0; infinity is no cap.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError: an argument of another type or dtype.
        ValueError: a spread below 0 or infinite, a parameter out of its range, an unfit ``out``.

    Source: docs/systems/reverie.md R7.
    """
    factor = Spread(cap=cap)
    return _run(
        _core.spread_weight, {"session_spread": session_spread}, factor.parameters(), out, threads
    )


def stability_boost(
    age_days: npt.ArrayLike,
    stability: npt.ArrayLike,
    tau_days: float = _STABILITY.tau_days,
    low: float = _STABILITY.low,
    high: float = _STABILITY.high,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``exp((age_days / tau_days) * (1 - 1 / stability))``, clamped to [low, high].

    Args:
        age_days: days since the last access; below 0 counts as 0, NaN (no timestamp) gives 1.
        stability: 1 gives exactly 1 for every age, 0 or below gives ``low``, NaN gives NaN.
        tau_days: days, > 0.
        low: the least factor, 0 to ``high``.
        high: the greatest factor, ``low`` to 1e6.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError: an argument of another type or dtype.
        ValueError: a parameter out of its range, shapes that do not broadcast, an unfit ``out``.

    Source: docs/systems/reverie.md R8.
    """
    factor = Stability(tau_days=tau_days, low=low, high=high)
    values = {"age_days": age_days, "stability": stability}
    return _run(_core.stability_boost, values, factor.parameters(), out, threads)


def replay_delta(
    peer_count: npt.ArrayLike,
    age_hours: npt.ArrayLike,
    max_delta: float = _REPLAY.max_delta,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``max_delta / (1 + age_hours) * ln(1 + peer_count)``, clamped to [0, max_delta].

    Args:
        peer_count: memories replayed with it, >= 0; NaN gives NaN.
        age_hours: hours since creation; below 0 counts as 0, NaN gives NaN.
        max_delta: the greatest gain of one replay, 0 to 1e6.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError: an argument of another type or dtype.
        ValueError: a count below 0 or infinite, a parameter out of its range, shapes that do not
            broadcast, an unfit ``out``.

    Source: docs/systems/reverie.md R17.
    """
    replay = Replay(max_delta=max_delta)
    values = {"peer_count": peer_count, "age_hours": age_hours}
    return _run(_core.replay_delta, values, {"max_delta": replay.max_delta}, out, threads)


def _run(
    kernel: Kernel,
    values: dict[str, npt.ArrayLike],
    parameters: dict[str, Any],
    out: FloatArray | None,
    threads: int,
) -> Result:
    """Bring ``values`` to one shape and dtype, call the kernel, bring the result back."""
    require_int("threads", threads, low=1, high=_MOST_THREADS)
    arrays = {name: _as_array(name, value) for name, value in values.items()}
    given = [array.dtype for name, array in arrays.items() if _has_float_dtype(values[name], array)]
    dtype = np.result_type(*given) if given else np.dtype(np.float64)
    shape = _common_shape(arrays)
    flat = {name: _flattened(array, dtype, shape) for name, array in arrays.items()}
    place = _checked_out(out, dtype, shape)
    direct = place is not None and _can_take(place, flat.values())
    result = kernel(
        **flat,
        **parameters,
        out=place.reshape(-1) if place is not None and direct else None,
        threads=threads,
    )
    if place is not None:
        if not direct:
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
            return np.array(math.copysign(math.inf, value))  # type: ignore[arg-type]
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
    return np.ascontiguousarray(np.broadcast_to(cast, shape)).reshape(-1)


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
