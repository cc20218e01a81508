"""Embedders: anything that turns texts into vectors. Adapters for models load them on first use.

No model comes with Oneiros, and none is downloaded by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from oneiros._lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Embedder", "check", "name_of"]

Texts = list[str]


@runtime_checkable
class Embedder(Protocol):
    """A callable from texts to one vector each, with a name that tells its vectors from others'."""

    @property
    def name(self) -> str:
        """The model's name, recorded in the store: vectors of two names are never compared."""
        ...

    def __call__(self, texts: Texts, /) -> npt.ArrayLike:
        """Return an array of shape (len(texts), dimension), the same dimension each time."""
        ...


def name_of(embedder: Embedder | Callable[[Texts], npt.ArrayLike]) -> str:
    """Return the embedder's ``name``, or for a plain function its module and qualified name.

    Raises:
        TypeError: it cannot be called.
        ValueError: a ``name`` that is no text or empty, or a callable object without any.
    """
    given: object = embedder  # whatever the annotation promises
    if not callable(given):
        msg = f"embedder: expected a callable list[str] -> array, got {given!r}"
        raise TypeError(msg)
    name: object = getattr(embedder, "name", None)  # a function has none
    if name is None:
        module, function = (
            getattr(embedder, part, None) for part in ("__module__", "__qualname__")
        )
        if not (isinstance(module, str) and isinstance(function, str)):
            msg = f"embedder: give it a `name`; {type(embedder).__name__} has none"
            raise ValueError(msg)
        name = f"{module}.{function}"
    if not isinstance(name, str) or not name:
        msg = f"embedder: its name must be a text that is not empty, got {name!r}"
        raise ValueError(msg)
    return name


def check(
    output: npt.ArrayLike, count: int, dimension: int | None = None
) -> npt.NDArray[np.float32]:
    """Return what an embedder gave, as float32, if it is what an embedder must give.

    Args:
        output: its answer.
        count: texts it was given.
        dimension: the width of the store's vectors; None where there are none yet.

    Returns:
        Shape (count, dimension), contiguous, not yet of unit length.

    Raises:
        TypeError: not numbers.
        ValueError: another shape, or a value that is not finite in float32, naming the position.
    """
    given = np.asarray(output)
    if given.dtype.kind not in "fiu":
        msg = f"embedder: expected an array of real numbers, got dtype {given.dtype}"
        raise TypeError(msg)
    if given.ndim != 2 or len(given) != count or given.shape[1] == 0:
        msg = f"embedder: expected shape ({count}, dimension), got {given.shape}"
        raise ValueError(msg)
    if dimension is not None and given.shape[1] != dimension:
        msg = f"embedder: expected vectors of {dimension} components, got {given.shape[1]}"
        raise ValueError(msg)
    with np.errstate(over="ignore"):  # what overflows is infinite, and refused in words below
        vectors = np.ascontiguousarray(given, np.float32)
    if not np.isfinite(vectors).all():
        at, component = (int(axis[0]) for axis in np.nonzero(~np.isfinite(vectors)))
        got = given[at, component]
        msg = f"embedder: vector {at} must be finite, got {got} at component {component}"
        raise ValueError(msg)
    return vectors
