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
    ],
)
def test_what_never_conflicts(older: str, newer: str) -> None:
    assert core(older, newer) == 0.0


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
    with pytest.raises(ValueError, match="weights: expected 22, got 21"):
        _core.ConflictModel(weights=dict(list(WEIGHTS.items())[1:]), constant=0.0)
    with pytest.raises(ValueError, match="weights: none for shared"):
        _core.ConflictModel(
            weights={("share" if name == "shared" else name): w for name, w in WEIGHTS.items()},
            constant=0.0,
        )
