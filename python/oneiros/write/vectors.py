"""The embedder, its name and width recorded in the store, and vectors made before a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.errors import EmbedderMismatch, StoreCorrupt
from oneiros.model.fields import FIELDS
from oneiros.models.embedders import calls_of, is_of_spelling, name_of
from oneiros.store.reading import REEMBEDDING_SETTING
from oneiros.store.rows import encoded_embedding

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


def embedded_text(memory: StoredMemory | Memory) -> str:
    """Return the text of a memory that is embedded, and passed to a reranker."""
    return titled(memory.title, memory.text)


def titled(title: str, text: str) -> str:
    """Return the text to embed for a title and a text."""
    return f"{title} {text}" if title else text


class TextVectors:
    """An engine's embedder, if any, checked against the one recorded in the store.

    Args:
        embedder: a callable ``list[str] -> array (n, dim)``, ideally with a ``name``; or None.
        settings: the store's, with the name and width of its vectors' embedder.

    Raises:
        EmbedderMismatch: the store's vectors were made by an embedder of another name.
    """

    def __init__(self, embedder: Embedder | None, settings: Mapping[str, str]) -> None:
        self.embedder = embedder
        """The engine's embedder."""
        self.is_present = embedder is not None
        """Whether texts can be embedded."""
        self.name = None if embedder is None else name_of(embedder)
        self.recorded_name: str | None = None
        self.is_of_spelling = False
        """Whether the store's vectors know words by their spelling alone."""
        self.dimension: int | None = None
        self.unfinished: str | None = None
        """The embedder of an unfinished reembed, or None."""
        self._reembedded = ""
        self.follow(settings)
        self.require_match(self.recorded_name)

    def of(self, texts: Sequence[str]) -> Iterator[Vector | None]:
        """Yield one unit vector per text; None for a zero vector.

        Raises:
            ValueError, TypeError: the embedder returned something else than such an array.
        """
        assert self.embedder is not None
        self.require_match(self.recorded_name)  # another process may have replaced all vectors
        unit = FIELDS["embedding"].check
        for vectors in calls_of(self.embedder, texts, self.dimension):
            for row in vectors:
                yield self.accept(unit(row))

    def accept(self, vector: Any) -> Vector | None:
        """Return the vector if its width is that of the store's vectors.

        Raises:
            ValueError: the width differs.
        """
        if vector is not None:
            self.require_width(len(vector))
        accepted: Vector | None = vector
        return accepted

    def require_width(self, width: int) -> None:
        """Raise ValueError unless vectors of this width fit the store's vectors."""
        if self.dimension not in (None, width):
            msg = (
                f"embedding: expected {self.dimension} values, as the store's vectors have, "
                f"got {width}"
            )
            raise ValueError(msg)

    def require_match(self, recorded_name: str | None) -> None:
        """Raise EmbedderMismatch if this embedder's vectors would be mixed with the named one's."""
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
        """Return whether the store records a width, and the embedder of new vectors.

        Args:
            made: the made vectors; None: not made by this engine.
            width: of the vectors.
        """
        if made is not None and not (made.is_of(self) and self.name in (None, self.recorded_name)):
            return False
        return self.dimension == width

    def record(self, transaction: Transaction, dimension: int, *, is_made_here: bool) -> None:
        """Record the width, and the name if the embedder made the vectors, where missing."""
        if self.dimension is None:
            transaction.set_setting(DIMENSION_SETTING, str(dimension))
        if is_made_here and self.name and self.recorded_name is None:
            transaction.set_setting(EMBEDDER_SETTING, self.name)

    def record_replacement(self, transaction: Transaction) -> None:
        """Record this embedder's name and width in place of the former ones."""
        transaction.drop_embedded_questions()
        transaction.set_setting(EMBEDDER_SETTING, self.name or "")
        transaction.set_setting(DIMENSION_SETTING, str(self.dimension or 0))
        transaction.set_setting(REEMBEDDING_SETTING, "")
        transaction.set_setting(REEMBEDDED_SETTING, str(transaction.revision))

    def is_recorded_in(self, settings: Mapping[str, str]) -> bool:
        """Return whether the store's vectors are this embedder's."""
        return self.name is not None and settings.get(EMBEDDER_SETTING) == self.name

    def are_replaced(self, settings: Mapping[str, str]) -> bool:
        """Return whether all vectors of the store were replaced since :meth:`follow`."""
        return settings.get(REEMBEDDED_SETTING, "") != self._reembedded

    def follow(self, settings: Mapping[str, str]) -> None:
        """Update this object from the store's current settings."""
        self.recorded_name = settings.get(EMBEDDER_SETTING) or None
        self.is_of_spelling = is_of_spelling(self.recorded_name or self.name)
        width = settings.get(DIMENSION_SETTING) or "0"
        if not width.isdecimal():
            msg = f"the store's setting {DIMENSION_SETTING} is no number: {width!r}"
            raise StoreCorrupt(msg)
        self.dimension = int(width) or None
        self.unfinished = settings.get(REEMBEDDING_SETTING) or None
        self._reembedded = settings.get(REEMBEDDED_SETTING, "")


class TextsChanged(Exception):
    """Some texts had no vectors yet; nothing was written.

    Args:
        texts: to embed before the next attempt.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__("texts were changed while they were embedded")
        self.texts = texts


class MadeVectors:
    """Vectors of texts, made and encoded before a write begins.

    An embedder may take seconds and is user code, so no lock is held while it runs.

    Args:
        vectors: embeds the texts.
    """

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors
        self._made: dict[str, tuple[bytes | None, int]] = {}

    def make(self, texts: Iterable[str]) -> None:
        """Embed the texts that have no vector yet. A blank text gets none.

        Raises:
            ValueError, TypeError: the embedder returned something else than such an array.
            EmbedderMismatch: another embedder's vectors are in the store by now.
        """
        lacking = [text for text in dict.fromkeys(texts) if text not in self._made]
        if not lacking:
            return
        wanted = [text for text in lacking if text.strip()]
        self._made.update((text, (None, 0)) for text in lacking)
        for text, vector in zip(wanted, self._vectors.of(wanted) if wanted else (), strict=True):
            if vector is not None:
                self._made[text] = (encoded_embedding(vector), len(vector))

    def of(self, text: str) -> tuple[bytes | None, int]:
        """Return the encoded vector of a text and its width; None and 0 if there is none."""
        return self._made.get(text, (None, 0))

    def require(self, texts: Iterable[str], current: TextVectors) -> None:
        """Raise unless the store's embedder made the vectors of these texts.

        Args:
            texts: the texts whose vectors are needed.
            current: the engine's embedder now, as of the transaction.

        Raises:
            TextsChanged: some have no vector; embed them and try again.
            EmbedderMismatch: another embedder's vectors are in the store by now.
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
        """Return whether this embedder made the vectors."""
        return vectors is self._vectors

    def current(self, vectors: TextVectors) -> MadeVectors:
        """Return this object, or an empty one if the engine has another embedder now."""
        return self if vectors is self._vectors else MadeVectors(vectors)
