"""What links of the results bring besides: reached, scored, and merged with them.

Source: docs/systems/cognitive.md C9, C10, C14; docs/systems/omega.md O23, O24.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from oneiros.association.found import Found
from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import LexicalChannel
from oneiros.ranking.expansion import AssociativeExpansion, GraphExpansion

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.projections import Projections
    from oneiros.projections.row_sets import Reach
    from oneiros.recall import Gathered, Question

__all__ = ["Expanded", "Row", "expanded"]

Row: TypeAlias = tuple[int, float, float, float]
"""A row with its relevance, retention and score."""

_Explain: TypeAlias = Callable[[], Explanation]


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
        linked = _associated(rule, question, gathered, reach, direct)
        bridges = _bridges(rule, question, reach, direct)
        near = sum(len(one.path) == 2 for one in linked)
        stages = [("associative_expansion", len(direct), near, "")]
    else:
        linked = _in_graph(rule, question, gathered, reach, direct)
        stages = []
    merged = _merged(direct, linked, question.k, rule.places(question.k))
    brought = sum(one is not None for _, _, one in merged)
    bridging = sum(told[0] in bridges for told, _, _ in merged)
    note = f"{bridging} on bridges" if bridging else ""
    stages.append(("graph_expansion", len(direct), brought, note))
    ids = gathered.lifecycle.ids
    found = {}
    for place, (told, _, one) in enumerate(merged):
        bridge = bridges.get(told[0], ())
        if one is not None or bridge:
            found[place] = Found(
                () if one is None else tuple(ids[row] for row in one.path),
                None if one is None else one.weight,
                tuple(ids[row] for row in bridge),
            )
    return Expanded(
        [told for told, _, _ in merged],
        None if explanations is None else _Explained(explanations, merged),
        found,
        tuple(stages),
    )


def _associated(
    rule: AssociativeExpansion,
    question: Question,
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
    ranked, of = _ranked(question, gathered, reached.rows)
    weights, hops = reached.values[of], reached.path_sizes[of]
    scores = ranked.scores * weights
    stays = (of >= 0) & ((hops == 1) | (scores >= rule.least_score))
    places = np.flatnonzero(stays)
    places = places[np.lexsort((ranked.rows[places], -scores[places]))][: question.k]
    explained = Explanations(gathered.compiled, ranked, places.tolist())

    def explain(number: int, weight: float, score: float) -> Explanation:
        told = explained[number]
        return replace(
            told,
            channels=tuple(replace(channel, rank=None) for channel in told.channels),
            factors=(*told.factors, FactorValue("association", weight)),
            score=score,
        )

    results, relevance, retention = ranked.rows, ranked.relevance, ranked.retention
    paths = reached.paths
    linked = []
    for number, place in enumerate(places.tolist()):
        row, score, weight = int(results[place]), float(scores[place]), float(weights[place])
        way = paths[of[place], : hops[place]].tolist()
        linked.append(
            _Linked(
                (row, float(relevance[place]), float(retention[place]), score),
                (*way, row),
                weight,
                lambda n=number, w=weight, s=score: explain(n, w, s),  # type: ignore[misc]
            )
        )
    return linked


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
    ranked, of = _ranked(question, gathered, reached.rows)
    retention = {
        int(row): float(value)
        for row, value, place in zip(ranked.rows, ranked.retention, of, strict=True)
        if place >= 0
    }
    linked = []
    for row, score, way in reached.results():
        if row in retention:  # the profile's rules let it stay
            seed, path = seeds[way[0]], (*way, row)
            linked.append(
                _Linked(
                    (row, seed, retention[row], score),
                    path,
                    score / seed if seed else 0.0,
                    lambda p=path, s=score: _in_graph_explained(  # type: ignore[misc]
                        rule, question.now, reach, seeds[p[0]], p, s
                    ),
                )
            )
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
    question: Question, gathered: Gathered, rows: npt.NDArray[np.uint32]
) -> tuple[_core.Ranked, npt.NDArray[np.int64]]:
    """Score rows as candidates that no channel found, with all their raw scores.

    What words are worth is measured by the best hit of the search, which stands among them.

    Returns:
        The ranking; and for each place of it, where in ``rows`` it stands, -1 for the best hit.
    """
    from oneiros.recall import signals_for  # noqa: PLC0415 - which has led here

    answers, compiled = gathered.answers, gathered.compiled
    asked = [number for number, heard in enumerate(answers) if heard.score_rows is not None]
    standing = rows
    for number, channel in enumerate(question.profile.channels):
        if isinstance(channel, LexicalChannel) and answers[number].hits.size:
            best = answers[number].hits.rows[:1]
            if best[0] not in rows:
                standing = np.concatenate([rows, best])
    first = asked[0] if asked else 0
    none = np.empty(0, np.uint32), np.empty(0, np.float64)
    here = standing, np.full(len(standing), np.nan)
    candidates = compiled.plan.candidates(
        hits=[here if number == first else none for number in range(len(answers))]
    )
    for number in asked:
        score_rows = answers[number].score_rows
        assert score_rows is not None
        candidates.fill(channel=number, scores=score_rows(candidates.missing(channel=number)))
    own = gathered._replace(
        candidates=candidates,
        signals=signals_for(compiled, gathered.lifecycle, candidates, question),
    )
    ranked = own.best(question, k=len(standing))
    order = np.argsort(rows)
    at = np.minimum(np.searchsorted(rows, ranked.rows, sorter=order), len(rows) - 1)
    of = order[at]
    return ranked, np.where(rows[of] == ranked.rows, of, -1)


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
