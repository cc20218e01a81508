"""The normalised texts of memories, in the core by rows. Source: docs/systems/omega.md O3, O18, O26; house.md H7, H9."""

from __future__ import annotations

import re
from array import array
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyroaring import BitMap

from oneiros import _core
from oneiros._lazy import np
from oneiros.scoring.understanding import QueryWords
from oneiros.store.rows import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from oneiros.channels import Rows
    from oneiros.index.columns import Lifecycle
    from oneiros.store.columns import StoredColumns

__all__ = [
    "MemoryTexts",
    "asking_share",
    "canonical",
    "is_normalised_by_letter",
    "normalised",
    "stem_of",
    "stemmed",
    "word_overlaps",
    "words_of",
]


_MARKS: Final = ".!?…‼⁇⁈⁉؟"
# Each run of marks is tried once, at its beginning, and never gone back over.
_END: Final = rf"(?<![{_MARKS}])[{_MARKS}]++(?=[\"'”’»)\]]*+(?:\s|$))|[。！？]+|\n+"  # noqa: RUF001
_compiled = cache(re.compile)  # when it is first needed
_ASKS: Final = frozenset("?？؟⁇⁈⁉")  # noqa: RUF001


def asking_share(text: str) -> float:
    """Return the share of a text's characters that stand in sentences which end by a question mark.

    A sentence ends with a run of marks (``.``, ``!``, ``?`` and their like) before white space, with
    closing quotes or brackets between them or none, or at the text's end; with an ideographic mark;
    or with its line. It asks if a question mark is in that run. Its marks are part of it. In time
    linear in the text's length.

    Returns:
        From 0 to 1; 0 for an empty text.
    """
    if "?" not in text and (text.isascii() or _ASKS.isdisjoint(text)):
        return 0.0
    asking = start = 0
    for end in _compiled(_END).finditer(text):
        if not _ASKS.isdisjoint(end.group()):
            asking += end.end() - start
        start = end.end()
    return asking / len(text)


_MOST_WORDS: Final = 1_024
_LEAST_STEM: Final = 3
_WORD: Final = r"\w+"
_JOINED: Final = r"[^\W_]\w*(?:[_.:/+-]+[^\W_]\w*)*"
_PLAIN: Final = QueryWords()


def normalised(text: str) -> str:
    """Return the text in NFKC, then in lower case."""
    if text.isascii():
        return text.lower()
    import unicodedata  # noqa: PLC0415 - a library of its own, for texts beyond ASCII

    wide = unicodedata.normalize("NFKC", text)
    if "Σ" in wide and "`" in wide:
        # Sigma has another small letter at the end of a word. Python does not end a word at a
        # backtick, but the canonical form, which is derived from this text, has a blank there.
        return "`".join(part.lower() for part in wide.split("`"))
    return wide.lower()


def canonical(text: str) -> str:
    """Return the canonical form: no markdown, underscores, line ends or capitals. O26."""
    return _core.canonical_form(text=normalised(text))


def is_normalised_by_letter(text: str) -> bool:
    """Return whether cutting the text gives the same before and after it is normalised.

    Lower case changes the length of ``İ``, and turns ``Σ`` into one of two letters.
    """
    if text.isascii():
        return True
    import unicodedata  # noqa: PLC0415 - as above

    return unicodedata.is_normalized("NFKC", text) and "İ" not in text and "Σ" not in text


def words_of(query: str, rule: QueryWords | None = None) -> list[str]:
    """Return the words of a query that count, in order, at most 1,024.

    Args:
        query: the text.
        rule: how it is cut; None: into runs of letters, digits and underscores, of three characters
            or more, each once.

    Returns:
        Words that are normalised or become so by :func:`normalised`.
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

    If none does, return the word itself.
    """
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word


def stemmed(words: Iterable[str], suffixes: Sequence[str]) -> list[str]:
    """Return the words, each without the longest suffix that fits, once and in order. H7."""
    longest_first = sorted(suffixes, key=len, reverse=True)
    return list(dict.fromkeys(stem_of(word, longest_first) for word in words))


class MemoryTexts:
    """A projection of the store's texts and tags, read from it when they are first asked for.

    One writer at a time (the engine's lock); many readers.

    Args:
        lifecycle: rows and ids of the memories.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._column: _core.TextColumn | None = None
        # By row, as in oneiros.index.indexes: only another text is copied anew.
        self._digests = array("q")
        # Rows whose text gives another result if it is cut before it is normalised.
        self._uneven = BitMap()
        # Texts and tags in lower case alone, of the rows where NFKC makes a difference. O20.
        self._lowered = _core.TextColumn()
        self._composed = BitMap()

    @property
    def are_read(self) -> bool:
        """Whether the store's texts are here."""
        return self._column is not None

    @property
    def column(self) -> _core.TextColumn:
        """The core's texts. REQUIRES: they were read."""
        assert self._column is not None
        return self._column

    @property
    def lowered(self) -> _core.TextColumn:
        """Texts and tags in lower case alone, of the rows where NFKC makes a difference. O20."""
        return self._lowered

    @property
    def uneven(self) -> BitMap:
        """The rows whose text gives another result if it is cut before it is normalised."""
        return self._uneven

    @property
    def resident_bytes(self) -> int:
        """Bytes held, room for more among them; 0 before they are read."""
        if self._column is None:
            return 0
        return self._column.resident_bytes + self._lowered.resident_bytes

    def read(self, batches: Iterable[Sequence[tuple[int, str, str | None]]]) -> None:
        """Take the texts of all live memories. Those of memories without a row come again.

        Args:
            batches: sequence number, text, and tags as JSON.
        """
        column = _core.TextColumn()
        self._digests = array("q")
        self._uneven, self._composed = BitMap(), BitMap()
        self._lowered = _core.TextColumn()
        for batch in batches:
            sequences = np.array([sequence for sequence, _, _ in batch], np.int64)
            rows = self._lifecycle.rows_of_sequences(sequences).tolist()
            texts = [held[1:] for held, row in zip(batch, rows, strict=True) if row >= 0]
            self._put(column, [row for row in rows if row >= 0], texts)
        self._column = column

    def apply(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Bring texts to what the store says; before they are read, do nothing."""
        column = self._column
        if column is None or not rows:
            return
        self._make_room(rows)
        gone: list[int] = []
        changed: dict[int, tuple[str, str | None]] = {}
        said = zip(
            rows, memories["deleted_at"], memories["text"], memories["tags_json"], strict=True
        )
        for row, deleted_at, text, tags in said:
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
        """Drop the texts of rows; before texts are read, do nothing."""
        if self._column is not None:
            numbers = rows.tolist()
            self._make_room(numbers)
            for row in numbers:
                self._digests[row] = 0
            self._column.erase(rows=numbers)
            self._erase_lowered(numbers)

    def erase(self, row: int) -> None:
        """Drop the text of a memory."""
        if row < len(self._digests):
            self._digests[row] = 0
        if self._column is not None:
            self._column.erase(rows=[row])
            self._erase_lowered([row])

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
        for row in rows:  # a digest stands only while the column is known to hold its text
            self._digests[row] = 0
        held = [(text, "" if tags is None else "\n".join(tags_of(tags))) for text, tags in texts]
        normal = [(normalised(text), normalised(tags)) for text, tags in held]
        column.write(
            rows=rows, texts=[text for text, _ in normal], tags=[tags for _, tags in normal]
        )
        self._put_lowered(rows, held, normal)
        pairs = list(zip(rows, texts, strict=True))
        self._uneven -= BitMap(rows)
        self._uneven |= BitMap(row for row, (text, _) in pairs if not is_normalised_by_letter(text))
        for row, (text, tags) in pairs:
            self._digests[row] = _digest(text, tags)

    def _put_lowered(
        self,
        rows: Sequence[int],
        held: Sequence[tuple[str, str]],
        normal: Sequence[tuple[str, str]],
    ) -> None:
        self._erase_lowered(rows)
        composed = {
            row: lowered
            for row, (text, tags), same in zip(rows, held, normal, strict=True)
            if (lowered := (text.lower(), tags.lower())) != same
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
    """Return the largest Jaccard of each row's words with another's of its group, shape (n,), 0 to 1.

    A word is one that :func:`oneiros.index.texts.words_of` finds.

    Args:
        column: the core's texts.
        rows: whose; one without a text shares nothing.
        among: which rows they are compared with, one value a row.
        groups: every row's.
    """
    if not len(rows):
        return np.zeros(0)
    asked = groups[rows]
    others = np.flatnonzero(among & np.isin(groups, asked)).astype(np.uint32)
    return column.largest_word_overlaps(
        rows=rows, groups=asked, among=others, among_groups=groups[others]
    )


def _digest(text: str, tags: str | None) -> int:
    return hash((text, tags)) or 1
