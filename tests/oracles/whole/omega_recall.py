"""OMEGA's whole search: docs/systems/omega.md."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracles.whole.answers import MISSES, Answer, Found
from tests.oracles.whole.asked import Lists, understood
from tests.oracles.whole.asking import Question
from tests.oracles.whole.compound import compound, parts_of
from tests.oracles.whole.doubt import ordered
from tests.oracles.whole.learning import counts_only
from tests.oracles.whole.omega import OmegaSearch
from tests.oracles.whole.scoring import halved
from tests.oracles.whole.surfacing import surface
from tests.oracles.whole.world import World

__all__ = ["Omega"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Omega:
    """OMEGA, with a switch for each stage that can be left out."""

    lists: Lists
    is_bounded: bool = False
    hides_kinds: bool = False
    """O23."""
    judged: int = 20
    """O25."""

    def world(self) -> World:
        """Return an empty store."""
        return World()

    def answer(self, world: World, question: Question) -> Answer:
        """Search, and count what is returned."""
        answer = self.recall(world, question)
        counts_only(world, question, (), [(one.id, False) for one in answer.results])
        return answer

    def recall(self, world: World, question: Question) -> Answer:
        """Search, a compound question part by part. O10."""
        parts = parts_of(question.words, self.lists)
        if len(parts) == 1:
            return self.whole(world, question)
        return compound(
            [self.whole(world, replace(question, words=part)) for part in parts], world, question
        )

    def whole(self, world: World, question: Question) -> Answer:
        """Search for one part."""
        search = OmegaSearch(
            world,
            question,
            understood(question, self.lists),
            is_bounded=self.is_bounded,
            hides_kinds=self.hides_kinds,
        )
        scores = search.scores(search.relevance())
        ranked = ordered(scores, world.place)
        left = surface(search, scores)
        results = tuple(
            Found(
                id=id,
                score=score,
                path=left.paths.get(id, ()),
                via_deep_recall=halved(world.records[id], question) < 1,
            )
            for id, score in left.scores.items()
        )
        abstains = bool(ranked) and not results and question.k > 0
        return Answer(
            results=results,
            direct=None,
            misses=tuple(ranked[:MISSES]) if abstains else (),
            abstains=abstains,
            duplicates=left.duplicates,
        )
