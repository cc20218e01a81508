"""OMEGA, one memory at a time: docs/systems/omega.md O3 to O33, the arithmetic.

The tables (kinds, channel weights, contexts) stand in ``omega_tables``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from tests.oracles.fusion import minmax_floor
from tests.oracles.ieee import clip, exp, has_nan, larger, not_negative, power
from tests.oracles.kinds import entry, is_among
from tests.oracles.omega_tables import (
    INTENTS,
    KIND_WEIGHT,
    PROFILES,
    RATE_A_DAY,
    RATE_OTHERWISE,
    TEMPORAL_WEIGHT,
)
from tests.oracles.records import DAY, Record, idle_days, value


def text_relevance(scores: Sequence[float], word_ratios: Sequence[float]) -> list[float]:
    """Return 0.7 bm25_norm + 0.3 word_ratio of each hit. O3."""
    norms = minmax_floor(scores, 0.1)
    return [0.7 * norm + 0.3 * ratio for norm, ratio in zip(norms, word_ratios, strict=True)]


def temporal_proximity(time: float, start: float, end: float) -> float:
    """Return 1.0 in range, else 1 / (1 + days away / range days). O4.

    Range days: whole days, rounded down, at least one. Days away: a part of a day counts as a whole
    one before the start, and not at all after the end. More than the range days away: 0, and so
    everything where the range ends before it starts. An endless distance is 0; of an endless range,
    no other distance counts.
    """
    if has_nan(time, start, end):
        return math.nan
    if start <= time <= end:
        return 1.0
    seconds = start - time if time < start else time - end
    if end < start or math.isinf(seconds):
        return 0.0
    if math.isinf(end - start):
        return 1.0
    days_away = max(1, math.ceil(seconds / DAY)) if time < start else math.floor(seconds / DAY)
    range_days = max(1, math.floor((end - start) / DAY))
    return 1 / (1 + days_away / range_days) if days_away <= range_days else 0.0


def is_strong(relevances: Sequence[float], threshold: float = 0.85, gap: float = 0.15) -> bool:
    """Tell whether the text channel decides alone: two hits, first strong and ahead. O5."""
    return (
        len(relevances) >= 2 and relevances[0] >= threshold and relevances[0] - relevances[1] >= gap
    )


def expanded(reciprocal: float, variants: Sequence[float]) -> float:
    """Return the largest of the query's reciprocal rank and 0.8 x each variant's. O6."""
    return max([reciprocal, *(0.8 * variant for variant in variants)])


def compound(scores: Sequence[float]) -> float:
    """Return the best part's score x 1.15 for each further part that finds the memory. O10."""
    return max(scores) * 1.15 ** (len(scores) - 1)


def hot_seed(word_overlap: float, fused: float) -> float:
    """Return the larger of the fused score and 0.8 x overlap, from an overlap of 0.4 on. O1."""
    return max(fused, 0.8 * word_overlap) if word_overlap >= 0.4 else fused


def channel_weights(profile: str = "_default", intent: str | None = None) -> dict[str, float]:
    """Return profile x intent for vector and text; temporal 1.2. O7, O8, O9."""
    vector, text, *_ = PROFILES[profile]
    vector_intent, text_intent, *_ = INTENTS[intent]
    return {
        "lexical": text * text_intent,
        "vector": vector * vector_intent,
        "temporal": TEMPORAL_WEIGHT,
    }


def kind_weight(kind: str, table: Mapping[str, float] = KIND_WEIGHT) -> float:
    """Return the type weight of a kind, 1 if unlisted. O11."""
    return table.get(kind, 1.0)


def feedback_factor(f: float) -> float:
    """Return 1 + 0.15 min(f, 10) above 0, max(0.2, 1 + 0.2 f) below, 1 at 0. O12."""
    if math.isnan(f):
        return math.nan
    return 1 + 0.15 * min(f, 10) if f > 0 else max(0.2, 1 + 0.2 * f) if f < 0 else 1.0


def leaves(feedback: float) -> bool:
    """Tell whether feedback takes a memory out of all results: <= -3. O12."""
    return feedback <= -3


def priority_factor(p: float) -> float:
    """Return 0.7 + 0.08 p, p clamped to 1 to 5. O13."""
    return 0.7 + 0.08 * clip(p, 1.0, 5.0)


def floored_decay(age_days: float, rate: float, floor: float) -> float:
    """Return max(floor, exp(-rate x days)); missing time: 1; a rate of 0 never decays. O14."""
    if has_nan(rate, floor):
        return math.nan
    if math.isnan(age_days):
        return 1.0
    if rate == 0:
        return max(1.0, floor)
    return larger(floor, exp(-rate * not_negative(age_days)))


def decision_rate(rate: float, access_count: float) -> float:
    """Return max(0.002, rate x 0.85 ** min(accesses, 10)). O14."""
    if has_nan(rate, access_count):
        return math.nan
    return larger(0.002, rate * power(0.85, min(access_count, 10.0)))


def thompson_boost(good: float, bad: float) -> float:
    """Return 1 under 10 observations, else 0.8 + 0.4 x the mean of Beta(1 + good, 1 + bad). O15."""
    if has_nan(good, bad):
        return math.nan
    seen = good + bad
    return 1.0 if seen < 10 else 0.8 + 0.4 * ((1 + good) / (2 + seen))


def beta_distribution(x: float, a: int, b: int) -> float:
    """O15: the share of Beta(a, b) below x: of a + b - 1 coins that fall x, at least a."""
    n = a + b - 1
    return math.fsum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))


def consolidation_boost(cq: float) -> float:
    """Return 1 + 0.1 min(cq, 3) above 0, else 1. O17."""
    if math.isnan(cq):
        return math.nan
    return 1 + 0.1 * min(cq, 3.0) if cq > 0 else 1.0


def overlap_boost(word_ratio: float, feedback: float, weight: float) -> float:
    """Return 1 + 0.5 word_ratio x fb_mod x weight, fb_mod 0.5 under negative feedback. O18."""
    if has_nan(word_ratio, feedback, weight):
        return math.nan
    return 1 + word_ratio * 0.5 * (0.5 if feedback < 0 else 1.0) * weight


def preference_boost(kind: str, asks_for_preference: bool) -> float:
    """Return 1.5 for a user_preference when the query holds a preference word. O19."""
    return 1.5 if asks_for_preference and kind == "user_preference" else 1.0


def context_words(file: str | None, tags: Iterable[str]) -> set[str]:
    """Return the one set of words of a file and of tags. O20; an empty one is none (ours)."""
    words = {tag.lower() for tag in tags}
    if file is not None:
        parts = [part for part in file.split("/") if part not in ("", ".")]
        name = parts[-1] if parts else ""
        words.add(name.lower())
        before, _, ending = name.rpartition(".")
        if before.strip(".") and ending:
            words.add(before.lower())
        words |= {part.lower() for part in parts if len(part) >= 3}
    return words - {""}


def context_matches(
    file: str | None, tags: Iterable[str], project: str | None, record: Record
) -> tuple[int, float, int]:
    """Return tag_overlap, project_match and content_match of a memory. O20."""
    words = context_words(file, tags)
    own = record.get("project")
    tag_overlap = len(words & {tag.lower() for tag in record.get("tags", ())})
    is_of_project = own is not None and (
        own == project or any(word in own.lower() for word in words)
    )
    content_match = sum(word in record["text"].lower() for word in words)
    return tag_overlap, float(is_of_project), content_match


def context_boost(
    tag_overlap: float, project_match: float, content_match: float, weight: float
) -> float:
    """Return 1 + (0.10 tags + 0.15 project + 0.05 min(content, 3)) x weight. O20."""
    if has_nan(tag_overlap, project_match, content_match, weight):
        return math.nan
    shared = 0.10 * tag_overlap + 0.15 * project_match + 0.05 * min(content_match, 3.0)
    return 1 + shared * weight


def cluster_boost(c: float) -> float:
    """Return 1 + min(0.33 (c - 0.5), 0.15) above 0.5, else 1. O21."""
    if math.isnan(c):
        return math.nan
    return 1 + min(0.33 * (c - 0.5), 0.15) if c > 0.5 else 1.0


def temporal_factor(is_in_range: bool, has_own_date: bool, *, is_soft: bool) -> float:
    """Return 1.3 in range, else 0.85 if it is soft, 0.15 by its own date, 0.70 by its creation. O22."""
    if is_in_range:
        return 1.3
    return 0.85 if is_soft else 0.15 if has_own_date else 0.70


def expansion_score(seed: float, hop: int, weight: float, graph_weight: float) -> float:
    """Return seed x 0.4 ** hop x min(weight, 1) x graph weight. O24."""
    return seed * 0.4**hop * min(weight, 1.0) * graph_weight


def rerank_boost(rank: int, relevance: float) -> float:
    """Return 1 + w ce, w 0.15 for ranks 1 to 3, 0.30 for 4 to 10, 0.50 beyond. O25.

    ``relevance``: the cross-encoder's score after min-max; a score that is not finite is none.
    """
    if not math.isfinite(relevance):
        return 1.0
    return 1 + (0.15 if rank <= 3 else 0.30 if rank <= 10 else 0.50) * relevance


def confidence(first_three: Sequence[tuple[float, float]]) -> float:
    """Return the mean over three results of max(cosine in [0, 1], word ratio). O28.

    A missing result counts 0.
    """
    return sum(max(clip(near, 0.0, 1.0), ratio) for near, ratio in first_three[:3]) / 3


def final_normalisation(scores: Sequence[float]) -> list[float]:
    """Return each score by the best. O29."""
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def is_near_best(relevance: float, best: float) -> bool:
    """Tell whether the small bonuses of O32 count: within 0.01 of the best."""
    return relevance >= best - 0.01


def near_best_bonus(priority: float, access_count: float, cq: float) -> float:
    """Return .005 (p - 1)/4 + .0025 min(accesses, 3)/3 + .0025 min(cq, 3)/3. O32."""
    return (
        0.005 * ((clip(priority, 1.0, 5.0) - 1) / 4)
        + 0.0025 * (min(access_count, 3.0) / 3)
        + 0.0025 * (min(cq, 3.0) / 3)
    )


def age_bonus(age_days: float) -> float:
    """Return 0.05 exp(-age_days / 30); nothing without a timestamp. O32."""
    return 0.0 if math.isnan(age_days) else 0.05 * exp(-not_negative(age_days) / 30)


def decay_floor(access_count: int) -> float:
    """Return 0.35 if ever accessed, else 0.15. O14."""
    return 0.35 if access_count > 0 else 0.15


def decay_of(record: Record, now: float) -> float:
    """Return the decay of a memory by its kind, accesses and last use. O14."""
    kind, accesses = value(record, "kind"), value(record, "access_count")
    rate = entry(RATE_A_DAY, kind, RATE_OTHERWISE)
    if kind == "decision":
        rate = decision_rate(rate, accesses)
    return floored_decay(idle_days(record, now), rate, decay_floor(accesses))


def is_forgotten(record: Record, now: float, age_days: float) -> bool:
    """Tell whether the dream archives it: old, unused or unloved, and weak in all. O31."""
    kind, feedback = value(record, "kind"), value(record, "feedback")
    if is_among(["user_preference", "error_pattern", "constraint", "reminder"], kind):
        return False
    is_unused = value(record, "access_count") == 0 and record.get("last_accessed_at") is None
    weak = kind_weight(kind) * feedback_factor(feedback) * decay_of(record, now) < 0.05
    return age_days >= 30 and (is_unused or leaves(feedback)) and weak
