"""A session for the OpenAI Agents SDK. Install ``oneiros[openai-agents]``.

>>> import asyncio
>>> from oneiros.integrations.openai_agents import OneirosSession
>>> session = OneirosSession("chat-7", ":memory:")
>>> asyncio.run(session.add_items([{"role": "user", "content": "I drink tea"}]))
>>> asyncio.run(session.get_items())
[{'role': 'user', 'content': 'I drink tea'}]
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

from oneiros._lazy import needed
from oneiros.errors import UnknownMemory
from oneiros.filters import meta, where
from oneiros.integrations.opening import Opening, all_memories, remove
from oneiros.model.validation import count, require_flag, require_instance, require_text

needed("agents", "openai-agents")  # names the extra if it is missing

from agents.memory import SessionSettings

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from oneiros.engine.memories import Memories
    from oneiros.filters import Where
    from oneiros.model.memory import Memory

__all__ = ["OneirosSession"]

_ITEM: Final = "_openai_agents"
"""The key of metadata with the item itself."""
_PAGE: Final = 1_000
_SOURCES: Final[Mapping[str, str]] = {
    "user": "user",
    "assistant": "agent",
    "function_call": "agent",
    "function_call_output": "tool",
}


class OneirosSession:
    """The history of one conversation, for ``Runner.run(..., session=session)``.

    Each item is a memory with the field ``session``, of the kind "message". Messages keep their text,
    which searches of the engine find; the text of other items, such as calls of tools, is empty.
    Items are pinned, so that no dream cycle takes a part of a history away. Calls run on a thread.
    Reading a history never counts as a use of a memory.

    Args:
        session_id: the conversation.
        path: the store's file, opened by the first call; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``.
        session_settings: the SDK's settings, of which ``limit`` is read.
        soft_delete: hide removed items instead of erasing them.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> import asyncio
        >>> session = OneirosSession("chat-7", ":memory:")
        >>> asyncio.run(session.add_items([{"role": "user", "content": "tea"}]))
        >>> asyncio.run(session.pop_item())
        {'role': 'user', 'content': 'tea'}
        >>> print(asyncio.run(session.pop_item()))
        None
    """

    def __init__(
        self,
        session_id: str,
        path: str | os.PathLike[str] = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
        session_settings: SessionSettings | None = None,
        soft_delete: bool = False,
    ) -> None:
        require_text("session_id", session_id)
        settings = SessionSettings() if session_settings is None else session_settings
        require_instance("session_settings", settings, (SessionSettings,), "SessionSettings")
        self.session_id = session_id
        self.session_settings: SessionSettings | None = settings
        self._opening = Opening(path, scope)
        _require_own("scope", self._opening.scope, session_id)
        self._soft_delete = require_flag("soft_delete", soft_delete)

    @classmethod
    def over(
        cls,
        session_id: str,
        memories: Memories,
        *,
        session_settings: SessionSettings | None = None,
        soft_delete: bool = False,
    ) -> Self:
        """Return a session in an open engine or a scope of one, whose owner closes it.

        Args:
            session_id: the conversation.
            memories: an engine, or a scope of one.
            session_settings: as in the constructor.
            soft_delete: as in the constructor.

        Raises:
            TypeError: neither an engine nor a scope.
            ValueError: a scope of another session.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosSession.over("chat-7", engine.scope(user="ada")).session_id
            'chat-7'
        """
        session = cls(session_id, session_settings=session_settings, soft_delete=soft_delete)
        session._opening = Opening.over(memories)
        _require_own("memories", memories.bounds, session_id)
        return session

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, that holds the items."""
        return self._opening.memories

    def close(self) -> None:
        """Close the file if this session opened it. The next call opens it again."""
        self._opening.close()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items of the conversation, oldest first.

        Args:
            limit: only the last so many, >= 0. Default: the limit of ``session_settings``, else all.

        Raises:
            ValueError, TypeError: ``limit`` is out of its range or not an int.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        most = None if limit is None else count("limit", limit)
        return await asyncio.to_thread(self._items, most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items in one transaction: all of them or none.

        Args:
            items: JSON objects of the SDK, each of at most 1 MiB.

        Raises:
            ValueError, TypeError: an item is no JSON object, or too large.
        """
        records = [_record(self.session_id, item) for item in items]
        await asyncio.to_thread(self.memories.add_many, records)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove all items of the conversation. Other memories of the session stay."""
        await asyncio.to_thread(self._clear)

    def _own(self) -> Where:
        return where(session=self.session_id) & meta(_ITEM).exists()

    def _items(self, limit: int | None) -> list[Any]:
        own = self._own()
        memories: Iterable[Memory]
        if limit is None:
            memories = all_memories(self.memories, own)
        else:
            offset = max(0, self.memories.count(own) - limit)
            memories = self.memories.list(own, offset=offset, limit=limit)
        return [memory.metadata[_ITEM] for memory in memories]

    def _pop(self) -> Any:
        while (newest := self._newest()) is not None:
            try:
                self._remove(newest.id)
            except UnknownMemory:  # another caller took it
                continue
            return newest.metadata[_ITEM]
        return None

    def _newest(self) -> Memory | None:
        while number := self.memories.count(self._own()):
            page = self.memories.list(self._own(), offset=number - 1, limit=_PAGE)
            if page:  # else another caller removed items in between
                return page[-1]
        return None

    def _remove(self, id: str) -> None:
        if self._soft_delete:
            self.memories.delete(id)
        else:
            self.memories.forget(id)

    def _clear(self) -> None:
        remove(self.memories, self._own(), erases=not self._soft_delete)


def _require_own(name: str, bounds: Mapping[str, str], session_id: str) -> None:
    bound = bounds.get("session", session_id)
    if bound != session_id:
        msg = f"{name}: must not bound another session than {session_id!r}, got {bound!r}"
        raise ValueError(msg)


def _record(session_id: str, item: object) -> dict[str, Any]:
    """Return an item as the fields of a memory."""
    if not isinstance(item, Mapping):
        msg = f"items: expected JSON objects, got {item!r}"
        raise TypeError(msg)
    speaker = item.get("role", item.get("type"))
    return {
        "text": _text(item.get("content")) if "role" in item else "",
        "kind": "message",
        "session": session_id,
        "source": _SOURCES.get(speaker) if isinstance(speaker, str) else None,
        "pinned": True,
        "metadata": {_ITEM: item},
    }


def _text(content: object) -> str:
    """Return the text of a message's content: a text, or a list of parts of which some have one."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))
