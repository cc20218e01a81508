"""A memory for AutoGen agents. Install ``oneiros[autogen]``.

>>> import asyncio
>>> from autogen_core.memory import MemoryContent, MemoryMimeType
>>> from oneiros.integrations.autogen import OneirosMemory
>>> memory = OneirosMemory(":memory:")
>>> tea = MemoryContent(content="Ada drinks tea", mime_type=MemoryMimeType.TEXT)
>>> asyncio.run(memory.add(tea))
>>> asyncio.run(memory.query("tea?")).results[0].content
'Ada drinks tea'
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from oneiros._lazy import needed
from oneiros.integrations.messages import found_by_message
from oneiros.integrations.opening import Opening, remove
from oneiros.model.validation import count, require_flag, require_instance
from oneiros.scoring.profiles import resolved
from oneiros.search.records import kept

needed("autogen_core", "autogen")  # names the extra if it is missing

from autogen_core import CancellationToken, Component
from autogen_core.memory import (
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    UpdateContextResult,
)
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import SystemMessage
from pydantic import BaseModel

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.model.memory import Memory as StoredMemory

__all__ = ["OneirosMemory", "OneirosMemoryConfig"]

_OWN: Final = "_autogen"
"""The key of metadata with the MIME type, and whether the text is JSON of a dict."""
_KNOWN: Final = (
    MemoryMimeType.TEXT.value,
    MemoryMimeType.MARKDOWN.value,
    MemoryMimeType.JSON.value,
)

Result = TypeVar("Result")


class OneirosMemoryConfig(BaseModel):
    """The arguments of :class:`OneirosMemory`, as components are serialized.

    Examples:
        >>> OneirosMemoryConfig(path="agent.db").k
        5
    """

    path: str
    scope: dict[str, str] = {}
    k: int = 5
    profile: str | None = None
    reinforce: bool | None = None
    soft_delete: bool = False


class OneirosMemory(Memory, Component[OneirosMemoryConfig]):
    """Long-term memory for ``AssistantAgent(memory=[OneirosMemory("agent.db")])``.

    Before each turn, the agent's context gets a system message with the memories that match the last
    message. Contents are texts or JSON objects. Calls run on a thread.

    Args:
        path: the store's file, opened by the first call; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`, such as ``{"user": "ada"}``.
        k: most memories to recall, >= 0.
        profile: the ranking. Default: that of the engine, "oneiros" unless it was opened with
            another. It may return fewer than ``k`` memories, or none if none is relevant.
        reinforce: whether recalled memories count as used. Default: as the profile says.
        soft_delete: whether :meth:`clear` hides memories instead of erasing them.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> import asyncio
        >>> memory = OneirosMemory(":memory:", scope={"user": "ada"})
        >>> asyncio.run(memory.query("tea")).results
        []
    """

    component_type = "memory"
    component_config_schema = OneirosMemoryConfig
    component_provider_override = "oneiros.integrations.autogen.OneirosMemory"

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        scope: Mapping[str, str] | None = None,
        k: int = 5,
        profile: str | None = None,
        reinforce: bool | None = None,
        soft_delete: bool = False,
    ) -> None:
        self._opening = Opening(path, scope)
        self._k = count("k", k)
        if profile is not None:
            resolved(profile)
        self._profile = profile
        self._reinforce = None if reinforce is None else require_flag("reinforce", reinforce)
        self._soft_delete = require_flag("soft_delete", soft_delete)

    @classmethod
    def over(
        cls,
        memories: Memories,
        *,
        k: int = 5,
        profile: str | None = None,
        reinforce: bool | None = None,
        soft_delete: bool = False,
    ) -> Self:
        """Return a memory over an open engine or a scope of one, whose owner closes it.

        It cannot be serialized.

        Args:
            memories: an engine, or a scope of one.
            k: as in the constructor, as the others.
            profile: the ranking.
            reinforce: whether recalled memories count as used.
            soft_delete: whether :meth:`clear` hides memories.

        Raises:
            TypeError, ValueError: an argument breaks its rule.

        Examples:
            >>> import oneiros
            >>> engine = oneiros.Engine(":memory:")
            >>> OneirosMemory.over(engine.scope(user="ada")).memories.count()
            0
        """
        memory = cls(k=k, profile=profile, reinforce=reinforce, soft_delete=soft_delete)
        memory._opening = Opening.over(memories)
        return memory

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, that holds the contents."""
        return self._opening.memories

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Store a content.

        Args:
            content: a text of the type text/plain or text/markdown, or a dict or text of the type
                application/json; its metadata are those of the memory.
            cancellation_token: cancels the wait. A write that has begun is completed.

        Raises:
            ValueError, TypeError: another type, or a value that the engine refuses.
        """
        require_instance("content", content, (MemoryContent,), "AutoGen's MemoryContent")
        fields = _fields(content)
        await _on_thread(partial(self._add, fields), cancellation_token)

    def _add(self, fields: Mapping[str, Any]) -> None:
        self.memories.add(**fields)

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **options: Any,
    ) -> MemoryQueryResult:
        """Return the contents that match, best first.

        Args:
            query: a text, or a content with one.
            cancellation_token: cancels the wait.
            **options: keywords of :meth:`oneiros.Engine.search`, such as ``k``, ``where`` or
                ``session``, which replace those of the constructor.

        Returns:
            Contents, with "id" and "score" of the result added to their metadata.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
        """
        require_instance("query", query, (str, MemoryContent), "a text or a MemoryContent")
        text = query if isinstance(query, str) else _text(query)
        given = {"k": self._k, "profile": self._profile}
        if self._reinforce is not None:
            given["reinforce"] = self._reinforce
        results = await _on_thread(
            partial(self._search, text, {**given, **options}), cancellation_token
        )
        return MemoryQueryResult(results=results)

    def _search(self, text: str, options: dict[str, Any]) -> list[MemoryContent]:
        if not text.strip():
            return []
        response = found_by_message(self.memories, text, **options)
        return [_found(memory, score) for memory, score in kept(response)]

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add the memories that match the last message to a context, as one system message.

        Args:
            model_context: stays as it is if no memory matches.

        Returns:
            The memories added.
        """
        messages = await model_context.get_messages()
        found = await self.query(_said(messages[-1].content) if messages else "")
        if found.results:
            lines = [f"- {_text(content)}" for content in found.results]
            text = "\n".join(["Memories that may matter here:", *lines])
            await model_context.add_message(SystemMessage(content=text))
        return UpdateContextResult(memories=found)

    async def clear(self) -> None:
        """Erase all memories: of a scope, those of the scope."""
        await asyncio.to_thread(lambda: remove(self.memories, erases=not self._soft_delete))

    async def close(self) -> None:
        """Close the file if this memory opened it. The next call opens it again."""
        await asyncio.to_thread(self._opening.close)

    @classmethod
    def _from_config(cls, config: OneirosMemoryConfig) -> Self:
        return cls(**config.model_dump())

    def _to_config(self) -> OneirosMemoryConfig:
        if self._opening.path is None:
            msg = "dump_component: a memory over an open engine cannot be serialized"
            raise ValueError(msg)
        return OneirosMemoryConfig(
            path=self._opening.path,
            scope=self._opening.scope,
            k=self._k,
            profile=self._profile,
            reinforce=self._reinforce,
            soft_delete=self._soft_delete,
        )


async def _on_thread(call: Callable[[], Result], token: CancellationToken | None) -> Result:
    """Await a call on a thread, until the token cancels the wait."""
    waiting = asyncio.ensure_future(asyncio.to_thread(call))
    if token is not None:
        token.link_future(waiting)
    return await waiting


def _mime(content: MemoryContent) -> str:
    mime: str | MemoryMimeType = content.mime_type
    return mime.value if isinstance(mime, MemoryMimeType) else str(mime)


def _text(content: MemoryContent) -> str:
    """Return a content as text, a dict as JSON.

    Raises:
        ValueError: bytes or an image.
    """
    if isinstance(content.content, str):
        return content.content
    if isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False)
    msg = f"content: must be a text or a dict, got {type(content.content).__name__}"
    raise ValueError(msg)


def _fields(content: MemoryContent) -> dict[str, Any]:
    """Return a content as the fields of a memory."""
    mime, text = _mime(content), _text(content)
    if mime not in _KNOWN:
        msg = f"mime_type: must be text/plain, text/markdown or application/json, got {mime!r}"
        raise ValueError(msg)
    metadata = content.metadata or {}
    if _OWN in metadata:
        msg = f"metadata: the key {_OWN!r} is reserved"
        raise ValueError(msg)
    own = {"mime_type": mime, "is_dict": isinstance(content.content, dict)}
    return {"text": text, "metadata": {**metadata, _OWN: own}}


def _found(memory: StoredMemory, score: float) -> MemoryContent:
    """Return a result as a content; one that another program added or changed is plain text."""
    metadata = {key: value for key, value in memory.metadata.items() if key != _OWN}
    own = memory.metadata.get(_OWN)
    known = own if isinstance(own, Mapping) else {}
    mime = known.get("mime_type")
    content: str | dict[str, Any] = memory.text
    if known.get("is_dict") is True:
        read = _read_dict(memory.text)
        content, mime = (memory.text, None) if read is None else (read, mime)
    return MemoryContent(
        content=content,
        mime_type=mime if mime in _KNOWN else MemoryMimeType.TEXT.value,
        metadata={**metadata, "id": memory.id, "score": score},
    )


def _read_dict(text: str) -> dict[str, Any] | None:
    """Return the dict that a text is as JSON; None if it is none, as after a change of the text."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _said(content: object) -> str:
    """Return the text of a message: a text, or a list of which some items are texts."""
    if isinstance(content, str):
        return content
    items = content if isinstance(content, list) else []
    return "\n".join(item for item in items if isinstance(item, str))
