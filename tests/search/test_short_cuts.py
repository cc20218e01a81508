"""What the words found decides alone where it is almost the question, or strong: O1, O5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.relevance_adjustments import NamedTime, Statements
from oneiros.scoring.stages import AdaptiveRetry, FastPath, StrongSignal
from tests.oracles import omega, texts

NOW = 1_750_000_000.0
OMEGA = profiles.get("omega")
BARE = OMEGA.replace(abstention=None, duplicates=None, retry=None, normalisation=None)
PLAIN = BARE.replace(fast_path=None, strong_signal=None)
ASKED = {"reinforce": False, "explain": True}
NAMES = ["parse_config", "parse_configs", "the parse_config", "read_config", "parse_config again"]


@pytest.fixture(scope="module")
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", analyzer="code", profile="omega", clock=lambda: NOW) as opened:
        for number, text in enumerate(NAMES):
            opened.add(text, id=f"n{number}", project="xy"[number % 2])
        opened.add("parse_config", id="gone", valid_until=NOW - 1)
        opened.add("ant hills in the garden", id="a", kind="constraint", embedding=[1.0, 0.0])
        opened.add("ant", id="b", kind="test", embedding=[0.0, 1.0])
        opened.add("bees", id="c", embedding=[0.9, 0.1])
        yield opened


@settings(max_examples=30, deadline=None)
@given(
    query=st.sampled_from(["parse_config", "parse_configs", "read_config.py", "`parse_config`"]),
    project=st.sampled_from([None, "x", "y"]),
    similarity=st.sampled_from([0.3, 0.6, 0.9]),
)
def test_a_keyword_like_question_is_answered_by_what_is_almost_itself(
    mind: oneiros.Engine, query: str, project: str | None, similarity: float
) -> None:
    where = None if project is None else oneiros.where(project=project)
    asked: dict[str, Any] = {"where": where, **ASKED}
    found = mind.search(query, profile=PLAIN, **asked).ids
    shown = dict(zip((f"n{n}" for n in range(len(NAMES))), NAMES, strict=True))
    shares = {id: texts.jaccard(query, shown[id]) for id in found}
    want = {id: share for id, share in shares.items() if share >= similarity}
    profile = BARE.replace(fast_path=FastPath(similarity=similarity), strong_signal=None)
    response = mind.search(query, profile=profile, **asked)
    if not want:
        assert response.ids == found
        return
    assert response.ids == sorted(want, key=lambda id: (-want[id], id))
    for one in response:
        assert one.score == one.relevance_score == want[one.id]
        assert one.explanation is not None
        assert one.explanation.evaluate() == one.score
    for id in set(found) - want.keys():
        told = mind.why_not(query, id, profile=profile, where=where)
        assert "the fast path answered" in told.lacked


@pytest.mark.parametrize(
    "text",
    [
        "\ufb01x " * 55 + "`parse_config` plus more of the lexer",  # NFKC makes it longer
        "# Parse  [config]\n" * 14,
        "ΠΑΡΣΕ parse_config ΣΣ " * 10,
        "\uff50\uff41\uff52\uff53\uff45\uff3f\uff43\uff4f\uff4e\uff46\uff49\uff47 " * 20,
    ],
)
def test_texts_are_cut_as_they_are_written_and_then_put_into_canonical_form(text: str) -> None:
    query = f"`{text[:150]}` {text[150:210]}"
    with oneiros.Engine(":memory:", profile=BARE, clock=lambda: NOW) as opened:
        opened.add(text, id="a")
        (found,) = opened.search(query, **ASKED)
        assert found.score == texts.jaccard(query, text)
        assert found.score >= 0.6
        opened.update("a", text="plain `parse_config`")
        (found,) = opened.search("`parse_config` plain", **ASKED)
        assert found.score == texts.jaccard("`parse_config` plain", "plain `parse_config`")


def test_whatever_a_profile_damps_likeness_is_the_score() -> None:
    profile = BARE.replace(statements=Statements(damping=1.0), named_time=NamedTime())
    with oneiros.Engine(":memory:", analyzer="code", profile=profile, clock=lambda: NOW) as asking:
        asking.add("parse_config?", id="a")
        (one,) = asking.search("parse_config", **ASKED)
        assert one.score == texts.jaccard("parse_config", "parse_config?")


def test_a_time_deep_recall_or_a_question_in_words_are_not_answered_at_once(
    mind: oneiros.Engine,
) -> None:
    def note(query: str, **options: Any) -> str:
        stages = mind.search(query, **ASKED, **options).trace.stages
        return next(one.note for one in stages if one.name == "fast_path")

    assert note("parse_config") == ""
    assert note("parse_config", deep_recall=True).startswith("skipped: a time is named")
    assert note("parse_config", date_range=(0, NOW)).startswith("skipped: a time is named")
    assert note("what does the parser do") == "skipped: the query is not keyword-like"
    assert note("v1.7") == "nothing as like as 0.6"
    (many,) = mind.search_many(["parse_config"], reinforce=False)
    assert many.ids == mind.search("parse_config", reinforce=False).ids
    assert "gone" not in many.ids


@pytest.mark.parametrize("times", [{"date_range": (0, 1)}, {}])
def test_a_time_that_is_left_out_when_asked_once_more_was_named_all_the_same(
    times: dict[str, Any],
) -> None:
    profile = OMEGA.replace(retry=AdaptiveRetry(least_confidence=1.0))
    query = '"parse the config"' if times else '"parse the config in May 1999"'
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as mind:
        mind.add(query.strip('"'), id="a")
        mind.add("parse the config", id="b")
        stages = mind.search(query, **times, **ASKED).trace.stages
    notes = [one.note for one in stages if one.name.endswith("fast_path")]
    assert len(notes) == 2
    assert all(note.startswith("skipped: a time is named") for note in notes)


@settings(max_examples=30, deadline=None)
@given(
    query=st.sampled_from(["ant hills", "ant", "garden ant bees", "parse the config"]),
    threshold=st.sampled_from([0.0, 0.5, 0.85, 1.0]),
    gap=st.sampled_from([0.0, 0.15, 0.6]),
)
def test_a_strong_first_hit_decides_without_fusion_and_metadata(
    mind: oneiros.Engine, query: str, threshold: float, gap: float
) -> None:
    asked: dict[str, Any] = {"embedding": [0.9, 0.1], **ASKED}
    rule = StrongSignal(threshold=threshold, gap=gap)
    plain = mind.search(query, 20, profile=PLAIN, **asked)
    hits = {
        one.id: channel.score
        for one in plain
        for channel in (one.explanation.channels if one.explanation else ())
        if channel.name == "lexical" and channel.rank is not None
    }
    scores = sorted((score for score in hits.values() if score is not None), reverse=True)
    response = mind.search(query, 20, profile=PLAIN.replace(strong_signal=rule), **asked)
    if not omega.is_strong(scores, threshold, gap):
        assert [(one.id, one.score) for one in response] == [(one.id, one.score) for one in plain]
        return
    assert set(response.ids) == hits.keys()
    for one in response:
        assert one.relevance_score == hits[one.id]
        told = one.explanation
        assert told is not None
        assert told.evaluate() == one.score
        assert not {factor.name for factor in told.factors} & set(rule.skips)
        assert {"overlap", "preference", "context", "cluster"} <= {
            factor.name for factor in told.factors
        }
    names = [stage.name for stage in response.trace.stages]
    assert "strong_signal" in names
    assert "rerank" not in names
    for id in set(plain.ids) - hits.keys():
        told_why = mind.why_not(
            query, id, k=20, profile=PLAIN.replace(strong_signal=rule), embedding=[0.9, 0.1]
        )
        assert "decides alone" in told_why.lacked


def test_short_cuts_say_what_they_need() -> None:
    reverie = profiles.get("reverie")
    with pytest.raises(
        ValueError, match="strong_signal: needs a lexical channel with a word_share"
    ):
        reverie.replace(strong_signal=StrongSignal())
    with pytest.raises(ValueError, match="fast_path: needs a lexical channel"):
        reverie.replace(channels=reverie.channels[1:], fast_path=FastPath())
    with pytest.raises(ValueError, match="needs a fusion of raw scores"):
        profiles.get("cognitive").replace(
            channels=(*profiles.get("cognitive").channels[:1], OMEGA.channels[0]),
            strong_signal=StrongSignal(),
        )
    with pytest.raises(ValueError, match="similarity: must be"):
        FastPath(similarity=0.0)
    with pytest.raises(ValueError, match="gap: must be"):
        StrongSignal(gap=-1.0)
