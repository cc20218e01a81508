"""How much of a text asks, and how much less it is worth for that: docs/systems/house.md H9."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.index.texts import asking_share
from tests.oracles import house

HOUSE = profiles.get("oneiros")
TEXTS = st.text(st.sampled_from("ab1 ?.!\n\"')]”؟。？⁉…x"), max_size=40)  # noqa: RUF001


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
            share = 0.5 if one.id == "question" else 1.0
            assert damped[one.id] == pytest.approx(share * one.relevance_score, rel=1e-15)
        told = response.results[1].explanation
        assert told is not None
        parts = {part.name: part.value for part in told.parts}
        assert parts["statements"] == pytest.approx(-damped["question"])
        assert told.evaluate() == response.results[1].score
        assert dict(mind.rescore())["question"] == dict(mind.rescore())["answer"]  # nobody asks


def test_another_text_asks_or_does_not() -> None:
    with oneiros.Engine(":memory:", profile=HOUSE, clock=lambda: 1e9) as mind:
        mind.add("the ferry lands?", id="ferry")
        for text, share in (("the ferry lands", 1.0), ("ferry? lands. the", 1 - 0.5 * 6 / 17)):
            mind.update("ferry", text=text)
            (result,) = mind.search("ferry", profile=HOUSE.replace(neighbours=None))
            assert result.relevance_score == pytest.approx(share, rel=1e-6)


def test_a_store_opened_again_knows_what_asks(tmp_path: object) -> None:
    path = f"{tmp_path}/store.db"
    for _ in range(2):  # the second time from the snapshot
        with oneiros.Engine(path, clock=lambda: 1e9) as mind:
            if not len(mind):
                mind.add("where does the ferry land?", id="question")
            (result,) = mind.search("ferry", reinforce=False)
            assert result.relevance_score == 0.5
