"""Messages of a conversation as queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.errors import QueryTooLarge, TextEncodingError

if TYPE_CHECKING:
    from oneiros.engine.memories import Memories
    from oneiros.search.response import SearchResponse

__all__ = ["found_by_message"]

_SHORT: Final = 1_000  # characters: it is not the length that makes such a query too large


def found_by_message(memories: Memories, message: str, **options: Any) -> SearchResponse:
    """Search with a message as it was written: a pasted log must not end the run of an agent.

    A message that is too long for a query is searched with its first half, or the half of that, and
    so on: who writes much says at first what it is about. Under another syntax than "plain" none is
    cut, since a part that was cut off might exclude memories.

    U+FFFD replaces half characters, as a program leaves that cuts an emoji in two, or a terminal that
    sends bytes which are no UTF-8.

    Args:
        memories: an engine, or a scope of one.
        message: its text.
        **options: keywords of :meth:`oneiros.Engine.search`.

    Raises:
        ValueError, TypeError, QueryTooLarge: as :meth:`oneiros.Engine.search`, but for the length and
            for half characters.

    Example:
        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada likes coffee")
        ...     log = "".join(f" line {number}" for number in range(5_000))
        ...     found_by_message(engine, "Why does coffee.py fail?" + log).ids == [id]
        True
    """
    while True:
        try:
            return memories.search(message, **options)
        except QueryTooLarge:
            if len(message) < _SHORT or options.get("syntax", "plain") != "plain":
                raise
            message = message[: len(message) // 2]
        except TextEncodingError:
            whole = message.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if whole == message:  # it is another argument
                raise
            message = whole
