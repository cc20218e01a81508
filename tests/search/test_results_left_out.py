"""Results alike, too far off, or none near enough: what leaves a search, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core, profiles
from oneiros.scoring.stages import Duplicates, Surfacing, WeakBest
from tests.oracles import finishing as oracle

NOW = 1_750_000_000.0
OMEGA = profiles.get("omega")
ALIKE = ["", "ant", "`ANT`", "x" * 150 + "y", "> " + "x" * 150 + "z", "bee\nant", "Bee_ant", "#"]
VECTORS = ([1.0, 0.0], [1.0, 0.42], [1.0, 0.44], [0.0, 1.0], [-1.0, 0.3], [0.3, -1.0])


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", profile="omega", clock=lambda: NOW) as opened:
        opened.add("Coffee is black", id="a", embedding=[1.0, 0.0, 0.0])
        opened.add("coffee IS black", id="b", embedding=[0.0, 1.0, 0.0])
        opened.add("tea is green", id="c", embedding=[0.99, 0.01, 0.0])
        opened.add("zebra", id="d", embedding=[0.0, 0.0, 1.0])
        yield opened


@pytest.mark.parametrize("profile", ["omega", "omega-bounded"])
@pytest.mark.parametrize("kind", ["note", "fact", "decision", "constraint", "plan"])
def test_a_memory_of_any_kind_expires(profile: str, kind: str) -> None:
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as opened:
        opened.add("ants dig", id="gone", kind=kind, valid_until=NOW - 1)
        opened.add("ants dig", id="dead", kind=kind, created_at=NOW - 100, ttl=50)
        opened.add("ants dig", id="here", kind=kind, valid_until=NOW + 1)
        assert opened.search("ants dig").ids == ["here"]


@settings(max_examples=60, deadline=None)
@given(
    records=st.lists(
        st.fixed_dictionaries(
            {"text": st.sampled_from(ALIKE)},
            optional={"embedding": st.sampled_from(VECTORS)},
        ),
        min_size=1,
        max_size=8,
    ),
    k=st.integers(1, 8),
)
def test_of_two_alike_the_first_stays(records: list[dict[str, object]], k: int) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add_many(records)
        mind._scope.services.sync.texts(mind._scope.read_model)
        read_model, rule = mind._scope.services.read_model, Duplicates()
        vectors = read_model.indexes.vectors
        kept, left = _core.first_of_each(
            texts=read_model.texts.column,
            vectors=vectors.column if vectors else None,
            rows=list(range(len(records))),
            most=k,
            characters=rule.characters,
            cosine=rule.cosine,
        )
    want: list[int] = []
    for row, record in enumerate(records):
        if len(want) == k:
            break
        better = [one for one in want if oracle.are_alike(records[one], record)]
        if better:
            assert dict(left)[row] in better
        else:
            want.append(row)
    assert kept == want


def test_duplicates_are_listed_and_why_not_says_of_what(mind: oneiros.Engine) -> None:
    response = mind.search("coffee", embedding=[1.0, 0.0, 0.0])
    assert response.ids == ["a"]
    assert {(one.id, one.of) for one in response.trace.duplicates} == {("b", "a"), ("c", "a")}
    assert not response.abstained
    told = mind.why_not("coffee", "b", embedding=[1.0, 0.0, 0.0])
    assert [one.reason for one in told.hidden] == ["duplicate"]
    assert "'a'" in told.lacked
    told = mind.why_not("coffee", "d", embedding=[1.0, 0.0, 0.0])
    assert [one.reason for one in told.hidden] == ["abstention"]
    assert "cosine 0.0000 below 0.5" in told.lacked
    stages = {stage.name: stage for stage in response.trace.stages}
    counts = {name: (one.candidate_count, one.survivor_count) for name, one in stages.items()}
    assert [counts[name] for name in ("surfacing", "duplicates", "abstention")] == [
        *((4, 3), (3, 1), (1, 1))
    ]


@pytest.mark.parametrize("profile", ["omega", "oneiros"])
def test_an_abstention_says_why_shows_the_nearest_and_strengthens_nothing(
    mind: oneiros.Engine, profile: str
) -> None:
    before = mind.list()
    asked = {"embedding": [-1.0, 0.0, 0.1], "profile": profile}
    unheld = profiles.get(profile).replace(abstention=None, duplicates=None)
    nearest = mind.search(
        "nothing here matches", 3, reinforce=False, **{**asked, "profile": unheld}
    ).ids
    for response in (
        mind.search("nothing here matches", **asked),
        *mind.search_many(
            ["nothing here matches"], embeddings=[asked["embedding"]], profile=profile
        ),
    ):
        assert (response.abstained, response.ids) == (True, [])
        assert response.reason in str(response)
        assert len(response.nearest_misses) == 3
        assert [one.id for one in response.nearest_misses] == nearest
    mind.flush()
    assert mind.list() == before
    told = mind.why_not("nothing here matches", "d", **asked)
    assert (told.is_returned, told.place) == (False, None)
    assert response.reason.split(";")[0] in told.lacked or told.hidden[0].reason == "abstention"


def test_the_house_abstains_only_where_both_are_missing(mind: oneiros.Engine) -> None:
    far, near = [-1.0, 0.0, 0.1], [0.3, 0.0, 1.0]
    for query, vector, abstains in (
        ("nothing here matches", far, True),
        ("nothing here matches", near, False),
        ("zebra stripes", far, False),  # half of the words
        ("zebra stripes everywhere", far, True),
        ("", far, False),  # no word is missing
        ("nothing here matches", None, False),  # nobody asked for a cosine
    ):
        response = mind.search(query, embedding=vector, profile="oneiros", reinforce=False)
        assert response.abstained == abstains, (query, vector)
    assert not mind.search("unheard of", k=0, embedding=far, profile="oneiros").abstained


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("猫が好きで、名前はミケです", "猫の名前は？"),  # noqa: RUF001
        ("我的猫叫咪咪，今年三岁", "猫叫什么名字"),  # noqa: RUF001
        ("고양이 이름은 나비입니다", "고양이의 이름이 뭐야?"),
    ],
)
def test_words_that_cannot_be_told_apart_hold_nothing_back(text: str, question: str) -> None:
    with oneiros.Engine(":memory:", profile="oneiros") as mind:
        mind.add(text, id="cat", embedding=[1.0, 0.0])
        mind.add("It rains in Oslo", id="rain", embedding=[1.0, 0.1])
        far = [-0.1, 1.0]
        assert mind.search(question, embedding=far).ids[0] == "cat"
        assert mind.search("penguins, elephants", embedding=far).abstained
        assert mind.search(f"{question} penguins elephants", embedding=far).abstained


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Café Société à Montréal", "cafe societe montreal"),
        ("cafe societe montreal", "Café Société à Montréal"),
        ("Müllers Haus in der Talstraße", "TALSTRASSE MULLERS"),
        ("Ёжик живёт в лесу", "где живет ежик"),
        ("İstanbul'da ışık yandı", "istanbul isik"),  # noqa: RUF001
        ("مَكْتَبَةٌ كبيرة", "مكتبة"),
        ("Đường Nguyễn Huệ", "duong nguyen hue"),
    ],
)
def test_words_without_their_accents_are_found(text: str, question: str) -> None:
    with oneiros.Engine(":memory:", profile="oneiros", analyzer="simple") as mind:
        mind.add(text, id="held", embedding=[1.0, 0.0])
        mind.add("It rains in Oslo", id="rain", embedding=[1.0, 0.1])
        far = [-0.1, 1.0]
        assert mind.search(question, embedding=far).ids[0] == "held"
        assert mind.search(f"{question} {'ostrich zebras gnu tiger'}", embedding=far).abstained


def test_a_situation_says_how_near_is_near_enough(mind: oneiros.Engine) -> None:
    asked = {"embedding": [0.42, 0.0, 0.9], "reinforce": False}
    assert mind.search("zebra, zoo and more", **asked).ids == ["d"]
    here = oneiros.Context(situation="error_debug")  # a cosine of 0.4 is enough there
    assert set(mind.search("zebra, zoo and more", context=here, **asked).ids) == {"d", "a"}


def test_a_scope_is_judged_by_its_own_memories_alone(mind: oneiros.Engine) -> None:
    mind.add("stripes everywhere", id="e", project="x", embedding=[0.0, 0.0, 1.0])
    asked = {"embedding": [-1.0, 0.0, 0.1], "profile": "oneiros"}
    response = mind.scope(project="x").search("zebra coffee tea", **asked)
    assert response.abstained
    assert [one.id for one in response.nearest_misses] == ["e"]
    assert not mind.search("zebra coffee tea", **asked).abstained


def test_parts_refuse_what_is_out_of_range_by_name() -> None:
    for make, match in (
        (lambda: Duplicates(characters=0), "characters: must be"),
        (lambda: Duplicates(cosine=0.0), "cosine: must be"),
        (lambda: Surfacing(least_overlap=1.5), "least_overlap: must be"),
        (lambda: Surfacing(misses=-1), "misses: must be"),
        (lambda: WeakBest(words=float("nan")), "words: must be"),
    ):
        with pytest.raises(ValueError, match=match):
            make()
    with pytest.raises(TypeError, match="duplicates: expected Duplicates, got float"):
        OMEGA.replace(duplicates=0.9)
    with pytest.raises(TypeError, match="abstention: expected Surfacing or WeakBest, got bool"):
        OMEGA.replace(abstention=True)
