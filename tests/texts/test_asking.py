"""How much of a text asks, and how much less it is worth for that: docs/systems/house.md H9."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.index.texts import asking_share
from tests.oracles import house

HOUSE = profiles.get("oneiros")
TEXTS = st.text(st.sampled_from("ab1 ?.!\n\"')]”؟。？⁉…x"), max_size=120)  # noqa: RUF001
# One text of average length that holds the only word of the query once: best bm25 / possible bm25 is
# 1 / (1 + k1) with k1 1.2, and without vectors its root is the relevance (H3, H5).
ALONE = math.sqrt(1 / 2.2)
DAMPING = 0.4  # H9


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        ("We met in May.", 0.0),
        ("What's new", 0.0),
        ("What's new?", 1.0),
        ("Yes. And you?", 9 / 13),
        ("“Really?” he said", 8 / 17),
        ("see https://a.b/c?d=1 and 3.5", 0.0),
        ("No way?!\nYes", 8 / 12),
        ("何？はい", 2 / 4),  # noqa: RUF001
        ("a" * 39 + "?", 1.0),
        ("a" * 40 + "?", 40 / 41),
        ("a" * 99 + "? Yes. " + "b" * 59 + "?!", (40 + 40) / (100 + 6 + 61)),
        ("I moved to Oslo in May and need a doctor, can you help me?", 40 / 58),
    ],
)
def test_the_share_of_some_texts(text: str, share: float) -> None:
    assert asking_share(text) == share


@given(TEXTS)
@example('a?"?b? ')
def test_the_share_is_the_oracles(text: str) -> None:
    assert asking_share(text) == house.asking_share(text)


@pytest.mark.parametrize("text", ["?" * 10**6 + "a", "?)" * 10**6, '?"' * 10**6 + "a"])
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    started = time.process_time()
    asking_share(text)
    assert time.process_time() - started < 5.0  # were it quadratic, it would take an hour


def test_a_question_stands_below_its_answer_and_lends_to_it_first() -> None:
    with oneiros.Engine(":memory:", profile=HOUSE, clock=lambda: 1e9) as mind:
        mind.add("Where does the ferry land?", id="question")
        mind.add("The ferry lands at the east pier.", id="answer")
        plain = mind.search("ferry", profile=HOUSE.replace(statements=None), reinforce=False)
        response = mind.search("ferry", explain=True)
        damped = {one.id: one.relevance_score for one in response}
        for one in plain:
            share = 1 - DAMPING if one.id == "question" else 1.0
            assert damped[one.id] == pytest.approx(share * one.relevance_score, rel=1e-12)
        told = response.results[1].explanation
        assert told is not None
        parts = {part.name: part.value for part in told.parts}
        assert parts["statements"] == pytest.approx(-DAMPING / (1 - DAMPING) * damped["question"])
        assert told.evaluate() == response.results[1].score
        assert dict(mind.rescore())["question"] == dict(mind.rescore())["answer"]  # nobody asks


def test_another_text_asks_or_does_not() -> None:
    with oneiros.Engine(":memory:", profile=HOUSE, clock=lambda: 1e9) as mind:
        mind.add("the ferry lands?", id="ferry")
        for text, asks in (("the ferry lands", 0.0), ("ferry? lands. the", 6 / 17)):
            mind.update("ferry", text=text)
            (result,) = mind.search("ferry", profile=HOUSE.replace(neighbours=None))
            expected = ALONE * (1 - DAMPING * asks)
            assert result.relevance_score == pytest.approx(expected, rel=1e-6)


def test_a_store_opened_again_knows_what_asks(tmp_path: object) -> None:
    path = f"{tmp_path}/store.db"
    for _ in range(2):  # the second time from the snapshot
        with oneiros.Engine(path, clock=lambda: 1e9) as mind:
            if not len(mind):
                mind.add("where does the ferry land?", id="question")
            (result,) = mind.search("ferry", reinforce=False)
            assert result.relevance_score == pytest.approx(ALONE * (1 - DAMPING), rel=1e-12)
