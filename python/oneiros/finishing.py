"""Which of the ranked candidates are returned: near enough, and none like a better one.

Source: docs/systems/omega.md O26, O27; docs/systems/house.md H7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.display import figure
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import TemporalChannel, VectorChannel
from oneiros.ranking.finishing import Surfacing, WeakBest
from oneiros.recall import Finished
from oneiros.response import Duplicate
from oneiros.texts.memory_texts import word_ratios
from oneiros.texts.normalised import normalised, stemmed, words_of

if TYPE_CHECKING:
    from oneiros.expanding import Expanded
    from oneiros.gathering import Gathered, Question
    from oneiros.projections import Projections
    from oneiros.ranking.finishing import Duplicates
    from oneiros.response import LoadMemories

__all__ = ["finish", "first_of_each", "without_duplicates"]

_BLOCK: Final = 32  # rows whose embeddings are fetched together


def finish(
    question: Question, projections: Projections, gathered: Gathered, load: LoadMemories
) -> Finished:
    """Rank the candidates and return the best ``k`` that the profile lets through.

    Args:
        question: the search.
        projections: what it reads.
        gathered: its candidates.
        load: the store's loader, for the texts of a search that may come to nothing.
    """
    k, rule, duplicates = question.k, question.profile.abstention, question.profile.duplicates
    here = question.understood.situation
    if isinstance(rule, Surfacing) and here is not None:  # O16
        rule = replace(
            rule,
            least_cosine=here.min_vec,
            least_overlap=here.min_text,
            least_score=here.min_composite,
        )
    far: dict[int, str] = {}
    if isinstance(rule, WeakBest) and k and (why := _weakness(rule, question, gathered, load)):
        ranked = gathered.best(question, k=rule.misses)
        stage = ("abstention", ranked.kept_count, 0, why)
        return Finished(ranked, [], reason=why, misses=range(len(ranked)), stages=[stage])
    looks_further = duplicates is not None or isinstance(rule, Surfacing)
    ranked = gathered.best(question, k=len(gathered.candidates) if looks_further else k)
    near: Sequence[int] = range(len(ranked))
    stages: list[tuple[str, int, int, str]] = []
    reason = ""
    if isinstance(rule, Surfacing):
        near = list(_near(rule, question, gathered, ranked, far))
        if k and len(ranked) and not near:
            reason = f"none of {len(ranked)} candidates is near enough; the best: {far[0]}"
        stages.append(("abstention", len(ranked), len(near), reason))
        if reason:
            misses = range(min(rule.misses, len(ranked)))
            return Finished(ranked, [], (), far, reason, misses, stages)
    if duplicates is None:
        return Finished(ranked, near[:k], far=far, stages=stages)
    places, left = first_of_each(duplicates, projections, ranked.rows.tolist(), near, k)
    stages.append(("duplicates", len(near), len(near) - len(left), ""))
    return Finished(ranked, places, left, far, stages=stages)


def without_duplicates(
    more: Expanded, rule: Duplicates, projections: Projections
) -> tuple[Expanded, tuple[Duplicate, ...]]:
    """Leave out of the results, links followed, what is like a better one."""
    if not more.found:
        return more, ()
    rows = [row for row, *_ in more.results]
    kept, left = first_of_each(rule, projections, rows, range(len(rows)), len(rows))
    ids = projections.lifecycle.ids
    return more.only(kept), tuple(Duplicate(ids[rows[a]], ids[rows[b]]) for a, b in left)


def _near(
    rule: Surfacing,
    question: Question,
    gathered: Gathered,
    ranked: _core.Ranked,
    far: dict[int, str],
) -> Iterator[int]:
    """Yield the places of what is near enough, best first; note of the others why they are not."""
    cosines: dict[int, float] = {}
    asked: set[int] = set()  # what the named time alone brings has no words or cosine to show
    for channel, heard in zip(question.profile.channels, gathered.answers, strict=True):
        hits = heard.hits
        if isinstance(channel, VectorChannel):
            cosines = dict(zip(hits.rows.tolist(), hits.scores.tolist(), strict=True))
        if not isinstance(channel, TemporalChannel) and hits.size:
            asked.update(hits.rows.tolist())
    rows, scores = ranked.rows, ranked.scores.tolist()
    assert question.sought is not None
    overlaps = question.sought.overlaps_of(question.profile.factors, rows).tolist()
    for place, (row, score) in enumerate(zip(rows.tolist(), scores, strict=True)):
        cosine, overlap = cosines.get(row), overlaps[place]
        lacks = []
        is_far = overlap < rule.least_overlap and (cosine is None or cosine < rule.least_cosine)
        if is_far and row in asked:
            lacks.append(f"overlap {figure(overlap)} below {rule.least_overlap:g}")
            if cosine is not None:
                lacks.insert(0, f"cosine {figure(cosine)} below {rule.least_cosine:g}")
        elif score < rule.least_score:
            lacks.append(f"score {figure(score)} below {rule.least_score:g}")
        if lacks:
            far[place] = ", ".join(lacks)
        else:
            yield place


def _weakness(rule: WeakBest, question: Question, gathered: Gathered, load: LoadMemories) -> str:
    """Return why the best is too weak; empty where it is not."""
    for channel, heard in zip(question.profile.channels, gathered.answers, strict=True):
        if isinstance(channel, VectorChannel):
            hits = heard.hits
            if not hits.size or (best := float(hits.scores[0])) >= rule.cosine:
                return ""
            break
    else:
        return ""
    words = stemmed(words_of(question.spoken), rule.suffixes)
    if not words:
        return ""
    ids = gathered.lifecycle.ids
    memories = load([id for row in gathered.candidates.rows.tolist() if (id := ids[row])])
    found = [
        normalised("\n".join((one.text, one.title, *one.tags)))
        for one in memories
        if one is not None
    ]
    column = _core.TextColumn()
    column.write(rows=[0], texts=["\n".join(found)], tags=[""])
    share = float(word_ratios(column, np.zeros(1, np.uint32), words, with_tags=False)[0])
    if share >= rule.words:
        return ""
    return (
        f"the best cosine is {figure(best)}, below {rule.cosine:g}, and "
        f"{round(share * len(words))} of the question's {len(words)} words are found"
    )


def first_of_each(
    rule: Duplicates,
    projections: Projections,
    rows: Sequence[int],
    places: Sequence[int],
    k: int,
) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """Return the first ``k`` places whose memory is like none before it, and those that are.

    Args:
        rule: what makes two alike.
        projections: hold their texts and embeddings.
        rows: by place.
        places: those to look at, the better first.
        k: most to return.
    """
    alike = projections.texts.column.first_alike(rows=rows, characters=rule.characters)
    vectors = projections.indexes.vectors
    kept: list[int] = []
    left: list[tuple[int, int]] = []
    by_text: dict[int, int] = {}
    matrix = np.zeros((0, 0 if vectors is None else vectors.dimension), np.float32)
    waiting, held = places, 0
    block = matrix
    for number, place in enumerate(waiting):
        if len(kept) == k:
            break
        better = by_text.get(alike[place])
        if vectors is not None:
            if number >= held:
                block = vectors.reconstruct(
                    [rows[one] for one in waiting[number : number + _BLOCK]]
                )
                held = number + len(block)
            vector = block[number - held + len(block)]
            if better is None and kept:
                near = np.flatnonzero(matrix @ vector >= rule.cosine)
                better = kept[near[0]] if len(near) else None
        if better is not None:
            left.append((place, better))
            continue
        by_text.setdefault(alike[place], place)
        kept.append(place)
        if vectors is not None:
            matrix = np.vstack([matrix, vector])
    return kept, tuple(left)
