"""Texts to vectors: the embedder, its name and width in the store, and vectors made ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.errors import EmbedderMismatch, StoreCorrupt
from oneiros.model.fields import FIELDS
from oneiros.models.embedders import check, name_of
from oneiros.store.embedding_bytes import encoded
from oneiros.store.reading import REEMBEDDING_SETTING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.model.memory import Memory
    from oneiros.models.embedders import Embedder
    from oneiros.store import StoredMemory, Transaction

    Vector = npt.NDArray[np.float32]

__all__ = ["MadeVectors", "TextVectors", "TextsChanged", "embedded_text", "titled"]

EMBEDDER_SETTING = "embedder"
DIMENSION_SETTING = "embedding_dimension"
REEMBEDDED_SETTING = "reembedded"
"""The revision of the last commit that replaced all vectors."""
_TEXTS_A_CALL = 256


def embedded_text(memory: StoredMemory | Memory) -> str:
    """Return what of a memory is embedded, and given to a reranker."""
    return titled(memory.title, memory.text)


def titled(title: str, text: str) -> str:
    """Return the text that is embedded for a title and a text."""
    return f"{title} {text}" if title else text


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
        self.is_present = embedder is not None
        """Whether texts can be embedded."""
        self.name = None if embedder is None else name_of(embedder)
        self.recorded_name: str | None = None
        self.dimension: int | None = None
        self.unfinished: str | None = None
        """The embedder of an unfinished reembed, or None."""
        self._reembedded = ""
        self.follow(settings)
        self.require_match(self.recorded_name)

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

    def accept(self, vector: Any) -> Vector | None:
        """Return the vector if it is as wide as the store's others.

        Raises:
            ValueError: it is not.
        """
        if vector is not None:
            self.require_width(len(vector))
        accepted: Vector | None = vector
        return accepted

    def require_width(self, width: int) -> None:
        """Raise ValueError unless vectors of this width fit the store's."""
        if self.dimension not in (None, width):
            msg = (
                f"embedding: expected {self.dimension} values, as the store's vectors have, "
                f"got {width}"
            )
            raise ValueError(msg)

    def require_match(self, recorded_name: str | None) -> None:
        """Raise EmbedderMismatch where vectors of this embedder and of that one would mix."""
        if self.name and recorded_name and self.name != recorded_name:
            msg = (
                f"embedder: the store's vectors were made by {recorded_name!r}, this engine has "
                f"{self.name!r}; open it with that one, or without and call reembed()"
            )
            if self.unfinished:
                msg = (
                    f"{msg}. A reembed() to {self.unfinished!r} is unfinished: searches use the "
                    f"vectors of {recorded_name!r} until it is called again and completes"
                )
            raise EmbedderMismatch(msg)

    def are_recorded_by(self, made: MadeVectors | None, width: int) -> bool:
        """Return whether the store records a width, and the embedder that made vectors.

        Args:
            made: by whom; None: by nobody here.
            width: of the vectors.
        """
        if made is not None and not (made.is_of(self) and self.name in (None, self.recorded_name)):
            return False
        return self.dimension == width

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
        transaction.set_setting(REEMBEDDING_SETTING, "")
        transaction.set_setting(REEMBEDDED_SETTING, str(transaction.revision))

    def is_recorded_in(self, settings: Mapping[str, str]) -> bool:
        """Whether the store's vectors are this embedder's."""
        return self.name is not None and settings.get(EMBEDDER_SETTING) == self.name

    def are_replaced(self, settings: Mapping[str, str]) -> bool:
        """Whether all vectors of the store were replaced since :meth:`follow`."""
        return settings.get(REEMBEDDED_SETTING, "") != self._reembedded

    def follow(self, settings: Mapping[str, str]) -> None:
        """Take over what the store records now."""
        self.recorded_name = settings.get(EMBEDDER_SETTING) or None
        width = settings.get(DIMENSION_SETTING) or "0"
        if not width.isdecimal():
            msg = f"the store's setting {DIMENSION_SETTING} is no number: {width!r}"
            raise StoreCorrupt(msg)
        self.dimension = int(width) or None
        self.unfinished = settings.get(REEMBEDDING_SETTING) or None
        self._reembedded = settings.get(REEMBEDDED_SETTING, "")


class TextsChanged(Exception):
    """The vectors of some texts were not made yet; nothing was written.

    Args:
        texts: to embed before the next attempt.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__("texts were changed while they were embedded")
        self.texts = texts


class MadeVectors:
    """Vectors of texts, made and encoded before a write begins.

    An embedder may take seconds, and is the caller's own code: no lock is held while it runs.

    Args:
        vectors: embeds.
    """

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors
        self._made: dict[str, tuple[bytes | None, int]] = {}

    def make(self, texts: Iterable[str]) -> None:
        """Embed the texts that were not embedded yet. A blank text has no vector.

        Raises:
            ValueError, TypeError: the embedder returned something that is no such array.
            EmbedderMismatch: the store's vectors are another embedder's by now.
        """
        lacking = [text for text in dict.fromkeys(texts) if text not in self._made]
        if not lacking:
            return
        spoken = [text for text in lacking if text.strip()]
        self._made.update((text, (None, 0)) for text in lacking)
        for text, vector in zip(spoken, self._vectors.of(spoken) if spoken else (), strict=True):
            if vector is not None:
                self._made[text] = (encoded(vector), len(vector))

    def of(self, text: str) -> tuple[bytes | None, int]:
        """Return the encoded vector of a text and its width; None and 0 if there is none."""
        return self._made.get(text, (None, 0))

    def require(self, texts: Iterable[str], current: TextVectors) -> None:
        """Raise unless the vectors of these texts were made by the store's embedder.

        Args:
            texts: whose vectors are needed.
            current: the engine's embedder now, which follows the transaction.

        Raises:
            TextsChanged: some were not made; embed them and try again.
            EmbedderMismatch: the store's vectors are another embedder's by now.
        """
        needed = list(texts)
        if not needed:
            return
        if self._vectors is not current:
            raise TextsChanged(needed)
        current.require_match(current.recorded_name)
        lacking = [text for text in needed if text not in self._made]
        if lacking:
            raise TextsChanged(lacking)

    def is_of(self, vectors: TextVectors) -> bool:
        """Return whether this embedder makes them."""
        return vectors is self._vectors

    def current(self, vectors: TextVectors) -> MadeVectors:
        """Return this object, or an empty one if the engine has another embedder now."""
        return self if vectors is self._vectors else MadeVectors(vectors)
