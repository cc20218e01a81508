"""Recall from outside: what is hidden, what the trace says, what explanations add up to."""

from __future__ import annotations

import pytest

import oneiros
from oneiros import profiles
from oneiros.scoring.channels import LexicalChannel, VectorChannel

NOW = 1_750_000_000.0
DAY = 86_400.0


def test_superseded_expired_archived_and_not_yet_valid_are_hidden(mind: oneiros.Engine) -> None:
    shown = mind.add("ant plain")
    mind.add("ant old", superseded_by=shown)
    archived = mind.add("ant archived", status="archived")
    mind.add("ant over", valid_until=NOW - 1)
    ends_now = mind.add("ant ends now", valid_until=NOW)
    mind.add("ant short", created_at=NOW - 10, ttl=5)
    early = mind.add("ant early", valid_from=NOW + DAY)
    assert set(mind.search("ant").ids) == {shown, ends_now}
    assert mind.search("ant", status="archived").ids == [archived]
    assert set(mind.search("ant", status=["staged", "archived"]).ids) == {shown, ends_now, archived}
    assert early in mind.search("ant", now=NOW + DAY).ids
    assert ends_now not in mind.search("ant", now=NOW + 1).ids
    open_profile = profiles.get("reverie").replace(
        selection=type(profiles.get("reverie").selection)(hide_superseded=False, hide_expired=False)
    )
    assert len(mind.search("ant", profile=open_profile)) == 6


def test_the_trace_tells_every_stage_and_why_a_channel_is_absent(mind: oneiros.Engine) -> None:
    mind.add("ant")
    trace = mind.search("ant").trace
    assert [stage.name for stage in trace.stages] == [
        "validity_filter",
        "bm25_search",
        "vector_search",
        "fusion",
        "scoring",
        "reinforcement",
    ]
    by_name = {stage.name: stage for stage in trace.stages}
    assert by_name["bm25_search"].survivor_count == 1
    assert "no embedder" in by_name["vector_search"].note
    assert by_name["reinforcement"].survivor_count == 1
    assert trace.total_ms >= sum(stage.duration_ms for stage in trace.stages) * 0.999
    assert trace.total_tokens == 0
    quiet = mind.search("ant", reinforce=False).trace
    assert "reinforcement" not in [stage.name for stage in quiet.stages]


def test_an_explanation_is_the_score_to_the_bit(mind: oneiros.Engine) -> None:
    mind.add(
        "ant bee", strength=0.7, depth=3, session_spread=4, stability=2.5, updated_at=NOW - 3 * DAY
    )
    mind.add("ant", embedding=[1.0, 0.0])
    mind.add("bee", embedding=[0.8, 0.6], created_at=NOW - 40 * DAY)
    plain = mind.search("ant bee", embedding=[1.0, 0.0], reinforce=False)
    told = mind.search("ant bee", embedding=[1.0, 0.0], reinforce=False, explain=True)
    assert [(r.id, r.score) for r in plain] == [(r.id, r.score) for r in told]
    for result in told:
        explanation = result.explanation
        assert explanation is not None
        assert explanation.evaluate() == explanation.score == result.score
        assert [factor.name for factor in explanation.factors] == [
            "time_decay",
            "strength",
            "depth",
            "spread",
            "stability",
        ]
        ranks = [c.rank for c in explanation.channels if c.rank is not None]
        assert result.relevance_score == pytest.approx(sum(1 / (30 + rank) for rank in ranks))
    assert all(result.explanation is None for result in plain)


def test_a_batch_answers_as_single_searches_do(mind: oneiros.Engine) -> None:
    mind.add_many(
        [{"text": f"ant {'bee ' * (n % 3)}{n}", "embedding": [n % 5 - 2, 1.0]} for n in range(60)]
    )
    queries = ["ant", "bee 7", "", "unheard", "12 bee ant"]
    vectors = [[1.0, 0.2], None, [0.1, 1.0], None, [1.0, 1.0]]
    singles = [
        mind.search(query, k=7, embedding=vector, reinforce=False)
        for query, vector in zip(queries, vectors, strict=True)
    ]
    for threads in (1, 3):
        batch = mind.search_many(queries, k=7, embeddings=vectors, reinforce=False, threads=threads)
        assert [[(r.id, r.score) for r in one] for one in batch] == [
            [(r.id, r.score) for r in one] for one in singles
        ]
    assert mind.search_many([]) == []
    with pytest.raises(ValueError, match="embeddings: expected 2"):
        mind.search_many(["a", "b"], embeddings=[[1.0, 0.0]])
    with pytest.raises(TypeError, match="queries"):
        mind.search_many("ant")


def test_a_profile_can_be_given_by_call(mind: oneiros.Engine) -> None:
    a = mind.add("ant ant", strength=0.1)
    b = mind.add("ant")
    assert mind.search("ant", reinforce=False).ids == [b, a]
    bare = mind.search("ant", profile=profiles.get("reverie", lifecycle=False), reinforce=False)
    assert bare.ids == [a, b]
    assert bare.profile_hash != mind.search("ant", reinforce=False).profile_hash
    words = profiles.get("reverie").replace(channels=(LexicalChannel(),))
    meaning = profiles.get("reverie").replace(channels=(VectorChannel(),))
    assert mind.search("ant", profile=words, reinforce=False).ids == [b, a]
    assert mind.search("ant", profile=meaning, reinforce=False).ids == []
    with pytest.raises(oneiros.UnknownProfile, match="reverie"):
        mind.search("ant", profile="dreamy")
    with pytest.raises(TypeError, match="profile"):
        mind.search("ant", profile=3)


def test_a_k_beyond_the_channels_depth_is_said(mind: oneiros.Engine) -> None:
    mind.add_many([{"text": "ant"} for _ in range(120)])
    response = mind.search("ant", k=110, reinforce=False)
    assert len(response) == 100
    assert "depth of 100" in response.trace.notes[0]
    deep = profiles.get("reverie").replace(channels=(LexicalChannel(depth=500),))
    assert len(mind.search("ant", k=110, profile=deep, reinforce=False)) == 110


def test_future_times_are_counted_in_the_trace(mind: oneiros.Engine) -> None:
    mind.add("ant", created_at=NOW + DAY)
    response = mind.search("ant", reinforce=False)
    assert "1 candidates carry times after now" in response.trace.notes[0]


def test_results_load_their_memories_late(mind: oneiros.Engine) -> None:
    a, b = mind.add_many([{"text": "ant one"}, {"text": "ant two"}]).ids
    response = mind.search("ant")
    mind.forget(b)
    texts = {r.id: r for r in response}
    assert texts[a].memory.text == "ant one"
    with pytest.raises(oneiros.UnknownMemory, match="forgotten"):
        _ = texts[b].memory
