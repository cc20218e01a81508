"""The core's statements and confidence, beside docs/systems/house.md H12 in plain Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.facts.templates import CHATTER, KINDS
from bench.facts.world import made
from oneiros import _core
from oneiros.conflicts import words
from oneiros.conflicts.model import CONSTANT, WEIGHTS, model, reader
from tests.oracles import conflicts as oracle

_WORDS = [
    *sorted(words.STOP_WORDS)[:40],
    *sorted(words.CUE_WORDS),
    *(phrase for _, phrases in words.CUES for phrase in phrases),
    *words.ADDITIONS,
    *words.PAST,
    *sorted(words.RELATIVES),
    *sorted(words.DENIALS),
    *sorted(words.NUMBERS),
    *sorted(words.DATES),
    *(word for topic in words.TOPICS for word in topic.split()),
    *("Ada", "Bo", "Zürich", "10:30", "e-mail", "I", "can't", "3.5", "İzmir", "東京", "x"),
]
_PIECES = st.sampled_from([*_WORDS, *(word.capitalize() for word in _WORDS)])
_MARKS = st.sampled_from([" ", ", ", ". ", "? ", ": ", "-", ".", "\n", "  "])
_SENTENCES = st.builds(
    lambda speaker, pairs, end: speaker + "".join(a + b for a, b in pairs) + end,
    st.sampled_from(["", "Ada: ", "Bo Li: ", "ada: ", "A" * 30 + ": ", "Ünal: "]),
    st.lists(st.tuples(_PIECES, _MARKS), max_size=45),
    st.sampled_from(["", "?", "? ", "!", "?)", "？", "؟\n", "⁇"]),  # noqa: RUF001
)


def core(older: str, newer: str) -> float:
    read = reader().read
    return model().confidence(older=read(older), newer=read(newer))


@given(_SENTENCES | st.text(), _SENTENCES | st.text())
def test_the_confidence_is_that_of_the_page(older: str, newer: str) -> None:
    assert core(older, newer) == pytest.approx(
        oracle.confidence(older, newer, WEIGHTS, CONSTANT), abs=1e-12
    )


@given(_SENTENCES, _SENTENCES)
def test_the_features_are_those_of_the_page(older: str, newer: str) -> None:
    read = reader().read
    found = model().features(older=read(older), newer=read(newer))
    wanted = oracle.features(oracle.statement(older), oracle.statement(newer))
    assert found == pytest.approx(wanted or {})


def test_whole_conversations_have_the_confidence_of_the_page() -> None:
    lines = [line.text for line in made("develop", 1).lines][::3]
    above = 0
    for place, newer in enumerate(lines):
        for older in lines[:place]:
            wanted = oracle.confidence(older, newer, WEIGHTS, CONSTANT)
            assert core(older, newer) == pytest.approx(wanted, abs=1e-12)
            above += wanted >= 0.1
    assert above > 3


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I work at Globex as a baker", "I left Globex and work at Initech now"),
        ("My rent is 900 euros a month", "The rent went up to 950 euros now"),
        ("The review meeting is on 3 March", "The review meeting was moved to 9 April"),
        ("I love mushroom soup", "I no longer like mushroom soup"),
    ],
)
def test_a_change_is_surer_than_the_reverse_or_another_person(older: str, newer: str) -> None:
    assert core(older, newer) >= 0.1
    assert core(newer, older) < core(older, newer)
    assert core(older, f"{newer}, says my sister") < core(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I work at Globex", "I work at Globex"),  # a repetition
        ("I ran 5 km in the park", "I ran 10 km in the park"),  # two events
        ("I work at Globex", "Do I still work at Globex now?"),  # a question
        ("I work at Globex", "Do I work at Initech now？"),  # noqa: RUF001 - as in Chinese, Japanese
        ("I work at Globex", "Do I work at Initech now؟ "),  # as in Arabic
        ("Ada: I work at Globex", "Bo: I started at Initech now"),  # two speakers
        ("", "I moved to Oslo now"),
        ("I work at Globex", "now new " * 20),  # 40 words
        ("Room 12 is free", "Room 13 is free"),  # of two rooms
        ("This is book 3", "This is book 4"),
    ],
)
def test_what_never_conflicts(older: str, newer: str) -> None:
    assert core(older, newer) == 0.0


RESTATED = (
    ("Ada: my parking space is number 123", "Ada: my parking space is number 456"),
    ("The API timeout is 30 seconds", "The API timeout is 60 seconds"),
    ("User's phone number is 555-1234", "User's phone number is 555-9876"),
    ("The office is in Berlin", "The office is in Munich"),
    ("The meeting is on Tuesday at 3pm", "A meeting is on Thursday at 4pm"),
    ("Ada works at Google", "Ada works at Microsoft"),
    ("The server has 16 GB of memory", "The server has 32 GB of memory"),
    ("Phone number: 555-1234", "Phone number: 555-9876"),
    ("Phone: 555-1234", "Phone: 555-9876"),
    ("phone number: 555-1234", "phone number: 555-9876"),
    ("User is 34 years old", "User is 35 years old"),
)
REWORDED = (
    ("Ada's favourite colour is blue", "Ada's favourite colour is green"),
    ("Favourite colour: blue", "Favourite colour: green"),
    ("The theme of the editor is dark", "The theme of the editor is light"),
    ("User's current profession is a driver", "User's current profession is a baker"),
)


@pytest.mark.parametrize(("older", "newer"), RESTATED)
def test_one_sentence_with_another_value_is_sure(older: str, newer: str) -> None:
    assert core(older, newer) >= 0.7
    assert core(older, newer) >= core(older, f"{newer}, and that of my sister, too")


@pytest.mark.parametrize(("older", "newer"), REWORDED)
def test_other_words_of_one_thing_are_less_sure(older: str, newer: str) -> None:
    assert 0.15 <= core(older, newer) < 0.7


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I have a meeting with Bob", "I have a meeting with Carl"),  # one may have both
        ("Ada is a friend of Bob", "Ada is a friend of Carl"),
        ("Bo's phone number is 555-1234", "Al's phone number is 555-9876"),  # of two people
        ("The kitchen has 3 windows", "The kitchen has 2 doors"),  # of two things
        ("Version 14 of Postgres is old", "Version 16 of Nginx is old"),
        ("User is willing to try Deep Breathing", "User is willing to try Slow Walking"),
        ("The office was in Berlin", "The office was in Munich"),  # no state of now
        ("The next step is to read page 3", "The next step is to read page 4"),
        ("User is reading Dune", "User is reading Emma"),
        ("My dog is brown", "My dog is old"),
        ("Ludwig van Beck: the rent is 5 euros", "Ludwig van Beck: the rent is low"),
        ("User works at Google", "User works in Berlin"),  # two things of one verb
        ("The office is in Berlin", "The office is on Main Street"),
        ("User lives in Berlin", "User lives with Anna"),
        ("Ada works with Bob", "Ada works with Carl"),
        ("One of my favourite books is Dune", "One of my favourite books is Emma"),
        ("User's hobby is Chess", "User's hobby is also Judo"),
        ("User has a meeting at 3pm", "User has a meeting at 5pm"),  # no amounts
        ("Shopping list: milk", "Shopping list: eggs"),  # notes under one heading
        ("To do: call Bob", "To do: call Carl"),
        ("Note to self: call Bob", "Note to self: call Carl"),
        ("Daily log: ran 5 km", "Daily log: ran 7 km"),
        ("It is 5 degrees", "It is 7 degrees"),  # of no thing
    ],
)
def test_what_does_not_state_another_value(older: str, newer: str) -> None:
    found = model().features(older=reader().read(older), newer=reader().read(newer))
    assert {found.get(name, 0.0) for name in ("restated", "reworded")} == {0.0}


def test_a_label_is_no_speaker() -> None:
    label, name = "Phone number: 5", "Leonardo da Vinci: 5"
    for one, other, is_other in (
        (label, "Street name: 7", False),
        (name, "Ada: 7 and more", True),
    ):
        found = model().features(older=reader().read(one), newer=reader().read(other))
        assert (found == {}) is is_other


def test_look_alikes_are_mostly_below_changes() -> None:
    """In each kind of the other half, a change scores more than chatter after the statement."""
    better = total = 0
    for kind in KINDS:
        words_of = {"I": "I", "my": "my", "me": "me", "s": "", "es": "", "am": "am", "do": "do"}
        values = {"v": kind.values[1], "old": kind.values[0], "x": kind.things[0]}
        older = kind.statements[0].format(
            **words_of, have="have", **{**values, "v": kind.values[0]}
        )
        for change in kind.changes:
            newer = change.format(**words_of, have="have", i="I", **values)
            for chatter in CHATTER[:10]:
                total += 1
                better += core(older, newer) > core(older, chatter.format(o="Bo"))
    assert better / total > 0.9


def test_the_weights_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "systems" / "house.md").read_text("utf-8")
    table = page.partition("| feature | weight | value |\n|---|---|---|\n")[2].partition("\n\n")[0]
    weights = {}
    for line in table.splitlines():
        names, values = (cell.split(", ") for cell in line.strip("| ").split(" | ")[:2])
        weights.update(zip(map(str.strip, names), map(float, values), strict=True))
    assert weights == WEIGHTS
    assert f"x = {CONSTANT} +" in page


def test_weights_must_be_complete() -> None:
    with pytest.raises(ValueError, match="weights: expected 24, got 23"):
        _core.ConflictModel(weights=dict(list(WEIGHTS.items())[1:]), constant=0.0)
    with pytest.raises(ValueError, match="weights: none for shared"):
        _core.ConflictModel(
            weights={("share" if name == "shared" else name): w for name, w in WEIGHTS.items()},
            constant=0.0,
        )
