"""A store looked through: counted, checked for damage, searched for what was erased."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_flag, require_utf8
from oneiros.bounded import Bounded
from oneiros.dataclasses_on_use import asdict

if TYPE_CHECKING:
    from oneiros.projections import LexicalOptions

__all__ = ["Inspecting"]

_OF_AN_INDEX = "wrong # of entries in index "  # SQLite's words


class Inspecting(Bounded):
    """Memories whose store can be looked through as a whole."""

    _options: LexicalOptions

    def stats(self) -> dict[str, Any]:
        """Return counts and sizes of the store and what is projected from it.

        ``without_vector`` counts the live memories that lack a vector which their text could have;
        :meth:`oneiros.Engine.embed_missing` makes these vectors. ``reembedding`` is None, or the
        embedder of an unfinished :meth:`oneiros.Engine.reembed` and the number of memories ``done``.
        ``damaged`` counts the memories that were found damaged; they are in no other count.
        """
        parts = self._parts
        projections = parts.projections
        vectors = projections.indexes.vectors
        with parts.store.read() as reading:
            without_vector = reading.count_without_vector(without=list(parts.remember.damaged))
            name = reading.reembedding()
            reembedding = None
            if name is not None:
                reembedding = {"embedder": name, "done": reading.new_vector_count()}
        return {
            "memories": projections.live_count,
            "deleted": len(projections.lifecycle.row_of) - projections.live_count,
            "damaged": len(parts.remember.damaged),
            "kinds": projections.kind_counts(),
            "links": parts.store.link_count(),
            "revision": parts.remember.revision,
            "embedder": parts.remember.vectors.recorded_name,
            "embedding_dimension": parts.remember.vectors.dimension,
            "vectors": 0 if vectors is None else len(vectors),
            "without_vector": without_vector,
            "reembedding": reembedding,
            "lexical": {
                **asdict(self._options),
                "documents": projections.indexes.lexical.document_count,
                "segments": projections.indexes.lexical.segment_count,
                "resident_bytes": projections.indexes.lexical.resident_bytes,
                "merge_error": projections.indexes.lexical.merge_error or None,
            },
            "profile": parts.profile.name,
        }

    def check(self, *, deep: bool = False) -> list[str]:
        """Return what is wrong with the store's file, its cycles and the read model; empty: nothing.

        A read model that does not hold what the store holds is rebuilt from it. The store is the
        truth: nothing is lost by that, and searches go on meanwhile. An index of the store that does
        not hold what its table holds is rebuilt from the table, unless rows there are damaged or
        lost: the index may know more of these, and ``oneiros.store.salvage.salvage`` takes over what
        can be read.

        Args:
            deep: also verify the checksum of every row, and every value of the read model. That
                reads the whole store; without it, damage inside a row is found when the row is read.

        Raises:
            TypeError: ``deep`` is neither True nor False.
        """
        from oneiros.dream.checking import problems_of_cycles  # noqa: PLC0415 - a search dreams not

        require_flag("deep", deep)
        parts = self._parts
        problems = self._check_indexes()
        found = parts.store.deep_check() if deep else parts.store.quick_check()
        problems += [problem for problem in found if problem not in problems]
        known = set(problems)
        problems += [
            found
            for found in parts.remember.writer.run(partial(self._check_read_model, deep=deep))
            if found not in known
        ]
        with parts.store.read() as reading:
            problems += [
                f"memory {id!r}: superseded by {successor!r}, which "
                f"{'was forgotten' if was_erased else 'is not in this store'}; searches return it"
                for id, successor, was_erased in reading.lost_successors()
            ]
            return problems + problems_of_cycles(reading)

    def _check_indexes(self) -> list[str]:
        remember = self._parts.remember
        found = self._parts.store.quick_check()
        if not all(problem.startswith(_OF_AN_INDEX) for problem in found):
            return []  # pages are damaged: writing might make it worse
        problems: list[str] = remember.writer.run(remember.mend_indexes)
        return problems

    def _check_read_model(self, *, deep: bool) -> list[str]:
        from oneiros.projections.comparing import SUMMED  # noqa: PLC0415 - few check

        parts = self._parts
        parts.remember.follow()
        damaged = dict(parts.remember.damaged)
        with parts.store.read() as reading:
            sums = reading.live_sums(SUMMED, without=damaged)
            problems = parts.projections.problems(reading.live_count(without=damaged), sums)
        if deep:
            problems += parts.remember.differences()
            damaged = dict(parts.remember.damaged)
        if problems:
            parts.projections = parts.remember.rebuild()
            problems = [f"{problem}; rebuilt from the store" for problem in problems]
        return [str(one.error()) for one in damaged.values()] + problems

    def verify_erased(self, text: str) -> bool:
        """Return whether the bytes of this text stand nowhere in the store's files any more.

        Args:
            text: at least one character; of one over 128 bytes the beginning alone counts as found.

        Raises:
            TypeError, ValueError: no text, or an empty one.
        """
        require_utf8("text", text)
        if not text:
            msg = "text: must be at least one character, got ''"
            raise ValueError(msg)
        return self._parts.store.verify_erased(text.encode())
