"""Texts to vectors: the user's embedder, its name and width as the store records them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.embedders import check, name_of
from oneiros.errors import EmbedderMismatch, StoreCorrupt
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.embedders import Embedder
    from oneiros.store import Transaction

    Vector = npt.NDArray[np.float32]

__all__ = ["TextVectors"]

EMBEDDER_SETTING = "embedder"
DIMENSION_SETTING = "embedding_dimension"
_TEXTS_A_CALL = 256


class TextVectors:
    """The embedder of one engine, if it has one, held to what the store was written with.

    Args:
        embedder: any callable ``list[str] -> array (n, dim)``, best with a ``name``; or None.
        settings: the store's; name and width of the embedder whose vectors it holds.

    Raises:
        EmbedderMismatch: the store's vectors come from an embedder of another name.
    """

    def __init__(self, embedder: Embedder | None, settings: Mapping[str, str]) -> None:
        self._embedder = embedder
        self.name = None if embedder is None else name_of(embedder)
        self.recorded_name: str | None = None
        self.dimension: int | None = None
        self.follow(settings)
        self.require_match(self.recorded_name)

    @property
    def is_present(self) -> bool:
        """Whether texts can be embedded."""
        return self._embedder is not None

    def of(self, texts: Sequence[str]) -> Iterator[Vector | None]:
        """Yield one unit vector a text; None for a zero vector.

        Raises:
            ValueError, TypeError: the embedder returned something that is no such array.
        """
        assert self._embedder is not None
        self.require_match(self.recorded_name)  # another process may have replaced all vectors
        unit = FIELDS["embedding"].check
        for start in range(0, len(texts), _TEXTS_A_CALL):
            part = list(texts[start : start + _TEXTS_A_CALL])
            matrix = check(self._embedder(part), len(part))
            for row in matrix:
                yield self.accept(unit(row))

    @property
    def embedder(self) -> Embedder | None:
        """The engine's embedder."""
        return self._embedder

    def fits(self, vector: Any) -> bool:
        """Whether a vector is as wide as the store's, where it has any."""
        return self.dimension is None or len(vector) == self.dimension

    def accept(self, vector: Any) -> Vector | None:
        """Return the vector if it is as wide as the store's others.

        Raises:
            ValueError: it is not.
        """
        if vector is not None and not self.fits(vector):
            msg = (
                f"embedding: expected {self.dimension} values, as the store's vectors have, "
                f"got {len(vector)}"
            )
            raise ValueError(msg)
        accepted: Vector | None = vector
        return accepted

    def require_match(self, recorded_name: str | None) -> None:
        """Raise EmbedderMismatch where vectors of this embedder and of that one would mix."""
        if self.name and recorded_name and self.name != recorded_name:
            msg = (
                f"embedder: the store's vectors were made by {recorded_name!r}, this engine has "
                f"{self.name!r}; open it with that one, or without and call reembed()"
            )
            raise EmbedderMismatch(msg)

    def record(self, transaction: Transaction, dimension: int, *, is_made_here: bool) -> None:
        """Write width, and name if the vectors are the embedder's, when the store lacks them."""
        if self.dimension is None:
            transaction.set_setting(DIMENSION_SETTING, str(dimension))
        if is_made_here and self.name and self.recorded_name is None:
            transaction.set_setting(EMBEDDER_SETTING, self.name)

    def record_anew(self, transaction: Transaction) -> None:
        """Write this embedder's name and width in place of what the store records."""
        transaction.set_setting(EMBEDDER_SETTING, self.name or "")
        transaction.set_setting(DIMENSION_SETTING, str(self.dimension or 0))

    def follow(self, settings: Mapping[str, str]) -> None:
        """Take over what the store records now."""
        self.recorded_name = settings.get(EMBEDDER_SETTING) or None
        width = settings.get(DIMENSION_SETTING) or "0"
        if not width.isdecimal():
            msg = f"the store's setting {DIMENSION_SETTING} is no number: {width!r}"
            raise StoreCorrupt(msg)
        self.dimension = int(width) or None
