"""What a search asks of Python while it runs: the user's own functions, and texts from the store."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from oneiros._lazy import np
from oneiros.index.texts import normalised, stemmed, words_of
from oneiros.scoring.stages import WeakBest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.index import Projections
    from oneiros.model.memory import Memory
    from oneiros.search.plan import SearchPlan
    from oneiros.search.request import SearchRequest
    from oneiros.search.response import LoadMemories
    from oneiros.store.loading import OwnRow

__all__ = ["Callbacks"]

Read = TypeVar("Read")

_Judgement = tuple[str, list[float], list[int], int, int]
"""A note; factors by place, NaN: not scored; or places in a new order; prompt and completion tokens."""


class Callbacks:
    """The part of one search that only Python can do. The core calls it while it holds no lock.

    Args:
        request: the search.
        plan: of its profile.
        projections: what it reads.
        load: the store's loader: ids in, memories out, None for one that is gone.
    """

    __slots__ = ("_load", "_plan", "_projections", "_request")

    def __init__(
        self,
        request: SearchRequest,
        plan: SearchPlan,
        projections: Projections,
        load: LoadMemories,
    ) -> None:
        self._request = request
        self._plan = plan
        self._projections = projections
        self._load = load

    def factor_values(self, rows: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[np.float64]]:
        """Return the values of the profile's callable factors, by signal; one value a row."""
        from oneiros.scoring.callable_factor import signals_of  # noqa: PLC0415 - few have one

        lifecycle = self._projections.lifecycle
        return signals_of(
            self._plan.profile.factors,
            lambda name: lifecycle.column(name)[rows],
            self._plan.compiled.kinds,
            self._request.now,
            len(rows),
        )

    def judge(self, rows: Sequence[int]) -> _Judgement:
        """Have the reranker judge the first results. Source: docs/systems/cognitive.md C8, omega.md O25.

        With the factor "rerank" in the profile they are rescored (O25), without it put in an order
        (C8). Where it fails, they stay as they are.

        Args:
            rows: of the first results, best first.
        """
        from oneiros.models.rerankers import (  # noqa: PLC0415
            judge,
            order_by,
        )
        from oneiros.write.vectors import embedded_text  # noqa: PLC0415 - few rerank

        request, rule = self._request, self._request.profile.rerank
        assert request.reranker is not None
        assert rule is not None
        texts = [
            (place, embedded_text(one))
            for place, one in enumerate(self._memories(rows))
            if one is not None
        ]
        if not texts:
            return "", [], [], 0, 0
        told = judge(
            request.reranker,
            request.plain_text,
            [text for _, text in texts],
            rule.deadline_seconds if request.until is None else request.until - monotonic(),
        )
        tokens = told.prompt_tokens, told.completion_tokens
        if told.scores is None:
            return f"as it was without: {told.reason}", [], [], *tokens
        scores = np.full(len(rows), np.nan)
        scores[[place for place, _ in texts]] = told.scores
        values = self._factor_of(scores)
        if values is None:
            return told.reason, [], order_by(scores), *tokens
        return told.reason, np.where(np.isfinite(scores), values, np.nan).tolist(), [], *tokens

    def stems(self) -> list[str]:
        """Return the query's words without their endings. Source: docs/systems/house.md H7."""
        profile = self._request.profile
        if not isinstance(profile.abstention, WeakBest):
            return []
        words = words_of(self._request.plain_text, profile.query_words)
        return stemmed(words, profile.abstention.suffixes)

    def texts(self, rows: Sequence[int]) -> str:
        """Return all normalised text, title and tags of these memories, a line each."""
        return "\n".join(
            normalised("\n".join((one.text, one.title, *_tags(one))))
            for one in self._own_rows(rows)
            if one is not None
        )

    def uneven_starts(self, rows: Sequence[int], characters: int) -> list[tuple[int, str]]:
        """Return, of texts that must be cut before they are normalised, place and normalised start.

        Args:
            rows: of texts.
            characters: to which each is cut.
        """
        uneven = self._projections.texts.uneven
        places = [place for place, row in enumerate(rows) if row in uneven]
        memories = self._own_rows([rows[place] for place in places])
        return [
            (place, "" if one is None else normalised(one.text[:characters]))
            for place, one in zip(places, memories, strict=True)
        ]

    def _memories(self, rows: Sequence[int]) -> list[Memory | None]:
        """Return the memories of rows; None in place of one that is gone, or damaged."""
        return self._loaded(self._load, rows)

    def _own_rows(self, rows: Sequence[int]) -> list[OwnRow | None]:
        """Return the same of memories, of which less is read."""
        return self._loaded(self._load.own_rows, rows)

    def _loaded(
        self, load: Callable[[Sequence[str]], list[Read | None]], rows: Sequence[int]
    ) -> list[Read | None]:
        from oneiros.search.response import readable  # noqa: PLC0415 - a cycle of modules

        if not rows:
            return []
        ids = self._projections.lifecycle.ids
        held = [ids[row] for row in rows]  # "": forgotten meanwhile
        found = iter(readable(load, [id for id in held if id]))
        return [next(found) if id else None for id in held]

    def _factor_of(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """What the profile's factor makes of scores by their places; None where it has no such factor."""
        from oneiros.models.rerankers import shares_of  # noqa: PLC0415
        from oneiros.scoring.factors import Rerank  # noqa: PLC0415 - few rerank

        profile = self._plan.profile
        held = [isinstance(factor, Rerank) for factor in profile.factors]
        if not any(held):
            return None
        compiled = self._plan.compiled
        (values,), _ = compiled.program.run(
            operands={
                "rerank_score": np.nan_to_num(shares_of(scores)),
                "rerank_place": np.arange(1.0, len(scores) + 1.0),
            },
            now_seconds=self._request.now,
            size=len(scores),
            outputs=[compiled.factors[held.index(True)]],
            dtype="float64",
            out=None,
            threads=1,
        )
        return values


def _tags(row: OwnRow) -> Sequence[str]:
    if row.tags is None:
        return ()
    from oneiros.store.rows import tags_of  # noqa: PLC0415 - few have tags

    return tags_of(row.tags)
