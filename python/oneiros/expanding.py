"""What links of the results bring besides: reached, scored, and merged with them.

Source: docs/systems/cognitive.md C9, C10, C14; docs/systems/omega.md O23, O24.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, overload

from oneiros.association.found import Found
from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import LexicalChannel
from oneiros.ranking.expansion import AssociativeExpansion, GraphExpansion
from oneiros.ranking.path_weight import PATH_WEIGHT, by_links

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.gathering import Gathered, Question
    from oneiros.projections import Projections
    from oneiros.projections.row_sets import Reach
    from oneiros.ranking.compiled import CompiledProfile

__all__ = ["Expanded", "Row", "expanded"]

Row: TypeAlias = tuple[int, float, float, float]
"""A row with its relevance, retention and score."""

_Explain: TypeAlias = Callable[[], Explanation]

_NONE: Final[tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]] = (
    np.empty(0, np.uint32),
    np.empty(0, np.float64),
)


class _Linked(NamedTuple):
    """A row that links led to."""

    told: Row
    path: tuple[int, ...]
    """From a direct result to the row itself."""
    weight: float
    explain: _Explain


class Expanded(NamedTuple):
    """The results, links followed."""

    results: list[Row]
    explanations: Sequence[Explanation] | None
    found: dict[int, Found]
    """By place: what links have to do with the result there."""
    stages: tuple[tuple[str, int, int, str], ...]
    """Name, candidates, survivors and note of each stage."""

    def only(self, places: Sequence[int]) -> Expanded:
        """Return these results alone, in their order."""
        told = self.explanations
        return self._replace(
            results=[self.results[place] for place in places],
            explanations=None if told is None else [told[place] for place in places],
            found={
                now: self.found[place] for now, place in enumerate(places) if place in self.found
            },
        )


def expanded(
    question: Question,
    projections: Projections,
    reach: Reach,
    gathered: Gathered,
    direct: Sequence[Row],
    explanations: Sequence[Explanation] | None,
) -> Expanded:
    """Follow the links of the direct results, as the profile says.

    Args:
        question: the search.
        projections: what it reads.
        reach: where links may lead.
        gathered: its candidates.
        direct: the results so far, best first.
        explanations: one each, or None.
    """
    rule = question.profile.expansion
    assert rule is not None
    bits = projections.indexes.permitted(question.query, reach.bits, question.syntax)
    reach = reach._replace(bits=bits)
    bridges: dict[int, tuple[int, ...]] = {}
    if isinstance(rule, AssociativeExpansion):
        linked = _associated(rule, question, projections, gathered, reach, direct)
        bridges = _bridges(rule, question, reach, direct)
        near = sum(len(one.path) == 2 for one in linked)
        stages = [("associative_expansion", len(direct), near, "")]
    else:
        linked = _in_graph(rule, question, gathered, reach, direct)
        stages = []
    merged = _merged(direct, linked, question.k, rule.places(question.k))
    ids = gathered.lifecycle.ids
    brought = bridging = 0
    found = {}
    for place, (told, _, one) in enumerate(merged):
        bridge = bridges.get(told[0], ())
        if one is not None or bridge:
            found[place] = Found(
                () if one is None else tuple(ids[row] for row in one.path),
                None if one is None else one.weight,
                tuple(ids[row] for row in bridge),
            )
            brought += one is not None
            bridging += bool(bridge)
    note = f"{bridging} on bridges" if bridging else ""
    stages.append(("graph_expansion", len(direct), brought, note))
    return Expanded(
        [told for told, _, _ in merged],
        None if explanations is None else _Explained(explanations, merged),
        found,
        tuple(stages),
    )


def _associated(
    rule: AssociativeExpansion,
    question: Question,
    projections: Projections,
    gathered: Gathered,
    reach: Reach,
    direct: Sequence[Row],
) -> list[_Linked]:
    """The best that links lead to, each at its own score times what is left of the way."""
    reached = reach.associations.reached(
        [row for row, *_ in direct],
        None,
        now=question.now,
        least_link=rule.least_link,
        least=rule.least_path,
        per_hop=1.0,
        hops=rule.hops,
        allowed=reach.bits,
        top=rule.depth,
    )
    if not reached:
        return []
    weights, hops = reached.values, reached.path_sizes
    compiled = projections.compiled(by_links(question.profile))
    ranked = _ranked(question, gathered, compiled, reached.rows, weights)
    explained = Explanations(compiled, ranked, range(len(ranked)))
    place_of = {row: place for place, row in enumerate(reached.rows.tolist())}
    paths = reached.paths
    linked: list[_Linked] = []
    for number, told in enumerate(ranked.results()):
        place = place_of[told[0]]
        if hops[place] > 1 and told[3] < rule.least_score:
            continue
        path = (*paths[place, : hops[place]].tolist(), told[0])
        explain = partial(_associated_explained, explained, number)
        linked.append(_Linked(told, path, float(weights[place]), explain))
        if len(linked) == question.k:
            break
    return linked


def _associated_explained(explained: Explanations, number: int) -> Explanation:
    told = explained[number]  # no channel ranked it
    return replace(told, channels=tuple(replace(channel, rank=None) for channel in told.channels))


def _in_graph(
    rule: GraphExpansion,
    question: Question,
    gathered: Gathered,
    reach: Reach,
    direct: Sequence[Row],
) -> list[_Linked]:
    """The best that links lead to, each at a part of the score of the seed it was reached from."""
    seeds = {row: score for row, _, _, score in direct[: rule.seeds] if score >= 0}
    reached = reach.associations.reached(
        list(seeds),
        [score * rule.weight for score in seeds.values()],
        now=question.now,
        least_link=rule.least_link,
        least=rule.least_score,
        per_hop=rule.per_hop,
        hops=rule.hops,
        allowed=reach.bits,
        top=question.k + len(direct),
    )
    if not reached:
        return []
    ranked = _ranked(question, gathered, gathered.compiled, reached.rows, reached.values)
    retention = {row: retained for row, _, retained, _ in ranked.results()}
    linked: list[_Linked] = []
    for row, score, way in reached.results():
        if row in retention:  # the profile's rules let it stay
            seed, path = seeds[way[0]], (*way, row)
            told = (row, seed, retention[row], score)
            explain = partial(_in_graph_explained, rule, question.now, reach, seed, path, score)
            linked.append(_Linked(told, path, score / seed if seed else 0.0, explain))
    return linked


def _in_graph_explained(
    rule: GraphExpansion,
    now: float,
    reach: Reach,
    seed: float,
    path: tuple[int, ...],
    score: float,
) -> Explanation:
    factors = [FactorValue("graph", rule.weight)]
    for weight in reach.associations.weights_along(path, now=now):
        factors += FactorValue("hop", rule.per_hop), FactorValue("link", weight)
    told = Explanation((), seed, tuple(factors), score)
    if told.evaluate() == score:
        return told
    return Explanation((), score, (), score)  # a link on the way has changed since


def _ranked(
    question: Question,
    gathered: Gathered,
    compiled: CompiledProfile,
    rows: npt.NDArray[np.uint32],
    weights: npt.NDArray[np.float64],
) -> _core.Ranked:
    """Rank rows as candidates that no channel found, with all their raw scores.

    What words are worth is measured by the best hit of the search, which stands among them, and
    is left out where the profile reads weights: it has none.
    """
    answers = gathered.answers
    asked = [number for number, heard in enumerate(answers) if heard.score_rows is not None]
    standing = rows
    for number, channel in enumerate(question.profile.channels):
        if isinstance(channel, LexicalChannel) and answers[number].hits.size:
            standing = np.concatenate((rows, answers[number].hits.rows[:1]))
    first = asked[0] if asked else 0
    here = standing, np.full(len(standing), np.nan)
    candidates = compiled.plan.candidates(
        hits=[here if number == first else _NONE for number in range(len(answers))]
    )
    for number in asked:
        score_rows = answers[number].score_rows
        assert score_rows is not None
        candidates.fill(channel=number, scores=score_rows(candidates.missing(channel=number)))
    own = gathered._replace(compiled=compiled, candidates=candidates, signals={})
    own.signals.update(own.signals_of(candidates, question))
    by_row = np.full(len(candidates), np.nan)
    by_row[: len(rows)] = weights
    own.signals[PATH_WEIGHT] = by_row
    return own.best(question, k=len(candidates))


def _bridges(
    rule: AssociativeExpansion, question: Question, reach: Reach, direct: Sequence[Row]
) -> dict[int, tuple[int, ...]]:
    """The rows between two of the first results that share no link, each with its path."""
    ends = [row for row, *_ in direct[: rule.bridged]]
    if len(ends) < 2:
        return {}
    bridges = reach.associations.bridges(
        ends, now=question.now, least_link=rule.least_link, allowed=reach.bits, top=rule.depth
    )
    return {row: path for row, _, path in bridges}


_Merged: TypeAlias = "tuple[Row, int, _Linked | None]"  # a direct result has its place there


def _merged(direct: Sequence[Row], linked: Sequence[_Linked], k: int, places: int) -> list[_Merged]:
    """Both together, one each, the best k, of which so many places are kept for the linked."""
    best: dict[int, _Merged] = {told[0]: (told, place, None) for place, told in enumerate(direct)}
    for one in linked:
        held = best.get(one.told[0])
        if held is None or one.told[3] > held[0][3]:
            best[one.told[0]] = (one.told, -1, one)
    ranked = sorted(best.values(), key=_rank)
    taken, left = ranked[:k], ranked[k:]
    missing = min(places, k) - sum(one is not None for _, _, one in taken)
    spare = [held for held in left if held[2] is not None][: max(missing, 0)]
    if spare:
        leaving = [held for held in taken if held[2] is None][-len(spare) :]
        taken = sorted([held for held in taken if held not in leaving] + spare, key=_rank)
    return taken


def _rank(held: _Merged) -> tuple[float, int]:
    return -held[0][3], held[0][0]


class _Explained(Sequence[Explanation]):
    """The explanations of merged results, each made when it is touched."""

    def __init__(self, direct: Sequence[Explanation], merged: Sequence[_Merged]) -> None:
        self._direct = direct
        self._merged = merged

    def __len__(self) -> int:
        return len(self._merged)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation]:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        _, place, linked = self._merged[index]
        return self._direct[place] if linked is None else linked.explain()
