"""The contribution of each part of a profile: measurements with and without it.

The parts are read from the profile's data, so this works for any profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from oneiros.evaluation.metrics import Gain, paired_gain
from oneiros.evaluation.tasks import Task, measure
from oneiros.runtime.dataclasses import dataclass, fields, replace
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.parts import OPTIONAL_PARTS
from oneiros.scoring.profile import Profile

if TYPE_CHECKING:
    from oneiros.evaluation.run import Report

__all__ = ["Ablation", "Without", "ablate", "without_each_part"]

NOT_IN_A_SEARCH: Final = ("reinforcement", "promotion")
"""Parts without an effect on the results of a search that reinforces nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Without:
    """A profile measured without one of its parts. A gain means that the part does harm."""

    part: str
    """Such as ``factors.recency``."""
    report: Report
    ndcg: Gain
    """Gain in nDCG from removing the part, over the questions."""
    recall: Gain
    """Gain in recall, at the deepest of the report's depths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """A profile, and measurements without each of its parts."""

    profile: Profile
    whole: Report
    without: tuple[Without, ...]
    """In the order of a profile's fields."""


def without_each_part(profile: Profile) -> Iterator[tuple[str, Profile]]:
    """Yield the name of each part, with the profile without it.

    A channel is removed, with the fusion's entries for it, only if another remains, one with raw
    scores if the fusion needs them. A fusion is replaced by reciprocal ranks, and an expansion that
    needs scores is removed with it.
    """
    for index, channel in enumerate(profile.channels):
        others = [other.name for other in profile.channels if other is not channel]
        if others and not profile.fusion.is_without_scores(others):
            changes = _without_channel(profile, index)
            yield f"channels.{channel.name}", profile.replace(**changes)
    ranks = ReciprocalRankFusion()
    if not isinstance(profile.fusion, ReciprocalRankFusion):
        expansion = profile.expansion
        kept = None if expansion is not None and expansion.needs_scores else expansion
        yield f"fusion.{profile.fusion.name}", profile.replace(fusion=ranks, expansion=kept)
    for key in ("factors", "keep"):
        parts = getattr(profile, key)
        for part in parts:
            rest = tuple(other for other in parts if other is not part)
            yield f"{key}.{part.name}", profile.replace(**{key: rest})
    for key in OPTIONAL_PARTS:
        if getattr(profile, key) is not None and key not in NOT_IN_A_SEARCH:
            yield key, profile.replace(**{key: None})


def ablate(
    task: Task, profile: Profile, advance: Callable[[int], None] | None = None, *, seed: int = 0
) -> Ablation:
    """Measure a profile with all its parts and without each of them.

    Args:
        task: memories and questions.
        profile: the complete profile.
        advance: called with 1 after each question.
        seed: for the bootstrap.
    """
    whole = measure(task, profile, advance)
    without = tuple(
        _compared(part, whole, measure(task, rest, advance), seed)
        for part, rest in without_each_part(profile)
    )
    return Ablation(profile=profile, whole=whole, without=without)


def _compared(part: str, whole: Report, report: Report, seed: int) -> Without:
    names = list(whole.by_question)
    before = [whole.by_question[name] for name in names]
    after = [report.by_question[name] for name in names]
    ndcg = paired_gain([each.ndcg for each in before], [each.ndcg for each in after], seed=seed)
    recall = paired_gain(
        [each.recalls[-1] for each in before], [each.recalls[-1] for each in after], seed=seed
    )
    return Without(part=part, report=report, ndcg=ndcg, recall=recall)


def _without_channel(profile: Profile, index: int) -> dict[str, Any]:
    """Return the profile fields that change when a channel is removed."""
    fusion: Any = profile.fusion
    count = len(profile.channels)
    lists = {
        field.name: _dropped(value, index)
        for field in fields(fusion)
        if isinstance(value := getattr(fusion, field.name), tuple) and len(value) == count
    }
    short_cuts = ("fast_path", "strong_signal") if profile.channels[index].name == "lexical" else ()
    return {
        **dict.fromkeys(short_cuts),
        "channels": _dropped(profile.channels, index),
        "fusion": replace(fusion, **lists) if lists else fusion,
    }


def _dropped(values: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*values[:index], *values[index + 1 :])
