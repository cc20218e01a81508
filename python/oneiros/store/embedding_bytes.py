"""How a vector lies in the store: bytes that no damage can read past."""

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
    """Return a vector as the store keeps it: a header, float32 components, a checksum."""
    return _core.encode_embeddings(matrix=vector[np.newaxis, :])[0]


def decoded_later(blob: bytes) -> Undecoded:
    """Return one vector of the store, decoded when it is first read; its bytes are checked here.

    Raises:
        StoreCorrupt: bytes that :func:`encoded` cannot have made.
    """
    try:
        _core.check_embedding(blob=blob)
    except ValueError as error:
        raise _damaged(error) from error
    return Undecoded(lambda: _core.decode_embedding(blob=blob))


def decoded(blobs: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Return the vectors of the store, shape (n, dimension), n >= 1.

    Raises:
        StoreCorrupt: bytes that :func:`encoded` cannot have made, or of several widths.
    """
    try:
        dimension = _core.embedding_dimension(blob=blobs[0])
        return _core.decode_embeddings(blobs=list(blobs), dimension=dimension)
    except ValueError as error:
        raise _damaged(error) from error


def _damaged(error: ValueError) -> StoreCorrupt:
    return StoreCorrupt(f"the store holds a damaged embedding ({error})")
