"""Statistics of texts as a value, with which other indexes can weigh a query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from oneiros import _core
from oneiros.model.validation import require_flag, require_utf8, shown, texts
from oneiros.runtime.dataclasses import dataclass, field

if TYPE_CHECKING:
    from oneiros.lexical.options import MadeWith

__all__ = ["QueryStatistics", "given_statistics", "statistics_of"]


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """The statistics of a set of texts for the terms of some queries.

    All numbers are integers and sums over texts: those of disjoint sets add up to those of their
    union. So an index that holds a part of the texts, asked with the sum over all parts
    (``search(..., statistics=whole)``), gives its texts the scores of one index with all of them,
    to the bit. ``a + b`` adds two, also those of different queries over the same texts if they are
    combined by :meth:`joined`.

    Examples:
        >>> import oneiros
        >>> one, two = oneiros.LexicalIndex(), oneiros.LexicalIndex()
        >>> one.add("a", "green tea"), two.add("b", "black tea")
        (0, 0)
        >>> whole = one.statistics("black tea") + two.statistics("black tea")
        >>> whole.texts, whole.frequencies["tea"]
        (2, 2)
    """

    texts: int
    """N: the number of texts."""
    total_length: int
    """Sum of the texts' lengths in terms. With fields, a term counts by the weight of its field, in
    a unit that is the same for equal settings."""
    frequencies: Mapping[str, int]
    """Term -> the number of texts with it (df); terms that the index never had are left out."""
    prefix_frequencies: Mapping[str, int] = field(default_factory=dict)
    """Prefix -> the number of texts with any of its terms."""
    prefix_terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Prefix -> the terms that it finds, sorted."""
    settings: str = ""
    """The analyzer and the numbers of BM25, as JSON. Only equal ones can be added or used."""
    is_complete: bool = True
    """False for a sum whose parts find different terms by a prefix, because some texts lack a form
    of a word: ask each part again with ``known=`` this sum."""

    def __add__(self, other: QueryStatistics) -> QueryStatistics:
        if not isinstance(other, QueryStatistics):
            return NotImplemented
        self._require_settings(other.settings)
        prefixes = {*self.prefix_terms, *other.prefix_terms}
        return QueryStatistics(
            texts=self.texts + other.texts,
            total_length=self.total_length + other.total_length,
            frequencies=_sum(self.frequencies, other.frequencies),
            prefix_frequencies=_sum(self.prefix_frequencies, other.prefix_frequencies),
            prefix_terms={
                prefix: tuple(sorted({*self._terms(prefix), *other._terms(prefix)}))
                for prefix in sorted(prefixes)
            },
            settings=self.settings,
            is_complete=self.is_complete
            and other.is_complete
            and dict(self.prefix_terms) == dict(other.prefix_terms),
        )

    @staticmethod
    def joined(parts: Iterable[QueryStatistics]) -> QueryStatistics:
        """Return the statistics of several queries over the same texts as one value.

        Args:
            parts: at least one.

        Raises:
            ValueError: they are of different numbers of texts or different settings, or there are
                none.

        Examples:
            >>> import oneiros
            >>> index = oneiros.LexicalIndex()
            >>> index.add("a", "green tea")
            0
            >>> both = oneiros.QueryStatistics.joined(map(index.statistics, ["green", "tea"]))
            >>> dict(both.frequencies)
            {'green': 1, 'tea': 1}
        """
        given = list(parts)
        if not given:
            msg = "parts: expected at least one, got none"
            raise ValueError(msg)
        return reduce(_joined, given)

    def to_dict(self) -> dict[str, Any]:
        """Return the value as a dict of JSON values, which :meth:`from_dict` reads."""
        return {
            "texts": self.texts,
            "total_length": self.total_length,
            "frequencies": dict(self.frequencies),
            "prefix_frequencies": dict(self.prefix_frequencies),
            "prefix_terms": {prefix: list(terms) for prefix, terms in self.prefix_terms.items()},
            "settings": json.loads(self.settings) if self.settings else None,
            "is_complete": self.is_complete,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> QueryStatistics:
        """Return the value that :meth:`to_dict` gave.

        Raises:
            ValueError: a key is missing, or its value has another type; the message names it.
        """
        try:
            settings = _mapping("values", values)["settings"]
            return cls(
                texts=_count("texts", values["texts"]),
                total_length=_count("total_length", values["total_length"]),
                frequencies=_counts("frequencies", values["frequencies"]),
                prefix_frequencies=_counts("prefix_frequencies", values["prefix_frequencies"]),
                prefix_terms={
                    _word("prefix_terms", prefix): _words(f"prefix_terms[{prefix!r}]", terms)
                    for prefix, terms in _mapping("prefix_terms", values["prefix_terms"]).items()
                },
                settings=""
                if settings is None
                else json.dumps(_mapping("settings", settings), sort_keys=True),
                is_complete=require_flag("is_complete", values["is_complete"]),
            )
        except KeyError as error:
            msg = f"values: lack the key {error.args[0]!r}"
            raise ValueError(msg) from None
        except TypeError as error:
            raise ValueError(str(error)) from None

    def _terms(self, prefix: str) -> tuple[str, ...]:
        return self.prefix_terms.get(prefix, ())

    def _require_settings(self, settings: str) -> None:
        if self.settings != settings:
            mine, others = json.loads(self.settings or "{}"), json.loads(settings or "{}")
            names = sorted(name for name in {*mine, *others} if mine.get(name) != others.get(name))
            msg = f"statistics: of an index with other settings ({', '.join(names)})"
            raise ValueError(msg)


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    summed = dict(one)
    for word, count in other.items():
        summed[word] = summed.get(word, 0) + count
    return summed


def _joined(one: QueryStatistics, other: QueryStatistics) -> QueryStatistics:
    one._require_settings(other.settings)
    if (one.texts, one.total_length) != (other.texts, other.total_length):
        msg = (
            f"parts: of different texts ({one.texts} with {one.total_length} terms, and "
            f"{other.texts} with {other.total_length})"
        )
        raise ValueError(msg)
    return QueryStatistics(
        texts=one.texts,
        total_length=one.total_length,
        frequencies={**one.frequencies, **other.frequencies},
        prefix_frequencies={**one.prefix_frequencies, **other.prefix_frequencies},
        prefix_terms={**one.prefix_terms, **other.prefix_terms},
        settings=one.settings,
        is_complete=one.is_complete and other.is_complete,
    )


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        msg = f"{name}: must be an int from 0 to 2**63 - 1, got {shown(value)}"
        raise ValueError(msg)
    return value


def _counts(name: str, values: object) -> dict[str, int]:
    return {
        _word(name, word): _count(f"{name}[{word!r}]", count)
        for word, count in _mapping(name, values).items()
    }


def _mapping(name: str, values: object) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        msg = f"{name}: expected a dict, got {type(values).__name__}"
        raise TypeError(msg)
    return values


def _word(name: str, word: Any) -> str:
    require_utf8(name, word)
    return str(word)


def _words(name: str, words: object) -> tuple[str, ...]:
    return tuple(_word(f"{name}[{place}]", word) for place, word in enumerate(texts(name, words)))


def statistics_of(
    index: _core.LexicalIndex,
    made_with: MadeWith,
    queries: str | Sequence[str],
    known: object,
    **options: Any,
) -> QueryStatistics:
    """Return the statistics of an index for a query, or for several as one value.

    Args:
        index: the index.
        made_with: its settings.
        queries: one or more texts.
        known: a sum of several parts; prefixes also find its terms.
        **options: of the core: how queries are read, and the rows to count.

    Raises:
        ValueError: there is no query.
    """
    if not isinstance(queries, str) and not queries:
        msg = f"queries: expected at least one, got {queries!r}"
        raise ValueError(msg)
    settings = made_with.identity()
    core_known = None if known is None else _core_value(known, settings, is_round=True)
    given = [queries] if isinstance(queries, str) else queries
    found = [index.statistics(query=text, known=core_known, **options) for text in given]
    return QueryStatistics.joined(
        QueryStatistics(
            texts=one.documents,
            total_length=one.length,
            frequencies=one.df,
            prefix_frequencies=one.prefix_df,
            prefix_terms={prefix: tuple(terms) for prefix, terms in one.prefix_terms.items()},
            settings=settings,
        )
        for one in found
    )


def given_statistics(statistics: object, made_with: MadeWith) -> _core.QueryStatistics | None:
    """Return given statistics for the core; None: those of the index.

    Raises:
        TypeError: not :class:`QueryStatistics`.
        ValueError: of an index with other settings, or an incomplete sum, or impossible counts.
    """
    if statistics is None:
        return None
    return _core_value(statistics, made_with.identity(), is_round=False)


def _core_value(statistics: object, settings: str, *, is_round: bool) -> _core.QueryStatistics:
    if not isinstance(statistics, QueryStatistics):
        msg = f"statistics: expected oneiros.QueryStatistics, got {type(statistics).__name__}"
        raise TypeError(msg)
    statistics._require_settings(settings)
    if not is_round:
        if not statistics.is_complete:
            msg = (
                "statistics: the parts of the sum find different terms by a prefix; ask each "
                "part again with known= this sum"
            )
            raise ValueError(msg)
        for counts in (statistics.frequencies, statistics.prefix_frequencies):
            for word, count in counts.items():
                if not 0 <= count <= statistics.texts:
                    msg = (
                        f"statistics: {word!r} must be in 0 to {statistics.texts} texts, "
                        f"got {count}"
                    )
                    raise ValueError(msg)
        if statistics.total_length <= 0 and any(statistics.frequencies.values()):
            msg = f"statistics: total_length must be above 0, got {statistics.total_length}"
            raise ValueError(msg)
    return _core.QueryStatistics(
        documents=statistics.texts,
        length=statistics.total_length,
        df=dict(statistics.frequencies),
        prefix_df=dict(statistics.prefix_frequencies),
        prefix_terms={prefix: list(terms) for prefix, terms in statistics.prefix_terms.items()},
    )
