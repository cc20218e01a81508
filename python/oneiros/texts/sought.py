"""What a question looks for in the texts of its candidates. Source: docs/systems/omega.md O3, O18, mnemosyne.md M8."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.channels import ChannelAnswer, RankedList
from oneiros.numpy_on_use import np
from oneiros.ranking.factors import Overlap
from oneiros.ranking.keep_rules import RelevanceGate
from oneiros.texts.memory_texts import word_ratios
from oneiros.texts.normalised import canonical, normalised, stem_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.channels import Rows, Scores
    from oneiros.ranking.channels import LexicalChannel
    from oneiros.ranking.factor import Factor
    from oneiros.ranking.profile import Profile
    from oneiros.ranking.query_words import QueryWords
    from oneiros.texts.memory_texts import MemoryTexts

__all__ = ["Sought"]


class Sought:
    """The words of one question, and the texts they are sought in.

    Args:
        texts: of all memories. REQUIRES: they were read.
        query: what the question says in words.
        rule: the profile's, of which words count.
    """

    def __init__(self, texts: MemoryTexts, query: str, rule: QueryWords | None = None) -> None:
        self.texts = texts
        self.column = texts.column
        self._counts_each = rule is not None and rule.counts_each
        self._words = words_of(query, rule)

    @cached_property
    def words(self) -> list[str]:
        """The words that count, normalised."""
        return list(map(normalised, self._words))

    @cached_property
    def _canonical_words(self) -> list[str]:
        """The words in canonical form; as the profile has it, each once and without empty ones."""
        forms = map(canonical, self._words)
        return list(forms if self._counts_each else dict.fromkeys(filter(None, forms)))

    def word_ratios(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the share of words that are a part of each row's text, shape (n,). O3."""
        return word_ratios(self.column, rows, self.words)

    def overlaps(self, rows: Rows, suffixes: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the share of words found in each row's text and tags, shape (n,). O18.

        Args:
            rows: of the candidates.
            suffixes: the first that fits is cut off a word that is not found as it stands.

        Returns:
            0 to 1; all 0 if the query has no words.
        """
        words = self._canonical_words
        if not words:
            return np.zeros(len(rows))
        cut = [stem_of(word, suffixes) for word in words]
        stems = ["" if stem == word else stem for stem, word in zip(cut, words, strict=True)]
        counts = self.column.count_canonical_words(rows=rows, words=words, stems=stems)
        shares: npt.NDArray[np.float64] = counts / len(words)
        return shares

    def signals(self, profile: Profile, rows: Rows) -> dict[str, npt.NDArray[np.float64]]:
        """Return what factors and keep rules ask of the texts of candidates: O18, M8.

        One value a row, or one for all.
        """
        told: dict[str, npt.NDArray[np.float64]] = {}
        if any(isinstance(factor, Overlap) for factor in profile.factors):
            told["word_ratio"] = self.overlaps_of(profile.factors, rows)
        if self.words and any(isinstance(rule, RelevanceGate) for rule in profile.keep):
            told["lexical_share"] = self.word_ratios(rows)
            told["query_words"] = np.array([float(len(self.words))])
        return told

    def overlaps_of(self, factors: Sequence[Factor], rows: Rows) -> npt.NDArray[np.float64]:
        """Return O18's share for each row, with the endings of the factor "overlap"."""
        own = [factor.suffixes for factor in factors if isinstance(factor, Overlap)]
        return self.overlaps(rows, own[0] if own else Overlap().suffixes)

    def relevance_of(self, heard: ChannelAnswer, channel: LexicalChannel) -> ChannelAnswer:
        """Return what the lexical channel found in the order of O3's relevance, which is its score.

        A row that was not found is measured by the scale of those that were, and has at least 0
        from its words' weights; a row without a word of the query scores 0.
        """
        share, floor = channel.word_share, channel.floor
        score_rows = heard.score_rows
        assert share is not None
        assert floor is not None
        if not heard.hits.size:
            return heard
        rows, bm25 = heard.hits.rows, heard.hits.scores
        best, worst = float(bm25[0]), float(bm25[-1])

        def relevance(rows: Rows, normalised: Scores) -> Scores:
            return (1.0 - share) * normalised + share * self.word_ratios(rows)

        def relevance_of_rows(rows: Rows) -> Scores:
            assert score_rows is not None
            scores = score_rows(rows)
            ends = _minmax_floor(np.array([worst, best]), floor)
            scale = (ends[1] - ends[0]) / (best - worst) if best > worst else 0.0
            normalised = np.clip(ends[1] + (scores - best) * scale, 0.0, 1.0)
            return np.where(scores == 0.0, 0.0, relevance(rows, normalised))

        found = relevance(rows, _minmax_floor(bm25, floor))
        order = np.lexsort((rows, -found))
        hits = RankedList(rows[order], found[order])
        return ChannelAnswer(hits, None if score_rows is None else relevance_of_rows)


def _minmax_floor(scores: Scores, low: float) -> Scores:
    """The kernel of that name over a search's own scores, which need no check. O3."""
    return _core.evaluate(
        kernel="minmax_floor",
        inputs=[np.ascontiguousarray(scores, np.float64)],
        parameters={"low": low},
        dtype="float64",
        out=None,
        threads=1,
    )
