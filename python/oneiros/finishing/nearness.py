"""Which results are too far off, or whether all are.

Source: docs/systems/omega.md O16, O27; docs/systems/house.md H7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.display import figure
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import TemporalChannel, VectorChannel
from oneiros.ranking.finishing import Surfacing, WeakBest
from oneiros.texts.memory_texts import word_ratios
from oneiros.texts.normalised import normalised, stemmed, words_of

if TYPE_CHECKING:
    from oneiros.channels import Rows, Scores
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Question, Stages

__all__ = ["leave_far", "leave_low", "require_near_best"]


def leave_far(working: WorkingList, stages: Stages) -> None:
    """Leave out what is neither near enough by its cosine nor by its words. O27, its hits.

    Where the query has no words, only what the vector channel found must be near.
    """
    question = working.question
    rule, results = _surfacing(question), working.results
    cosines: tuple[Rows, Scores] | None = None
    has_words = question.sought is None or bool(question.sought.words)
    asked: set[int] = set()  # what the named time alone brings has no words or cosine to show
    for channel, heard in zip(question.profile.channels, working.gathered.answers, strict=True):
        hits = heard.hits
        if isinstance(channel, TemporalChannel) or not hits.size:
            continue
        if isinstance(channel, VectorChannel):
            cosines = hits.rows, hits.scores
        if has_words or isinstance(channel, VectorChannel):
            asked.update(hits.rows.tolist())
    overlaps = _overlaps(working)
    far = asked.difference(_of_at_least(rule.least_overlap, *overlaps))
    if cosines is not None:
        far.difference_update(_of_at_least(rule.least_cosine, *cosines))
    near = [told for told in results if told[0] not in far]

    def why(row: int) -> str:
        cosine = None if cosines is None else _by_row(*cosines).get(row)
        lacks = f"overlap {figure(_by_row(*overlaps)[row])} below {rule.least_overlap:g}"
        if cosine is None:
            return lacks
        return f"cosine {figure(cosine)} below {rule.least_cosine:g}, {lacks}"

    working.far.update(dict.fromkeys(far, why))
    working.results = near
    if question.k and results and not near:
        best = why(results[0][0])
        working.abstain(
            f"none of {len(results)} candidates is near enough; the best: {best}", rule.misses
        )
    stages.end("surfacing", len(results), len(near), working.reason)


def _overlaps(working: WorkingList) -> tuple[Rows, Scores]:
    """Of the row of every candidate, the share of the question's words; the factor may have asked it."""
    question, gathered = working.question, working.gathered
    rows, known = gathered.candidates.rows, gathered.signals.get("word_ratio")
    if known is None:
        assert question.sought is not None
        known = question.sought.overlaps_of(question.profile.factors, rows)
    return rows, known


def _of_at_least(least: float, rows: Rows, values: Scores) -> list[int]:
    """The rows whose values are no less."""
    found: list[int] = rows[values >= least].tolist()
    return found


def _by_row(rows: Rows, values: Scores) -> dict[int, float]:
    return dict(zip(rows.tolist(), values.tolist(), strict=True))


def leave_low(working: WorkingList, stages: Stages) -> None:
    """Leave out what scores less than it must; links bring nothing that is asked. O27, composite."""
    rule, results = _surfacing(working.question), working.results
    low = {
        row: score
        for row, _, _, score in results
        if score < rule.least_score and row not in working.linked
    }
    high = [told for told in results if told[0] not in low]

    def why(row: int) -> str:
        return f"score {figure(low[row])} below {rule.least_score:g}"

    working.far.update(dict.fromkeys(low, why))
    working.results = high
    if working.question.k and results and not high:
        best = why(results[0][0])
        working.abstain(
            f"none of {len(results)} results scores enough; the best: {best}", rule.misses
        )
    stages.end("abstention", len(results), len(high), working.reason)


def require_near_best(working: WorkingList, stages: Stages) -> None:
    """Return nothing where even the best is too weak. H7."""
    question, rule = working.question, working.question.profile.abstention
    assert isinstance(rule, WeakBest)
    if question.vector is None or not question.k:
        return
    if why := _weakness(rule, working):
        stages.end("abstention", working.ranked.kept_count, 0, why)
        working.abstain(why, rule.misses)


def _surfacing(question: Question) -> Surfacing:
    """The profile's rule, as the situation has it. O16."""
    rule, here = question.profile.abstention, question.understood.situation
    assert isinstance(rule, Surfacing)
    if here is None:
        return rule
    return replace(
        rule,
        least_cosine=here.min_vec,
        least_overlap=here.min_text,
        least_score=here.min_composite,
    )


def _weakness(rule: WeakBest, working: WorkingList) -> str:
    """Return why the best is too weak; empty where it is not."""
    question, gathered = working.question, working.gathered
    for channel, heard in zip(question.profile.channels, gathered.answers, strict=True):
        if isinstance(channel, VectorChannel):
            hits = heard.hits
            if not hits.size or (best := float(hits.scores[0])) >= rule.cosine:
                return ""
            break
    else:
        return ""
    words = stemmed(words_of(question.spoken, question.profile.query_words), rule.suffixes)
    if not words:
        return ""
    ids = gathered.lifecycle.ids
    memories = working.load([id for row in gathered.candidates.rows.tolist() if (id := ids[row])])
    found = [
        normalised("\n".join((one.text, one.title, *one.tags)))
        for one in memories
        if one is not None
    ]
    column = _core.TextColumn()
    column.write(rows=[0], texts=["\n".join(found)], tags=[""])
    share = float(word_ratios(column, np.zeros(1, np.uint32), words)[0])
    if share >= rule.words:
        return ""
    return (
        f"the best cosine is {figure(best)}, below {rule.cosine:g}, and "
        f"{round(share * len(words))} of the question's {len(words)} words are found"
    )
