"""What links of the results bring besides: reached, scored, and merged with them.

Source: docs/systems/cognitive.md C9, C10, C14; docs/systems/omega.md O23, O24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.finishing.working import Linked, merged
from oneiros.gathering import fill_scores
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import LexicalChannel
from oneiros.ranking.expansion import AssociativeExpansion, GraphExpansion
from oneiros.ranking.path_weight import PATH_WEIGHT, PathWeight

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.finishing.working import Row, WorkingList
    from oneiros.gathering import Gathered, Question, Stages
    from oneiros.projections.visible import Reach
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.ranking.profile import Profile

__all__ = ["follow_links"]

_GRAPH_DEPTH: Final = 100
"""So many of what links bring stay, besides those that are results already. As C10 has it."""


def follow_links(working: WorkingList, reach: Reach, stages: Stages) -> None:
    """Put into the list what the links of its first results lead to, as the profile says.

    Args:
        working: the results so far.
        reach: where links may lead.
        stages: the trace.
    """
    question = working.question
    rule, k = question.profile.expansion, question.k
    assert rule is not None
    direct = working.results[:k]
    working.direct = tuple(row for row, *_ in direct)
    bits = working.projections.indexes.permitted(question.query, reach.bits, question.syntax)
    reach = reach._replace(bits=bits)
    followed = working.results[: rule.followed(k)]
    if isinstance(rule, AssociativeExpansion):
        linked = _associated(rule, working, reach, followed)
        working.bridges = _bridges(rule, question, reach, direct)
        near = sum(len(one.path) == 2 for one in linked)
        stages.end("associative_expansion", len(direct), near)
    else:
        linked = _in_graph(rule, working, reach, followed)
    # What no later stage may need is not merged: by the page it was cut before links were followed.
    count = len(working.results) if working.is_deep else max(k, len(followed))
    held, beyond = working.results[:count], working.results[count:]
    both = _together(held, linked, working.linked)
    working.results = both + [one for one in beyond if one[0] not in working.linked]
    shown = [row for row, *_ in both[:k]]
    brought = sum(row in working.linked for row in shown)
    bridging = sum(row in working.bridges for row in shown)
    note = f"{bridging} on bridges" if bridging else ""
    stages.end("graph_expansion", len(direct), brought, note)


def _associated(
    rule: AssociativeExpansion,
    working: WorkingList,
    reach: Reach,
    direct: Sequence[Row],
) -> list[Linked]:
    """The best that links lead to, each at its own score times what is left of the way."""
    question, gathered = working.question, working.gathered
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
    compiled = working.projections.compiled(question.profile, (*question.added, PathWeight()))
    rows, weights = reached.rows, reached.values
    ranked = _ranked(question, gathered, compiled, rows, weights)
    explained = Explanations(compiled, ranked, range(len(ranked)))
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    most = max(question.k, len(working.results), _judged(question))
    linked: list[Linked] = []
    for number, told in enumerate(ranked.results()):
        place = place_of[told[0]]
        way = reached.path(place)
        if len(way) > 1 and told[3] < rule.least_score:
            continue
        path, explain = (*way, told[0]), partial(_associated_explained, explained, number)
        linked.append(Linked(told, path, float(weights[place]), explain))
        if len(linked) == most:
            break
    return linked


def _judged(question: Question) -> int:
    """How many of the results a reranker judges after links were followed."""
    rerank = question.profile.rerank
    return 0 if question.reranker is None or rerank is None else rerank.top


def _associated_explained(explained: Explanations, number: int) -> Explanation:
    told = explained[number]  # no channel ranked it
    return replace(told, channels=tuple(replace(channel, rank=None) for channel in told.channels))


def _in_graph(
    rule: GraphExpansion,
    working: WorkingList,
    reach: Reach,
    followed: Sequence[Row],
) -> list[Linked]:
    """The best that links lead to, each at a part of the score of the seed it was reached from."""
    question, gathered = working.question, working.gathered
    seeds = {row: score for row, _, _, score in followed if score >= 0}
    reached = reach.associations.reached(
        list(seeds),
        [score * rule.weight for score in seeds.values()],
        now=question.now,
        least_link=rule.least_link,
        least=rule.least_score,
        per_hop=rule.per_hop,
        hops=rule.hops,
        allowed=reach.bits,
        # However few are asked for: reranker and duplicates look at more of them.
        top=max(question.k, _GRAPH_DEPTH) + len(working.results),
    )
    if not reached:
        return []
    compiled = working.projections.compiled(_lifecycle_of(question.profile))
    ranked = _ranked(question, gathered, compiled, reached.rows, reached.values)
    retention = {row: retained for row, _, retained, _ in ranked.results()}
    linked: list[Linked] = []
    for row, score, way in reached.results():
        if row in retention:  # the profile's rules let it stay
            seed, path = seeds[way[0]], (*way, row)
            told = (row, seed, retention[row], score)
            explain = partial(_in_graph_explained, rule, question.now, reach, seed, path, score)
            linked.append(Linked(told, path, score / seed if seed else 0.0, explain))
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
    """Rank rows as candidates that no channel found, with their raw scores where they are read.

    What words are worth is measured by the best hit of the search, which stands among them, and
    is left out where the profile reads weights: it has none.
    """
    answers, standing = gathered.answers, rows
    asked = [number for number, heard in enumerate(answers) if heard.score_rows is not None]
    if not compiled.fills_scores:
        asked = []
    for number, channel in enumerate(question.profile.channels):
        if asked and isinstance(channel, LexicalChannel) and answers[number].hits.size:
            standing = np.concatenate((rows, answers[number].hits.rows[:1]))
    first = asked[0] if asked else 0
    here, none = (standing, np.full(len(standing), np.nan)), _core.Hits()
    candidates = compiled.plan.candidates(
        hits=[here if number == first else none for number in range(len(answers))]
    )
    fill_scores(compiled, candidates, answers)
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


def _together(held: Sequence[Row], linked: Sequence[Linked], ways: dict[int, Linked]) -> list[Row]:
    """Both together, one each, the better; what is held keeps its order. ``ways``: of the linked."""
    own = {told[0]: told[3] for told in held}
    for one in linked:
        row, score = one.told[0], one.told[3]
        before = ways[row].told[3] if row in ways else own.get(row)
        if before is None or score > before:
            ways[row] = one
    if not ways:
        return list(held)
    direct = [told for told in held if told[0] not in ways]
    return merged(direct, [one.told for one in ways.values()])


@lru_cache(maxsize=64)
def _lifecycle_of(profile: Profile) -> Profile:
    """Return the profile with what makes the retention alone. Equal profiles give one object."""
    return profile.replace(factors=tuple(one for one in profile.factors if one.is_lifecycle))
