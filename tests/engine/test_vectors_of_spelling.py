"""Vectors of an embedder that knows words by their spelling alone. Source: docs/systems/house.md H3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

import oneiros
from oneiros.evaluation.tasks import JudgedQuery, Task, measure
from oneiros.models import HashingEmbedder
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import Blend
from tests.oracles import house

TEXTS = {
    "booked": "we booked the restaurant at the harbour",
    "closed": "the harbour is closed on sundays",
    "repaired": "bicycles are repaired on mondays",
    "painted": "the boat was painted blue",
}
WEIGHT, LEAST = 0.55, 0.1
SPELLED = oneiros.Profile(
    name="spelled",
    channels=(LexicalChannel(), VectorChannel()),
    fusion=Blend(weight=WEIGHT, spelling=LEAST),
)
WHOLE = SPELLED.replace(fusion=Blend(weight=WEIGHT))


class Named:
    """The vectors of the embedder in the box under a name of their own, as if they were a model's."""

    name = "a model"

    def __init__(self) -> None:
        self.own = HashingEmbedder()

    def __call__(
        self, texts: Sequence[str], /
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return self.own(texts)


def filled(
    profile: oneiros.Profile | str = SPELLED, embedder: object = "hashing"
) -> oneiros.Engine:
    engine = oneiros.Engine(":memory:", profile=profile, embedder=embedder)  # type: ignore[arg-type]
    engine.add_many([{"id": id, "text": text} for id, text in TEXTS.items()], links=False)
    return engine


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with filled() as engine:
        yield engine


def idf(holders: int) -> float:
    """Return the idf of a word; that of one that no text has is as if one had it."""
    held = max(holders, 1)
    return math.log(1 + (len(TEXTS) - held + 0.5) / (held + 0.5))


@pytest.mark.parametrize(
    ("question", "holders"),
    [
        ("harbour restaurant", [2, 1]),
        ("harbour boat closed resturant", [2, 1, 1, 0]),
        ("harbour resturant", [2, 0]),
        ("harbour boat closed bicycles blue painted mondays sundays resturant", [2, *[1] * 7, 0]),
    ],
)
def test_relevance_is_the_oracles(
    engine: oneiros.Engine, question: str, holders: list[int]
) -> None:
    found = engine.search(question, reinforce=False, explain=True)
    whole = sum(map(idf, holders))
    missing = sum(idf(count) for count in holders if count == 0) / whole
    words = [one.channels.get("lexical", 0.0) for one in found]
    cosines = [one.channels["vector"] for one in found]
    weight = house.words_weight(WEIGHT, LEAST, missing)
    want = house.blend(words, cosines, weight)
    assert [one.relevance_score for one in found] == pytest.approx(want, rel=1e-9)
    (stage,) = (stage for stage in found.trace.stages if stage.name == "spelling")
    share = (1 - weight) / (1 - WEIGHT)
    assert float(stage.note.split()[4]) == pytest.approx(share, abs=1e-4)
    for one, relevance in zip(found, want, strict=True):
        assert one.explanation is not None
        assert one.explanation.relevance == pytest.approx(relevance, rel=1e-9)


def test_words_that_no_text_has_are_found_as_before() -> None:
    for question in ("resturant", "xxresturant bycicles"):
        scores = []
        for profile in (SPELLED, WHOLE):
            with filled(profile) as engine:
                found = engine.search(question, reinforce=False)
                scores.append([(one.id, one.relevance_score) for one in found])
        assert scores[0] == scores[1]
        assert scores[0][0][0] == "booked"


def test_vectors_of_a_model_have_their_whole_weight() -> None:
    scores = []
    for profile in (SPELLED, WHOLE):
        with filled(profile, Named()) as engine:
            found = engine.search("harbour restaurant", reinforce=False)
            assert "spelling" not in {stage.name for stage in found.trace.stages}
            scores.append(found.scores)
    assert scores[0] == scores[1]


def test_the_store_knows_whose_its_vectors_are(tmp_path: object) -> None:
    """A question's vector that is given, in an engine without the embedder, counts as little."""
    path = f"{tmp_path}/mind.db"
    with oneiros.Engine(path, profile=SPELLED, embedder="hashing") as engine:
        engine.add_many([{"id": id, "text": text} for id, text in TEXTS.items()], links=False)
        scores = engine.search("harbour boat", reinforce=False).scores
        engine.reembed(Named())
        after = engine.search("harbour boat", reinforce=False)
        assert "spelling" not in {stage.name for stage in after.trace.stages}
        engine.reembed("hashing")
        assert engine.search("harbour boat", reinforce=False).scores == scores
    vector = HashingEmbedder()(["harbour boat"])[0]
    with (
        pytest.warns(oneiros.MissingEmbedderWarning),
        oneiros.Engine(path, profile=SPELLED) as bare,
    ):
        assert bare.search("harbour boat", embedding=vector, reinforce=False).scores == scores


def test_a_scope_learns_nothing_of_the_words_of_others() -> None:
    """Only its own texts decide which words are known."""
    notes = []
    for others in (["a harbour"], ["a restaurant"]):
        with oneiros.Engine(":memory:", profile=SPELLED, embedder="hashing") as engine:
            engine.scope(user="ada").add("the boat was painted blue")
            engine.scope(user="bob").add_many([{"text": text} for text in others])
            found = engine.scope(user="ada").search("boat harbour", reinforce=False)
            notes.append([stage.note for stage in found.trace.stages if stage.name == "spelling"])
    assert notes[0] == notes[1] != []


def test_linked_memories_are_measured_alike() -> None:
    """One that is reached over a link and shares no word is as near as its vector's share allows."""
    base = oneiros.profiles.get("oneiros")
    relevances = {}
    for least in (0.25, 1.0):
        profile = base.replace(fusion=replace(base.fusion, spelling=least, baseline=None))
        with filled(profile) as engine:
            engine.add_many(
                [{"id": f"h{n}", "text": f"harbour {n}"} for n in range(150)], links=False
            )
            engine.add_many([{"id": "far", "text": "a vessel turned blue"}], links=False)
            engine.link("booked", "far", 0.9)
            found = engine.search("harbour restaurant", reinforce=False, explain=True)
            (far,) = (one for one in found if one.id == "far")
            assert "far" not in found.direct_ids
            relevances[least] = far.relevance_score
    assert relevances[0.25] == pytest.approx(0.25 * relevances[1.0]) != 0.0


def test_an_evaluation_counts_them_as_an_engine_does() -> None:
    embedder = HashingEmbedder()
    vectors = embedder(list(TEXTS.values()))
    records = [
        {"id": id, "text": text, "embedding": vector}
        for (id, text), vector in zip(TEXTS.items(), vectors, strict=True)
    ]
    question = "harbour boat closed"
    query = JudgedQuery(
        id="q",
        type="",
        text=question,
        answers={"painted": 1.0},
        embedding=embedder([question])[0],
        now=1e9,
        where=None,
    )
    found = {}
    for least in (0.0, 1.0):
        profile = SPELLED.replace(fusion=Blend(weight=0.0, spelling=least))
        task = Task(name="t", records=records, questions=[query], embedder=embedder)
        found[least] = measure(task, profile).overall.mrr
        with filled(profile) as engine:
            place = engine.search(question, reinforce=False).ids.index("painted") + 1
        assert found[least] == pytest.approx(1 / place)
    assert found[0.0] != found[1.0]


def test_a_question_of_stop_words_alone_is_one_for_vectors() -> None:
    scores = []
    for profile in (SPELLED, WHOLE):
        with filled(profile) as engine:
            scores.append(engine.search("is it the", reinforce=False).scores)
    assert scores[0] == scores[1] != []
