"""Answers as tables and JSON values, with hostile texts in every field that is shown."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from rich.console import Console

from oneiros.cli.search import results_table, summary
from oneiros.cli.terminal import moment, plain
from oneiros.explain.explanation import ChannelScore, Explanation, FactorValue
from oneiros.model.memory import Memory
from oneiros.search.records import memory_record, response_record
from oneiros.search.response import SearchResponse, SearchTrace, StageTrace
from tests.search import responses

NOW = 1_750_000_000.0
HOSTILE = "\x1b[2J\x9b31m\u202e[bold red]gone[/] :smile:"


def memory(**fields: object) -> Memory:
    return Memory.from_record({"id": "m1", "text": "tea", "created_at": NOW, **fields}, now=NOW)


def explained(rank: int | None = 2) -> Explanation:
    return Explanation(
        channels=(ChannelScore("lexical", 1, 3.5), ChannelScore("vector", rank, None)),
        relevance=0.5,
        factors=(FactorValue("time_decay", 1.25), FactorValue("strength", 0.5)),
        score=0.3125,
    )


def response(
    memories: Sequence[Memory], explanations: Sequence[Explanation | None]
) -> SearchResponse:
    stages = (StageTrace("vector_search", 0, 0, 0.1, note="no embedder"),)
    trace = SearchTrace(stages, 1.25, ("1 time in the future",))
    found = [(memory, (0.5, 0.625, 0.3125)) for memory in memories]
    return responses.response("tea", now=NOW, found=found, explanations=explanations, trace=trace)


def printed(answer: SearchResponse, width: int = 120) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None)
    console.print(results_table(answer, width))
    return stream.getvalue()


def test_a_table_shows_rank_text_score_ranks_and_factors() -> None:
    lines = printed(response([memory(event_at=0.0)], [explained()])).splitlines()
    assert lines[0].split() == ["time"]
    assert lines[1].split() == ["#", "memory", "score", "lexical", "vector", "decay", "strength"]
    (row,) = [line for line in lines if " tea" in line]
    assert row.split() == ["1", "tea", "0.31250", "1", "2", "1.250", "0.500"]
    assert any("m1  note  1970-01-01" in line for line in lines)


def test_a_narrow_terminal_gets_the_figures_below_the_text() -> None:
    lines = printed(response([memory()], [explained()]), width=80).splitlines()
    assert lines[0].split() == ["#", "memory", "score"]
    shown = " ".join(" ".join(lines).split())
    assert "lexical 1, vector 2, time_decay 1.250, strength 0.500" in shown
    assert max(map(len, lines)) <= 80


def test_known_answers_are_marked() -> None:
    both = response([memory(), memory(id="m2", text="milk")], [None, None])
    stream = io.StringIO()
    Console(file=stream, width=80).print(results_table(both, 80, right={"m2"}))
    (marked,) = [line for line in stream.getvalue().splitlines() if "✓" in line]
    assert "milk" in marked


def test_an_absent_channel_and_an_unexplained_result_have_a_dash() -> None:
    both = [memory(), memory(id="m2", text="milk")]
    lines = printed(response(both, [explained(None), None])).splitlines()
    (first,) = [line for line in lines if " tea" in line]
    (second,) = [line for line in lines if " milk" in line]
    assert first.split()[-4:] == ["1", "-", "1.250", "0.500"]
    assert second.split()[-5:] == ["0.31250", "-", "-", "-", "-"]


def test_no_stored_text_reaches_the_terminal_unescaped() -> None:
    hostile = memory(id=f"m{HOSTILE}", text=HOSTILE, title=HOSTILE, kind=f"k{HOSTILE}")
    shown = printed(response([hostile], [None]))
    for character in ("\x1b", "\x9b", "\u202e"):
        assert character not in shown
    assert shown.count("␛[2J") == 4
    assert "[bold red]gone[/] :smile:" in shown.replace("\n", "")


def test_the_summary_says_how_many_how_long_and_the_notes() -> None:
    told = summary(response([memory()], [None]))
    assert told == (
        "1 result in 1.2 ms, profile reverie (vector_search: no embedder; 1 time in the future)"
    )


def test_the_document_holds_the_whole_answer() -> None:
    document = json.loads(json.dumps(plain(response_record(response([memory()], [explained()])))))
    (result,) = document["results"]
    assert (result["rank"], result["id"], result["score"]) == (1, "m1", 0.3125)
    assert result["memory"]["text"] == "tea"
    assert result["memory"]["created_at"] == "2025-06-15T15:06:40+00:00"
    assert result["explanation"]["factors"][0] == {
        "name": "time_decay",
        "value": 1.25,
        "operation": "multiply",
    }
    assert result["explanation"]["channels"][1] == {"name": "vector", "rank": 2, "score": None}
    assert document["trace"]["stages"][0]["note"] == "no embedder"
    assert (document["profile"], document["profile_hash"], document["now"]) == (
        "reverie",
        "abc",
        moment(NOW),
    )


def test_a_memory_document_tells_the_width_of_its_vector_only() -> None:
    assert memory_record(memory(embedding=[3.0, 4.0]))["embedding_dimension"] == 2
    document = memory_record(memory())
    assert document["embedding_dimension"] is None
    assert "embedding" not in document
