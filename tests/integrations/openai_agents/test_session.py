"""The session by the SDK's protocol, next to the SDK's own session, and in runs of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WHY = "needs openai-agents: nox -s 'integrations(name=\"openai_agents\")'"
pytest.importorskip("agents", reason=WHY)

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings, SQLiteSession
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

import oneiros
from oneiros.engine import listing
from oneiros.integrations import openai_agents as adapter
from oneiros.integrations.openai_agents import OneirosSession

Make = Callable[..., Any]
NOW = 1_750_000_000.0


def said(text: str, role: str = "user") -> Any:
    return {"role": role, "content": text}


CALL: Any = {"type": "function_call", "name": "f", "arguments": '{"n": 1}', "call_id": "c1"}
OUTPUT: Any = {"type": "function_call_output", "call_id": "c1", "output": "ü" * 1_000}
PARTS: Any = {
    "role": "assistant",
    "type": "message",
    "content": [
        {"type": "output_text", "text": "green", "annotations": [], "logprobs": None},
        {"type": "refusal", "refusal": "no"},
        {"type": "output_text", "text": "tea"},
    ],
}


@pytest.fixture(params=["sdk", "memory", "file", "soft", "scope"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Return a function from the id of a conversation to its session, all in one store."""
    opened: list[Any] = []
    engine = oneiros.Engine(":memory:")

    def made(id: str, **options: Any) -> Any:
        match request.param:
            case "sdk":
                session: Any = SQLiteSession(id, tmp_path / "sdk.db", **options)
            case "memory":
                session = OneirosSession.over(id, engine, **options)
            case "file":
                session = OneirosSession(id, tmp_path / "agent.db", **options)
            case "soft":
                session = OneirosSession.over(id, engine, soft_delete=True, **options)
            case _:
                scope = {"user": "ada"}
                session = OneirosSession(id, tmp_path / "agent.db", scope=scope, **options)
        opened.append(session)
        return session

    yield made
    for session in opened:
        session.close()
    engine.close()


def test_it_is_a_session(make: Make) -> None:
    session = make("a")
    assert isinstance(session, Session)
    assert session.session_id == "a"


def test_items_come_back_in_order_and_as_they_were(make: Make) -> None:
    async def run() -> None:
        session = make("a")
        assert await session.get_items() == []
        await session.add_items([said("one"), CALL])
        await session.add_items([])
        await session.add_items([OUTPUT, PARTS, said("one")])
        assert await session.get_items() == [said("one"), CALL, OUTPUT, PARTS, said("one")]
        assert await make("a").get_items() == await session.get_items()

    asyncio.run(run())


def test_limits_take_the_last_items(make: Make) -> None:
    async def run() -> None:
        session = make("a", session_settings=SessionSettings(limit=2))
        await session.add_items([said(str(number)) for number in range(5)])
        assert await session.get_items() == [said("3"), said("4")]
        assert await session.get_items(3) == [said("2"), said("3"), said("4")]
        assert await session.get_items(limit=9) == [said(str(number)) for number in range(5)]
        assert await session.get_items(0) == []
        session.session_settings = None  # as the protocol has it
        assert len(await session.get_items()) == 5

    asyncio.run(run())


def test_a_role_that_is_no_text_is_kept(make: Make) -> None:
    async def run() -> None:
        session = make("a")
        items: Any = [{"role": ["user"], "content": "tea"}, {"type": {"of": "item"}}]
        await session.add_items(items)
        assert await session.get_items() == items
        if isinstance(session, OneirosSession):
            assert [memory.source for memory in session.memories.list()] == [None, None]

    asyncio.run(run())


def test_pop_and_clear_stay_within_the_conversation(make: Make) -> None:
    async def run() -> None:
        session, other = make("a"), make("b")
        await session.add_items([said("one"), said("two")])
        await other.add_items([said("other")])
        assert await session.pop_item() == said("two")
        assert await session.get_items() == [said("one")]
        await session.add_items([said("three")])
        assert await session.pop_item() == said("three")
        assert await session.pop_item() == said("one")
        assert await session.pop_item() is None
        await session.add_items([said("four"), said("five")])
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == []
        assert await other.get_items() == [said("other")]
        await session.add_items([said("six")])
        assert await session.get_items() == [said("six")]

    asyncio.run(run())


def test_concurrent_pops_return_each_item_once(make: Make) -> None:
    async def run() -> None:
        session = make("a")
        items = [said(str(number)) for number in range(20)]
        await session.add_items(items)
        popped = await asyncio.gather(*(session.pop_item() for _ in range(25)))
        texts = [item["content"] for item in popped if item is not None]
        assert sorted(texts, key=int) == [item["content"] for item in items]

    asyncio.run(run())


def test_more_items_than_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "_PAGE", 3)
    monkeypatch.setattr(listing, "_AT_ONCE", 3)

    async def run() -> None:
        session = OneirosSession("a")
        items = [said(str(number)) for number in range(10)]
        await session.add_items(items)
        for limit in (None, 10, 9, 4, 3, 1):
            assert await session.get_items(limit) == items[-(limit or 10) :]
        assert await session.pop_item() == items[-1]

    asyncio.run(run())


def test_messages_are_memories_that_searches_find() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        session = OneirosSession.over("chat-7", engine.scope(user="ada"))
        asyncio.run(session.add_items([said("I drink tea"), CALL, OUTPUT, PARTS]))
        stored = [(one.text, one.source, one.session, one.user) for one in engine.list()]
        assert stored == [
            ("I drink tea", "user", "chat-7", "ada"),
            ("", "agent", "chat-7", "ada"),
            ("", "tool", "chat-7", "ada"),
            ("green\ntea", "agent", "chat-7", "ada"),
        ]
        found = engine.search("what do I drink?", reinforce=False)
        assert found.texts[0] == "I drink tea"
        asyncio.run(session.get_items())
        assert all(one.access_count == 0 for one in engine.list())
        engine.add("not of the history", session="chat-7", user="ada")
        asyncio.run(session.clear_session())
        assert [one.text for one in engine.list()] == ["not of the history"]


def test_dream_cycles_leave_a_history_whole() -> None:
    thanks = [said("thanks")] * 3
    for profile in oneiros.profiles.names():
        with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as engine:
            session = OneirosSession.over("a", engine)
            asyncio.run(session.add_items([*thanks, CALL, CALL]))
            engine.add_many([{"text": "thanks"}] * 3)
            for days in (1, 400, 4_000):
                engine.dream(now=NOW + days * 86_400)
            assert asyncio.run(session.get_items()) == [*thanks, CALL, CALL], profile
            if profile == "reverie":  # the same texts without a pin are merged
                assert engine.count() < 8


class Scripted(Model):
    """A model that answers in turn, and keeps its inputs."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.inputs: list[Any] = []

    async def get_response(self, *_: Any, input: Any, **__: Any) -> Any:
        self.inputs.append(list(input))
        output = self.answers.pop(0)
        if isinstance(output, str):
            text = ResponseOutputText(type="output_text", text=output, annotations=[])
            output = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@function_tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"rain in {city}"


def test_an_agent_remembers_across_runs(make: Make) -> None:
    set_tracing_disabled(True)
    call = ResponseFunctionToolCall(
        type="function_call", name="weather", call_id="c1", arguments='{"city": "Graz"}'
    )
    model = Scripted(call, "It rains.", "In Graz.")
    agent = Agent(name="a", model=model, tools=[weather])
    first = asyncio.run(Runner.run(agent, "How is Graz?", session=make("a")))
    assert first.final_output == "It rains."
    second = asyncio.run(Runner.run(agent, "Where?", session=make("a")))
    assert second.final_output == "In Graz."
    kinds = [one.get("role") or one.get("type") for one in model.inputs[-1]]
    assert kinds == ["user", "function_call", "function_call_output", "assistant", "user"]
    assert model.inputs[-1][2]["output"] == "rain in Graz"
    assert len(asyncio.run(make("a").get_items())) == 6
    assert asyncio.run(make("b").get_items()) == []


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="session_id"):
        OneirosSession(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="session_settings: expected SessionSettings"):
        OneirosSession("a", session_settings=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosSession.over("a", "agent.db")  # type: ignore[arg-type]
    session = OneirosSession("a")
    with pytest.raises(ValueError, match="limit"):
        asyncio.run(session.get_items(-1))
    for items, error in (
        (["text"], TypeError),
        ([said("one"), {"role": "user", "content": {1}}], TypeError),
        ([{"type": "function_call_output", "output": "x" * 2**20}], ValueError),
    ):
        with pytest.raises(error):
            asyncio.run(session.add_items(items))  # type: ignore[arg-type]
    assert asyncio.run(session.get_items()) == []


def test_a_scope_of_another_session_is_refused() -> None:
    with oneiros.Engine(":memory:") as engine:
        with pytest.raises(ValueError, match="memories: must not bound another session than 'a'"):
            OneirosSession.over("a", engine.scope(session="b"))
        with pytest.raises(ValueError, match="scope: must not bound another session than 'a'"):
            OneirosSession("a", scope={"session": "b"})
        session = OneirosSession.over("a", engine.scope(session="a"))
        asyncio.run(session.add_items([said("one")]))
        assert asyncio.run(session.get_items()) == [said("one")]
