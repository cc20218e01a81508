"""The stored form of a vector, with a header and a checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import StoreCorrupt
from oneiros.model.memory import Undecoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

__all__ = ["decoded", "decoded_later", "encoded"]


def encoded(vector: Vector) -> bytes:
    """Return a vector in its stored form: a header, float32 components, a checksum."""
    return _core.encode_embeddings(matrix=vector[np.newaxis, :])[0]


def decoded_later(blob: bytes) -> Undecoded:
    """Return a stored vector that is decoded on first access; its bytes are checked here.

    Raises:
        StoreCorrupt: the bytes are damaged.
    """
    try:
        _core.check_embedding(blob=blob)
    except ValueError as error:
        raise _damaged(error) from error
    return Undecoded(lambda: _core.decode_embedding(blob=blob))


def decoded(blobs: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Return stored vectors as an array of shape (n, dimension), n >= 1.

    Raises:
        StoreCorrupt: the bytes are damaged, or the vectors differ in width.
    """
    try:
        dimension = _core.embedding_dimension(blob=blobs[0])
        return _core.decode_embeddings(blobs=list(blobs), dimension=dimension)
    except ValueError as error:
        raise _damaged(error) from error


def _damaged(error: ValueError) -> StoreCorrupt:
    return StoreCorrupt(f"the store holds a damaged embedding ({error})")
