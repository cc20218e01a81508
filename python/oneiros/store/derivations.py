"""The memories that were derived from others, step by step."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from oneiros.store.links import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.store.reading import Reading

    Found = tuple[int, str]

__all__ = ["Derivations"]

# Damaged lists of sources name none.
_SOURCES: Final = "json_each(iif(json_valid(derived_from), derived_from, '[]')) AS source"
_NAMING: Final = f"""
SELECT sequence, id FROM memory INDEXED BY derived
WHERE derived_from NOT NULL AND EXISTS (
  SELECT 1 FROM {_SOURCES} WHERE source.value IN (SELECT value FROM json_each(?1)))"""
_ALL_NAMED: Final = f"""
SELECT source.value, sequence, memory.id FROM memory INDEXED BY derived CROSS JOIN {_SOURCES}
WHERE derived_from NOT NULL"""
# Summaries of older versions name no sources; they supersede them and are linked to them.
_SUMMARIES: Final = f"""
SELECT summary.sequence, summary.id
FROM json_each(?1) AS given
JOIN memory AS source ON source.id = given.value
JOIN memory AS summary ON summary.id = source.superseded_by
JOIN link ON first = min(source.sequence, summary.sequence)
  AND second = max(source.sequence, summary.sequence)
WHERE link.kind = {KINDS.index("summary")}"""


class Derivations:
    """Finds what was derived from memories.

    The first step reads all lists of sources and keeps none, as most memories have nothing derived
    from them. The second step reads and keeps them, so that a chain costs no scan for each step.

    Args:
        reading: one state of the store.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._is_first = True
        self._by_source: defaultdict[str, list[Found]] | None = None

    def of(self, ids: Sequence[str]) -> list[str]:
        """Return the ids of the memories derived from any of these, in order of insertion.

        A memory that names one in ``derived_from``, or a summary that supersedes one.
        """
        given = (json.dumps(ids),)
        found = {*self._naming(ids, given), *self._reading.rows(_SUMMARIES, given)}
        return [id for _, id in sorted(found)]

    def _naming(self, ids: Sequence[str], given: tuple[str]) -> Iterable[Found]:
        if self._is_first:
            self._is_first = False
            return self._reading.rows(_NAMING, given)
        if self._by_source is None:
            self._by_source = defaultdict(list)
            for source, *derived in self._reading.rows(_ALL_NAMED):
                self._by_source[source].append(tuple(derived))
        by_source = self._by_source
        return (derived for id in ids for derived in by_source.get(id, ()))
