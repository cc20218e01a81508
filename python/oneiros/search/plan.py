"""A profile as the core's searches run it: channels, scoring and stages as plain data."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from oneiros import _core
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.candidate_filters import RelevanceGate
from oneiros.scoring.channels import ChannelDeclaration
from oneiros.scoring.factor import is_function
from oneiros.scoring.link_expansion import AssociativeExpansion
from oneiros.scoring.stages import Surfacing, WeakBest, answered_at_once, decided_by_words, eased

if TYPE_CHECKING:
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.link_expansion import ExpansionDeclaration
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.program import ProgramBuilder
    from oneiros.scoring.stages import AdaptiveRetry

__all__ = [
    "LAPSED",
    "PATH_WEIGHT",
    "DeepRecall",
    "PathWeight",
    "SearchPlan",
    "eased_profile",
    "search_plan",
]


LAPSED: Final = "lapsed"
"""The signal: 1 for an expired memory that deep recall returns."""


@dataclass(frozen=True, slots=True)
class DeepRecall:
    """Multiply by the penalty once for a superseded memory, and once for an expired one.

    A deep search adds this factor after those of the profile; no profile holds one. The signal
    ``lapsed`` marks the expired memories.

    Source: docs/systems/cognitive.md C6, C7.
    """

    name: ClassVar[str] = "deep_recall"
    is_lifecycle: ClassVar[bool] = False

    penalty: float
    """The profile's ``deep_recall_penalty``, 0 to 1."""

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        one, penalty = program.constant(1.0), program.constant(self.penalty)
        replaced = program.call("select", program.column("superseded"), penalty, one)
        late = program.call("select", program.signal(LAPSED, 0.0), penalty, one)
        return program.call("multiply", replaced, late)


PATH_WEIGHT: Final = "path_weight"
"""The signal: the product of what is left of the links on the way; NaN for what may not stay."""


@dataclass(frozen=True, slots=True)
class PathWeight:
    """Weigh by the way that links led: the signal ``path_weight``.

    A search adds this factor for what it reaches by links, after those of the profile; no profile
    holds one.

    Source: docs/systems/cognitive.md C9, C10.
    """

    name: ClassVar[str] = "association"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.signal(PATH_WEIGHT, 1.0)


@lru_cache(maxsize=512)
def eased_profile(profile: Profile, rule: AdaptiveRetry) -> Profile:
    """Return the profile with less asked of a result, and no retry."""
    abstention = profile.abstention
    return profile.replace(
        channels=tuple(_eased(channel, rule) for channel in profile.channels),
        abstention=None if abstention is None else abstention.eased(rule),
        retry=None,
    )


def _eased(channel: ChannelDeclaration, rule: AdaptiveRetry) -> ChannelDeclaration:
    if channel.least is None:
        return channel
    return channel.with_least(eased(channel.least, rule.relaxation))


if TYPE_CHECKING:
    Compile = Callable[[Profile, tuple[Factor, ...]], CompiledProfile]


_PATH_WEIGHT: Final = PathWeight()


@dataclass(frozen=True, slots=True, eq=False)
class SearchPlan:
    """A profile ready to search, and the profiles that take its place during a search."""

    profile: Profile
    compiled: CompiledProfile
    """How candidates are scored."""
    linked: CompiledProfile | None
    """How memories that links lead to are scored; None: as parts of other scores."""
    core: _core.SearchPlan
    at_once: SearchPlan | None
    """What ranks where the fast path answers; None: this one."""
    by_words: SearchPlan | None
    """What ranks where the lexical channel decides alone; None: this one."""
    relaxed: SearchPlan | None
    """What a second search runs; None: there is none."""
    has_functions: bool
    """Whether a factor is a function of the user's."""
    reads_vectors: bool
    """Whether a stage looks at vectors though the query has none: loads those of a store just opened."""
    reads_overlap: bool
    """Whether a stage asks for the share of words found in text and tags (O18)."""

    def ranking(self, short_cut: int, *, is_relaxed: bool) -> SearchPlan:
        """Return the plan by which an attempt ranked.

        Args:
            short_cut: 0 none, 1 the fast path, 2 the lexical channel alone.
            is_relaxed: whether it was the second.
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
    """Return the plan of a profile.

    Args:
        profile: as it ranks.
        compile: brings a profile, with further factors, to the core.
        added: factors that the search applies after those of the profile.
        retry: the rule by which a search of this plan is retried; None: the profile's own.
    """
    rule = profile.retry if retry is None else retry
    compiled = compile(profile, added)

    def other(changed: Profile) -> SearchPlan | None:
        return None if changed == profile else search_plan(changed, compile, added, rule)

    at_once = None if profile.fast_path is None else other(answered_at_once(profile))
    by_words = None if profile.strong_signal is None else other(decided_by_words(profile))
    relaxed = None if rule is None else _relaxed(profile, rule, compile, added)
    linked = None
    if isinstance(profile.expansion, AssociativeExpansion):
        linked = compile(profile, (*added, _PATH_WEIGHT))
    needs = _needs(profile, compiled)
    core = _core.SearchPlan(
        channels=[channel.for_core() for channel in profile.channels],
        scoring=_scoring(compiled),
        needs=needs,
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
        expansion=_expansion(profile, linked, compile),
        rerank=None if (place := profile.rerank) is None else (place.top, place.after_links),
        duplicates=None
        if (alike := profile.duplicates) is None
        else (alike.characters, alike.cosine),
        abstention=_abstention(profile),
        retry=None if rule is None else (rule.least_confidence, rule.results),
        relaxed=None if relaxed is None else relaxed.core,
        is_normalised=profile.normalisation is not None,
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
    )


def _relaxed(
    profile: Profile, rule: AdaptiveRetry, compile: Compile, added: tuple[Factor, ...]
) -> SearchPlan:
    return search_plan(eased_profile(profile, rule), compile, added)


def _scoring(compiled: CompiledProfile) -> tuple[_core.Plan, bool]:
    return compiled.plan, compiled.fills_scores


def _needs(profile: Profile, compiled: CompiledProfile) -> list[str]:
    factors = {factor.name for factor in profile.factors}
    found = {
        "functions": any(map(is_function, profile.factors)),
        "temporal": "temporal" in factors,
        "named_time": profile.named_time is not None,
        "overlap": "overlap" in factors and _has_overlap(profile),
        "lexical_share": any(isinstance(rule, RelevanceGate) for rule in profile.keep),
        "cluster": "cluster" in compiled.names,
    }
    return [name for name, is_needed in found.items() if is_needed]


def _has_overlap(profile: Profile) -> bool:
    from oneiros.scoring.factors import Overlap  # noqa: PLC0415 - few profiles have one

    return any(isinstance(factor, Overlap) for factor in profile.factors)


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
    """Return the rule as the core takes it."""
    return rule.least_cosine, rule.least_overlap, rule.least_score, rule.misses


@lru_cache(maxsize=64)
def _lifecycle_of(profile: Profile) -> Profile:
    """Return the profile with what makes the retention alone. Equal profiles give one object."""
    return profile.replace(factors=tuple(one for one in profile.factors if one.is_lifecycle))


@lru_cache(maxsize=256)
def _up_to_cluster(profile: Profile) -> Profile:
    """Return the profile without the factor and those after it. Equal profiles give one object."""
    names = [factor.name for factor in profile.factors]
    return profile.replace(factors=profile.factors[: names.index("cluster")])
