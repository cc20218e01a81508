"""Embedder that hashes words and their letters: in the box, without a model."""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oneiros.model.validation import require_int
from oneiros.models.embedders import HASHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Feature = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]

__all__ = ["DEFAULT_DIMENSIONS", "FEWEST_DIMENSIONS", "MOST_DIMENSIONS", "HashingEmbedder"]

DEFAULT_DIMENSIONS: Final = 512
FEWEST_DIMENSIONS: Final = 16
MOST_DIMENSIONS: Final = 8192

# A change of any rule below makes other vectors, and needs another version in the name.
_VERSION: Final = 1
_GRAMS: Final = (2, 3, 4)  # lengths of the pieces of a word, its two ends marked
_WORD: Final = 0.5  # weight of the whole word; all its pieces together have 1
_LONG: Final = 8  # characters from which on a word has its full weight
_MOST_CHARACTERS: Final = 64  # of a word that are read
# A component of all texts: cosines are (cos + 0.1) / 1.1, which brings those of a misspelt word and
# a text that has it above the limit below which the default profile returns nothing.
_SHARED: Final = math.sqrt(0.1)
_FUNCTION_WORD: Final = 0.1  # weight of a function word
_FUNCTION_WORDS: Final = frozenset(
    (
        *("a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as"),
        *("at", "be", "because", "been", "before", "being", "but", "by", "can", "could", "d"),
        *("did", "do", "does", "doing", "for", "from", "had", "has", "have", "having", "he"),
        *("her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just"),
        *("ll", "m", "may", "me", "might", "more", "most", "must", "my", "no", "not", "of", "on"),
        *("or", "our", "out", "over", "own", "re", "s", "same", "shall", "she", "should", "so"),
        *("some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these"),
        *("they", "this", "those", "through", "to", "too", "up", "ve", "was", "we", "were"),
        *("what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will"),
        *("with", "would", "you", "your"),
    )
)

_WORDS: Final = re.compile(r"[^\W_]+")
_MARKS: Final = re.compile("[\u0300-\u036f]")  # accents, once they are apart from their letters
_TEXTS_A_PART: Final = 256
_MOST_CACHED: Final = 1 << 15  # words; each takes about 500 bytes


class HashingEmbedder:
    """An embedder of words and their pieces, hashed into a fixed number of dimensions.

    Texts are similar if they share words or parts of words, so misspellings, inflections and
    compounds are found that a search by words misses. It knows nothing of meaning: synonyms and
    other languages need a model. There is no model, no network and no state: the same text has the
    same vector in every process, on every machine and with every version of Python, save for
    characters younger than that Python's Unicode tables.

    Letters are folded to lower case without accents. A word is hashed whole (weight 0.5) and in all
    pieces of 2, 3 and 4 characters, its ends marked (together 1), each with a sign. A word counts by
    the square root of its frequency and of its length (up to 8 characters); English function words
    have a tenth of that. One component is the same in all texts, so that unrelated ones have a cosine
    of about 0.09. Vectors have unit length; a text without a letter or digit has a zero vector.

    Threads can share an embedder.

    Args:
        dimensions: width of the vectors, 16 to 8192. More dimensions mean fewer collisions, and
            more memory for each vector.

    Raises:
        TypeError, ValueError: ``dimensions`` is no int in that range.

    Examples:
        >>> from oneiros.models import HashingEmbedder
        >>> embed = HashingEmbedder()
        >>> right, wrong, other = embed(["restaurant", "resturant", "bicycle"])
        >>> bool(right @ wrong > 0.5 > right @ other)
        True
    """

    def __init__(self, dimensions: int = DEFAULT_DIMENSIONS) -> None:
        require_int("dimensions", dimensions, low=FEWEST_DIMENSIONS, high=MOST_DIMENSIONS)
        self.dimensions = dimensions
        """Width of the vectors."""
        self.name = f"{HASHING}{_VERSION}-{dimensions}"
        """Recorded in the store: the version of the rules, and the width."""
        self._known: dict[str, Feature] = {}

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Return one vector per text, shape (len(texts), dimensions)."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _TEXTS_A_PART):
            part = texts[start : start + _TEXTS_A_PART]
            vectors[start : start + len(part)] = self._vectors(part).T
        return vectors

    def __repr__(self) -> str:
        return f"HashingEmbedder({self.dimensions})"

    def _vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return vectors as columns, shape (dimensions, len(texts))."""
        words_of = [_WORDS.findall(_folded(text)) for text in texts]
        numbers: dict[str, int] = {}  # of the different words of these texts
        word = np.fromiter(
            (numbers.setdefault(one, len(numbers)) for one in chain.from_iterable(words_of)),
            np.int64,
        )
        if not numbers:
            return np.zeros((self.dimensions, len(texts)))
        text = np.repeat(np.arange(len(texts)), [len(words) for words in words_of])
        pairs, counts = np.unique(text * len(numbers) + word, return_counts=True)
        text, word = np.divmod(pairs, len(numbers))

        features = self._features(numbers)
        sizes = np.fromiter((len(places) for places, _ in features), np.int64, len(features))
        starts = np.cumsum(sizes) - sizes
        repeats = sizes[word]
        before = np.cumsum(repeats) - repeats
        taken = np.arange(repeats.sum()) + np.repeat(starts[word] - before, repeats)
        places = np.concatenate([places for places, _ in features])[taken]
        values = np.concatenate([values for _, values in features])[taken]
        # One component after the other, and one order of additions: the same bits everywhere.
        sums = np.bincount(
            places * len(texts) + np.repeat(text, repeats),
            values * np.repeat(np.sqrt(counts), repeats),
            self.dimensions * len(texts),
        ).reshape(self.dimensions, len(texts))
        lengths = np.sqrt(np.add.reduce(sums * sums, axis=0))
        vectors = sums / np.where(lengths == 0, 1.0, lengths)
        vectors[-1] = np.where(lengths == 0, 0.0, _SHARED)  # the place that no feature has
        return vectors / math.sqrt(1.0 + _SHARED**2)

    def _features(self, words: Iterable[str]) -> list[Feature]:
        """Return the features of different words, from the cache where they are there."""
        known = self._known
        found = {word: known.get(word) for word in words}
        new = [word for word, feature in found.items() if feature is None]
        if new:
            made = dict(zip(new, self._made(new), strict=True))
            if len(known) + len(made) > _MOST_CACHED:
                known = self._known = {}  # a thread that reads the former one keeps it
            if len(made) <= _MOST_CACHED:
                known.update(made)
            found.update(made)
        return [feature for feature in found.values() if feature is not None]

    def _made(self, words: Sequence[str]) -> list[Feature]:
        """Return the places and values of each word's features, the whole word first."""
        pieces_of = [_pieces(word) for word in words]
        sizes = [len(pieces) for pieces in pieces_of]
        # A lone surrogate has no UTF-8.
        hashes = _mixed(
            np.fromiter(
                (zlib.crc32(one.encode("utf-8", "replace")) for one in chain(*pieces_of)), np.uint64
            )
        )
        places = (hashes % np.uint64(self.dimensions - 1)).astype(np.int64)
        signs = np.where(hashes >> np.uint64(31), 1.0, -1.0)
        made = []
        start = 0
        for word, size in zip(words, sizes, strict=True):
            weight = np.sqrt(min(len(word), _LONG) / _LONG)
            if word in _FUNCTION_WORDS:
                weight *= _FUNCTION_WORD
            values = signs[start : start + size] * (weight / np.sqrt(size - 1))
            values[0] = signs[start] * (weight * _WORD)
            made.append((places[start : start + size].copy(), values))
            start += size
        return made


def _folded(text: str) -> str:
    """Return a text in lower case, without accents and with compatibility forms resolved."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).lower()


def _pieces(word: str) -> list[str]:
    """Return a word with its ends marked, then its pieces; at least one."""
    marked = f"<{word[:_MOST_CHARACTERS]}>"
    length = len(marked)
    return [
        f"{marked}=",  # not a piece of any word
        *(marked[at : at + size] for size in _GRAMS for at in range(length - size + 1)),
    ]


def _mixed(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread 32-bit checksums, whose bits depend on each other, by MurmurHash3's finalizer."""
    low = np.uint64(0xFFFFFFFF)
    hashes ^= hashes >> np.uint64(16)
    hashes = hashes * np.uint64(0x85EBCA6B) & low
    hashes ^= hashes >> np.uint64(13)
    hashes = hashes * np.uint64(0xC2B2AE35) & low
    return hashes ^ (hashes >> np.uint64(16))
