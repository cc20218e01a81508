"""Where what the words found decides alone: docs/systems/omega.md O1, O5."""

from __future__ import annotations

from tests.oracles import omega, texts
from tests.oracles.whole.doubt import ordered
from tests.oracles.whole.omega import OmegaSearch
from tests.oracles.whole.surfacing import Surfaced, surface, without_like

__all__ = ["METADATA", "surfaced"]

METADATA = frozenset({"kind", "feedback", "priority", "decay", "thompson", "consolidation"})
ALMOST_ITSELF = 0.60


def surfaced(search: OmegaSearch) -> tuple[Surfaced, list[str], bool]:
    """Return what a search answers with, all that it ranked, and whether it was answered at once."""
    place = search.world.place
    if alike := almost_itself(search):
        stays = search.scores(alike)
        alike = {id: score for id, score in alike.items() if id in stays}
        ranked = ordered(alike, place)
        kept, left = without_like(search.world, ranked, search.question.k)
        return (
            Surfaced(scores={id: alike[id] for id in kept}, paths={}, duplicates=left),
            ranked,
            True,
        )
    relevance = search.relevance()
    text = search.channels["lexical"]
    if not search.is_bounded and omega.is_strong([score for _, score in text]):
        search.skips, relevance = METADATA, dict(text)
    else:
        relevance = search.with_hot(relevance)
    scores = search.scores(relevance)
    return surface(search, scores), ordered(scores, place), False


def almost_itself(search: OmegaSearch) -> dict[str, float]:
    """O1: of a keyword-like question, what is of almost its characters; not deep, and of no time."""
    asked = search.question
    if not search.says.is_navigational or search.says.is_eased:
        return {}
    if asked.date_range is not None or asked.deep_recall:
        return {}
    shares = {
        id: texts.jaccard(asked.words, search.world.records[id]["text"])
        for id, _ in search.channels["lexical"]
    }
    return {id: share for id, share in shares.items() if share >= ALMOST_ITSELF}
