"""Callbacks from the core into Python during a search: user functions, and texts from the store."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from oneiros import _core, models, scoring
from oneiros._lazy import np
from oneiros.index.stored_rows import ids_of
from oneiros.index.texts import bare, normalised, stemmed, words_of
from oneiros.scoring import factors
from oneiros.scoring.stages import WeakBest
from oneiros.search.response import readable
from oneiros.store.rows import tags_of
from oneiros.write.vectors import embedded_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.index import ReadModel
    from oneiros.search.call import SearchRequest
    from oneiros.search.plan import SearchPlan
    from oneiros.search.response import LoadMemories


__all__ = ["Callbacks"]

Read = TypeVar("Read")

_Judgement = tuple[str, list[float], list[int], int, int]
"""A note; factors by place (NaN: not scored); or the new order; prompt and completion tokens."""


class Callbacks:
    """The callbacks of one search. The core holds no lock while it calls them."""

    __slots__ = ("_load", "_plan", "_read_model", "_request")

    def __init__(
        self,
        request: SearchRequest,
        plan: SearchPlan,
        read_model: ReadModel,
        load: LoadMemories,
    ) -> None:
        self._request = request
        self._plan = plan
        self._read_model = read_model
        self._load = load

    def factor_values(self, rows: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[np.float64]]:
        """Return the values of the profile's callable factors, by signal, one per row."""
        lifecycle = self._read_model.lifecycle
        return scoring.callable_factor.signals_of(
            self._plan.profile.factors,
            lambda name: lifecycle.column(name)[rows],
            lambda: lifecycle.kinds,
            self._request.now,
            len(rows),
        )

    def judge(self, rows: Sequence[int]) -> _Judgement:
        """Rerank the first results, best first. Source: docs/systems/cognitive.md C8, omega.md O25.

        With the factor "rerank" in the profile, results are rescored (O25). Without it, they are
        reordered (C8). If the reranker fails, they are unchanged.
        """
        request, rule = self._request, self._request.profile.rerank
        assert request.reranker is not None
        assert rule is not None
        texts = [
            (place, embedded_text(memory))
            for place, memory in enumerate(self._loaded(self._load, rows))
            if memory is not None
        ]
        if not texts:
            return "", [], [], 0, 0
        judgement = models.rerankers.judge(
            request.reranker,
            request.plain_text,
            [text for _, text in texts],
            rule.deadline_seconds if request.until is None else request.until - monotonic(),
        )
        tokens = judgement.prompt_tokens, judgement.completion_tokens
        if judgement.scores is None:
            return f"as it was without: {judgement.reason}", [], [], *tokens
        scores = np.full(len(rows), np.nan)
        scores[[place for place, _ in texts]] = judgement.scores
        values = self._factor_of(scores)
        if values is None:
            return judgement.reason, [], models.rerankers.order_by(scores), *tokens
        return judgement.reason, np.where(np.isfinite(scores), values, np.nan).tolist(), [], *tokens

    def stems(self) -> list[str]:
        """Return the stems of the query's words; of one that asks by the time alone, none.

        Where words are written without spaces, a sentence would be a word that no text has.

        Source: docs/systems/house.md H7, H21.
        """
        profile = self._request.profile
        if not isinstance(profile.abstention, WeakBest) or self._request.understood.asks_by_time:
            return []
        spaced = _core.without_unspaced(text=normalised(self._request.plain_text))
        words = map(bare, words_of(spaced, profile.query_words))
        return stemmed(filter(None, words), profile.abstention.suffixes)

    def texts(self, rows: Sequence[int]) -> str:
        """Return bare text, title and tags of the memories, each on a line."""
        lines = []
        for row in self._loaded(self._load.own_rows, rows):
            if row is not None:
                tags = () if row.tags is None else tags_of(row.tags)
                lines.append(bare("\n".join((row.text, row.title, *tags))))
        return "\n".join(lines)

    def uneven_starts(self, rows: Sequence[int], characters: int) -> list[tuple[int, str]]:
        """Return place and normalised start of the texts that must be cut before normalisation."""
        uneven = self._read_model.texts.uneven
        places = [place for place, row in enumerate(rows) if row in uneven]
        own_rows = self._loaded(self._load.own_rows, [rows[place] for place in places])
        return [
            (place, "" if row is None else normalised(row.text[:characters]))
            for place, row in zip(places, own_rows, strict=True)
        ]

    def _loaded(
        self, load: Callable[[Sequence[str]], list[Read | None]], rows: Sequence[int]
    ) -> list[Read | None]:
        """Load the memories of rows; None for a forgotten or damaged memory."""
        if not rows:
            return []
        ids = ids_of(self._read_model.lifecycle.ids, rows)  # "": forgotten since
        loaded = iter(readable(load, [id for id in ids if id]))
        return [next(loaded) if id else None for id in ids]

    def _factor_of(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """Return the factor "rerank" for a reranker's scores; None without that factor."""
        profile = self._plan.profile
        is_rerank = [isinstance(factor, factors.Rerank) for factor in profile.factors]
        if not any(is_rerank):
            return None
        compiled = self._plan.compiled
        (values,), _ = compiled.program.run(
            operands={
                "rerank_score": np.nan_to_num(models.rerankers.shares_of(scores)),
                "rerank_place": np.arange(1.0, len(scores) + 1.0),
            },
            now_seconds=self._request.now,
            size=len(scores),
            outputs=[compiled.factors[is_rerank.index(True)]],
            dtype="float64",
            out=None,
            threads=1,
        )
        return values
