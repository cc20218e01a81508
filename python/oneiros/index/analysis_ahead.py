"""Analysis of texts on another thread while the store writes them; indexed after the commit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oneiros import _core
    from oneiros.store.columns import StoredColumns

__all__ = ["AnalysisAhead", "lexical_fields"]

_MOST_CHARACTERS: Final = 2**26


def lexical_fields(
    memories: StoredColumns,
) -> tuple[list[str], list[str] | None, list[str] | None]:
    """Return texts, titles and tags for the lexical index; None: no memory has a title, or tags."""
    titles = None if memories.is_all("title", "") else list(memories["title"])
    tags = None
    if not memories.is_all("tags_json", None):
        tags = ["\n".join(many or ()) for many in memories.parsed("tags")]
    return list(memories["text"]), titles, tags


class AnalysisAhead:
    """Analyzes the texts of new memories, batch after batch.

    An analyzed text is not searchable before it is added. A write that is rolled back leaves only
    words in the vocabulary.

    Args:
        lexical: the index to which the texts are added later.
        memories: the memories to be inserted.
        size: the size of the batches in which they are added.
    """

    def __init__(self, lexical: _core.LexicalIndex, memories: StoredColumns, size: int) -> None:
        self._lexical = lexical
        self._waiting: dict[str, StoredColumns] = {}  # by the first id of a batch
        self._analyzed: dict[str, tuple[StoredColumns, _core.AnalyzedTexts]] = {}
        self._analyzing = threading.Lock()  # held while a batch is analyzed
        characters = 0
        for part in memories.parts(size):
            characters += sum(map(len, part["text"]))
            if characters > _MOST_CHARACTERS:
                break  # to bound memory; the rest is analyzed when it is added
            self._waiting[part["id"][0]] = part
        self._thread = threading.Thread(target=self._run, name="oneiros-analysis", daemon=True)
        self._thread.start()

    def take(self, memories: StoredColumns) -> _core.AnalyzedTexts | None:
        """Return the analyzed texts of a batch; None: analyze them now."""
        first = memories["id"][0]
        with self._analyzing:
            self._waiting.pop(first, None)
            part, analyzed = self._analyzed.pop(first, (None, None))
        return analyzed if part is not None and _are_same(part, memories) else None

    def end(self) -> None:
        """Stop after the batch that is being analyzed."""
        with self._analyzing:
            self._waiting.clear()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._analyzing:
                if not self._waiting:
                    return
                first = next(iter(self._waiting))
                part = self._waiting.pop(first)
                try:
                    texts, titles, tags = lexical_fields(part)
                    analyzed = self._lexical.analyze_many(texts=texts, titles=titles, tags=tags)
                except Exception:  # noqa: BLE001 - raised again when they are added
                    return
                self._analyzed[first] = part, analyzed


def _are_same(part: StoredColumns, memories: StoredColumns) -> bool:
    """Return whether the stored memories are the analyzed ones; a write may have changed them."""
    return len(part) == len(memories) and all(
        list(part[name]) == list(memories[name]) for name in ("id", "text", "title", "tags_json")
    )
