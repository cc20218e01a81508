"""``LexicalIndex``: texts in, ids and BM25 scores out."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from oneiros.errors import SnapshotDamaged
from oneiros.lexical.options import (
    FIELD_WEIGHTS,
    PUBLISHED_DELTA,
    Id,
    MadeWith,
    checked_count,
    checked_id,
    checked_ids,
    checked_number,
    checked_reading,
    checked_tags,
    checked_text,
    checked_texts,
    checked_weights,
    open_saved,
)
from oneiros.lexical.rows import IdRows
from oneiros.model.calls import named_calls
from oneiros.model.validation import file_name
from oneiros.runtime.dataclasses import dataclass
from oneiros.runtime.locks import fork_safe_lock
from oneiros.runtime.threads import require_threads

if TYPE_CHECKING:
    from oneiros import _core

__all__ = ["PUBLISHED_DELTA", "Hits", "LexicalIndex", "SearchedTexts"]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What a search found, best first; ties in order of insertion."""

    ids: npt.NDArray[Any]
    """Shape (n,); int64 while every id of the index is an int, else objects."""

    scores: npt.NDArray[np.float64]
    """Shape (n,), falling. Robertson's and ATIRE's may be 0, Robertson's below 0."""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Id, float]]:
        """Yield (id, score) pairs."""
        return zip(self.ids.tolist(), self.scores.tolist(), strict=True)


class SearchedTexts:
    """Texts that can be searched."""

    _core: _core.LexicalIndex
    _rows: IdRows

    def search(
        self,
        query: str,
        k: int = 10,
        where: Collection[Id] | None = None,
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> Hits:
        """Return the best ``k`` texts that hold a word of the query.

        Args:
            query: any str of at most 64 KiB of UTF-8 and 1,024 distinct words. A word asked for
                twice counts twice.
            k: how many at most, from 0.
            where: the ids that may be found (unknown ones do no harm); None for all. Scores are
                the same with and without.
            syntax: ``"plain"``: the query is words, nothing in it is syntax. ``"query"``: it may
                have signs, phrases, prefixes and fields (``+must -not "a phrase" pre* title:x``),
                as docs/query_syntax.md tells; what does not parse is words.
            minimum_should_match: how many words, phrases and prefixes without a sign a text must
                match; one anyway, if none has the sign ``+``.

        Raises:
            TypeError: the query is no str, ``k`` or ``minimum_should_match`` no int, or ``where``
                no collection of ids.
            ValueError: ``k`` or ``minimum_should_match`` is below 0, or the syntax unknown.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query holds lone surrogates.
        """
        count = checked_count(k, "k", least=0)
        rows, scores, _ = self._core.search(
            query=query,
            k=count,
            allowed=self._allowed(where),
            **checked_reading(syntax, minimum_should_match),
        )
        return Hits(ids=self._rows.ids_of(rows), scores=scores)

    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        threads: int = 1,
        where: Collection[Id] | None = None,
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> list[Hits]:
        """Return :meth:`search` of each query, the same for any number of threads.

        Args:
            queries: as for :meth:`search`.
            k: how many at most for each, from 0.
            threads: 1 to 256; more than 64 are not used.
            where: as for :meth:`search`.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.

        Raises:
            TypeError: as :meth:`search`.
            ValueError: as :meth:`search`, or ``threads`` is out of range.
            QueryTooLarge: a query is over a limit.
            TextEncodingError: a query holds lone surrogates.
        """
        rows, scores, offsets, _ = self._core.search_many(
            queries=checked_texts(queries, "queries"),
            k=checked_count(k, "k", least=0),
            allowed=self._allowed(where),
            threads=require_threads(threads),
            **checked_reading(syntax, minimum_should_match),
        )
        ids = self._rows.ids_of(rows)
        bounds = offsets.tolist()
        return [
            Hits(ids=ids[start:end], scores=scores[start:end])
            for start, end in itertools.pairwise(bounds)
        ]

    def score(
        self,
        query: str,
        ids: Sequence[Id] | npt.NDArray[Any],
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return the exact score of given texts: the bits that :meth:`search` gives each.

        Args:
            query: as for :meth:`search`.
            ids: whose texts to score; an id may come twice.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.

        Returns:
            Shape (n,); 0 where the text does not match, or the id has no text.

        Raises:
            TypeError: the query is no str, or ``ids`` no collection of ids.
            ValueError: an id is out of range, or as :meth:`search`.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query (or an id) holds lone surrogates.
        """
        checked = checked_ids(ids, "ids")
        scores = np.zeros(len(checked), dtype=np.float64)
        weighed = self._core.weigh(
            query=query,
            **checked_reading(syntax, minimum_should_match),
        )
        rows = self._rows.rows_of(checked)
        is_known = rows >= 0
        known = rows[is_known].astype(np.uint32)
        scores[is_known] = self._core.score_rows(query=weighed, rows=known)
        return scores

    def _allowed(self, where: Collection[Id] | None) -> npt.NDArray[np.uint8] | None:
        """Return the rows of the ids as packed bits."""
        if where is None:
            return None
        known = self._rows.known(checked_ids(where, "where"))
        bits = np.zeros(int(known.max(initial=0)) + 1, dtype=np.bool_)
        bits[known] = True
        return np.packbits(bits, bitorder="little")


@named_calls("LexicalIndex")
class LexicalIndex(SearchedTexts):
    """Texts by id, found by their words and ranked by BM25.

    A text is found as soon as :meth:`add` returns. A score depends on nothing but the texts that
    are there: not on the order they came in, nor on what was there before. Thread-safe: searches
    run side by side, also beside one that writes.

    Args:
        variant: ``"lucene"`` (without the constant factor k1 + 1), ``"robertson"``, ``"atire"``,
            ``"bm25plus"`` (or ``"bm25+"``) or ``"bm25l"``, each as in Kamphuis et al., "Which BM25
            do you mean?" (ECIR 2020), table 1.
        k1: how slowly repeats of a word stop counting, from 0 to 1e100.
        b: how much long texts are held back, from 0 to 1.
        analyzer: a name of :data:`oneiros.lexical.analyzers.NAMES`; :mod:`oneiros.lexical.analyzers` tells them.
        delta: what a match is worth at least, from 0 to 1e100; of ``"bm25plus"`` (1.0 unless given)
            and ``"bm25l"`` (0.5) only.
        fields: whether texts may have a title and tags (BM25F).
        title_weight: how much a word of the title counts beside one of the text, which counts 1; a
            multiple of 0.25 from 0.25 to 8. Default: 2.
        tags_weight: the same of a word of the tags. Default: 1.5.

    Raises:
        ValueError: an unknown variant or analyzer, a number out of its range, a ``delta`` for a
            variant that has none, or a weight for an index without fields.
    """

    def __init__(
        self,
        variant: str = "lucene",
        k1: float = 1.2,
        b: float = 0.75,
        analyzer: str = "english",
        *,
        delta: float | None = None,
        fields: bool = False,
        title_weight: float | None = None,
        tags_weight: float | None = None,
    ) -> None:
        checked_text(variant, "variant")
        checked_text(analyzer, "analyzer")
        if delta is not None and variant not in PUBLISHED_DELTA:
            msg = f"delta: only bm25plus and bm25l have one, got {delta!r} for {variant!r}"
            raise ValueError(msg)
        weights = checked_weights(
            fields, {"title_weight": title_weight, "tags_weight": tags_weight}, FIELD_WEIGHTS
        )
        self._made_with = MadeWith(
            analyzer=analyzer,
            variant=variant,
            k1=checked_number(k1, "k1"),
            b=checked_number(b, "b"),
            delta=checked_number(
                PUBLISHED_DELTA.get(variant, 0.0) if delta is None else delta, "delta"
            ),
            **weights,
        )
        self._core = self._made_with.new_index()
        self._write_lock = fork_safe_lock()
        self._rows = IdRows()  # whether a row has a text, the core knows

    def __len__(self) -> int:
        """Return the number of texts."""
        return self._core.document_count

    def __contains__(self, id: object) -> bool:
        try:
            row = self._rows.row_of(checked_id(id, "id"))
        except (TypeError, ValueError):
            return False  # 1.0 and True are no ids
        return row is not None and self._core.contains(row=row)

    def __repr__(self) -> str:
        return f"LexicalIndex({self._made_with}, texts={len(self)})"

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: each allocation, but not what it costs the allocator."""
        return self._core.resident_bytes + self._rows.nbytes

    def stats(self) -> dict[str, Any]:
        """Return how large the index is, and whether its upkeep goes well.

        Returns:
            ``texts`` and ``segments``, how many there are; ``bytes``, what each part holds in
            memory, together :attr:`nbytes` as it was then; ``merge_error``, why the last merge in
            the background failed, None if it did not: nothing is lost by that, and the next one
            tries again, but searches slow down with the number of segments.
        """
        return {
            "texts": len(self),
            "segments": self._core.segment_count,
            "bytes": {**self._core.part_bytes, "ids": self._rows.nbytes},
            "merge_error": self._core.merge_error or None,
        }

    def add(
        self, id: Id, text: str, title: str | None = None, tags: Sequence[str] | None = None
    ) -> int:
        """Add a text, or put it in place of the id's former one.

        Args:
            id: an int of 64 bits or a str. 1 and "1" are two ids.
            text: any str of at most 32 MiB of UTF-8; an empty one counts as a text, too.
            title: the same; None for none. Needs an index with fields, as do tags.
            tags: any strs; None for none.

        Returns:
            How many words were longer than 256 bytes and were cut to that.

        Raises:
            TypeError: the id is neither int nor str, the text or title no str, or the tags no
                sequence of str.
            ValueError: the id is out of range, a field too long, or the index has no fields.
            TextEncodingError: the text (or the id) holds lone surrogates.
        """
        id = checked_id(id, "id")
        fields: dict[str, str] = {}
        if title is not None:
            self._require_fields("title")
            fields["title"] = title
        if tags is not None:
            self._require_fields("tags")
            fields["tags"] = checked_tags(tags, "tags")
        with self._write_lock:
            try:
                row = self._rows.assigned_one(id)
                return self._core.add(row=row, text=text, **fields)
            except BaseException:
                self._forget_missing([id])
                raise

    def add_many(
        self,
        ids: Sequence[Id] | npt.NDArray[Any],
        texts: Sequence[str],
        titles: Sequence[str | None] | None = None,
        tags: Sequence[Sequence[str] | None] | None = None,
    ) -> int:
        """Add many texts; an id that comes twice has its last text.

        Nothing is added if an argument is wrong. Ctrl-C ends the call between two texts: what came
        before is in.

        Returns:
            How many words were longer than 256 bytes and were cut to that.

        Raises:
            TypeError: as :meth:`add`, naming the place.
            ValueError: as :meth:`add`, naming the place; or the lengths differ.
            TextEncodingError: as :meth:`add`, naming the place.
        """
        checked = checked_ids(ids, "ids")
        given = checked_texts(texts, "texts")
        if len(checked) != len(given):
            msg = f"texts: must be as many as ids ({len(checked)}), got {len(given)}"
            raise ValueError(msg)
        fields: dict[str, list[str]] = {}
        if titles is not None:
            self._require_fields("titles")
            listed = checked_texts(titles, "titles")
            fields["titles"] = ["" if title is None else title for title in listed]
        if tags is not None:
            self._require_fields("tags")
            fields["tags"] = [
                "" if one is None else checked_tags(one, f"tags[{place}]")
                for place, one in enumerate(checked_texts(tags, "tags"))
            ]
        with self._write_lock:
            try:
                rows = self._rows.assigned(checked)
                return self._core.add_many(rows=rows, texts=given, **fields)
            except BaseException:
                self._forget_missing(checked)
                raise

    def delete(self, id: Id) -> bool:
        """Delete a text; return False if there is none of this id.

        Raises:
            TypeError: the id is neither int nor str.
            ValueError: the id is out of range.
        """
        id = checked_id(id, "id")
        with self._write_lock:
            row = self._rows.row_of(id)
            if row is None:
                return False
            is_deleted = self._core.delete(row=row)
            self._rows.forget(id)
        return is_deleted

    def seal(self) -> None:
        """Move fresh texts to where they are packed for search; happens by itself, too."""
        self._core.seal()

    def _require_fields(self, name: str) -> None:
        if not self._made_with.has_fields:
            msg = f"{name}: the index has no fields; make it with fields=True"
            raise ValueError(msg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the texts' index to a file that :meth:`open` maps: whole or not at all.

        The file is readable by its owner only. Texts may be added meanwhile; they are not in it.

        Raises:
            OSError: it cannot be written; what was there before is there still.
        """
        with self._write_lock:
            self._made_with.save(self._core, file_name("path", path), self._rows.packed())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> LexicalIndex:
        """Return an index over a file that :meth:`save` wrote, in milliseconds.

        It is the index that was saved, settings and ids included, and may be changed; the file is
        not. While the index lives, the file may be replaced or removed, but not written into.

        Raises:
            SnapshotDamaged: the file is damaged, or another version made it, or another version of
                the stemmer or of the stop words. Index the texts anew.
            OSError: it cannot be read.
        """
        made_with, core, packed = open_saved(file_name("path", path))
        rows = IdRows.unpacked(packed)
        if len(rows) != core.document_count:
            msg = f"{len(rows)} ids for {core.document_count} texts"
            raise SnapshotDamaged(msg)
        index = cls.__new__(cls)
        index._made_with, index._core, index._rows = made_with, core, rows
        index._write_lock = fork_safe_lock()
        return index

    def _forget_missing(self, ids: list[Id]) -> None:
        """Forget the ids whose texts did not get in."""
        for id in ids:
            row = self._rows.row_of(id)
            if row is not None and not self._core.contains(row=row):
                self._rows.forget(id)
