"""The results of one search on their way from the factors to the response."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from oneiros.association.found import Found
from oneiros.ranking.finishing import Surfacing
from oneiros.response import readable

if TYPE_CHECKING:
    from oneiros.explaining import Explanation, FactorValue
    from oneiros.gathering import Gathered, Question
    from oneiros.memory import Memory
    from oneiros.projections import Projections
    from oneiros.projections.visible import Reach
    from oneiros.response import LoadMemories

__all__ = ["Linked", "Row", "WorkingList", "by_score", "merged"]

Row: TypeAlias = tuple[int, float, float, float]
"""A row with its relevance, retention and score."""


class Linked(NamedTuple):
    """A row that links led to."""

    told: Row
    path: tuple[int, ...]
    """From a direct result to the row itself."""
    weight: float
    explain: Callable[[], Explanation]


class WorkingList:
    """The results so far. One list goes through all stages; each takes it as the last one left it.

    Args:
        question: the search; the best ``k`` are returned.
        projections: what it reads.
        gathered: its candidates, which are ranked here.
        reach: where links may lead; None where there are none to follow.
        load: the store's loader: ids in, memories out, None for one that is gone.
        is_whole: whether what lies beyond the last place is judged, too, as who asks why not needs.
    """

    __slots__ = (
        "_load",
        "_place_of",
        "applied",
        "best",
        "bridges",
        "confidence",
        "direct",
        "duplicates",
        "far",
        "gathered",
        "is_deep",
        "is_whole",
        "linked",
        "misses",
        "projections",
        "question",
        "ranked",
        "raw",
        "reach",
        "reason",
        "results",
        "uncut",
    )

    def __init__(
        self,
        question: Question,
        projections: Projections,
        gathered: Gathered,
        reach: Reach | None,
        load: LoadMemories,
        *,
        is_whole: bool = False,
    ) -> None:
        profile = question.profile
        self.question = question
        self.projections = projections
        self.gathered = gathered
        self.reach = reach
        self._load = load
        self.is_whole = is_whole
        self.is_deep = profile.duplicates is not None or isinstance(profile.abstention, Surfacing)
        """Whether later stages leave results out, so that more than ``k`` are looked at."""
        self.ranked = gathered.best(question, k=self._depth())
        self.results: list[Row] = self.ranked.results()
        """Best first, each row once. Stages may put another list in its place."""
        self.direct: tuple[int, ...] | None = None
        """The rows that links were followed from; None where none were."""
        self.linked: dict[int, Linked] = {}
        """By row: the way that led to it, by which it has its score."""
        self.bridges: dict[int, tuple[int, ...]] = {}
        """By row: the path by which it joins two of the first results."""
        self.applied: dict[int, list[FactorValue]] = {}
        """By row: what stages did to its score since."""
        self.duplicates: list[tuple[int, int]] = []
        """Rows that were left out, each with that of the better one it is like."""
        self.far: dict[int, Callable[[int], str]] = {}
        """By row of one that was left out: what, asked with it, tells why it is not near enough."""
        self.reason = ""
        """Why nothing is returned although there are candidates; no stage follows."""
        self.misses: list[Row] = []
        """The nearest, where nothing is returned for that reason."""
        self.uncut: list[Row] = []
        """All results, those beyond the last place among them, once they are cut."""
        self.confidence: float | None = None
        """How near the first results are to the question, where the profile asks."""
        self.best: float | None = None
        """What all scores were divided by; None: by nothing."""
        self.raw: dict[int, float] = {}
        """By row, the score before that."""
        self._place_of: dict[int, int] | None = None

    def load(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories; None in place of one that is gone, or damaged."""
        return readable(self._load, ids)

    def _depth(self) -> int:
        """How many candidates the stages look at."""
        k, profile = self.question.k, self.question.profile
        if self.is_whole or (self.is_deep and k):
            return len(self.gathered.candidates)
        depth = k
        if k and self.reach is not None and profile.expansion is not None:
            depth = max(depth, profile.expansion.followed(k))
        if k and self.question.reranker is not None and profile.rerank is not None:
            depth = max(depth, profile.rerank.top)
        return depth

    def multiply(self, name: str, values: Mapping[int, float]) -> None:
        """Multiply scores, and put the list in order again: higher score first, then smaller row.

        Args:
            name: of the factor that explanations tell of.
            values: by row; a row that is not there keeps its score.
        """
        from oneiros.explaining import FactorValue  # noqa: PLC0415 - for stages that rescore

        for place, (row, relevance, retention, score) in enumerate(self.results):
            value = values.get(row)
            if value is not None:
                self.results[place] = row, relevance, retention, score * value
                self.applied.setdefault(row, []).append(FactorValue(name, value))
        self.results.sort(key=by_score)

    def abstain(self, reason: str, misses: int) -> None:
        """Return nothing, and say why, with so many of the nearest candidates."""
        self.reason, self.results = reason, []
        self.misses = self.gathered.best(self.question, k=misses).results()

    def cut(self) -> None:
        """Keep the best ``k``, with the places that the profile keeps for what links bring."""
        k, rule = self.question.k, self.question.profile.expansion
        self.uncut = self.results
        if len(self.results) <= k:
            return
        taken, left = self.results[:k], self.results[k:]
        if self.linked and rule is not None and (places := min(rule.places(k), k)):
            missing = places - sum(one[0] in self.linked for one in taken)
            spare = [one for one in left if one[0] in self.linked][: max(missing, 0)]
            if spare:
                leaving = [one for one in taken if one[0] not in self.linked][-len(spare) :]
                taken = merged([one for one in taken if one not in leaving], spare)
        self.results = taken

    def normalise(self) -> None:
        """Divide all scores by the best. O29."""
        best = max((one[3] for one in self.results), default=0.0)
        if 0.0 < best < math.inf:
            self.best = best
            self.raw = {row: score for row, _, _, score in self.results}
            self.results = [(*one[:3], one[3] / best) for one in self.results]

    def explanations(self, results: Sequence[Row]) -> Sequence[Explanation]:
        """Return how each of these came to its score, made when it is touched.

        REQUIRES: the question is explained.
        """
        if self.linked or self.applied or self.best is not None:
            return _Explained(self, [row for row, *_ in results])
        from oneiros.explaining import Explanations  # noqa: PLC0415 - for those who ask why

        places = [self.place_of[row] for row, *_ in results]
        return Explanations(self.gathered.compiled, self.ranked, places)

    def explanation(self, row: int) -> Explanation:
        """Return how a row of the list came to its score. REQUIRES: the question is explained."""
        from oneiros.explaining import Explanations  # noqa: PLC0415 - for those who ask why

        linked = self.linked.get(row)
        if linked is None:
            place = self.place_of[row]
            told = Explanations(self.gathered.compiled, self.ranked, [place])[0]
        else:
            told = linked.explain()
        return self.finished(row, told, is_linked=linked is not None)

    def finished(self, row: int, told: Explanation, *, is_linked: bool) -> Explanation:
        """Return an explanation with what stages did to the row since.

        Args:
            row: whose.
            told: how channels and factors, or links, came to a score.
            is_linked: whether that is the score by links; stages went on with the one that it has.
        """
        if is_linked == (row in self.linked):
            for factor in self.applied.get(row, ()):
                told = told.with_factor(factor)
        return told if self.best is None else told.as_share_of(self.best)

    @property
    def place_of(self) -> dict[int, int]:
        """Where the factors ranked each row that channels found, by row."""
        if self._place_of is None:
            self._place_of = {row: place for place, row in enumerate(self.ranked.rows.tolist())}
        return self._place_of

    def found(self, results: Sequence[Row], ids: Mapping[int, str]) -> dict[int, Found]:
        """Return by place what links have to do with the result there; ``ids``: by row."""
        if not self.linked and not self.bridges:
            return {}
        found = {}
        for place, (row, *_) in enumerate(results):
            one, bridge = self.linked.get(row), self.bridges.get(row, ())
            if one is not None or bridge:
                found[place] = Found(
                    () if one is None else tuple(ids[step] for step in one.path),
                    None if one is None else one.weight,
                    tuple(ids[step] for step in bridge),
                )
        return found


def by_score(told: Row) -> tuple[float, int]:
    """Order results as everywhere: higher score first, then the smaller row."""
    return -told[3], told[0]


def merged(held: Sequence[Row], brought: Sequence[Row]) -> list[Row]:
    """Return both as one list: what is held keeps its order, what is brought stands before what it beats."""
    if not brought:
        return list(held)
    waiting = sorted(brought, key=by_score, reverse=True)
    next_one = by_score(waiting[-1])
    found: list[Row] = []
    for place, told in enumerate(held):
        while next_one < (-told[3], told[0]):
            found.append(waiting.pop())
            if not waiting:
                return [*found, *held[place:]]
            next_one = by_score(waiting[-1])
        found.append(told)
    return found + waiting[::-1]


class _Explained(Sequence["Explanation"]):
    """The explanations of results that stages brought or rescored, each made when it is touched."""

    def __init__(self, working: WorkingList, rows: Sequence[int]) -> None:
        self._working = working
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation]:
        if isinstance(index, slice):
            return [self._working.explanation(row) for row in self._rows[index]]
        return self._working.explanation(self._rows[index])
