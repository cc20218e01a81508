"""A reranker's place among the stages. Source: docs/systems/cognitive.md C8, omega.md O25."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Stages

__all__ = ["rerank"]


def rerank(working: WorkingList, stages: Stages) -> None:
    """Let a reranker judge the first results again.

    Called once a search, where ``profile.rerank`` stands: before links are followed or after. What
    it judges beyond ``k`` must have been ranked: ``WorkingList._depth``.

    Args:
        working: ``working.question`` is the search, whose ``profile.rerank`` says how many are
            judged; ``working.results`` the list so far, best first, of (row, relevance, retention,
            score), with what links brought where they were followed before. Ids are
            ``working.gathered.lifecycle.ids[row]`` ("" for one that was forgotten meanwhile), and
            ``working.load(ids)`` reads their memories. Changed by ``working.multiply("rerank",
            {row: value})``, which rescores, sorts and explains (O25); or by another list in
            ``working.results``, whose order all that follows keeps (C8).
        stages: the trace; one stage is ended here, with a note where nothing was judged.
    """
    count = len(working.results)
    stages.end("rerank", count, count, "absent: no reranker")
