"""The conversation store by its protocol, next to Pydantic AI's own, and in runs of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

WHY = "needs pydantic-ai-slim: nox -s 'integrations(name=\"pydantic_ai\")'"
pytest.importorskip("pydantic_ai", reason=WHY)

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RunUsage

import oneiros
from oneiros.engine import listing
from oneiros.integrations.pydantic_ai import OneirosConversationStore

NOW = 1_750_000_000.0
STAMP = datetime(2025, 6, 1, tzinfo=UTC)


def asked(text: Any) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text, timestamp=STAMP)], timestamp=STAMP)


def said(*parts: Any) -> ModelMessage:
    return ModelResponse(parts=list(parts), timestamp=STAMP, model_name="m")


RICH: list[ModelMessage] = [
    asked("How is Graz?"),
    said(ThinkingPart("hm"), ToolCallPart("weather", {"city": "Graz"}, tool_call_id="c1")),
    ModelRequest(
        parts=[ToolReturnPart("weather", {"rain": [1, None]}, tool_call_id="c1", timestamp=STAMP)],
        timestamp=STAMP,
    ),
    said(TextPart("It rains."), TextPart("Bring a coat.")),
    asked(["And this?", BinaryContent(b"\x00\xff", media_type="application/pdf")]),
]


def conversation(id: str, *messages: ModelMessage, **more: Any) -> Conversation:
    return Conversation(conversation_id=id, messages=list(messages), **more)


@pytest.fixture(params=["own", "memory", "file", "scope"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConversationStore]:
    path = tmp_path / "agent.db"
    if request.param == "own":
        yield InMemoryConversationStore()
        return
    other = None
    if request.param == "scope":
        other = OneirosConversationStore(path, scope={"user": "bob"})
        asyncio.run(other.save(conversation("a", asked("of bob"))))
        made = OneirosConversationStore(path, scope={"user": "ada"})
    else:
        made = OneirosConversationStore(":memory:" if request.param == "memory" else path)
    yield made
    made.close()
    if other is not None:
        (bobs,) = asyncio.run(other.list_conversations())
        assert bobs.conversation_id == "a"
        loaded = asyncio.run(other.load("a"))
        assert loaded is not None
        assert loaded.messages == [asked("of bob")]
        other.close()


def runs(test: Callable[[Any], Coroutine[Any, Any, None]]) -> Callable[[Any], None]:
    def run(store: ConversationStore) -> None:
        asyncio.run(test(store))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def messages_of(store: ConversationStore, id: str, **options: Any) -> list[ModelMessage]:
    loaded = await store.load(id, **options)
    assert loaded is not None
    return loaded.messages


@runs
async def test_a_conversation_comes_back_as_it_was(store: ConversationStore) -> None:
    assert await store.load("a") is None
    usage = RunUsage(requests=2, input_tokens=7, details={"x": 1})
    saved = conversation("a", *RICH, usage=usage)
    entries = await store.save(saved)
    assert [entry.message for entry in entries] == RICH
    loaded = await store.load("a")
    assert loaded is not None
    assert loaded.messages == RICH
    assert (loaded.usage, loaded.revision) == (usage, saved.revision)
    assert await store.load_entries("a") == entries


@runs
async def test_a_save_appends_what_is_new(store: ConversationStore) -> None:
    await store.save(conversation("a", asked("1")))
    loaded = await store.load("a")
    assert loaded is not None
    loaded.messages += [said(TextPart("2")), asked("3")]
    assert len(await store.save(loaded)) == 2
    loaded.messages.append(said(TextPart("4")))
    assert len(await store.save(loaded)) == 1
    assert await store.save(loaded) == []
    assert len(await messages_of(store, "a")) == 4
    window = await store.load("a", limit=1)
    assert window is not None
    assert window.messages == [said(TextPart("4"))]
    window.messages.append(asked("5"))
    await store.save(window)
    assert len(await messages_of(store, "a")) == 5
    assert await messages_of(store, "a", limit=0) == []
    with pytest.raises(UserError, match="limit"):
        await store.load("a", limit=-1)


@runs
async def test_writers_of_one_revision_conflict(store: ConversationStore) -> None:
    await store.save(conversation("a", asked("1")))
    with pytest.raises(ConversationConflict):
        await store.save(conversation("a", asked("other")))
    first, second = await store.load("a"), await store.load("a")
    assert first is not None
    assert second is not None
    first.messages.append(asked("first"))
    second.messages.append(asked("second"))
    await store.save(first)
    with pytest.raises(ConversationConflict):
        await store.save(second)
    assert await messages_of(store, "a") == [asked("1"), asked("first")]


@runs
async def test_of_concurrent_writers_one_succeeds(store: ConversationStore) -> None:
    await store.save(conversation("a", asked("0")))
    for turn in range(5):
        copies = [await store.load("a") for _ in range(4)]
        for number, copy in enumerate(copies):
            assert copy is not None
            copy.messages.append(asked(f"{turn} of {number}"))
        saves = [store.save(copy) for copy in copies if copy is not None]
        results = await asyncio.gather(*saves, return_exceptions=True)
        failures = [one for one in results if isinstance(one, BaseException)]
        assert len(failures) == 3
        assert all(isinstance(failure, ConversationConflict) for failure in failures)
        assert len(await messages_of(store, "a")) == turn + 2


@runs
async def test_branches_and_forks_share_entries(store: ConversationStore) -> None:
    saved = conversation("a", asked("1"), said(TextPart("2")), asked("3"))
    entries = await store.save(saved)
    fork = await store.fork("a", at=2, new_conversation_id="b", scope="user-2")
    fork.messages.append(asked("fork"))
    await store.save(fork)
    assert await messages_of(store, "b") == [asked("1"), said(TextPart("2")), asked("fork")]
    branch = await store.branch("a", at=1, expected_revision=saved.revision)
    branch.messages.append(said(TextPart("again")))
    await store.save(branch)
    assert await messages_of(store, "a") == [asked("1"), said(TextPart("again"))]
    record = await store.read_record("a")
    assert record is not None
    assert record.branches == [entries[-1].id]
    back = await store.branch("a", from_entry=entries[-1].id, expected_revision=branch.revision)
    assert back.messages == [asked("1"), said(TextPart("2")), asked("3")]
    assert await messages_of(store, "b", limit=2) == [said(TextPart("2")), asked("fork")]
    await store.delete("a")
    assert await messages_of(store, "b") == [asked("1"), said(TextPart("2")), asked("fork")]


@runs
async def test_scopes_and_lists(store: ConversationStore) -> None:
    await store.save(conversation("a", asked("1")), scope="ada")
    await store.save(conversation("b", asked("1")), scope="bob")
    await store.save(conversation("c", asked("1")))
    loaded = await store.load("a", scope="ada")
    assert loaded is not None
    loaded.messages.append(asked("2"))
    await store.save(loaded)
    assert [one.conversation_id for one in await store.list_conversations()] == ["a", "c", "b"]
    assert [one.conversation_id for one in await store.list_conversations(limit=1)] == ["a"]
    assert [one.scope for one in await store.list_conversations(scope="bob")] == ["bob"]
    assert await store.load("a", scope="bob") is None
    with pytest.raises(ConversationConflict):
        await store.save(loaded, scope="bob")


@runs
async def test_deleted_conversations_can_be_made_again(store: ConversationStore) -> None:
    for turn in range(3):
        fresh = conversation("a", asked(f"turn {turn}"))
        await store.save(fresh)
        await store.delete("a", scope="another")
        assert await messages_of(store, "a") == [asked(f"turn {turn}")]
        await store.delete("a")
        await store.delete("a")
        assert await store.load("a") is None
        assert await store.list_conversations() == []
        fresh.messages.append(asked("late"))
        with pytest.raises(ConversationConflict):
            await store.save(fresh)


@runs
async def test_primitives_refuse_what_does_not_fit(store: ConversationStore) -> None:
    record = ConversationRecord(conversation_id="a", head_id="nowhere")
    with pytest.raises(ConversationConflict):
        await store.write_record(record, expected_revision=None)
    assert await store.read_record("a") is None
    with pytest.raises(ConversationConflict):
        await store.delete_record("a", expected_revision="none")
    with pytest.raises(LookupError):
        await store.read_entry("nowhere")
    with pytest.raises(LookupError):
        await store.read_history("nowhere")
    entry = ConversationEntry(parent_id=None, message=asked("1"))
    record = ConversationRecord(conversation_id="a", head_id=entry.id)
    with pytest.raises(ConversationConflict):
        await store.write_record(record, new_entries=[entry], expected_revision="none")
    with pytest.raises(LookupError):  # a conflict leaves nothing behind
        await store.read_entry(entry.id)
    await store.write_record(record, new_entries=[entry], expected_revision=None)
    assert await store.read_entry(entry.id) == entry
    assert await store.read_record("a") == record


def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(f"{len(messages)} messages")])


@runs
async def test_an_agent_continues_a_conversation(store: ConversationStore) -> None:
    agent = Agent(FunctionModel(answer))
    first = await agent.run("Hello")
    id = first.conversation.conversation_id
    await store.save(first, scope="ada")
    second = await agent.run("Again", conversation=await store.load(id, scope="ada"))
    assert second.output == "3 messages"
    assert len(await store.save(second)) == 2
    loaded = await store.load(id)
    assert loaded is not None
    assert len(loaded.messages) == 4
    assert loaded.usage.requests == 2


# -- beyond Pydantic AI's own store ----------------------------------------------------------------


def test_processes_share_a_file_and_none_overwrites_another(tmp_path: Path) -> None:
    async def run() -> None:
        stores = [OneirosConversationStore(tmp_path / "agent.db") for _ in range(3)]
        await stores[0].save(conversation("a", asked("0")))
        for turn in range(5):
            copies = [await store.load("a") for store in stores]
            saves = []
            for store, copy in zip(stores, copies, strict=True):
                assert copy is not None
                copy.messages.append(asked(str(turn)))
                saves.append(store.save(copy))
            results = await asyncio.gather(*saves, return_exceptions=True)
            assert [isinstance(one, ConversationConflict) for one in results].count(True) == 2
        assert len(await messages_of(stores[2], "a")) == 6
        for store in stores:
            store.close()
        assert len(await messages_of(stores[0], "a")) == 6  # it opens again
        stores[0].close()

    asyncio.run(run())


def test_what_was_said_is_found_and_dream_cycles_leave_it_whole() -> None:
    for profile in oneiros.profiles.names():
        with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as engine:
            store = OneirosConversationStore.over(engine.scope(user="ada"))
            saved = conversation("chat-7", *RICH, *RICH)
            asyncio.run(store.save(saved))
            asyncio.run(store.save(saved))
            for days in (1, 400, 4_000):
                engine.dream(now=NOW + days * 86_400)
            assert asyncio.run(messages_of(store, "chat-7")) == [*RICH, *RICH], profile
            found = engine.search("Graz", profile="bm25").results[0].memory
            assert (found.text, found.source, found.session) == ("How is Graz?", "user", "chat-7")
            texts = [one.text for one in engine.list(oneiros.where(kind="message"))][:5]
            assert texts == ["How is Graz?", "", "", "It rains.\nBring a coat.", "And this?"]
            assert all(one.access_count == 0 for one in engine.list())


def test_erase_leaves_nothing_of_a_conversation() -> None:
    with oneiros.Engine(":memory:") as engine:
        store = OneirosConversationStore.over(engine)
        asyncio.run(store.save(conversation("a", *RICH)))
        asyncio.run(store.save(conversation("b", asked("other"))))
        engine.add("not of the history", session="a")
        asyncio.run(store.delete("a"))
        assert not engine.verify_erased("Graz")
        assert store.erase("a") == len(RICH)
        assert engine.verify_erased("Graz")
        assert asyncio.run(messages_of(store, "b")) == [asked("other")]
        assert [one.text for one in engine.list(oneiros.where(session="a"))] == [
            "not of the history"
        ]
        asyncio.run(store.save(conversation("a", asked("again"))))
        assert asyncio.run(messages_of(store, "a")) == [asked("again")]


def test_more_messages_than_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_AT_ONCE", 3)

    async def run() -> None:
        store = OneirosConversationStore()
        for number in range(4):
            await store.save(conversation(str(number), *(asked(str(one)) for one in range(10))))
        assert len(await messages_of(store, "2")) == 10
        assert len(await store.list_conversations()) == 4

    asyncio.run(run())


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="scope: must not bound session"):
        OneirosConversationStore(scope={"session": "s"})
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosConversationStore.over("agent.db")  # type: ignore[arg-type]
    with oneiros.Engine(":memory:") as engine:
        with pytest.raises(ValueError, match="memories: must not bound session"):
            OneirosConversationStore.over(engine.scope(session="s"))
        store = OneirosConversationStore.over(engine)
        with pytest.raises(TypeError, match="conversation_id: expected str, got int"):
            asyncio.run(store.load(3))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="conversation_id: expected str, got int"):
            store.erase(3)  # type: ignore[arg-type]
        large = asked([BinaryContent(b"x" * 2**20, media_type="image/png")])
        with pytest.raises(ValueError, match="metadata"):
            asyncio.run(store.save(conversation("a", asked("1"), large)))
        assert engine.count() == 0
