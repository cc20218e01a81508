"""Links of what is added together, and what it does to its like. Source: docs/systems/cognitive.md C17, C18."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import NamedTuple
from oneiros.numpy_on_use import np
from oneiros.scopes import allowed_bits
from oneiros.store import KINDS, StoredLink
from oneiros.store.embedding_bytes import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oneiros.projections import Projections
    from oneiros.ranking.ingest import IngestAssociation
    from oneiros.store import Transaction

__all__ = ["Added", "links_of", "raise_alike"]

_INGEST: Final = KINDS.index("ingest")
_MOST_RAISED: Final = 100  # by one new memory: the nearest


class Added(NamedTuple):
    """What linking needs of a new memory."""

    id: str
    session: str | None
    blob: bytes | None
    """The embedding, encoded."""


def links_of(added: Sequence[Added], rule: IngestAssociation, now: float) -> list[StoredLink]:
    """Return the links between new memories of one session."""
    sessions: dict[str | None, list[Added]] = {}
    for one in added:
        if one.blob is not None:
            sessions.setdefault(one.session, []).append(one)
    links = []
    for held in sessions.values():
        for start in range(0, len(held), rule.together):
            links += _links_among(held[start : start + rule.together], rule, now)
    return links


def _links_among(entries: Sequence[Added], rule: IngestAssociation, now: float) -> list[StoredLink]:
    matrix = decoded([entry.blob for entry in entries if entry.blob]).astype(np.float64)
    weights = np.triu(rule.weights(matrix @ matrix.T), 1)
    return [
        StoredLink(
            entries[one].id, entries[other].id, _INGEST, float(weights[one, other]), now, None
        )
        for one, other in np.argwhere(weights > 0).tolist()
    ]


def raise_alike(
    transaction: Transaction,
    projections: Projections,
    blobs: Sequence[bytes | None],
    rule: IngestAssociation,
    within: Mapping[str, str],
) -> None:
    """Raise the stability of what was there and is like new memories.

    Args:
        transaction: not followed yet: the projections hold what was there before.
        projections: searched.
        blobs: the embeddings of the new memories, encoded.
        rule: what is alike.
        within: the fields of the scope that they come through, beyond which nothing is touched.
    """
    index = projections.indexes.vectors
    found = [blob for blob in blobs if blob is not None]
    if not index or not found or not rule.raised_by:
        return
    allowed = None
    if within:
        from oneiros.scopes import where  # noqa: PLC0415 - filters load their conditions

        rows = projections.row_sets.matching(where(**within))
        allowed = allowed_bits(rows, len(projections.lifecycle.ids))
    near: Counter[int] = Counter()
    for hits in index.search_many(decoded(found), _MOST_RAISED, allowed, threads=1):
        near.update(hits.rows[hits.scores > rule.above_cosine].tolist())
    ids = projections.lifecycle.ids
    times = {id: count for row, count in near.items() if (id := ids[row])}
    # As the store has it: what searches left since, comes on top when they are written.
    held = transaction.load_stored(list(times))
    changes = []
    for memory in held:
        if memory is not None:
            raised = float(np.float32(rule.raised(memory.stability, times[memory.id])))
            if raised != memory.stability:
                changes.append((memory.id, {"stability": raised}))
    if changes:
        transaction.update_columns(changes)
