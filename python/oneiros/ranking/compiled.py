"""A profile brought to the core: one program for its relevance, factors and rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from oneiros import _core
from oneiros.ranking.factor import Operation, base_of, operation_of
from oneiros.ranking.program import ProgramBuilder, ProgramText

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = ["CompiledProfile", "compile_profile"]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledProfile:
    """What searches, batches and explanations run. Registers are those of ``text``.

    ``score`` is ``relevance``, then, factor by factor in order, times or plus the factor's value.
    """

    profile: Profile
    kinds: tuple[str, ...]
    """The words that the codes of the column ``kind`` stand for."""
    plan: _core.Plan
    text: ProgramText
    names: tuple[str, ...]
    """Of the factors, in order."""
    operations: tuple[Operation, ...]
    """Of the factors, in order."""
    factors: tuple[int, ...]
    """Their registers."""
    relevance: int
    score: int
    retention: int
    """The product of the lifecycle factors' base values; 1 where there is none."""
    keep: int | None
    """1 for what stays, 0 or NaN for what leaves; None: everything stays."""


@lru_cache(maxsize=256)
def compile_profile(profile: Profile, kinds: tuple[str, ...]) -> CompiledProfile:
    """Write the profile's program for a store whose kinds have these codes."""
    program = ProgramBuilder(kinds)
    profile.fusion.emit(program)
    relevance = score = program.relevance
    values = []
    retention: int | None = None
    for factor in profile.factors:
        value = factor.emit(program)
        values.append(value)
        score = program.call(operation_of(factor), score, value)
        if factor.is_lifecycle:
            base = base_of(factor, program)
            retention = base if retention is None else program.call("multiply", retention, base)
    keep: int | None = None
    for rule in profile.keep:
        stays = rule.emit(program)
        keep = stays if keep is None else program.call("multiply", keep, stays)
    if retention is None:
        retention = program.constant(1.0)
    numbers = program.numbers([relevance, score, retention, *values])
    return CompiledProfile(
        profile=profile,
        kinds=kinds,
        plan=_plan_of(profile),
        text=program.build(),
        names=tuple(factor.name for factor in profile.factors),
        operations=tuple(map(operation_of, profile.factors)),
        factors=tuple(numbers[3:]),
        relevance=numbers[0],
        score=numbers[1],
        retention=numbers[2],
        keep=None if keep is None else program.numbers([keep])[0],
    )


def _plan_of(profile: Profile) -> _core.Plan:
    weights = profile.fusion.weights
    factors: Any = profile.factors
    return _core.Plan(
        rrf_k=profile.fusion.k,
        weights=None if weights is None else list(weights),
        steps=[(factor.name, factor.parameters()) for factor in factors],
    )
