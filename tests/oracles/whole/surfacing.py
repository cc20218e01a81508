"""What OMEGA does with its ranking: near enough, links, rerank, duplicates, abstention: O24 to O27."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.oracles import expansion, texts
from tests.oracles.expansion import Result
from tests.oracles.finishing import cosine_of
from tests.oracles.whole.doubt import none_near, ordered, reaches
from tests.oracles.whole.judging import boosted, reordered
from tests.oracles.whole.omega import OmegaSearch
from tests.oracles.whole.scoring import is_back
from tests.oracles.whole.world import World

__all__ = ["Surfaced", "surface", "without_like"]

ALIKE = 0.92  # O26
GRAPH_LEAST = 0.2  # O24
JUDGED = 20  # O25


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """What is left, best first."""

    scores: dict[str, float]
    paths: dict[str, tuple[str, ...]]
    duplicates: dict[str, list[str]] = field(default_factory=dict)


def is_near(search: OmegaSearch, id: str) -> bool:
    """O27, its first two sentences; what O4 alone found passes."""
    record, says = search.world.records[id], search.says
    in_text, in_vector = (
        id in dict(search.channels.get(name, ())) for name in ("lexical", "vector")
    )
    if not in_text and not in_vector:
        return True
    if not in_vector and not texts.words_apart(search.question.words):
        return True
    overlap = texts.overlap(search.question.words, record["text"], record.get("tags", ()))
    if reaches(overlap, says.least_overlap):
        return True
    return in_vector and reaches(search.cosine[id], says.least_cosine)


def linked(search: OmegaSearch, direct: Mapping[str, float]) -> list[Result]:
    """O24: from the five best of what is near enough."""
    world, place, records = search.world, search.world.place, search.world.records
    weights = world.weights(search.question.now, GRAPH_LEAST)
    ids = list(records)
    # What only deep recall returns is not reached, and leads nowhere.
    allowed = [
        search.may_show(one) and not is_back(one, search.question) for one in records.values()
    ]
    seeds = [Result(place[id], direct[id]) for id in ordered(direct, place)]
    return expansion.in_graph(
        seeds,
        lambda row: ids[row] in search.scores({ids[row]: 1.0}),
        weights,
        allowed,
        weight=search.says.graph,
    )


def surface(search: OmegaSearch, scores: Mapping[str, float]) -> Surfaced:
    """Return what a search answers with."""
    near = {id: score for id, score in scores.items() if is_near(search, id)}
    ids, paths = list(search.world.records), {}
    everything = dict(near)
    for one in linked(search, near):
        id = ids[one.row]
        none_near((one.score, everything.get(id, 0.0)))
        if one.score > everything.get(id, 0.0):
            everything[id] = one.score
            paths[id] = tuple(ids[row] for row in one.path)
    kept, left = without_like(search.world, judged(search, everything), search.question.k)
    least = search.says.least_score
    kept = [id for id in kept if id in paths or reaches(everything[id], least)]
    return Surfaced(
        scores={id: everything[id] for id in kept},
        paths=paths,
        duplicates=left,
    )


def without_like(
    world: World, ranked: Sequence[str], k: int
) -> tuple[list[str], dict[str, list[str]]]:
    """O26: of those alike the first, until there are k; and all the better ones of each left out."""
    kept: list[str] = []
    left: dict[str, list[str]] = {}
    for id in ranked:
        if len(kept) == k:
            break
        better = [other for other in kept if are_alike(world, other, id)]
        if better:
            left[id] = better
        else:
            kept.append(id)
    return kept, left


def judged(search: OmegaSearch, scores: dict[str, float]) -> list[str]:
    """O25, if a reranker is there: multiplied by its scores; O32 has no such factor, but an order."""
    ranked = ordered(scores, search.world.place)
    if not search.question.is_judged or search.skips:  # O5
        return ranked
    if search.is_bounded:
        return reordered(ranked, search.world.records, JUDGED)
    for id, boost in boosted(ranked, search.world.records, JUDGED).items():
        scores[id] *= boost
    return ordered(scores, search.world.place)


def are_alike(world: World, one: str, other: str) -> bool:
    """O26."""
    first, second = world.records[one], world.records[other]
    if texts.begins_alike(first["text"], second["text"]):
        return True
    left, right = first.get("embedding"), second.get("embedding")
    return left is not None and right is not None and reaches(cosine_of(left, right), ALIKE)
