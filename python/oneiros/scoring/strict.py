"""Kernel calls for the ``values`` of factors: arrays are checked, never cast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from oneiros import _core
from oneiros._lazy import np
from oneiros.runtime.dataclasses import fields
from oneiros.scoring.program import Parameter

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Real", "numbers_of", "strict_values"]

if TYPE_CHECKING:
    Real = TypeVar("Real", np.float32, np.float64)
else:  # NumPy may not be loaded yet
    Real = TypeVar("Real")


def numbers_of(declaration: Any) -> dict[str, Parameter]:
    """Return a declaration's fields, except ``damping`` and ``seed``, as a kernel's parameters."""
    values = {field.name: getattr(declaration, field.name) for field in fields(declaration)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name not in ("damping", "seed")
    }


def strict_values(
    kernel: str, parameters: Mapping[str, Parameter], **inputs: npt.NDArray[Real]
) -> npt.NDArray[Real]:
    """Return a kernel's value over arrays of one dtype and shape.

    Args:
        kernel: its name in the core.
        parameters: its parameters.
        **inputs: its arguments in order, float32 or float64, shape (n,), contiguous, aligned.

    Raises:
        TypeError: another dtype, or different dtypes.
        ValueError: another shape or layout, or an error of the kernel.
    """
    first = next(iter(inputs))
    for name, array in inputs.items():
        _require_strict(name, array, first, inputs[first])
    result: npt.NDArray[Real] = _core.evaluate(
        kernel=kernel,
        inputs=list(inputs.values()),
        parameters=dict(parameters),
        dtype=inputs[first].dtype.name,
        out=None,
        threads=1,
    )
    return result


def _require_strict(
    name: str, array: npt.NDArray[Any], first: str, example: npt.NDArray[Any]
) -> None:
    dtype = array.dtype
    if dtype not in (np.float32, np.float64) or not dtype.isnative:
        msg = f"{name}: expected float32 or float64, got {dtype}"
        raise TypeError(msg)
    if dtype != example.dtype:
        msg = f"{name}: expected {example.dtype}, got {dtype}"
        raise TypeError(msg)
    if array.ndim != 1:
        msg = f"{name}: expected shape (n,), got {array.shape}"
        raise ValueError(msg)
    if array.shape != example.shape:
        msg = f"{name}: expected shape {example.shape} like {first}, got {array.shape}"
        raise ValueError(msg)
    if not array.flags.c_contiguous:
        msg = f"{name}: must be contiguous; pass numpy.ascontiguousarray(...)"
        raise ValueError(msg)
    if not array.flags.aligned:
        msg = f"{name}: must be aligned; pass numpy.array(...)"
        raise ValueError(msg)
