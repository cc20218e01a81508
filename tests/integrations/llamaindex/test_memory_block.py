"""The memory block alone, and as the long-term part of LlamaIndex's Memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

WHY = "needs llama-index-core: nox -s 'integrations(name=\"llamaindex\")'"
pytest.importorskip("llama_index.core", reason=WHY)

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

import oneiros
from oneiros.integrations.llamaindex import OneirosMemoryBlock

TEA = ChatMessage(role="user", content="I drink green tea")
NOTED = ChatMessage(role="assistant", content="Green tea it is")


def got(block: OneirosMemoryBlock, *texts: str, **options: Any) -> str:
    messages = [ChatMessage(role="user", content=text) for text in texts]
    found = asyncio.run(block.aget(messages, **options))
    assert isinstance(found, str)
    return found


@pytest.fixture
def engine() -> Any:
    with oneiros.Engine(":memory:") as engine:
        yield engine


def test_messages_are_stored_with_role_and_session(engine: oneiros.Engine) -> None:
    block = OneirosMemoryBlock(memories=engine.scope(user="ada"))
    empty = ChatMessage(role="user", content=None)
    asyncio.run(block.aput([TEA, empty, NOTED], session_id="s1"))
    stored = [(one.text, one.source, one.session, one.user, one.kind) for one in engine.list()]
    assert stored == [
        ("I drink green tea", "user", "s1", "ada", "message"),
        ("Green tea it is", "agent", "s1", "ada", "message"),
    ]
    asyncio.run(block.aput([]))
    assert engine.count() == 2


def test_recall_finds_what_fits_in_any_session_of_the_scope(engine: oneiros.Engine) -> None:
    ada = OneirosMemoryBlock(memories=engine.scope(user="ada"), k=1)
    bob = OneirosMemoryBlock(memories=engine.scope(user="bob"))
    asyncio.run(ada.aput([TEA], session_id="s1"))
    asyncio.run(ada.aput([ChatMessage(role="user", content="The pool is dry")], session_id="s1"))
    assert got(ada, "which tea?", session_id="s2") == "- user: I drink green tea"
    assert got(bob, "which tea?") == ""
    assert got(ada) == ""
    assert got(ada, "tea", "pool") == "- user: The pool is dry"
    wide = OneirosMemoryBlock(memories=engine.scope(user="ada"), context_messages=2)
    assert set(got(wide, "tea", "pool").splitlines()) == {
        "- user: I drink green tea",
        "- user: The pool is dry",
    }
    engine.add("Tea is at five", user="ada")
    assert "- Tea is at five" in got(wide, "tea").splitlines()


def test_a_message_too_long_for_a_query_finds_by_its_beginning(engine: oneiros.Engine) -> None:
    block = OneirosMemoryBlock(memories=engine)
    asyncio.run(block.aput([TEA]))
    log = " ".join(f"line{number}" for number in range(3_000))
    assert got(block, f"which tea? {log}") == "- user: I drink green tea"


@pytest.mark.parametrize(("reinforce", "count"), [(None, 1), (True, 1), (False, 0)])
def test_recalled_memories_count_as_used(
    engine: oneiros.Engine, reinforce: bool | None, count: int
) -> None:
    block = OneirosMemoryBlock(memories=engine, reinforce=reinforce)
    asyncio.run(block.aput([TEA]))
    got(block, "tea", session_id="s2")
    engine.flush()
    (tea,) = engine.list()
    assert tea.access_count == count
    assert ("s2" in tea.sessions) is bool(count)


def test_it_is_the_long_term_part_of_memory(engine: oneiros.Engine) -> None:
    async def run() -> None:
        database = create_async_engine("sqlite+aiosqlite:///:memory:")
        memory = Memory.from_defaults(
            async_engine=database,
            session_id="s1",
            token_limit=40,
            token_flush_size=10,
            chat_history_token_ratio=0.5,
            tokenizer_fn=str.split,
            memory_blocks=[OneirosMemoryBlock(memories=engine, recall_profile="bm25")],
        )
        for number in range(8):
            await memory.aput(ChatMessage(role="user", content=f"fact {number} is about w{number}"))
            await memory.aput(ChatMessage(role="assistant", content=f"noted {number}"))
        assert "fact 0 is about w0" in {one.text for one in engine.list()}
        messages = await memory.aget(input="what is w0 about")
        system = [one for one in messages if one.role == "system"]
        assert "- user: fact 0 is about w0" in (system[0].content or "")
        await database.dispose()

    asyncio.run(run())
    assert {one.session for one in engine.list()} == {"s1"}


@pytest.mark.parametrize("fields", [{"k": -1}, {"context_messages": 0}, {"memories": "agent.db"}])
def test_bad_fields_are_refused(engine: oneiros.Engine, fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(fields))):
        OneirosMemoryBlock(**{"memories": engine, **fields})
