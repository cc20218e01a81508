"""What the profile of an engine decides when a store is made and when a memory is added."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from oneiros import Engine, Memory, SearchResponse, profiles
from oneiros.scoring.channels import LexicalChannel
from oneiros.scoring.ingest import InitialStability
from oneiros.store import Store
from tests.oracles import bm25

SHORT = profiles.get("reverie").replace(name="short", channels=(LexicalChannel(k1=0.9, b=0.4),))
FRAGILE = profiles.get("reverie").replace(name="fragile", initial_stability=InitialStability())


HALVED = SHORT.replace(name="halved", channels=(LexicalChannel(k1=0.9, b=1.0, half_length=50.0),))


def lexical(mind: Engine) -> tuple[float, float]:
    told: dict[str, Any] = mind.stats()["lexical"]
    return told["k1"], told["b"]


def test_a_new_store_takes_k1_and_b_from_the_profile_and_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (0.9, 0.4)  # H5
    with Engine(path, profile="reverie") as mind:
        assert lexical(mind) == (0.9, 0.4)
        mind.add("a word")
    with Engine(path, profile="reverie", b=0.75) as mind:
        assert lexical(mind) == (0.9, 0.75)
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (0.9, 0.75)


def test_a_store_that_holds_something_keeps_what_it_was_searched_with(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile="reverie") as mind:
        mind.add("a word")
        assert lexical(mind) == (1.2, 0.75)
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (1.2, 0.75)


def test_arguments_come_before_the_profile() -> None:
    with Engine(":memory:", profile=SHORT, k1=2.0) as mind:
        assert lexical(mind) == (2.0, 0.4)


def half_length(mind: Engine) -> tuple[float, float]:
    stats: dict[str, Any] = mind.stats()["lexical"]
    return stats["b"], stats["half_length"]


def test_a_new_store_takes_the_half_length_from_the_profile_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile=HALVED) as mind:
        assert half_length(mind) == (1.0, 50.0)
        mind.add("a word")
    for profile in ("reverie", SHORT, "oneiros"):
        with Engine(path, profile=profile) as mind:
            assert half_length(mind) == (1.0, 50.0)
            mind.add("another word")
    with Engine(path, half_length=7) as mind:
        assert half_length(mind) == (1.0, 7.0)
    with Engine(path) as mind:
        assert half_length(mind) == (1.0, 7.0)
    with Engine(path, half_length=0) as mind:  # off, and kept so
        assert half_length(mind) == (1.0, 0.0)
    with Engine(path) as mind:
        assert half_length(mind) == (1.0, 0.0)


def titles(mind: Engine) -> tuple[float, float]:
    stats: dict[str, Any] = mind.stats()["lexical"]
    return stats["title_weight"], stats["title_length"]


def lexical_scores(mind: Engine) -> dict[str, float | None]:
    response = mind.search("cat", explain=True, reinforce=False)
    found: dict[str, float | None] = {}
    for one in response.results:
        assert one.explanation is not None
        found[one.id] = one.explanation.channels[0].score
    return found


def test_a_new_store_takes_the_numbers_of_titles_from_the_profile_and_keeps_them(
    tmp_path: Path,
) -> None:
    path, older = tmp_path / "mind.db", tmp_path / "older.db"
    with Engine(path) as mind:
        assert titles(mind) == (3.0, 0.0)  # H5
        mind.add("ant bee", title="cat dog")
        mind.add("cat", title="")
        scores = lexical_scores(mind)
    for profile in ("reverie", "oneiros"):
        with Engine(path, profile=profile) as mind:
            assert titles(mind) == (3.0, 0.0)
    with Engine(path) as mind:
        assert lexical_scores(mind) == scores
    with Engine(path, title_length=1) as mind:
        assert titles(mind) == (3.0, 1.0)
        assert lexical_scores(mind) != scores
    with Engine(older, profile="reverie") as mind:
        assert titles(mind) == (2.0, 1.0)
        mind.add("ant", title="bee")
    with Engine(older) as mind:
        assert titles(mind) == (2.0, 1.0)


def test_a_strength_that_is_given_alone_is_not_halved(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(":memory:", profile=HALVED, k1=2.0) as mind:
        assert half_length(mind) == (1.0, 50.0)
    with Engine(":memory:", profile=HALVED, half_length=9.0) as mind:
        assert half_length(mind) == (1.0, 9.0)
    with Engine(":memory:", profile=HALVED, b=0.4, half_length=9.0) as mind:
        assert half_length(mind) == (0.4, 9.0)
    with Engine(path, profile=HALVED, b=0.4) as mind:
        assert half_length(mind) == (0.4, 0.0)
        mind.add("a word")
    with Engine(path, profile=HALVED) as mind:
        assert half_length(mind) == (0.4, 0.0)


def test_the_same_b_again_keeps_the_half_length_and_another_one_is_for_all_lengths(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with Engine(path, profile=HALVED) as mind:
        assert half_length(mind) == (1.0, 50.0)
    with Engine(path, b=1.0) as mind:
        assert half_length(mind) == (1.0, 50.0)
    with Engine(path, b=0.9) as mind:
        assert half_length(mind) == (0.9, 0.0)


def test_a_store_that_knows_no_half_length_has_none(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile=SHORT) as mind:  # as 0.1.0 wrote it: k1 and b alone
        mind.add("a word")
    with Engine(path, profile="oneiros") as mind:
        assert lexical(mind) == (0.9, 0.4)
        assert half_length(mind) == (0.4, 0.0)
    with Store(path) as store:
        assert "half_length" not in store.settings()


def scores(response: SearchResponse) -> dict[str, float]:
    return {result.id: result.score for result in response}


def test_the_half_length_is_in_the_scores_of_every_opening(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    texts = {"short": "bee", "long": "ant " * 9 + "bee", "other": "cat dog"}
    plain = bm25.rank(
        dict(enumerate(text.split() for text in texts.values())),
        ["bee"], 10, k1=0.9, b=1.0, half_length=50.0,
    )  # fmt: skip
    expected = {list(texts)[row]: score for row, score in plain}
    bare = profiles.get("bm25")
    with Engine(path, profile=HALVED, analyzer="simple") as mind:
        mind.add_many([{"id": id, "text": text} for id, text in texts.items()])
        assert scores(mind.search("bee", profile=bare)) == pytest.approx(expected, rel=1e-12)
    for _ in range(2):
        with Engine(path, profile=bare) as mind:
            assert scores(mind.search("bee")) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, "half_length: must be >= 0.*, got -1"),
        (math.nan, ValueError, "half_length: must be .* got nan"),
        (math.inf, ValueError, "half_length: must be .* got inf"),
        ("50", TypeError, "half_length: expected a number, got str '50'"),
    ],
)
def test_a_wrong_half_length_is_refused_and_not_kept(
    tmp_path: Path, value: object, error: type[Exception], message: str
) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, half_length=3.0) as mind:
        mind.add("a word")
    with pytest.raises(error, match=message):
        Engine(path, half_length=value)  # type: ignore[arg-type]
    with Engine(path) as mind:
        assert half_length(mind)[1] == 3.0


def test_a_memory_without_a_stability_starts_as_the_profile_says() -> None:
    with Engine(":memory:", profile=FRAGILE) as mind:
        plain = mind.add("plain")
        vital = mind.add("vital", importance=1.0)
        given = mind.add("given", stability=0.7)
        mind.add_many([Memory(text="made", id="made", importance=0.0), {"text": "a", "id": "a"}])
        assert mind.get(plain).stability == pytest.approx(0.25)  # C3
        assert mind.get(vital).stability == pytest.approx(0.4)
        assert mind.get(given).stability == pytest.approx(0.7)
        assert mind.get("made").stability == pytest.approx(0.1)
        mind.update(vital, importance=0.0)
        assert mind.get(vital).stability == pytest.approx(0.4)
        mind.add_many([{"id": given, "text": "again"}], on_conflict="update")
        assert mind.get(given).stability == pytest.approx(0.7)
    with Engine(":memory:", profile="reverie") as mind:
        assert mind.get(mind.add("plain")).stability == 1.0
