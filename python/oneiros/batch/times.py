"""Times of typed columns as seconds since the Unix epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["naive_error", "seconds_of_datetimes", "seconds_of_ticks"]

_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}
_NAT: Final = np.iinfo(np.int64).min


def seconds_of_ticks(ticks: npt.NDArray[np.int64], unit: str) -> npt.NDArray[np.float64]:
    """Return seconds; from 1685 to 2255 to the last bit those of ``datetime.timestamp``.

    Args:
        ticks: since 1970 in UTC, shape (n,).
        unit: of the ticks, "s", "ms", "us" or "ns".
    """
    if unit == "ns":  # too many for a float: whole microseconds first, which are exact
        micros, rest = np.divmod(ticks, 1000)
        return np.asarray(micros / 1e6 + rest / 1e9)
    return np.asarray(ticks / _PER_SECOND[unit])


def seconds_of_datetimes(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return seconds of ``datetime64`` values, taken as UTC; NaT becomes NaN."""
    unit = np.datetime_data(values.dtype)[0]
    if unit not in (*_PER_SECOND, "ns") or np.datetime_data(values.dtype)[1] != 1:
        values, unit = values.astype("datetime64[us]"), "us"
    ticks = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")).view(np.int64)
    seconds = seconds_of_ticks(ticks, unit)
    seconds[ticks == _NAT] = np.nan
    return seconds


def naive_error(name: str, type_name: object, advice: str) -> str:
    """Return the message for a column of times that have no time zone."""
    return f"{name}: must be aware (it has no time zone), got {type_name}; {advice}"
