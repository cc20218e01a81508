"""What notebooks show: text first, nothing of it obeyed, and nothing fetched."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.scoring.expression import Expression

NOW = 1.78e9
DAY = 86_400.0
HOSTILE = "<script>alert('x')</script><img src=x onerror=y> \u202edrow \x1b[2J & \"quoted\" 'id'"
ODD = "<i>'\"&"


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add(
            "Ada likes her coffee black",
            id="m0",
            title="Coffee <b>",
            metadata={"deep": {"a": [1, None]}},
            embedding=np.ones(4, np.float32),
            created_at=NOW - DAY,
        )
        engine.add(HOSTILE + " coffee", id=ODD, kind="<u>", created_at=NOW - 90 * DAY)
        engine.add("late coffee " * 200, id="long", created_at=NOW - 200 * DAY, priority=5)
        yield engine


class Balanced(HTMLParser):
    """Collects the tags and the text of a page, and fails where tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(name in ("class", "style", "role", "aria-label", "title") for name, _ in attrs)
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def shown(made: Any) -> Balanced:
    html = made._repr_html_()
    page = Balanced()
    page.feed(html)
    page.close()
    assert page.open == []
    assert not page.seen & {"script", "img", "u", "link", "iframe"}
    assert not re.search(r"https?:|url\(|@import|[\u202e\x1b]", html)
    return page


def test_a_response_shows_texts_and_what_changed_their_scores(engine: oneiros.Engine) -> None:
    response = engine.search("coffee", explain=True)
    page = shown(response)
    assert page.text.index("Ada likes her coffee black") < page.text.rindex("score")
    best = response.results[0].memory
    assert page.text.index(best.text[:20]) < page.text.index("score")
    assert "alert('x')" in page.text
    assert "⟨U+202E⟩drow" in page.text
    assert "× 1.0000" not in page.text
    assert "recency" in page.text
    assert page.text.count("late coffee") < 60  # cut
    assert f"confidence {response.confidence:.2f}" in page.text


def test_a_response_without_explanations_shows_bars_of_scores(engine: oneiros.Engine) -> None:
    page = shown(engine.search("coffee"))
    assert "lexical" not in page.text
    assert "Ada likes her coffee black" in page.text


def test_a_response_without_results_says_so(engine: oneiros.Engine) -> None:
    response = engine.search("zebra")
    assert response.results == ()
    assert "0 results for 'zebra'" in shown(response).text


def test_an_explanation_folds_what_changes_nothing(engine: oneiros.Engine) -> None:
    explanation = engine.search("coffee", explain=True).results[0].explanation
    assert explanation is not None
    before, folded = explanation._repr_html_().split("<details>")
    neutral = [f.name for f in explanation.factors if f.value == 1.0]
    assert neutral
    assert all(name in folded for name in neutral)
    assert not any(f"× {name}" in before for name in neutral)
    shown(explanation)


def test_a_memory_shows_what_it_has_and_no_defaults(engine: oneiros.Engine) -> None:
    page = shown(engine.get("m0"))
    assert page.text.startswith("Coffee <b>Ada likes")
    assert '{"deep": {"a": [1, null]}}' in page.text
    assert "embedding4 numbers" in page.text
    for default in ("veracity", "pinned", "updated_at", "labels"):
        assert default not in page.text


def test_a_list_of_memories(engine: oneiros.Engine) -> None:
    page = shown(engine.list(limit=2, with_total=True))
    assert page.text.startswith("2 of 3 memories")
    assert "late coffee" not in page.text


def test_many_are_cut(engine: oneiros.Engine) -> None:
    engine.add_many([{"text": f"tea {n}"} for n in range(80)])
    page = shown(engine.list(limit=100))
    assert "83 memories" in page.text
    assert "and 33 more" in page.text


@pytest.mark.parametrize("name", oneiros.profiles.names())
def test_each_profile(name: str) -> None:
    profile = oneiros.profiles.get(name)
    page = shown(profile)
    assert name in page.text
    assert all(factor.name in page.text for factor in profile.factors)


def test_plans_reports_and_drift() -> None:
    clock = VirtualClock(NOW - 70 * DAY)
    with oneiros.Engine(":memory:", clock=clock, profile="reverie") as engine:
        engine.add(HOSTILE, id=ODD, kind="bug")
        engine.add_many([{"text": f"kept {n}", "kind": "preference"} for n in range(30)])
        clock.advance(70 * DAY)
        plan = engine.dream(dry_run=True)
        page = shown(plan)
        assert "Removed (1 deleted)" in page.text
        assert "alert('x')" in page.text  # its text
        assert f"engine.restore({ODD!r})" in page.text
        assert "not used for long" in page.text
        changed = plan.to_frame()
        report = plan.apply()
        page = shown(report)
        assert "alert" not in page.text  # reports hold no texts
        assert f"engine.restore({ODD!r})" in page.text
        pd.testing.assert_frame_equal(report.to_frame(), changed)
        removed = changed[changed["removal"] == "deleted"]
        assert removed[["id", "field"]].to_numpy().tolist() == [[ODD, "deleted_at"]]
        drift = oneiros.drift_over(engine.dreams())
        assert report.id in shown(drift).text
        assert drift.to_frame()["live"].tolist() == [30]


def test_frames_have_what_is_shown(engine: oneiros.Engine) -> None:
    response = engine.search("coffee", explain=True)
    frame = response.to_frame()
    assert frame["id"].tolist() == response.ids
    assert frame["score"].tolist() == response.scores
    assert frame["text"].tolist() == response.texts
    created = frame.set_index("id").loc["m0", "created_at"]
    assert created == pd.Timestamp(NOW - DAY, unit="s", tz="UTC")
    assert "lexical rank" in frame
    explanation = response.results[0].explanation
    assert explanation is not None
    assert explanation.to_frame()["part"].tolist() == [r[0] for r in explanation.table().rows]
    assert response.trace.to_frame()["stage"].iloc[-1] == "total"
    assert len(engine.why_not("coffee", "long", k=1).to_frame())
    listed = engine.list().to_frame()
    assert listed["text"].tolist() == [memory.text for memory in engine.list()]
    assert str(listed["created_at"].dtype).startswith("datetime64")


@pytest.mark.parametrize("name", oneiros.profiles.names())
def test_a_frame_of_explained_results_has_every_column_once(name: str) -> None:
    with oneiros.Engine(":memory:", profile=name, embedder="hashing") as engine:
        engine.add("green tea", kind="decision")
        response = engine.search("green tea", explain=True)
        frame = response.to_frame()
        assert frame.columns.is_unique
        assert frame["kind"].tolist() == ["decision"]
        explanation = response.results[0].explanation
        assert explanation is not None
        if name == "omega":
            assert frame["kind factor"].tolist() == [explanation.factors[0].value]


@pytest.mark.parametrize("name", ["rank", "id", "text", "kind", "created_at", "relevance", "score"])
def test_a_factor_with_the_name_of_a_column(name: str) -> None:
    profile = oneiros.profiles.get("bm25").replace(
        name="own", factors=(Expression("importance", name=name),)
    )
    with oneiros.Engine(":memory:", profile=profile) as engine:
        engine.add("green tea", importance=0.5)
        response = engine.search("tea", explain=True)
        for frame in (response.to_frame(), response.table().to_frame()):
            assert frame.columns.is_unique
            assert frame[f"{name} factor"].tolist() == [0.5]
            assert frame["score"].tolist() == response.scores


def test_the_bar_of_an_infinite_score_is_whole() -> None:
    endless = oneiros.profiles.get("bm25").replace(
        name="endless", factors=(Expression("1 / access_count", name="unused"),)
    )
    with oneiros.Engine(":memory:", profile=endless) as engine:
        engine.add("green tea")
        engine.add("black tea", access_count=1)
        html = engine.search("tea", explain=True)._repr_html_()
    assert re.findall(r"width:([^%]*)%;background", html) == ["100.00", "0.00"]


def test_without_pandas_the_message_names_the_extra(
    engine: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"oneiros\[pandas\]"):
        engine.search("coffee").to_frame()
