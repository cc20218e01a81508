"""What a channel finds for a question and for the same in other words, as one ranking.

Source: docs/systems/omega.md O6, O7.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from oneiros.channels import ChannelAnswer, RankedList
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.fusion import ReciprocalRankFusion

if TYPE_CHECKING:
    from oneiros.channels import Bits
    from oneiros.gathering import Question
    from oneiros.projections import Projections
    from oneiros.ranking.channels import TemporalChannel
    from oneiros.ranking.profile import Profile
    from oneiros.ranking.weighted_fusion import ScoreNormalisation

__all__ = ["fused_by_shares", "heard_with_variants", "shares_of"]


@lru_cache(maxsize=256)
def fused_by_shares(profile: Profile) -> Profile:
    """Return the profile with a fusion that adds the shares of :func:`shares_of`."""
    from oneiros.ranking.weighted_fusion import WeightedSum  # noqa: PLC0415 - few questions need it

    channels, fusion = profile.channels, profile.fusion
    assert isinstance(fusion, ReciprocalRankFusion)
    weights = (1.0,) * len(channels) if fusion.weights is None else fusion.weights
    as_they_are: tuple[ScoreNormalisation, ...] = tuple("none" for _ in channels)
    return profile.replace(
        fusion=WeightedSum(weights=weights, importance=0.0, normalise=as_they_are)
    )


def heard_with_variants(
    question: Question,
    projections: Projections,
    channel: LexicalChannel | VectorChannel | TemporalChannel,
    heard: ChannelAnswer,
    allowed: Bits | None,
) -> ChannelAnswer:
    """Return what a channel finds for the question and its variants.

    A row has the largest of its reciprocal ranks, those for variants times ``variant_weight``, and
    the largest raw score, by which nearness is judged.

    Args:
        question: with its variants.
        projections: what it reads.
        channel: of its profile.
        heard: what the channel says to the question itself.
        allowed: the rows that may be returned.
    """
    expanded, fusion = question.expanded, question.ranks
    reader = question.profile.understanding
    assert expanded is not None
    assert fusion is not None
    assert reader is not None
    indexes = projections.indexes
    permitted = indexes.permitted(question.query, allowed, question.syntax)
    depth = channel.depth_for(question.k)
    others: list[ChannelAnswer] = []
    for variant in expanded.variants:
        if isinstance(channel, VectorChannel):
            others.append(indexes.by_vector(variant.vector, channel, depth, permitted))
        elif isinstance(channel, LexicalChannel):
            other = indexes.by_words(variant.text, depth, permitted, "plain")
            if variant.sought is not None and channel.reads_texts:
                other = variant.sought.relevance_of(other, channel)
            others.append(other)
    values: dict[int, float] = {}
    scores: dict[int, float] = {}
    for weight, hits in ((1.0, heard.hits), *((reader.variant_weight, o.hits) for o in others)):
        if not hits.size:
            continue
        found = zip(hits.rows.tolist(), hits.scores.tolist(), strict=True)
        for rank, (row, score) in enumerate(found, start=1):
            values[row] = max(values.get(row, 0.0), weight / (fusion.k + rank))
            scores[row] = max(scores.get(row, score), score)
    return heard._replace(hits=_ranked(scores), ranks=_ranked(values), fill=None)


def _ranked(values: dict[int, float]) -> RankedList:
    order = sorted(values, key=lambda row: (-values[row], row))
    return RankedList(
        np.array(order, np.uint32), np.array([values[row] for row in order], np.float64)
    )


def shares_of(answers: Sequence[ChannelAnswer], fusion: ReciprocalRankFusion) -> list[RankedList]:
    """Return what each channel adds to the relevance of a row, but for its weight.

    Reciprocal ranks as they are, or, where the fusion normalises by channel, divided by the
    channel's best and by the best sum.
    """
    ranks = [answer.ranks for answer in answers]
    lists = [RankedList(*_ranked({})) if one is None else one for one in ranks]
    if fusion.normalise == "none":
        return lists
    lists = [
        RankedList(rows, scores / scores[0] if len(rows) else scores) for rows, scores in lists
    ]
    weights = (1.0,) * len(lists) if fusion.weights is None else fusion.weights
    sums: dict[int, float] = {}
    for weight, (rows, scores) in zip(weights, lists, strict=True):
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            sums[row] = sums.get(row, 0.0) + weight * score
    best = max(sums.values(), default=0.0)
    if best == 0.0:
        return lists
    return [RankedList(rows, scores / best) for rows, scores in lists]
