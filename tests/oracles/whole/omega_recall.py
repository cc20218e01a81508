"""OMEGA's whole search: docs/systems/omega.md."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracles import omega, texts
from tests.oracles.questions import Lists, parts_of
from tests.oracles.whole.answers import MISSES, Answer, Found
from tests.oracles.whole.asked import Understood, understood
from tests.oracles.whole.asking import Question
from tests.oracles.whole.compound import compound
from tests.oracles.whole.doubt import none_near, reaches
from tests.oracles.whole.learning import counts_only
from tests.oracles.whole.omega import OmegaSearch
from tests.oracles.whole.scoring import is_back
from tests.oracles.whole.short_cuts import surfaced
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
        # What is judged is asked with a clock of its own, which goes past the cache.
        find = self.recall if question.is_judged else self.again_or_anew
        answer = find(world, question)
        counts_only(world, question, (), [(one.id, False) for one in answer.results])
        return answer

    def again_or_anew(self, world: World, question: Question) -> Answer:
        """O30. Worlds ask again at once or much later, so that confidence makes no difference."""
        asked = replace(question, now=0.0, session=None)
        told = world.recent.ask(asked, question.now)
        if told is None:
            answer = self.recall(world, question)
            world.recent.answer(asked, question.now, 0.0, answer)
            return answer
        assert isinstance(told, Answer)
        return told

    def recall(self, world: World, question: Question) -> Answer:
        """Search, a compound question part by part (O10), and divide by the best (O29)."""
        parts = parts_of(question.words, self.lists)
        each = [self.whole(world, replace(question, words=part)) for part in parts]
        answer = each[0] if len(parts) == 1 else compound(each, world, question)
        best = max((one.score for one in answer.results), default=0.0)
        shares = tuple(replace(one, score=one.score / (best or 1.0)) for one in answer.results)
        return replace(answer, results=shares)

    def whole(self, world: World, question: Question) -> Answer:
        """Search for one part, once more where it is not sure. O28."""
        says = understood(question, self.lists)
        answer, sure = self._once(world, question, says)
        if not question.k or reaches(sure, 0.3):
            return answer
        eased = replace(
            says,
            least_cosine=says.least_cosine * 0.6,
            least_overlap=says.least_overlap * 0.6,
            least_score=says.least_score * 0.5,
            is_eased=True,
            vector_minimum=None if says.vector_minimum is None else says.vector_minimum * 0.6,
        )
        again, surer = self._once(world, replace(question, date_range=None), eased)
        none_near((sure, surer))
        return again if surer > sure else answer

    def _once(self, world: World, question: Question, says: Understood) -> tuple[Answer, float]:
        """Search once; with the answer, how sure it is: at once, and it is not asked again."""
        search = OmegaSearch(
            world, question, says, is_bounded=self.is_bounded, hides_kinds=self.hides_kinds
        )
        left, ranked, is_at_once = surfaced(search)
        results = tuple(
            Found(
                id=id,
                score=score,
                path=left.paths.get(id, ()),
                via_deep_recall=is_back(world.records[id], question),
            )
            for id, score in left.scores.items()
        )
        abstains = bool(ranked) and not results and question.k > 0 and not is_at_once
        answer = Answer(
            results=results,
            direct=None,
            misses=tuple(ranked[:MISSES]) if abstains else (),
            abstains=abstains,
            duplicates=left.duplicates,
        )
        sure = 1.0 if is_at_once else confidence(search, [one.id for one in results])
        return answer, sure


def confidence(search: OmegaSearch, ids: list[str]) -> float:
    """O28, over three results, or as many as are asked for."""
    count = min(3, search.question.k)
    cosine = search.cosine if "vector" in search.channels else {}
    records, words = search.world.records, search.question.words
    near = [(cosine.get(id, 0.0), texts.word_ratio(words, records[id]["text"])) for id in ids]
    return omega.confidence(near[:count]) * 3 / count if count else 0.0
