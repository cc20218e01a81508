"""Profiles compiled for the core: channels, scoring and stages as plain data."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from oneiros import _core, conflicts
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring import factors
from oneiros.scoring.channels import ChannelDeclaration
from oneiros.scoring.confidence import confidence_model
from oneiros.scoring.link_expansion import AssociativeExpansion
from oneiros.scoring.program import QUESTION_FEEDBACK, UNHELPFUL_FOR_QUESTIONS
from oneiros.scoring.selection import RelevanceGate
from oneiros.scoring.stages import Surfacing, WeakBest, answered_at_once, decided_by_words, eased

if TYPE_CHECKING:
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.link_expansion import ExpansionDeclaration
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.program import ProgramBuilder
    from oneiros.scoring.stages import AdaptiveRetry

__all__ = [
    "EXPIRED",
    "PATH_WEIGHT",
    "DeepRecall",
    "PathWeight",
    "SearchPlan",
    "question_least",
    "relaxed_profile",
    "search_plan",
]


EXPIRED: Final = "lapsed"
"""Name of the signal that is 1 for an expired memory that deep recall returns."""


@dataclass(frozen=True, slots=True)
class DeepRecall:
    """Multiply by the penalty once if the memory is superseded, and once if it is expired.

    A deep search applies this factor after those of the profile. No profile contains it. The
    signal ``lapsed`` marks the expired memories.

    Source: docs/systems/cognitive.md C6, C7.
    """

    name: ClassVar[str] = "deep_recall"
    is_lifecycle: ClassVar[bool] = False

    penalty: float
    """The profile's ``deep_recall_penalty``, 0 to 1."""

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        neutral, penalty = program.constant(1.0), program.constant(self.penalty)
        superseded = program.call("select", program.column("superseded"), penalty, neutral)
        expired = program.call("select", program.signal(EXPIRED, 0.0), penalty, neutral)
        return program.call("multiply", superseded, expired)


PATH_WEIGHT: Final = "path_weight"
"""Name of the signal with the product of the link weights on the path; NaN: left out."""


@dataclass(frozen=True, slots=True)
class PathWeight:
    """Multiply by the weight of the path of links: the signal ``path_weight``.

    A search applies this factor after those of the profile to memories that links reach. No
    profile contains it.

    Source: docs/systems/cognitive.md C9, C10.
    """

    name: ClassVar[str] = "association"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.signal(PATH_WEIGHT, 1.0)


@lru_cache(maxsize=512)
def relaxed_profile(profile: Profile, rule: AdaptiveRetry) -> Profile:
    """Return the profile with its thresholds relaxed by ``rule``, and without a retry."""
    abstention = profile.abstention
    return profile.replace(
        channels=tuple(_relaxed_channel(channel, rule) for channel in profile.channels),
        abstention=None if abstention is None else abstention.eased(rule),
        retry=None,
    )


def _relaxed_channel(channel: ChannelDeclaration, rule: AdaptiveRetry) -> ChannelDeclaration:
    if channel.least is None:
        return channel
    return channel.with_least(eased(channel.least, rule.relaxation))


if TYPE_CHECKING:
    Compile = Callable[[Profile, tuple[Factor, ...]], CompiledProfile]


_PATH_WEIGHT: Final = PathWeight()


@dataclass(frozen=True, slots=True, eq=False)
class SearchPlan:
    """A compiled profile, and the plans that can replace it during a search."""

    profile: Profile
    compiled: CompiledProfile
    """Scores candidates."""
    linked: CompiledProfile | None
    """Scores memories reached by links; None: their scores are parts of other scores."""
    core: _core.SearchPlan
    at_once: SearchPlan | None
    """Ranks if the fast path answers; None: this plan does."""
    by_words: SearchPlan | None
    """Ranks if the lexical channel decides alone; None: this plan does."""
    relaxed: SearchPlan | None
    """Run by the retry; None: there is no retry."""
    has_functions: bool
    """Whether a factor is a Python function of the user's."""
    reads_vectors: bool
    """Whether a stage reads vectors even if the query has none, so that they must be loaded."""
    reads_overlap: bool
    """Whether a stage reads the share of query words found in text and tags (O18)."""
    question_least: float | None
    """The likeness of questions from which verdicts given for them count (H19); None: the profile
    does not read which verdicts have a question."""

    def ranking(self, short_cut: int, *, is_relaxed: bool) -> SearchPlan:
        """Return the plan that ranked in an attempt.

        Args:
            short_cut: 0 none, 1 the fast path, 2 the lexical channel alone.
            is_relaxed: whether the attempt was the retry.
        """
        plan = self
        if is_relaxed and self.relaxed is not None:
            plan = self.relaxed
        if short_cut == 0:
            return plan
        return (plan.at_once if short_cut == 1 else plan.by_words) or plan


def search_plan(
    profile: Profile,
    compile: Compile,
    added: tuple[Factor, ...],
    retry: AdaptiveRetry | None = None,
) -> SearchPlan:
    """Compile the plan of a profile. ``added`` are factors applied after those of the profile."""
    rule = profile.retry if retry is None else retry
    compiled = compile(profile, added)

    def other(changed: Profile) -> SearchPlan | None:
        return None if changed == profile else search_plan(changed, compile, added, rule)

    at_once = None if profile.fast_path is None else other(answered_at_once(profile))
    by_words = None if profile.strong_signal is None else other(decided_by_words(profile))
    relaxed = None if rule is None else search_plan(relaxed_profile(profile, rule), compile, added)
    linked = None
    if isinstance(profile.expansion, AssociativeExpansion):
        linked = compile(profile, (*added, _PATH_WEIGHT))
    needs = _needs(profile, compiled)
    core = _core.SearchPlan(
        channels=[channel.for_core() for channel in profile.channels],
        scoring=_scoring(compiled),
        needs=needs,
        pair_window=getattr(profile.fusion, "window", 0),
        spelling=getattr(profile.fusion, "least_vector_share", 1.0),
        neighbours=compiled.neighbours,
        hot_set=None
        if (hot := profile.hot_set) is None
        else (hot.size, hot.least_overlap, hot.weight),
        fast_path=None
        if (fast := profile.fast_path) is None
        else (fast.similarity, fast.characters),
        at_once=None if at_once is None else at_once.core,
        strong_signal=None
        if (strong := profile.strong_signal) is None
        else (strong.threshold, strong.gap),
        by_words=None if by_words is None else by_words.core,
        before_cluster=_scoring(compile(_up_to_cluster(profile), ()))
        if "cluster" in needs
        else None,
        newer_first=None
        if (newer := profile.newer_first) is None
        else (newer.depth, newer.least_confidence, conflicts.model.model()),
        expansion=_expansion(profile, linked, compile),
        rerank=None if (place := profile.rerank) is None else (place.top, place.after_links),
        duplicates=None
        if (duplicates := profile.duplicates) is None
        else (duplicates.characters, duplicates.cosine),
        abstention=_abstention(profile),
        retry=None if rule is None else (rule.least_confidence, rule.results),
        relaxed=None if relaxed is None else relaxed.core,
        is_normalised=profile.normalisation is not None,
        confidence=None if (model := confidence_model(profile)) is None else model.for_core(),
    )
    reads_overlap = (
        "overlap" in needs
        or profile.hot_set is not None
        or isinstance(profile.abstention, Surfacing)
    )
    return SearchPlan(
        profile=profile,
        compiled=compiled,
        linked=linked,
        core=core,
        at_once=at_once,
        by_words=by_words,
        relaxed=relaxed,
        has_functions=core.has_functions,
        reads_vectors=profile.duplicates is not None
        or any(factor.name == "cluster" for factor in profile.factors),
        reads_overlap=reads_overlap,
        question_least=question_least(profile, compiled),
    )


def question_least(profile: Profile, compiled: CompiledProfile) -> float | None:
    """Return the likeness of questions from which verdicts given for them count; None: none does."""
    names = {name for _, name, _ in compiled.text.inputs if isinstance(name, str)}
    if names.isdisjoint((QUESTION_FEEDBACK, UNHELPFUL_FOR_QUESTIONS)):
        return None
    rules = (rule for rule in profile.factors if isinstance(rule, factors.QuestionFeedback))
    return next((rule.least for rule in rules), 1.0)


def _scoring(compiled: CompiledProfile) -> tuple[_core.Plan, bool]:
    return compiled.plan, compiled.fills_scores


def _needs(profile: Profile, compiled: CompiledProfile) -> list[str]:
    names = {factor.name for factor in profile.factors}
    found = {
        "functions": profile.has_functions,
        "temporal": "temporal" in names,
        "named_time": profile.named_time is not None,
        "overlap": "overlap" in names
        and any(isinstance(factor, factors.Overlap) for factor in profile.factors),
        "lexical_share": any(isinstance(rule, RelevanceGate) for rule in profile.keep),
        "cluster": "cluster" in compiled.names,
        "baseline": getattr(profile.fusion, "has_baseline", False),
    }
    return [name for name, is_needed in found.items() if is_needed]


def _expansion(
    profile: Profile, linked: CompiledProfile | None, compile: Compile
) -> tuple[str, tuple[Any, ...]] | None:
    rule: ExpansionDeclaration | None = profile.expansion
    if rule is None:
        return None
    if isinstance(rule, AssociativeExpansion):
        assert linked is not None
        return "associative", (
            *(rule.least_link, rule.least_path, rule.hops, rule.least_score),
            *(rule.bridged, rule.depth, rule.quota, _scoring(linked)),
        )
    return "graph", (
        *(rule.seeds, rule.hops, rule.per_hop, rule.least_link, rule.least_score, rule.weight),
        _scoring(compile(_lifecycle_of(profile), ())),
    )


def _abstention(profile: Profile) -> tuple[str, tuple[Any, ...]] | None:
    rule = profile.abstention
    if isinstance(rule, Surfacing):
        return "surfacing", surfacing_numbers(rule)
    if isinstance(rule, WeakBest):
        return "weak_best", (rule.cosine, rule.words, rule.misses)
    return None


def surfacing_numbers(rule: Surfacing) -> tuple[float, float, float, int]:
    """Return the rule's numbers in the order of the core."""
    return rule.least_cosine, rule.least_overlap, rule.least_score, rule.misses


@lru_cache(maxsize=64)
def _lifecycle_of(profile: Profile) -> Profile:
    """Return the profile with only its lifecycle factors. Equal profiles give one object."""
    factors = tuple(factor for factor in profile.factors if factor.is_lifecycle)
    return profile.replace(factors=factors)


@lru_cache(maxsize=256)
def _up_to_cluster(profile: Profile) -> Profile:
    """Return the profile with the factors before "cluster". Equal profiles give one object."""
    names = [factor.name for factor in profile.factors]
    return profile.replace(factors=profile.factors[: names.index("cluster")])
