"""Embedders: what turns texts into vectors."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Embedder", "check", "name_of"]


class Embedder(Protocol):
    """Any callable from texts to vectors; best with a ``name``, which the store records."""

    def __call__(self, texts: list[str], /) -> npt.ArrayLike:
        """Return an array of shape (n, dimension), one row a text."""
        ...


def name_of(embedder: Embedder) -> str:
    """Return the embedder's ``name``; of a plain function, its module and qualified name."""
    name: Any = getattr(embedder, "name", None)
    if isinstance(name, str) and name:
        return name
    kind = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{kind.__module__}.{kind.__qualname__}"


def check(output: npt.ArrayLike, count: int) -> npt.NDArray[Any]:
    """Return what an embedder gave as a matrix of ``count`` rows.

    Raises:
        TypeError: no array of real numbers.
        ValueError: another shape than (count, dimension).
    """
    matrix = np.asarray(output)
    if matrix.dtype.kind not in "fiu":
        msg = f"embedder: expected real numbers, got dtype {matrix.dtype}"
        raise TypeError(msg)
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
        msg = f"embedder: expected shape ({count}, dimension), got {matrix.shape}"
        raise ValueError(msg)
    return matrix
