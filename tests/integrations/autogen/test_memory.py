"""The memory by AutoGen's protocol, and in front of an agent's model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

WHY = "needs autogen-core: nox -s 'integrations(name=\"autogen\")'"
pytest.importorskip("autogen_core", reason=WHY)
pytest.importorskip("autogen_agentchat", reason=WHY)

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, Image
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)

import oneiros
from oneiros.integrations.autogen import OneirosMemory
from tests.integrations.forgetting import forgets_after_searches

TEXT, JSON = MemoryMimeType.TEXT, MemoryMimeType.JSON


def content(text: Any, mime_type: Any = TEXT, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=text, mime_type=mime_type, metadata=metadata or None)


CONTENTS = [
    content("Ada drinks green tea", by="ada"),
    content("# The pool\n\nruns dry", MemoryMimeType.MARKDOWN),
    content({"deploy": "Tuesday", "hours": [9, 5]}, JSON),
]


@pytest.fixture(params=["memory", "file", "soft", "scope"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OneirosMemory]:
    path = tmp_path / "agent.db"
    other = None
    match request.param:
        case "memory":
            made = OneirosMemory()
        case "file":
            made = OneirosMemory(path)
        case "soft":
            made = OneirosMemory(soft_delete=True)
        case _:
            made = OneirosMemory(path, scope={"user": "ada"})
            other = OneirosMemory(path, scope={"user": "bob"})
            asyncio.run(other.add(content("Bob drinks tea")))
    add(made, *CONTENTS)
    yield made
    asyncio.run(made.close())
    if other is not None:
        assert other.memories.count() == 1
        asyncio.run(other.close())


def add(memory: OneirosMemory, *contents: MemoryContent) -> None:
    for one in contents:
        asyncio.run(memory.add(one))


def found(memory: OneirosMemory, query: Any, **options: Any) -> list[Any]:
    return [one.content for one in asyncio.run(memory.query(query, **options)).results]


def test_contents_come_back_as_they_were(memory: OneirosMemory) -> None:
    assert isinstance(memory, Memory)
    for query, given in (("green tea", 0), ("pool", 1), ("Tuesday", 2)):
        (one,) = asyncio.run(memory.query(query, k=1)).results
        assert one.content == CONTENTS[given].content
        assert one.mime_type == CONTENTS[given].mime_type.value  # type: ignore[union-attr]
        assert one.metadata is not None
        id, score = one.metadata.pop("id"), one.metadata.pop("score")
        assert one.metadata == (CONTENTS[given].metadata or {})
        assert memory.memories.get(id).metadata["_autogen"]["mime_type"] == one.mime_type
        assert score > 0


@pytest.mark.parametrize("text", ["deploys are on Tuesday", "[1] Tuesday", "2024", '"Tuesday"'])
def test_a_dict_whose_text_was_changed_is_plain_text(text: str) -> None:
    with oneiros.Engine(":memory:") as engine:
        memory = OneirosMemory.over(engine, profile="bm25")
        add(memory, content({"deploy": "Tuesday"}, JSON, by="ada"))
        engine.update(engine.list()[0].id, text=text)
        (one,) = asyncio.run(memory.query(text)).results
        assert (one.content, one.mime_type) == (text, TEXT.value)
        assert one.metadata is not None
        assert one.metadata["by"] == "ada"


def test_a_changed_dict_stays_a_dict_and_an_unknown_type_is_plain_text() -> None:
    with oneiros.Engine(":memory:") as engine:
        memory = OneirosMemory.over(engine, profile="bm25")
        add(memory, content({"deploy": "Tuesday"}, JSON))
        id = engine.list()[0].id
        engine.update(id, text='{"deploy": "Friday"}')
        assert found(memory, "Friday") == [{"deploy": "Friday"}]
        engine.update(id, metadata={"_autogen": {"mime_type": "image/*", "is_dict": False}})
        (one,) = asyncio.run(memory.query("Friday")).results
        assert (one.content, one.mime_type) == ('{"deploy": "Friday"}', TEXT.value)


def test_a_content_erased_after_the_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with oneiros.Engine(":memory:") as engine:
        memory = OneirosMemory.over(engine, profile="bm25")
        add(memory, content("green tea"), content("black tea"))
        forgets_after_searches(engine, engine.list()[0].id, monkeypatch)
        assert found(memory, "tea") == ["black tea"]


def test_queries_are_texts_or_contents_and_take_options_of_a_search(memory: OneirosMemory) -> None:
    assert found(memory, content("green tea"))[0] == "Ada drinks green tea"
    assert found(memory, content({"deploy": None}, JSON))[0] == CONTENTS[2].content
    by_ada = oneiros.meta("by") == "ada"
    assert found(memory, "tea pool Tuesday", where=by_ada, profile="bm25") == [
        "Ada drinks green tea"
    ]
    assert len(found(memory, "tea pool Tuesday", profile="bm25")) == 3
    assert found(memory, "tea", k=0) == []
    assert found(memory, " ") == []


def test_the_limit_of_the_constructor_holds() -> None:
    memory = OneirosMemory(k=2, profile="bm25")
    add(memory, *(content(f"tea {number}") for number in range(5)))
    assert len(found(memory, "tea")) == 2
    assert len(found(memory, "tea", k=4)) == 4


def test_a_context_gets_what_fits_the_last_message(memory: OneirosMemory) -> None:
    async def run() -> None:
        context = UnboundedChatCompletionContext()
        nothing = await memory.update_context(context)
        assert (nothing.memories.results, await context.get_messages()) == ([], [])
        await context.add_message(UserMessage(content="the pool?", source="user"))
        await context.add_message(UserMessage(content=["which tea?"], source="user"))
        updated = await memory.update_context(context)
        assert [one.content for one in updated.memories.results] == ["Ada drinks green tea"]
        (*_, last) = await context.get_messages()
        assert isinstance(last, SystemMessage)
        assert last.content == "Memories that may matter here:\n- Ada drinks green tea"
        await context.add_message(UserMessage(content="xyzzy", source="user"))
        assert (await memory.update_context(context)).memories.results == []
        assert len(await context.get_messages()) == 4

    asyncio.run(run())


def test_a_message_too_long_for_a_query_finds_by_its_beginning(memory: OneirosMemory) -> None:
    log = " ".join(f"line{number}" for number in range(3_000))

    async def run() -> None:
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content=f"which tea? {log}", source="user"))
        updated = await memory.update_context(context)
        assert [one.content for one in updated.memories.results] == ["Ada drinks green tea"]

    asyncio.run(run())


def test_clear(memory: OneirosMemory) -> None:
    asyncio.run(memory.clear())
    asyncio.run(memory.clear())
    assert found(memory, "green tea") == []
    assert memory.memories.count() == 0
    add(memory, CONTENTS[0])
    assert found(memory, "green tea") == ["Ada drinks green tea"]


def test_cleared_memories_stay_in_the_store_only_if_soft_deleted() -> None:
    for soft in (True, False):
        memory = OneirosMemory(soft_delete=soft)
        add(memory, CONTENTS[0])
        (stored,) = memory.memories.list()
        asyncio.run(memory.clear())
        assert [one is not None for one in memory.memories.get_deleted([stored.id])] == [soft]


@pytest.mark.parametrize(("reinforce", "count"), [(None, 1), (True, 1), (False, 0)])
def test_recalled_memories_count_as_used(reinforce: bool | None, count: int) -> None:
    memory = OneirosMemory(reinforce=reinforce)
    add(memory, CONTENTS[0])
    found(memory, "green tea")
    assert memory.memories.list()[0].access_count == count


def test_a_cancelled_query_ends_the_wait() -> None:
    async def run() -> None:
        entered, goes_on = threading.Event(), threading.Event()

        def slow(texts: list[str]) -> list[list[float]]:
            entered.set()
            goes_on.wait(10)
            return [[1.0] for _ in texts]

        with oneiros.Engine(":memory:", embedder=slow) as engine:
            memory, token = OneirosMemory.over(engine), CancellationToken()
            adding = asyncio.ensure_future(memory.add(CONTENTS[0], token))
            await asyncio.to_thread(entered.wait, 10)
            token.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
            goes_on.set()
            for _ in range(1_000):
                if engine.count():
                    break
                await asyncio.sleep(0.01)
            assert engine.count() == 1  # a write that has begun is completed

    asyncio.run(run())


def test_a_component_is_loaded_from_its_description(tmp_path: Path) -> None:
    path = str(tmp_path / "agent.db")
    first = OneirosMemory(path, scope={"user": "ada"}, k=1, profile="bm25", soft_delete=True)
    add(first, *CONTENTS)
    described = first.dump_component()
    asyncio.run(first.close())
    again = Memory.load_component(described)
    assert isinstance(again, OneirosMemory)
    assert again.dump_component() == described
    assert found(again, "green tea pool") == ["Ada drinks green tea"]
    asyncio.run(again.close())
    assert found(again, "pool") == [CONTENTS[1].content]  # it opens again
    asyncio.run(again.close())


class Scripted(ChatCompletionClient):
    """A model that answers with one text and keeps what it was given."""

    component_type = "model"

    def __init__(self) -> None:
        self.given: list[Sequence[Any]] = []

    async def create(self, messages: Sequence[Any], **_: Any) -> CreateResult:
        self.given.append(messages)
        usage = self.actual_usage()
        return CreateResult(finish_reason="stop", content="Tea.", usage=usage, cached=False)

    def create_stream(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def close(self) -> None: ...

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    total_usage = actual_usage

    def count_tokens(self, *_: Any, **__: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False,
            function_calling=True,
            json_output=False,
            family="unknown",
            structured_output=False,
        )

    @property
    def capabilities(self) -> Any:
        return self.model_info


def test_an_agent_recalls_before_it_answers(tmp_path: Path) -> None:
    async def run(path: Path) -> list[str]:
        memory, model = OneirosMemory(path), Scripted()
        agent = AssistantAgent("a", model_client=model, memory=[memory])
        await agent.run(task="Which tea does Ada drink?")
        await memory.close()
        return [str(message.content) for message in model.given[0]]

    writer = OneirosMemory(tmp_path / "agent.db")
    add(writer, *CONTENTS)
    asyncio.run(writer.close())
    given = asyncio.run(run(tmp_path / "agent.db"))
    assert "Memories that may matter here:\n- Ada drinks green tea" in given


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (content(b"x", MemoryMimeType.BINARY), ValueError, "must be a text or a dict, got bytes"),
        (content("x", "text/html"), ValueError, "mime_type: must be .*, got 'text/html'"),
        (content("x", _autogen=1), ValueError, "'_autogen' is reserved"),
        (content("x", at={1}), TypeError, "metadata"),
    ],
)
def test_contents_that_are_refused(bad: Any, error: type[Exception], message: str) -> None:
    memory = OneirosMemory()
    with pytest.raises(error, match=message):
        add(memory, bad)
    assert memory.memories.count() == 0


def test_what_is_no_content_is_refused() -> None:
    memory = OneirosMemory()
    with pytest.raises(TypeError, match="content: expected AutoGen's MemoryContent, got str"):
        asyncio.run(memory.add("tea"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="query: expected a text or a MemoryContent, got int"):
        asyncio.run(memory.query(3))  # type: ignore[arg-type]
    assert memory.memories.count() == 0


def test_what_else_is_refused() -> None:
    picture = Image.from_base64(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    with pytest.raises(ValueError, match="must be a text or a dict, got Image"):
        add(OneirosMemory(), content(picture, MemoryMimeType.IMAGE))
    for options, error in (
        ({"k": -1}, ValueError),
        ({"profile": "nobodys"}, ValueError),
        ({"reinforce": 1}, TypeError),
    ):
        with pytest.raises(error, match=next(iter(options))):
            OneirosMemory(**options)
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosMemory.over("agent.db")  # type: ignore[arg-type]
    with oneiros.Engine(":memory:") as engine:
        shared = OneirosMemory.over(engine.scope(user="ada"))
        with pytest.raises(ValueError, match="open engine cannot be serialized"):
            shared.dump_component()
        engine.add("tea at five", user="ada", metadata={"n": 1})
        assert found(shared, "tea") == ["tea at five"]
