"""Embedders: callables from texts to vectors.

Oneiros ships and downloads no model. :class:`oneiros.models.HashingEmbedder` needs none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Sized
from types import CoroutineType
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

from oneiros._lazy import np
from oneiros.model.validation import require_plain, require_utf8, shown, unmasked

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "HASHING",
    "Embedder",
    "calls_of",
    "check",
    "default_name",
    "is_of_spelling",
    "name_of",
    "one_each",
    "vectors_of",
]

HASHING: Final = "oneiros/hashing-"
"""The beginning of the names of :class:`oneiros.models.HashingEmbedder`."""
_TEXTS_A_CALL: Final = 256

Texts = list[str]
Vector = TypeVar("Vector")


@runtime_checkable
class Embedder(Protocol):
    """A callable from texts to one vector each: a function, or an object such as a model's adapter.

    Its attribute ``name``, if it has one, identifies the model. Otherwise :func:`name_of` makes a
    name. The store records the name: vectors of two models are never compared.
    """

    def __call__(self, texts: Texts, /) -> npt.ArrayLike:
        """Return an array of shape (len(texts), dimension), with a constant dimension."""
        ...


def name_of(embedder: Embedder) -> str:
    """Return the embedder's ``name``, or the module and qualified name of a plain function.

    Two functions of the same module and qualified name, such as two lambdas, are taken for one
    embedder, since nothing else of them is the same in the next process. Only the dimension of
    their vectors is compared.

    Raises:
        TypeError: not callable, or a coroutine function.
        ValueError: a ``name`` that is not a text or is empty, or a callable object without one.
    """
    given: object = embedder  # callers may ignore the annotation
    if not callable(given):
        msg = f"embedder: expected a callable list[str] -> array, got {shown(given)}"
        raise TypeError(msg)
    require_plain("embedder", given)
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
    require_utf8("embedder: its name", name)
    return name


def is_of_spelling(name: str | None) -> bool:
    """Return whether the embedder of a name knows words by their spelling alone: the one in the box.

    Examples:
        >>> from oneiros.models import embedders
        >>> embedders.is_of_spelling("oneiros/hashing-1-512")
        True
    """
    return name is not None and name.startswith(HASHING)


def default_name(library: str, model: str) -> str:
    """Return the library and the last part of a model's path or name, joined by "/"."""
    return f"{library}/{os.path.basename(os.path.normpath(model))}"  # noqa: PTH119 (may be no path)


def calls_of(
    embedder: Embedder, texts: Sequence[str], dimension: int | None = None
) -> Iterator[npt.NDArray[np.float32]]:
    """Call an embedder for 256 texts at a time, each time with a list of its own.

    Args:
        embedder: the embedder.
        texts: all of them.
        dimension: as for :func:`check`; None: that of the first call.

    Yields:
        The vectors of each call, as :func:`check` returns them.
    """
    for start in range(0, len(texts), _TEXTS_A_CALL):
        part = texts[start : start + _TEXTS_A_CALL]
        vectors = check(embedder(list(part)), len(part), dimension)
        dimension = vectors.shape[1]
        yield vectors


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the vectors of at least one text, made as by :func:`calls_of`."""
    return np.concatenate([*calls_of(embedder, texts)])


def one_each(vectors: Sequence[Vector], texts: Sequence[str]) -> Sequence[Vector]:
    """Return vectors as they are, one for each text, which another library's embedder made.

    Raises:
        TypeError: not a sequence.
        ValueError: more or fewer than the texts.
    """
    made: object = vectors
    if isinstance(made, str) or not isinstance(made, Sized):
        msg = f"embedder: expected a list of {len(texts)} vectors, got {type(made).__name__}"
        raise TypeError(msg)
    if len(made) != len(texts):
        msg = f"embedder: expected {len(texts)} vectors, got {len(made)}"
        raise ValueError(msg)
    return vectors


def check(
    output: npt.ArrayLike, count: int, dimension: int | None = None
) -> npt.NDArray[np.float32]:
    """Validate the output of an embedder and return it as float32.

    Args:
        output: the output.
        count: number of texts given to the embedder.
        dimension: dimension of the store's vectors; None if it has none yet.

    Returns:
        Shape (count, dimension), contiguous, not normalised; a copy, as an embedder may use an array
        again.

    Raises:
        TypeError: not numbers.
        ValueError: another shape, or a value that is not finite in float32, naming the position.
    """
    made: object = output  # callables of all kinds are given as embedders
    if isinstance(made, CoroutineType):
        made.close()  # or Python would warn that it was never awaited
        msg = "embedder: expected an array of real numbers, got a coroutine: it must not be async"
        raise TypeError(msg)
    try:
        given = np.asarray(unmasked(output))
    except ValueError as error:
        msg = (
            f"embedder: expected shape ({count}, dimension), got rows that make no array ({error})"
        )
        raise ValueError(msg) from error
    if given.dtype.kind not in "fiu":
        got = "None" if made is None else f"dtype {given.dtype}"
        msg = f"embedder: expected an array of real numbers, got {got}"
        raise TypeError(msg)
    if given.ndim != 2 or len(given) != count or given.shape[1] == 0:
        msg = f"embedder: expected shape ({count}, dimension), got {given.shape}"
        raise ValueError(msg)
    if dimension is not None and given.shape[1] != dimension:
        msg = f"embedder: expected vectors of {dimension} components, got {given.shape[1]}"
        raise ValueError(msg)
    with np.errstate(over="ignore"):  # overflows become infinite, and are refused below
        vectors = np.array(given, np.float32, order="C")
    if not np.isfinite(vectors).all():
        at, component = (int(axis[0]) for axis in np.nonzero(~np.isfinite(vectors)))
        got = given[at, component]
        msg = f"embedder: vector {at} must be finite, got {got} at component {component}"
        raise ValueError(msg)
    return vectors
