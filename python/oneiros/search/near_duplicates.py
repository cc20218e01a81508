"""Near-duplicates: memories whose text begins the same, or whose vector is close.

Source: docs/systems/omega.md O26.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.errors import UnknownMemory
from oneiros.filters import allowed_bits
from oneiros.index.texts import canonical
from oneiros.model.validation import count, require_utf8, texts
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.stages import Duplicates
from oneiros.search.call import query_vector
from oneiros.search.response import readable
from oneiros.write import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.index import ReadModel
    from oneiros.scoring.profile import Profile

    Vector = npt.NDArray[np.float32]

__all__ = ["NearDuplicate", "Similar", "among", "repeats_among", "similar"]

_MOST_PER_MEMORY: Final = 10


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory compared with another, or with a text. Source: docs/systems/omega.md O26."""

    id: str
    cosine: float | None
    """Cosine of the embeddings; None if one of the two has none."""
    begins_alike: bool
    """Whether the canonical forms of the texts begin with the same characters."""
    is_duplicate: bool
    """Whether the two are duplicates: they begin alike, or the cosine is high enough."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A memory that duplicates another. Source: docs/systems/omega.md O26."""

    id: str
    of: str
    """The id of the other memory; if both were passed in, the one that came first."""
    cosine: float | None
    """Cosine of the embeddings; None if one of the two has none."""
    begins_alike: bool
    """Whether the canonical forms of the texts begin with the same characters."""


class DuplicateFinder:
    """Finds the rows that resemble given texts and vectors. REQUIRES: the texts were read."""

    def __init__(self, rule: Duplicates, read_model: ReadModel, rows: BitMap) -> None:
        self._rule = rule
        self._ids = read_model.lifecycle.ids
        self._column = read_model.texts.column
        self._vectors = read_model.indexes.vectors
        self._rows = rows
        self._allowed = allowed_bits(rows, len(read_model.lifecycle.ids))

    def vectors_of(self, rows: Sequence[int]) -> Sequence[Vector | None]:
        """Return the vectors of rows; None for a row without one."""
        if not self._vectors:
            return [None] * len(rows)
        matrix = self._vectors.reconstruct(np.array(rows, np.uint32))
        return [vector if vector.any() else None for vector in matrix]

    def by_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """Return for each text the rows that begin alike, in order of insertion; in one pass."""
        starts = [canonical(text)[: self._rule.characters] for text in texts]
        rows = np.array(self._rows.to_array(), np.uint32)
        characters = self._rule.characters
        which = self._column.which_alike(rows=rows, texts=starts, characters=characters)
        found = np.flatnonzero(which < len(starts))
        rows_of: dict[int, list[int]] = {}
        for row, place in zip(rows[found].tolist(), which[found].tolist(), strict=True):
            rows_of.setdefault(place, []).append(row)
        first = {start: place for place, start in reversed(list(enumerate(starts)))}
        return [rows_of.get(first[start], []) for start in starts]

    def by_vectors(self, vectors: Sequence[Vector | None], k: int) -> list[Mapping[int, float]]:
        """Return for each vector the cosines of the ``k`` nearest, by row; empty for None.

        With a graph one search per vector, else one pass for all.
        """
        index = self._vectors
        nearest: list[Mapping[int, float]] = [{} for _ in vectors]
        given = [(place, vector) for place, vector in enumerate(vectors) if vector is not None]
        if not index or not given or not k:
            return nearest
        if index.has_graph:
            lists = [index.search(vector, k, self._allowed) for _, vector in given]
        else:
            matrix = np.stack([vector for _, vector in given])
            lists = index.search_many(matrix, k, self._allowed)
        for (place, _), hits in zip(given, lists, strict=True):
            nearest[place] = dict(zip(hits.rows.tolist(), hits.scores.tolist(), strict=True))
        return nearest

    def most_similar(
        self,
        vector: Vector | None,
        nearest: Mapping[int, float],
        same_start: Sequence[int],
        k: int,
        excluded: int | None,
    ) -> list[Similar]:
        """Return the ``k`` most similar: first the rows that begin alike, then the nearest.

        Args:
            vector: of unit length; None: rows that begin alike have no cosine.
            nearest: cosines of the k + 1 nearest, by row.
            same_start: rows that begin alike, in order of insertion.
            k: most results.
            excluded: a row to leave out.
        """
        same_start = [row for row in same_start if row != excluded][:k]
        cosines: dict[int, float | None] = dict.fromkeys(same_start)
        if self._vectors and vector is not None and same_start:
            exact = self._vectors.cosines(vector, np.array(same_start, np.uint32))
            has_vector = np.isfinite(exact).tolist()
            cosines = {
                row: cosine if is_known else None
                for row, cosine, is_known in zip(
                    same_start, exact.tolist(), has_vector, strict=True
                )
            }
        for row, cosine in nearest.items():
            if row != excluded:
                cosines.setdefault(row, cosine)
        alike = frozenset(same_start)
        return [
            self._similar(row, cosine, begins_alike=row in alike)
            for row, cosine in list(cosines.items())[:k]
            if self._ids[row]  # "": forgotten since
        ]

    def _similar(self, row: int, cosine: float | None, *, begins_alike: bool) -> Similar:
        is_near = cosine is not None and cosine >= self._rule.cosine
        return Similar(self._ids[row], cosine, begins_alike, begins_alike or is_near)


def similar(
    scope: Scope,
    id_or_text: str,
    k: int = 10,
    *,
    where: Where | None = None,
    embedding: npt.ArrayLike | None = None,
    profile: Profile | str | None = None,
) -> list[Similar]:
    """Return the memories most similar to a memory or text; see :meth:`oneiros.Engine.similar`."""
    require_utf8("id_or_text", id_or_text)
    k = count("k", k)
    sync = scope.services.sync
    while True:
        changes, here = sync.vector_changes(), scope.at_once()
        finder = _finder(here, where, profile)
        row = here.live_rows([id_or_text])[0]
        text = id_or_text if row is None else _texts_of(here, [id_or_text])[0]
        try:
            if row is None or embedding is not None:
                vector, _ = query_vector(here, text, embedding)
            else:
                vector = finder.vectors_of([row])[0]
        except ValueError:
            if sync.vector_changes() == changes:
                raise
        if sync.vector_changes() == changes:  # else the vector is of the former embedder
            break
    (same_start,) = finder.by_starts([text])
    (nearest,) = finder.by_vectors([vector], k + 1 if k else 0)
    return finder.most_similar(vector, nearest, same_start, k, row)


def among(
    scope: Scope,
    ids: Sequence[str],
    *,
    where: Where | None = None,
    profile: Profile | str | None = None,
) -> list[NearDuplicate]:
    """Return the near-duplicates of memories; see :meth:`oneiros.Engine.near_duplicates`."""
    ids = texts("ids", ids)
    for place, id in enumerate(ids):
        require_utf8(f"ids[{place}]", id)
    ids = [*dict.fromkeys(ids)]
    scope = scope.at_once()
    finder = _finder(scope, where, profile)
    rows = scope.live_rows(ids)
    for id, row in zip(ids, rows, strict=True):
        if row is None:
            raise UnknownMemory(unknown(id))
    place_of = {id: place for place, id in enumerate(ids)}
    pairs: dict[tuple[str, str], NearDuplicate] = {}
    known = [row for row in rows if row is not None]
    vectors = finder.vectors_of(known)
    for id, row, vector, nearest, same_start in zip(
        ids,
        known,
        vectors,
        finder.by_vectors(vectors, _MOST_PER_MEMORY + 1),
        finder.by_starts(_texts_of(scope, ids)),
        strict=True,
    ):
        for other in finder.most_similar(vector, nearest, same_start, _MOST_PER_MEMORY, row):
            if other.is_duplicate:
                is_earlier = place_of.get(other.id, -1) < place_of[id]
                pair = (id, other.id) if is_earlier else (other.id, id)
                pairs[pair] = NearDuplicate(*pair, other.cosine, other.begins_alike)
    return sorted(pairs.values(), key=lambda duplicate: place_of[duplicate.id])


def repeats_among(scope: Scope, ids: Sequence[str]) -> list[NearDuplicate]:
    """Return the near-duplicates of those memories that still exist and are not quarantined."""
    scope = scope.at_once()
    consulted = scope.consulted(None)
    rows = zip(ids, scope.live_rows(ids), strict=True)
    return among(scope, [id for id, row in rows if row is not None and row in consulted])


def _finder(scope: Scope, where: Where | None, profile: Profile | str | None) -> DuplicateFinder:
    rule = scope.profile(profile).duplicates or Duplicates()
    scope.follow_others()
    scope.services.sync.texts(scope.read_model)
    return DuplicateFinder(rule, scope.read_model, scope.consulted(where))


def _texts_of(scope: Scope, ids: Sequence[str]) -> Sequence[str]:
    """Return texts; "" for a forgotten or damaged memory, which duplicates nothing."""
    memories = readable(scope.loader, ids)
    return ["" if memory is None else memory.text for memory in memories]
