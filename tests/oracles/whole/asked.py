"""What OMEGA reads out of a question before it searches: omega.md O8, O9, O16, O19."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles.omega_tables import CONTEXTS, INTENTS, PROFILES
from tests.oracles.questions import Lists, holds, intent_of, product
from tests.oracles.whole.asking import Question

__all__ = ["Understood", "understood"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What weighs, and how near a memory must be."""

    vector: float
    text: float
    word: float
    context: float
    graph: float
    is_navigational: bool
    is_conceptual: bool
    asks_preference: bool
    least_cosine: float
    least_overlap: float
    least_score: float
    vector_minimum: float | None
    """O2: of the situation that is given, if one is."""
    is_eased: bool = False
    """Whether it is asked once more (O28); a time that it named is left out then."""


def understood(question: Question, lists: Lists) -> Understood:
    """Return what a question says, hint and intent weighed together."""
    kinds = [wanted for name, wanted in question.wanted if name == "kind"]
    hint = question.hint or (kinds[0] if kinds else "_default")
    intent = intent_of(question.words, lists)
    row = product(PROFILES.get(hint, PROFILES["_default"]), INTENTS[intent])
    vector, text, word, context, graph = row
    situation = None if question.around is None else question.around.situation
    least_cosine, least_overlap, least_score, boost = CONTEXTS[situation or "general"]
    return Understood(
        vector=vector,
        text=text,
        word=word,
        context=context * (boost if situation else 1.0),
        graph=graph,
        is_navigational=intent == "navigational",
        is_conceptual=intent == "conceptual",
        asks_preference=holds(question.words, lists.preference),
        least_cosine=least_cosine,
        least_overlap=least_overlap,
        least_score=least_score,
        vector_minimum=least_cosine if situation else None,
    )
