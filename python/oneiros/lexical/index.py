"""``LexicalIndex``: a BM25 index over texts by id."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.display.escaping import shortened
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
    checked_texts,
    checked_weights,
    open_saved,
)
from oneiros.lexical.rows import IdRows
from oneiros.lexical.statistics import QueryStatistics, given_statistics, statistics_of
from oneiros.model.calls import named_calls
from oneiros.model.validation import file_name, require_text, require_threads
from oneiros.runtime.dataclasses import dataclass
from oneiros.runtime.locks import fork_safe_lock

__all__ = ["PUBLISHED_DELTA", "Hits", "LexicalIndex"]


_SHOWN_ID = 60  # most characters of an id in a repr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hits:
    """The results of a search, best first; ties in order of insertion."""

    ids: npt.NDArray[Any]
    """Shape (n,); int64 if every id of the index is an int, else objects."""

    scores: npt.NDArray[np.float64]
    """Shape (n,), descending; 0 is possible with "robertson" and "atire", < 0 with "robertson"."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        for id, score in self:
            best = shortened(repr(id), _SHOWN_ID)
            return f"<Hits: {len(self)}, best {best} with {score:.5g}>"
        return "<Hits: none>"

    def __iter__(self) -> Iterator[tuple[Id, float]]:
        """Yield (id, score) pairs."""
        return zip(self.ids.tolist(), self.scores.tolist(), strict=True)


@named_calls("LexicalIndex")
class LexicalIndex:
    """A full-text index over texts by id, ranked by BM25.

    A text is searchable as soon as :meth:`add` returns. Scores depend only on the texts in the
    index, not on the order in which they were added or on deleted ones. Thread-safe: searches run
    in parallel, also during a write.

    Args:
        variant: ``"lucene"`` (without the constant factor k1 + 1), ``"robertson"``, ``"atire"``,
            ``"bm25plus"`` (or ``"bm25+"``) or ``"bm25l"``, each as in Kamphuis et al., "Which BM25
            do you mean?" (ECIR 2020), table 1.
        k1: saturation of repeated words, 0 to 1e100; with larger values repeats count more.
        b: strength of the length normalisation, 0 to 1.
        analyzer: one of :data:`oneiros.analyzers.NAMES`.
        delta: lower bound of a match, 0 to 1e100; only for ``"bm25plus"`` (default 1.0) and
            ``"bm25l"`` (default 0.5).
        half_length: the average length that halves ``b``, in words that the analyzer keeps (no stop
            words), 0 to 1e100: the normalisation has the strength b L² / (L² + half_length²) where
            texts have L words on average. Short texts differ in length by chance, long ones by what
            they treat. 0: ``b`` as it is.
        fields: whether texts may have a title and tags (BM25F).
        title_weight: weight of a word in the title, relative to 1 for the text; a multiple of 0.25
            from 0.25 to 8. Default: 2.
        tags_weight: weight of a word in the tags, likewise. Default: 1.5.
        title_length: share of ``title_weight`` that a word in the title adds to the length of its
            text, 0 to 1; times ``title_weight``, it is a multiple of 0.25. With 0, a title makes a
            text no longer. Default: 1.

    Raises:
        ValueError: an unknown variant or analyzer, a number out of its range, a ``delta`` for a
            variant that has none, or a weight for an index without fields.

    >>> import oneiros
    >>> index = oneiros.LexicalIndex(fields=True)
    >>> index.add("ada", "She likes green tea.", title="Ada")
    0
    >>> [id for id, score in index.search("ada's teas")]
    ['ada']
    """

    def __init__(
        self,
        variant: str = "lucene",
        k1: float = 1.2,
        b: float = 0.75,
        analyzer: str = "english",
        *,
        delta: float | None = None,
        half_length: float = 0.0,
        fields: bool = False,
        title_weight: float | None = None,
        tags_weight: float | None = None,
        title_length: float | None = None,
    ) -> None:
        require_text("variant", variant)
        require_text("analyzer", analyzer)
        if delta is not None and variant not in PUBLISHED_DELTA:
            msg = f"delta: only bm25plus and bm25l have one, got {delta!r} for {variant!r}"
            raise ValueError(msg)
        weights = checked_weights(
            fields,
            {
                "title_weight": title_weight,
                "tags_weight": tags_weight,
                "title_length": title_length,
            },
            FIELD_WEIGHTS,
        )
        self._made_with = MadeWith(
            analyzer=analyzer,
            variant=variant,
            k1=checked_number(k1, "k1"),
            b=checked_number(b, "b"),
            delta=checked_number(
                PUBLISHED_DELTA.get(variant, 0.0) if delta is None else delta, "delta"
            ),
            half_length=checked_number(half_length, "half_length"),
            **weights,
        )
        self._core = self._made_with.new_index()
        self._write_lock = fork_safe_lock()
        self._rows = IdRows()  # the core keeps which rows have a text

    def __len__(self) -> int:
        """Return the number of texts."""
        return self._core.document_count

    def __contains__(self, id: object) -> bool:
        try:
            row = self._rows.row_of(checked_id(id, "id"))
        except (TypeError, ValueError):
            return False  # for example 1.0 and True, which cannot be ids
        return row is not None and self._core.contains(row=row)

    def __repr__(self) -> str:
        return f"LexicalIndex({self._made_with}, texts={len(self)})"

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes: the sum of all allocations, without allocator overhead."""
        return self._core.resident_bytes + self._rows.nbytes

    def stats(self) -> dict[str, Any]:
        """Return the size of the index and the state of its background merges.

        Returns:
            ``texts`` and ``segments``: counts. ``bytes``: memory per part, the sum being
            :attr:`nbytes`. ``merge_error``: why the last background merge failed, or None. A failed
            merge loses nothing and is retried, but more segments make searches slower.

        >>> import oneiros
        >>> oneiros.LexicalIndex().stats()["texts"]
        0
        """
        return {
            "texts": len(self),
            "segments": self._core.segment_count,
            "bytes": {**self._core.part_bytes, "ids": self._rows.nbytes},
            "merge_error": self._core.merge_error or None,
        }

    def search(
        self,
        query: str,
        k: int = 10,
        where: Collection[Id] | None = None,
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        statistics: QueryStatistics | None = None,
    ) -> Hits:
        """Return the ``k`` best texts that match a word of the query.

        Args:
            query: at most 64 KiB of UTF-8 and 1,024 distinct words. A repeated word counts twice.
            k: the maximum number of hits, >= 0.
            where: the ids to search in (unknown ids are ignored); None for all. The filter does not
                change scores.
            syntax: ``"plain"``: the query is words only. ``"query"``: it may have signs, phrases,
                prefixes and fields (``+must -not "a phrase" pre* title:x``), as documented in
                docs/query_syntax.md; whatever does not parse is read as words.
            minimum_should_match: how many of the words, phrases and prefixes without a sign a text
                must match; at least one if none has the sign ``+``.
            statistics: weigh the query by these statistics, such as the sum over several indexes of
                :meth:`statistics`, in place of the index's own.

        Raises:
            TypeError: the query is no str, ``k`` or ``minimum_should_match`` no int, or ``where``
                no collection of ids.
            ValueError: ``k`` or ``minimum_should_match`` is below 0, the syntax is unknown, or the
                statistics are of other settings or lack a term or prefix of the query that the
                index has.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query contains lone surrogates.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.add_many([1, 2], ["green tea", "black coffee"])
        0
        >>> index.search("tea").ids.tolist()
        [1]
        """
        count = checked_count(k, "k", least=0)
        rows, scores, _ = self._core.search(
            query=query,
            k=count,
            allowed=self._allowed(where),
            statistics=given_statistics(statistics, self._made_with),
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
        statistics: QueryStatistics | None = None,
    ) -> list[Hits]:
        """Run :meth:`search` for each query. The number of threads does not change the results.

        Args:
            queries: as for :meth:`search`.
            k: the maximum number of hits per query, >= 0.
            threads: 1 to 256; at most 64 are used.
            where: as for :meth:`search`.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.
            statistics: as for :meth:`search`, of all queries (see
                :meth:`statistics`).

        Raises:
            TypeError: as :meth:`search`.
            ValueError: as :meth:`search`, or ``threads`` is out of range.
            QueryTooLarge: a query is over a limit.
            TextEncodingError: a query contains lone surrogates.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.add_many(["a", "b"], ["green tea", "black coffee"])
        0
        >>> [hits.ids.tolist() for hits in index.search_many(["tea", "coffee"])]
        [['a'], ['b']]
        """
        rows, scores, offsets, _ = self._core.search_many(
            queries=checked_texts(queries, "queries"),
            k=checked_count(k, "k", least=0),
            allowed=self._allowed(where),
            threads=require_threads(threads),
            statistics=given_statistics(statistics, self._made_with),
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
        statistics: QueryStatistics | None = None,
    ) -> npt.NDArray[np.float64]:
        """Score given texts for a query, bit for bit as :meth:`search` does.

        Args:
            query: as for :meth:`search`.
            ids: ids of the texts to score; duplicates are allowed.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.
            statistics: as for :meth:`search`.

        Returns:
            Shape (n,); 0 for a text that does not match and for an unknown id.

        Raises:
            TypeError: the query is no str, or ``ids`` no collection of ids.
            ValueError: an id is out of range, or as :meth:`search`.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query or an id contains lone surrogates.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.add_many([1, 2], ["green tea", "black coffee"])
        0
        >>> index.score("tea", [1, 2]).round(3).tolist()
        [0.315, 0.0]
        """
        checked = checked_ids(ids, "ids")
        scores = np.zeros(len(checked), dtype=np.float64)
        weighed = self._core.weigh(
            query=query,
            statistics=given_statistics(statistics, self._made_with),
            **checked_reading(syntax, minimum_should_match),
        )
        rows = self._rows.rows_of(checked)
        is_known = rows >= 0
        known = rows[is_known].astype(np.uint32)
        scores[is_known] = self._core.score_rows(query=weighed, rows=known)
        return scores

    def statistics(
        self,
        queries: str | Sequence[str],
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
        known: QueryStatistics | None = None,
    ) -> QueryStatistics:
        """Return the numbers that weigh a query in this index: N, lengths, df by term.

        Added over several indexes and given to :meth:`search`, :meth:`search_many` and
        :meth:`score`, they make each score as one index with all texts would, to the bit.

        Args:
            queries: one query, or several that one value is to serve.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.
            known: a sum that is not complete (:attr:`QueryStatistics.is_complete`): prefixes then
                find the terms, too, that other indexes found.

        Raises:
            TypeError: a query is no str, or ``known`` no :class:`QueryStatistics`.
            ValueError: as :meth:`search`, or there is no query.
            QueryTooLarge: a query is over a limit.
            TextEncodingError: a query contains lone surrogates.

        >>> import oneiros
        >>> parts = [oneiros.LexicalIndex(), oneiros.LexicalIndex()]
        >>> parts[0].add_many([1, 2], ["green tea", "black tea"]), parts[1].add(3, "green grass")
        (0, 0)
        >>> whole = parts[0].statistics("green") + parts[1].statistics("green")
        >>> [part.search("green", statistics=whole).scores.round(3).tolist() for part in parts]
        [[0.214], [0.214]]
        """
        return statistics_of(
            self._core,
            self._made_with,
            queries if isinstance(queries, str) else checked_texts(queries, "queries"),
            known,
            **checked_reading(syntax, minimum_should_match),
        )

    def add(
        self, id: Id, text: str, title: str | None = None, tags: Sequence[str] | None = None
    ) -> int:
        """Add a text, replacing the id's previous one.

        Args:
            id: a 64-bit int or a str. 1 and "1" are different ids.
            text: at most 32 MiB of UTF-8; may be empty.
            title: same limit; None for none. Title and tags need an index with ``fields=True``.
            tags: a sequence of str; None for none.

        Returns:
            The number of words longer than 256 bytes, which are cut to that length.

        Raises:
            TypeError: the id is neither int nor str, the text or title no str, or the tags no
                sequence of str.
            ValueError: the id is out of range, a field too long, or the index has no fields.
            TextEncodingError: the text or the id contains lone surrogates.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.add("ada", "green tea")
        0
        >>> "ada" in index
        True
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
        """Add many texts. If an id is repeated, its last text is stored.

        Nothing is added if an argument is wrong. Ctrl-C stops the call between two texts and keeps
        those already added.

        Args:
            ids: as for :meth:`add`.
            texts: one per id.
            titles: one per id, None for none.
            tags: one sequence per id, None for none.

        Returns:
            The number of words longer than 256 bytes, which are cut to that length.

        Raises:
            TypeError: as :meth:`add`, naming the position.
            ValueError: as :meth:`add`, naming the position; or the lengths differ.
            TextEncodingError: as :meth:`add`, naming the position.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.add_many(range(2), ["green tea", "black coffee"])
        0
        >>> len(index)
        2
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
                "" if words is None else checked_tags(words, f"tags[{place}]")
                for place, words in enumerate(checked_texts(tags, "tags"))
            ]
        with self._write_lock:
            try:
                rows = self._rows.assigned(checked)
                return self._core.add_many(rows=rows, texts=given, **fields)
            except BaseException:
                self._forget_missing(checked)
                raise

    def delete(self, id: Id) -> bool:
        """Delete a text and return whether there was one.

        Raises:
            TypeError: the id is neither int nor str.
            ValueError: the id is out of range.

        >>> import oneiros
        >>> index = oneiros.LexicalIndex()
        >>> index.delete("ada")
        False
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
        """Pack recently added texts for faster search. This also happens automatically.

        >>> import oneiros
        >>> oneiros.LexicalIndex().seal()
        """
        self._core.seal()

    def _allowed(self, where: Collection[Id] | None) -> npt.NDArray[np.uint8] | None:
        """Return the rows of the ids as packed bits; None for all."""
        if where is None:
            return None
        known = self._rows.known(checked_ids(where, "where"))
        bits = np.zeros(int(known.max(initial=0)) + 1, dtype=np.bool_)
        bits[known] = True
        return np.packbits(bits, bitorder="little")

    def _require_fields(self, name: str) -> None:
        if not self._made_with.has_fields:
            msg = f"{name}: the index has no fields; make it with fields=True"
            raise ValueError(msg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file for :meth:`open`, atomically.

        The file is readable by its owner only. Texts added during the call are not included.

        Raises:
            OSError: the file cannot be written; an existing file is unchanged.

        >>> import tempfile, oneiros
        >>> path = tempfile.mkdtemp() + "/index"
        >>> oneiros.LexicalIndex().save(path)
        >>> len(oneiros.LexicalIndex.open(path))
        0
        """
        with self._write_lock:
            self._made_with.save(self._core, file_name("path", path), self._rows.packed())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> LexicalIndex:
        """Open a file that :meth:`save` wrote by mapping it, in milliseconds.

        The index has the saved settings and ids. It may be changed, which does not change the file.
        While the index is in use, the file may be replaced or removed, but not written to.

        Raises:
            SnapshotDamaged: the file is damaged or comes from another version of Oneiros, of the
                stemmer or of the stop words. Rebuild the index from the texts.
            OSError: the file cannot be read.
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
        """Forget the ids whose texts were not added."""
        for id in ids:
            row = self._rows.row_of(id)
            if row is not None and not self._core.contains(row=row):
                self._rows.forget(id)
