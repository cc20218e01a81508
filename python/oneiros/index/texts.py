"""Normalised texts of memories by row.

Source: docs/systems/omega.md O3, O18, O26; docs/systems/house.md H7, H9.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyroaring import BitMap

from oneiros import _core
from oneiros._lazy import np, unicodedata
from oneiros.scoring.understanding import QueryWords
from oneiros.store.rows import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from oneiros.index.columns import Lifecycle
    from oneiros.store.columns import StoredColumns
    from oneiros.vector_index import Rows

__all__ = [
    "MemoryTexts",
    "asking_share",
    "bare",
    "canonical",
    "is_normalised_by_letter",
    "normalised",
    "stem_of",
    "stemmed",
    "word_overlaps",
    "words_of",
]


_MARKS: Final = ".!?…‼⁇⁈⁉؟"
# Possessive: each run of marks is matched once, from its start, without backtracking.
_END: Final = rf"(?<![{_MARKS}])[{_MARKS}]++(?=[\"'”’»)\]]*+(?:\s|$))|[。！？]+|\n+"  # noqa: RUF001
_compiled = cache(re.compile)  # compiles on first use
_MOST_ASKED: Final = 40  # characters of a sentence
_ASKS: Final = frozenset("?？؟⁇⁈⁉")  # noqa: RUF001


def asking_share(text: str) -> float:
    """Return the share of a text's characters that ask.

    A sentence ends with a run of marks (``.``, ``!``, ``?`` and the like) before white space or the
    end of the text, with optional closing quotes or brackets between; with an ideographic mark; or
    with its line. It is a question if the run contains a question mark. Of a question, the last 40
    characters ask, marks included: what comes before them in a longer one mostly states something
    ("I moved to Oslo in May and need a doctor, can you help me?"). Takes time linear in the length of
    the text.

    Returns:
        From 0 to 1; 0 for an empty text.
    """
    if "?" not in text and (text.isascii() or _ASKS.isdisjoint(text)):
        return 0.0
    asking = start = 0
    for end in _compiled(_END).finditer(text):
        if not _ASKS.isdisjoint(end.group()):
            asking += min(end.end() - start, _MOST_ASKED)
        start = end.end()
    return asking / len(text)


_MOST_WORDS: Final = 1_024
_LEAST_STEM: Final = 3
_WORD: Final = r"\w+"
_JOINED: Final = r"[^\W_]\w*(?:[_.:/+-]+[^\W_]\w*)*"
_PLAIN: Final = QueryWords()


def normalised(text: str) -> str:
    """Return the text in NFKC and then lower case."""
    if text.isascii():
        return text.lower()

    wide = unicodedata.normalize("NFKC", text)
    if "Σ" in wide and "`" in wide:
        # Sigma has a special lower case at the end of a word. For Python a backtick does not end a
        # word, but the canonical form, derived from this text, has a blank there.
        return "`".join(part.lower() for part in wide.split("`"))
    return wide.lower()


def bare(text: str) -> str:
    """Return the normalised text without accents, folded as the lexical index folds words. H7."""
    return text.lower() if text.isascii() else _core.folded_text(text=normalised(text))


def canonical(text: str) -> str:
    """Return the canonical form: without markdown, underscores, line ends and capitals. O26."""
    return _core.canonical_form(text=normalised(text))


def is_normalised_by_letter(text: str) -> bool:
    """Return whether cutting the text gives the same before and after normalisation.

    Lower case changes the length of ``İ``, and turns ``Σ`` into one of two letters.
    """
    if text.isascii():
        return True

    return unicodedata.is_normalized("NFKC", text) and "İ" not in text and "Σ" not in text


def words_of(query: str, rule: QueryWords | None = None) -> list[str]:
    """Return the words of a query that count, in order, at most 1,024.

    Args:
        query: the text.
        rule: how to cut it; None: into distinct runs of three or more letters, digits and
            underscores.

    Returns:
        Words that are normalised, or become so by :func:`normalised`.
    """
    rule = _PLAIN if rule is None else rule
    if rule.cut == "white_space":
        found: Iterable[str] = query.split()
    elif rule.cut == "joined":
        found = _compiled(_JOINED).findall(query.lower())
    else:
        found = _compiled(_WORD).findall(normalised(query))
    if not rule.counts_each:
        found = dict.fromkeys(found)
    stop_words = frozenset(rule.stop_words)
    counted = (
        word
        for word in found
        if len(lower := word.lower()) >= rule.least_characters
        and lower not in stop_words
        and (rule.counts_numbers or not lower.isdigit())
    )
    return list(islice(counted, _MOST_WORDS))


def stem_of(word: str, suffixes: Sequence[str]) -> str:
    """Return the word without the first suffix that fits and leaves three characters. O18.

    If none fits, return the word.
    """
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word


def stemmed(words: Iterable[str], suffixes: Sequence[str]) -> list[str]:
    """Return the distinct words in order, each without the longest suffix that fits. H7."""
    longest_first = sorted(suffixes, key=len, reverse=True)
    return list(dict.fromkeys(stem_of(word, longest_first) for word in words))


class MemoryTexts:
    """The store's texts and tags by row, read on first use.

    One writer at a time (the engine's lock); many readers.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._column: _core.TextColumn | None = None
        # By row, as in oneiros.index.indexes: a text is copied again only if its digest differs.
        self._digests = array("q")
        self._uneven = BitMap()
        self._lowered = _core.TextColumn()
        self._composed = BitMap()

    @property
    def are_read(self) -> bool:
        """Whether the store's texts were read."""
        return self._column is not None

    @property
    def column(self) -> _core.TextColumn:
        """The core's texts. REQUIRES: they were read."""
        assert self._column is not None
        return self._column

    @property
    def lowered(self) -> _core.TextColumn:
        """Texts and tags in lower case only, for the rows where NFKC makes a difference. O20."""
        return self._lowered

    @property
    def uneven(self) -> BitMap:
        """The rows whose text gives another result if it is cut before normalisation."""
        return self._uneven

    @property
    def resident_bytes(self) -> int:
        """Allocated bytes, spare room included; 0 before the texts are read."""
        if self._column is None:
            return 0
        return self._column.resident_bytes + self._lowered.resident_bytes

    def read(self, batches: Iterable[Sequence[tuple[int, str, str | None]]]) -> None:
        """Read the texts of all live memories, except those without a row, which are applied later.

        Args:
            batches: sequence number, text, and tags as JSON.
        """
        column = _core.TextColumn()
        self._digests = array("q")
        self._uneven, self._composed = BitMap(), BitMap()
        self._lowered = _core.TextColumn()
        for batch in batches:
            rows = self._lifecycle.rows_of([sequence for sequence, _, _ in batch])
            texts = [
                (text, tags) for (_, text, tags), row in zip(batch, rows, strict=True) if row >= 0
            ]
            self._put(column, [row for row in rows if row >= 0], texts)
        self._column = column

    def apply(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Bring the texts into line with the store; do nothing before they are read."""
        column = self._column
        if column is None or not rows:
            return
        self._make_room(rows)
        gone: list[int] = []
        changed: dict[int, tuple[str, str | None]] = {}
        cells = zip(
            rows, memories["deleted_at"], memories["text"], memories["tags_json"], strict=True
        )
        for row, deleted_at, text, tags in cells:
            if deleted_at is not None:
                gone.append(row)
                changed.pop(row, None)
            elif self._digests[row] != _digest(text, tags):
                changed[row] = text, tags
        for row in gone:
            self._digests[row] = 0
        if gone:
            column.erase(rows=gone)
            self._erase_lowered(gone)
        self._put(column, list(changed), list(changed.values()))

    def delete(self, rows: npt.NDArray[np.uint32]) -> None:
        """Drop the texts of rows; do nothing before texts are read."""
        if self._column is not None:
            numbers = rows.tolist()
            self._make_room(numbers)
            for row in numbers:
                self._digests[row] = 0
            self._column.erase(rows=numbers)
            self._erase_lowered(numbers)

    def erase(self, rows: npt.NDArray[np.uint32]) -> None:
        """Drop the texts of rows."""
        numbers = rows.tolist()
        for row in numbers:
            if row < len(self._digests):
                self._digests[row] = 0
        if self._column is not None:
            self._column.erase(rows=numbers)
            self._erase_lowered(numbers)

    def _erase_lowered(self, rows: Sequence[int]) -> None:
        gone = [row for row in rows if row in self._composed]
        if gone:
            self._composed -= BitMap(gone)
            self._lowered.erase(rows=gone)

    def _put(
        self,
        column: _core.TextColumn,
        rows: Sequence[int],
        texts: Sequence[tuple[str, str | None]],
    ) -> None:
        if not rows:
            return
        self._make_room(rows)
        for row in rows:  # a digest is set only while the column surely holds its text
            self._digests[row] = 0
        pairs = [(text, "" if tags is None else "\n".join(tags_of(tags))) for text, tags in texts]
        normal = [(normalised(text), normalised(tags)) for text, tags in pairs]
        column.write(
            rows=rows, texts=[text for text, _ in normal], tags=[tags for _, tags in normal]
        )
        self._put_lowered(rows, pairs, normal)
        text_of_row = list(zip(rows, texts, strict=True))
        self._uneven -= BitMap(rows)
        self._uneven |= BitMap(
            row for row, (text, _) in text_of_row if not is_normalised_by_letter(text)
        )
        for row, (text, tags) in text_of_row:
            self._digests[row] = _digest(text, tags)

    def _put_lowered(
        self,
        rows: Sequence[int],
        pairs: Sequence[tuple[str, str]],
        normal: Sequence[tuple[str, str]],
    ) -> None:
        self._erase_lowered(rows)
        composed = {
            row: lowered
            for row, (text, tags), normalised_pair in zip(rows, pairs, normal, strict=True)
            if (lowered := (text.lower(), tags.lower())) != normalised_pair
        }
        if composed:
            self._lowered.write(
                rows=list(composed),
                texts=[text for text, _ in composed.values()],
                tags=[tags for _, tags in composed.values()],
            )
            self._composed |= BitMap(composed)

    def _make_room(self, rows: Sequence[int]) -> None:
        self._digests.extend([0] * (max(rows) + 1 - len(self._digests)))


def word_overlaps(
    column: _core.TextColumn,
    rows: Rows,
    among: npt.NDArray[np.bool_],
    groups: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the largest Jaccard similarity of each row's words with another row's of its group.

    A word is one that :func:`oneiros.index.texts.words_of` finds.

    Args:
        column: the core's texts.
        rows: the rows; one without a text has no overlap.
        among: which rows they are compared with, one value per row.
        groups: the group of every row.

    Returns:
        Shape (n,), 0 to 1.
    """
    if not len(rows):
        return np.zeros(0)
    own_groups = groups[rows]
    others = np.flatnonzero(among & np.isin(groups, own_groups)).astype(np.uint32)
    return column.largest_word_overlaps(
        rows=rows, groups=own_groups, among=others, among_groups=groups[others]
    )


def _digest(text: str, tags: str | None) -> int:
    return hash((text, tags)) or 1
