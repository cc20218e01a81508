"""A conversation store for Pydantic AI. Install ``oneiros[pydantic-ai]``.

>>> import asyncio
>>> from pydantic_ai.conversation import Conversation
>>> from pydantic_ai.messages import ModelRequest
>>> from oneiros.integrations.pydantic_ai import OneirosConversationStore
>>> store = OneirosConversationStore(":memory:")
>>> said = [ModelRequest.user_text_prompt("I drink tea")]
>>> entries = asyncio.run(store.save(Conversation(conversation_id="chat-7", messages=said)))
>>> asyncio.run(store.load("chat-7")).messages == said
True
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from oneiros._lazy import needed
from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.filters import meta, where
from oneiros.integrations.opening import Opening, all_memories
from oneiros.model.validation import count, require_text

needed("pydantic_ai", "pydantic-ai")  # names the extra if it is missing

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.filters import Where
    from oneiros.model.memory import Memory

__all__ = ["OneirosConversationStore"]

_OWN: Final = "_pydantic_ai"
"""The key of metadata with an entry or a record, at "entry" and "record"."""
_ENTRY: Final = (_OWN, "entry")
_RECORD: Final = (_OWN, "record")
_SOURCES: Final[Mapping[str, str]] = {"request": "user", "response": "agent"}

_RECORDS: Final = TypeAdapter(ConversationRecord)


class OneirosConversationStore(ConversationStore):
    """Histories of conversations, for Pydantic AI's agents.

    Each message is a memory of the kind "message" whose ``session`` is the conversation. What the
    user and the model said is its text, which searches of the engine find. Messages are pinned, so
    that no dream cycle takes a part of a history away. Calls run on a thread. Reading a history never
    counts as a use.

    A save is one transaction. Two saves of the same revision cannot both succeed, in whatever
    processes they run.

    ``delete`` deletes the record and keeps the messages, which a fork may be about to use.
    :meth:`erase` erases them for good.

    Args:
        path: the store's file, opened by the first call; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``; not ``session``,
            which holds the conversations.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> import asyncio
        >>> store = OneirosConversationStore(":memory:")
        >>> print(asyncio.run(store.load("chat-7")))
        None
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
    ) -> None:
        _require_no_session("scope", scope or {})
        self._opening = Opening(path, scope)

    @classmethod
    def over(cls, memories: Memories) -> Self:
        """Return a conversation store over an open engine or a scope of one.

        Its owner closes the engine.

        Args:
            memories: an engine, or a scope of one without a session.

        Raises:
            TypeError: neither an engine nor a scope.
            ValueError: a scope of a session.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosConversationStore.over(engine.scope(user="ada")).memories.count()
            0
        """
        store = cls()
        store._opening = Opening.over(memories)
        _require_no_session("memories", memories.bounds)
        return store

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, that holds the messages."""
        return self._opening.memories

    def close(self) -> None:
        """Close the file if this store opened it. The next call opens it again."""
        self._opening.close()

    def erase(self, conversation_id: str) -> int:
        """Erase a conversation for good: its record and every message that was saved in it.

        Forks that continue its messages lose them, and no longer load.

        Args:
            conversation_id: the conversation.

        Returns:
            The number of messages erased.

        Examples:
            >>> OneirosConversationStore(":memory:").erase("chat-7")
            0
        """
        require_text("conversation_id", conversation_id)
        own = where(session=conversation_id) & meta(_OWN).exists()
        number = self.memories.count(own & meta(_ENTRY).exists())
        self.memories.forget(where=own)
        return number

    # -- the primitives of ConversationStore -------------------------------------------------------

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation, or None."""
        require_text("conversation_id", conversation_id)
        newest = await asyncio.to_thread(self._newest, conversation_id)
        return None if newest is None else _record_of(newest)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return records, the last updated first, those of a scope or all, at most ``limit``."""
        records = await asyncio.to_thread(self._records)
        found = [record for record in records if scope is None or record.scope == scope]
        found.sort(key=lambda record: record.updated_at, reverse=True)
        return found if limit is None else found[: count("limit", limit)]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store entries and a record that replaces the one with the expected revision.

        Raises:
            ConversationConflict: another revision is stored, or the entry that the record points at
                is not.
        """
        dumped = _RECORDS.dump_python(record, mode="json")
        fields = [_fields(record.conversation_id, entry) for entry in new_entries]
        await asyncio.to_thread(
            self._write, record.conversation_id, dumped, fields, expected_revision
        )

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete the record with the expected revision, and keep its entries; see :meth:`erase`.

        Raises:
            ConversationConflict: another revision is stored, or none.
        """
        await asyncio.to_thread(self._write, conversation_id, None, [], expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return an entry by its id.

        Raises:
            KeyError: no entry has the id.
        """
        (memory,) = await asyncio.to_thread(self.memories.get_many, [entry_id])
        if memory is None:
            raise KeyError(entry_id)
        return _entry_of(memory)

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """Return the entries up to one, oldest first, or only the last ``limit`` of them.

        Raises:
            KeyError: an entry is not stored.
        """
        return await asyncio.to_thread(self._history, head_id, limit)

    # -- on a thread -------------------------------------------------------------------------------

    def _history(self, head_id: str | None, limit: int | None) -> list[ConversationEntry]:
        read: dict[str, Memory] = {}
        found: list[ConversationEntry] = []
        while head_id is not None and (limit is None or len(found) < limit):
            if head_id not in read:
                (memory,) = self.memories.get_many([head_id])
                if memory is None:
                    raise KeyError(head_id)
                read[head_id] = memory
                if limit is None:  # the rest of its conversation at once
                    own = where(session=memory.session or ()) & meta(_ENTRY).exists()
                    read.update((one.id, one) for one in all_memories(self.memories, own))
            found.append(_entry_of(read[head_id]))
            head_id = found[-1].parent_id
        return found[::-1]

    def _newest(self, conversation_id: str) -> Memory | None:
        """Return the memory with the current record, which is null if it was deleted."""
        newest: Memory | None = None
        for memory in all_memories(self.memories, where(session=conversation_id) & _current()):
            newest = memory
        return newest

    def _records(self) -> list[ConversationRecord]:
        newest = {memory.session: memory for memory in all_memories(self.memories, _current())}
        records = (_record_of(memory) for memory in newest.values())
        return [record for record in records if record is not None]

    def _write(
        self,
        conversation_id: str,
        record: dict[str, Any] | None,
        entries: list[dict[str, Any]],
        expected_revision: str | None,
    ) -> None:
        # Each record is a memory whose id is made of the one before. So of two writers that replace
        # the same record, the second finds its id taken, and its transaction does nothing.
        before = self._newest(conversation_id)
        stored = None if before is None else _own(before).get("record")
        if (None if stored is None else stored["revision"]) != expected_revision:
            raise ConversationConflict(conversation_id)
        head = None if record is None else record["head_id"]
        if head is not None and head not in {entry["id"] for entry in entries}:
            (pointed_at,) = self.memories.get_many([head])
            if pointed_at is None:
                raise ConversationConflict(conversation_id)
        bounds = sorted(self.memories.bounds.items())
        chain = json.dumps([bounds, conversation_id, None if before is None else before.id])
        fields = {
            "id": f"pydantic-ai-{hashlib.sha256(chain.encode()).hexdigest()}",
            "text": "",
            "kind": "conversation",
            "session": conversation_id,
            "pinned": True,
            "metadata": {_OWN: {"record": record}},
        }
        try:
            self.memories.add_many([*entries, fields])
        except DuplicateId as error:
            raise ConversationConflict(conversation_id) from error
        if before is not None:
            # It stays, so that its id stays taken, but says nothing any more.
            with suppress(UnknownMemory):
                self.memories.update(
                    before.id, status="archived", metadata={_OWN: {"record": None}}
                )


def _require_no_session(name: str, bounds: Mapping[str, str]) -> None:
    if "session" in bounds:
        msg = f"{name}: must not bound session, which holds the conversations"
        raise ValueError(msg)


def _current() -> Where:
    return meta(_RECORD).exists() & ~where(status="archived")


def _own(memory: Memory) -> Mapping[str, Any]:
    own = memory.metadata.get(_OWN)
    return own if isinstance(own, Mapping) else {}


def _record_of(memory: Memory) -> ConversationRecord | None:
    dumped = _own(memory).get("record")
    return None if dumped is None else _RECORDS.validate_python(dumped)


def _fields(conversation_id: str, entry: ConversationEntry) -> dict[str, Any]:
    """Return an entry as the fields of a memory."""
    (message,) = ModelMessagesTypeAdapter.dump_python([entry.message], mode="json")
    stored = {"parent_id": entry.parent_id, "kind": entry.kind, "message": message}
    return {
        "id": entry.id,
        "text": _text(message),
        "kind": "message",
        "session": conversation_id,
        "source": _SOURCES.get(message["kind"]),
        "pinned": True,
        "metadata": {_OWN: {"entry": stored}},
    }


def _entry_of(memory: Memory) -> ConversationEntry:
    stored = _own(memory).get("entry")
    if stored is None:
        raise KeyError(memory.id)
    (message,) = ModelMessagesTypeAdapter.validate_python([stored["message"]])
    return ConversationEntry(
        id=memory.id, parent_id=stored["parent_id"], message=message, kind=stored["kind"]
    )


def _text(message: Mapping[str, Any]) -> str:
    """Return what the user or the model said in a message, without calls of tools and thoughts."""
    texts: list[str] = []
    for part in message["parts"]:
        if part["part_kind"] in ("user-prompt", "text"):
            content = part["content"]
            items = [content] if isinstance(content, str) else content
            texts.extend(item for item in items if isinstance(item, str))
    return "\n".join(texts)
