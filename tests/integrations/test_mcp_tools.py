"""The memory tools without a client: scopes, budgets, what is left out, and what a failure says."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.integrations.mcp_tools import NOTICE, MemoryTools, ToolFailure, quoted

NOW = 1_750_000_000.0
DAY = 86_400.0
WRITING = {
    *("memory_remember", "memory_update", "memory_supersede"),
    *("memory_forget", "memory_feedback", "memory_dream"),
}
READING = {"memory_recall", "memory_get", "memory_why_not"}


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as made:
        yield made


def tools_of(memories: Any, **options: Any) -> MemoryTools:
    return MemoryTools(memories, clock=lambda: NOW, **options)


def test_a_memory_goes_in_and_comes_out_with_its_age_source_and_trust(
    engine: oneiros.Engine,
) -> None:
    tools = tools_of(engine.scope(user="ada"))
    id = tools.call("memory_remember", {"text": "Ada likes green tea", "kind": "fact"})["id"]
    engine.update(id, created_at=NOW - 3 * DAY)
    found = tools.call("memory_recall", {"query": "green tea"})
    assert found["notice"] == NOTICE
    assert found["memories"] == [
        {
            "id": id,
            "text": "Ada likes green tea",
            "kind": "fact",
            "at": "2025-06-12T15:06:40Z",
            "age_days": 3.0,
            "source": "agent",
            "trust": 1.0,
        }
    ]
    assert found["next_offset"] is None
    assert engine.get(id).user == "ada"


def test_age_counts_from_the_event(engine: oneiros.Engine) -> None:
    engine.add("the tea party", id="past", event_at=NOW - 10 * DAY)
    engine.add("the next tea party", id="future", event_at=NOW + DAY)
    found = tools_of(engine).call("memory_recall", {"query": "tea party"})["memories"]
    assert {memory["id"]: memory["age_days"] for memory in found} == {"past": 10.0, "future": 0.0}


@pytest.mark.parametrize(
    ("source", "given_trust", "trust"),
    [("user", None, 1.0), ("document", None, 0.3), ("tool", None, 0.3), ("document", 0.9, 0.9)],
)
def test_strangers_are_trusted_less(
    engine: oneiros.Engine, source: str, given_trust: float | None, trust: float
) -> None:
    arguments: dict[str, Any] = {"text": "tea", "source": source}
    if given_trust is not None:
        arguments["trust"] = given_trust
    id = tools_of(engine).call("memory_remember", arguments)["id"]
    assert engine.get(id).trust == pytest.approx(trust)


def test_a_recall_filters(engine: oneiros.Engine) -> None:
    engine.add("tea one", id="a", kind="fact", tags=["x"], created_at=NOW - DAY)
    engine.add("tea two", id="b", kind="note", tags=["y"], trust=0.3, created_at=NOW - 9 * DAY)
    tools = tools_of(engine)

    def found(**options: Any) -> set[str]:
        answer = tools.call("memory_recall", {"query": "tea", **options})
        return {memory["id"] for memory in answer["memories"]}

    assert found() == {"a", "b"}
    assert found(kind="fact") == {"a"}
    assert found(tags=["y", "z"]) == {"b"}
    assert found(least_trust=0.5) == {"a"}
    assert found(since="2025-06-13T00:00:00Z") == {"a"}
    assert found(until="2025-06-13T00:00:00Z") == {"b"}


@pytest.mark.parametrize("reinforce", [True, False])
def test_a_recall_counts_as_use_where_it_says_so(engine: oneiros.Engine, reinforce: bool) -> None:
    engine.add("tea", id="tea")
    tools = tools_of(engine, reinforce=reinforce)
    tools.call("memory_recall", {"query": "tea"})
    tools.call("memory_get", {"id": "tea"})
    tools.call("memory_why_not", {"query": "tea", "id": "tea"})
    engine.flush()
    assert engine.get("tea").access_count == int(reinforce)
    assert tools.declarations["memory_recall"].hints["readOnlyHint"] is not reinforce


def test_facts_change(engine: oneiros.Engine) -> None:
    tools = tools_of(engine.scope(user="ada"))
    old = tools.call("memory_remember", {"text": "Deploys happen on Tuesdays"})["id"]
    new = tools.call("memory_remember", {"text": "Deploys happen on Fridays"})["id"]
    tools.call("memory_supersede", {"old": old, "new": new, "reason": "moved"})
    recalled = tools.call("memory_recall", {"query": "deploys"})["memories"]
    assert [memory["id"] for memory in recalled] == [new]
    reason = tools.call("memory_why_not", {"query": "deploys", "id": old})
    assert reason["verdict"] == "hidden: superseded"
    assert tools.call("memory_get", {"id": old})["memory"]["superseded_by"] == new
    changed = tools.call("memory_update", {"id": new, "text": "Deploys are daily", "pinned": True})
    assert changed == {"id": new, "revision_count": 1}
    assert engine.get(new).text == "Deploys are daily"
    assert engine.get(new).pinned
    assert tools.call("memory_feedback", {"id": new, "verdict": "helpful"})["feedback"] == 1
    before = engine.search("when are deploys", reinforce=False)[0].score
    judged = {"id": new, "verdict": "helpful", "query": "when are deploys"}
    assert tools.call("memory_feedback", judged)["feedback"] == 2
    after = engine.search("when are deploys", reinforce=False)[0].score
    assert after == pytest.approx(1.15 * before)


def test_forgetting_can_be_undone_unless_for_good(engine: oneiros.Engine) -> None:
    tools = tools_of(engine)
    engine.add_many(
        [
            {"id": "a", "text": "The code is xyzzy"},
            {"id": "gist", "text": "A code exists", "derived_from": ["a"]},
        ]
    )
    assert tools.call("memory_forget", {"id": "a"}) == {"ids": ["a"], "erased": False}
    assert engine.restore("a")
    erased = tools.call("memory_forget", {"id": "a", "for_good": True})
    assert erased == {"ids": ["a", "gist"], "erased": True}
    assert engine.count() == 0
    assert engine.verify_erased("xyzzy")


def test_an_id_of_another_scope_is_an_unknown_id(engine: oneiros.Engine) -> None:
    engine.add("Bob drinks tea", id="secret", user="bob")
    tools = tools_of(engine.scope(user="ada"), dreams=engine)
    tools.call("memory_remember", {"text": "Ada drinks tea"})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_get", {}),
        ("memory_update", {"text": "mine"}),
        ("memory_forget", {}),
        ("memory_forget", {"for_good": True}),
        ("memory_feedback", {"verdict": "helpful"}),
    ]
    for name, arguments in calls:
        messages = set()
        for id in ("secret", "absent"):
            with pytest.raises(ToolFailure) as failure:
                tools.call(name, {"id": id, **arguments})
            messages.add(str(failure.value).replace(id, "ID"))
        assert len(messages) == 1, name
    for pair in (("secret", "absent"), ("absent", "secret")):
        with pytest.raises(ToolFailure):
            tools.call("memory_supersede", dict(zip(("old", "new"), pair, strict=True)))
    verdicts = [
        tools.call("memory_why_not", {"query": "tea", "id": id}) for id in ("secret", "absent")
    ]
    assert verdicts[0] == verdicts[1]
    assert "secret" not in json.dumps(tools.call("memory_recall", {"query": "bob drinks tea"}))
    assert engine.get("secret").text == "Bob drinks tea"


def test_a_dream_is_a_plan_until_it_is_confirmed_and_names_the_scope_alone() -> None:
    with oneiros.Engine(":memory:", profile="reverie", clock=lambda: NOW) as engine:
        for user in ("ada", "bob"):
            old = "2020-01-01T00:00:00Z"
            engine.add(f"{user}'s old note", id=user, user=user, now=old, created_at=old)
        tools = tools_of(engine.scope(user="ada"), dreams=engine)
        plan = tools.call("memory_dream", {})
        assert plan["applied"] is False
        assert plan["removals"] == 1
        assert [(gone["id"], gone["how"]) for gone in plan["removed"]] == [("ada", "deleted")]
        assert "not used" in plan["removed"][0]["why"]
        assert engine.count() == 2
        done = tools.call("memory_dream", {"confirm": plan["cycle"]})
        assert done == {**plan, "applied": True}
        assert engine.count() == 0
        engine.undo_dream(done["cycle"])
        assert engine.count() == 2


def test_what_was_listed_is_what_a_confirmed_cycle_removes() -> None:
    with oneiros.Engine(":memory:", profile="reverie", clock=lambda: NOW) as engine:
        old = "2020-01-01T00:00:00Z"
        for id in ("note", "other"):
            engine.add(f"an old {id}", id=id, now=old, created_at=old)
        tools = tools_of(engine, dreams=engine)
        plan = tools.call("memory_dream", {})
        assert {gone["id"] for gone in plan["removed"]} == {"note", "other"}
        engine.add("an old letter", id="late", now=old, created_at=old)
        engine.update("other", text="this is needed after all")
        done = tools.call("memory_dream", {"confirm": plan["cycle"]})
        assert [gone["id"] for gone in done["removed"]] == ["note"]
        assert (done["removals"], done["cycle"]) == (1, plan["cycle"])
        assert {memory.id for memory in engine} == {"late", "other"}
        for cycle in (plan["cycle"], "another"):
            with pytest.raises(ToolFailure, match="the last plan names; plan again"):
                tools.call("memory_dream", {"confirm": cycle})


def test_times_are_those_of_the_time_zone_of_the_engine() -> None:
    with oneiros.Engine(":memory:", timezone="Asia/Tokyo", clock=lambda: NOW) as engine:
        tools = tools_of(engine)
        given = {"text": "Ada's flight", "event_at": "2025-06-16T00:30:00"}
        flight = tools.call("memory_remember", given)["id"]
        engine.add("a flight of last week", event_at="2025-06-09T00:30:00")
        since = {"query": "flight", "since": "2025-06-16", "until": "2025-06-17"}
        (found,) = tools.call("memory_recall", since)["memories"]
        assert (found["id"], found["at"]) == (flight, "2025-06-16T00:30:00+09:00")
        until = {"query": "flight", "since": "2025-06-09", "until": "2025-06-09"}
        (earlier,) = tools.call("memory_recall", until)["memories"]  # the day is whole
        assert earlier["at"] == "2025-06-09T00:30:00+09:00"
        detail = tools.call("memory_get", {"id": flight})["memory"]
        assert detail["event_at"] == detail["at"] == found["at"]


def test_what_is_left_out(engine: oneiros.Engine) -> None:
    assert set(tools_of(engine, dreams=engine).declarations) == WRITING | READING
    assert set(tools_of(engine).declarations) == (WRITING | READING) - {"memory_dream"}
    reading = tools_of(engine, dreams=engine, read_only=True)
    assert set(reading.declarations) == READING
    assert all(tool.hints["readOnlyHint"] for tool in reading.declarations.values())
    with pytest.raises(KeyError):
        reading.call("memory_remember", {"text": "tea"})


def test_the_list_of_tools_is_small(engine: oneiros.Engine) -> None:
    tools = tools_of(engine, dreams=engine).declarations.values()
    assert len(tools) == 9
    listed = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.inputs,
            "outputSchema": tool.outputs,
            "annotations": tool.hints,
        }
        for tool in tools
    ]
    assert len(json.dumps({"tools": listed})) <= 6_500  # with spaces; the wire has none


# -- the budget --------------------------------------------------------------------------------------


def test_long_texts_are_cut_fairly_and_can_be_read_on(engine: oneiros.Engine) -> None:
    long = "".join(f"tea {number}, " for number in range(2_000))
    engine.add_many(
        [{"id": "long", "text": long}, {"id": "short", "text": "tea is short"}],
    )
    tools = tools_of(engine, budget=4_000)
    answer = tools.call("memory_recall", {"query": "tea"})
    by_id = {memory["id"]: memory for memory in answer["memories"]}
    assert by_id["short"]["text"] == "tea is short"
    assert "rest" not in by_id["short"]
    cut = by_id["long"]
    assert len(quoted(answer)) <= 4_000
    assert len(cut["text"]) > 1_000
    assert cut["rest"] == len(cut["text"])
    read = cut["text"]
    offset = cut["rest"]
    while offset is not None:
        part = tools.call("memory_get", {"id": "long", "offset": offset})
        assert len(quoted(part)) <= 4_000
        read += part["memory"]["text"]
        offset = part["memory"].get("rest")
    assert read == long
    with pytest.raises(ToolFailure, match=r"offset: must be in \[0, "):
        tools.call("memory_get", {"id": "long", "offset": len(long) + 1})
    with pytest.raises(ToolFailure, match=r"offset: must be in \[0, "):
        tools.call("memory_get", {"id": "long", "offset": -1})


def test_pages_cover_all_results_once(engine: oneiros.Engine) -> None:
    engine.add_many([{"id": str(number), "text": f"tea {number}"} for number in range(23)])
    tools = tools_of(engine, budget=4_000)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = tools.call("memory_recall", {"query": "tea", "limit": 50, "offset": offset})
        assert len(page["memories"]) <= 10
        seen += [memory["id"] for memory in page["memories"]]
        offset = page["next_offset"]
    assert sorted(seen, key=int) == [str(number) for number in range(23)]
    engine.flush()
    assert {memory.access_count for memory in engine.list()} == {1}  # what is shown, once


def test_the_longest_ids_and_tags_keep_to_the_budget(engine: oneiros.Engine) -> None:
    unseen = "\U000e0041"
    for number in range(9):
        engine.add(
            f"tea {unseen * 900}",
            id="\x01" * 255 + str(number),
            title=unseen * 500,
            tags=[f"{number}{unseen * 500}" for number in range(30)],
        )
    tools = tools_of(engine, budget=4_000)
    seen = []
    offset: int | None = 0
    while offset is not None:
        page = tools.call("memory_recall", {"query": "tea", "offset": offset})
        assert len(quoted(page)) <= 4_000
        seen += [memory["id"] for memory in page["memories"]]
        offset = page["next_offset"]
    assert sorted(set(seen)) == sorted(memory.id for memory in engine.list())
    part = tools.call("memory_get", {"id": seen[0]})
    assert len(quoted(part)) <= 4_000
    assert part["memory"]["text"].startswith("tea")


FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u3164\ufe0f\uffa0\ufff0\U0001bca0\U0001d173\U000e0100"
"""Of every block that Unicode lists as Default_Ignorable_Code_Point: drawn as nothing."""


def test_no_character_of_a_result_is_invisible() -> None:
    unseen = {
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    }
    text = " ".join(sorted(unseen | set(FILLERS)))  # apart, as two half characters make one
    assert quoted(text).isascii()
    assert json.loads(quoted(text)) == text
    shown = "Ada liest \u00dcber \U0001f600, \u65e5\u672c\u8a9e, \ud55c\uad6d\uc5b4"
    assert quoted(shown) == f'"{shown}"'


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3_000)


@given(texts=st.lists(TEXT, min_size=1, max_size=6), budget=st.integers(4_000, 9_000))
def test_no_text_breaks_the_budget_or_its_quotes(texts: list[str], budget: int) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for number, text in enumerate(texts):
            engine.add(f"tea {text}", id=f"{number}\u202e", title=text, tags=[text])
        tools = tools_of(engine, budget=budget)
        answer = tools.call("memory_recall", {"query": "tea"})
        shown = quoted(answer)
        assert len(shown) <= budget
        assert json.loads(shown) == answer
        assert not {"\u202e", "\u200b", "\n", "\x1b"} & set(shown)
        for memory in answer["memories"]:
            stored = engine.get(memory["id"]).text
            assert stored.startswith(memory["text"])
            assert ("rest" in memory) == (len(memory["text"]) < len(stored))
            read, offset = "", 0
            while True:
                part = tools.call("memory_get", {"id": memory["id"], "offset": offset})
                assert len(quoted(part)) <= budget
                read += part["memory"]["text"]
                if "rest" not in part["memory"]:
                    break
                assert part["memory"]["rest"] > offset
                offset = part["memory"]["rest"]
            assert read == stored


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("memory_get", {"id": "absent"}, "id: no memory 'absent'"),
        ("memory_remember", {"text": "t", "kind": ""}, "kind: "),
        ("memory_remember", {"text": "t", "event_at": "yesterday"}, "event_at: "),
        ("memory_remember", {"text": "\ud800"}, "text: "),
        ("memory_recall", {"query": "t", "since": "2025"}, "since, until: must be "),
        ("memory_recall", {"query": " ".join(map(str, range(2_000)))}, "query"),
        ("memory_recall", {"query": "t", "offset": 10**30}, "offset: "),
        ("memory_update", {"id": "absent"}, "give a field to change"),
        ("memory_remember", {"text": "t", "source": "web"}, "source: must be one of user, "),
        ("memory_forget", {"id": "t", "for_good": "false"}, "for_good: must be True or False"),
        ("memory_dream", {"confirm": "no"}, "confirm: must be the cycle that the last plan names"),
        ("memory_dream", {"confirm": True}, "confirm: expected str, got bool"),
    ],
)
def test_a_failure_names_field_and_rule_and_is_short(
    engine: oneiros.Engine, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolFailure) as failure:
        tools_of(engine, dreams=engine).call(name, arguments)
    assert message in str(failure.value)
    assert len(str(failure.value)) <= 300
    assert engine.count() == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"memories": "engine"}, TypeError, "memories: "),
        ({"dreams": "engine"}, TypeError, "dreams: "),
        ({"read_only": 1}, TypeError, "read_only"),
        ({"reinforce": "yes"}, TypeError, "reinforce"),
        ({"budget": 3_999}, ValueError, "budget: "),
        ({"budget": 5e3}, TypeError, "budget: "),
    ],
)
def test_wrong_arguments_are_refused(
    engine: oneiros.Engine, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        MemoryTools(**{"memories": engine, **options})
