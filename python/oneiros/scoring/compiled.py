"""Compilation of a profile: one program of the core for its relevance, factors and filters."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import Operation, base_of, is_function, operation_of
from oneiros.scoring.program import ProgramBuilder, ProgramText

if TYPE_CHECKING:
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.fusion import Terms
    from oneiros.scoring.profile import Profile

__all__ = ["CompiledProfile", "compile_profile"]

_GAINS = ("hot_set", "neighbours", "statements", "named_time", "asked_time")
"""Parts of a profile that add to the relevance, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledProfile:
    """The compiled form of a profile, which searches, batches and explanations run.

    Registers are those of ``program``. ``score`` is ``relevance``, multiplied by each factor's
    value or increased by it, in order.
    """

    profile: Profile
    kinds: tuple[str, ...]
    """Words of the column ``kind``, by code."""
    text: ProgramText
    """The program as data."""
    program: _core.Program
    """The program, ready to run over columns."""
    plan: _core.Plan
    """Fusion and program, ready to rank a query's candidates."""
    names: tuple[str, ...]
    """Names of the factors, in order; those that the search adds come last."""
    operations: tuple[Operation, ...]
    """Operations of the factors, in order."""
    neighbours: _core.NeighbourRule | None
    """Boost from adjacent memories of a session; None: off."""
    parts: tuple[str, ...]
    """Names of the terms of the relevance, in order; empty if it is not a sum."""
    factors: tuple[int, ...]
    """Registers of the factors, in order."""
    relevance: int
    score: int
    retention: int
    """The product of the lifecycle factors' base values; 1 without lifecycle factors."""
    has_functions: bool
    """Whether factors are Python functions."""
    keep: int | None
    """1 for memories that pass the filters, 0 or NaN for others; None: no filters."""
    reads_kinds: bool
    """Whether a value depends on the words of ``kind``, for any ``kinds``."""
    fills_scores: bool
    """Whether every candidate gets the raw score of every channel: the fusion needs them, or a
    factor reads them and the fusion does not."""


@lru_cache(maxsize=256)
def compile_profile(
    profile: Profile, kinds: tuple[str, ...], added: tuple[Factor, ...] = ()
) -> CompiledProfile:
    """Compile a profile for a store whose kinds have these codes.

    Args:
        profile: the profile.
        kinds: the words of the column ``kind``, by code.
        added: factors that the search applies after those of the profile.
    """
    factors = (*profile.factors, *added)
    program = ProgramBuilder(kinds)
    fusion = profile.fusion
    terms = _with_gains(profile, program, fusion.emit(program))
    relevance = score = program.relevance
    values = []
    retention: int | None = None
    for factor in factors:
        value = factor.emit(program)
        values.append(value)
        score = program.call(operation_of(factor), score, value)
        if factor.is_lifecycle and operation_of(factor) == "multiply":
            base = base_of(factor, program)
            retention = base if retention is None else program.call("multiply", retention, base)
    keep: int | None = None
    for rule in profile.keep:
        stays = rule.emit(program)
        keep = stays if keep is None else program.call("multiply", keep, stays)
    if retention is None:
        retention = program.constant(1.0)
    if fusion.is_sum:
        unexplained = getattr(fusion, "unexplained", ())
        names = [channel.name for channel in profile.channels if channel.name not in unexplained]
        terms = (*((name, program.signal(f"part:{name}", 0.0)) for name in names), *terms)
    text = program.build()
    core = text.compiled()
    parts = [register for _, register in terms]
    registers = program.numbers([relevance, score, retention, *values, *parts])
    end = 3 + len(values)
    kept = None if keep is None else program.numbers([keep])[0]
    return CompiledProfile(
        profile=profile,
        kinds=kinds,
        text=text,
        program=core,
        plan=_core.Plan(
            fusion=fusion.name,
            fusion_parameters=fusion.parameters(),
            channels=[channel.name for channel in profile.channels],
            program=core,
            relevance=registers[0],
            score=registers[1],
            retention=registers[2],
            keep=kept,
            factors=registers[3:end],
            parts=registers[end:],
        ),
        names=tuple(factor.name for factor in factors),
        operations=tuple(map(operation_of, factors)),
        neighbours=None if profile.neighbours is None else profile.neighbours.rule(),
        parts=tuple(name for name, _ in terms),
        factors=tuple(registers[3:end]),
        relevance=registers[0],
        score=registers[1],
        retention=registers[2],
        has_functions=any(map(is_function, factors)),
        keep=kept,
        reads_kinds=program.reads_kinds,
        fills_scores=fusion.needs_scores or (not fusion.reads_scores and _reads_scores(text)),
    )


def _with_gains(profile: Profile, program: ProgramBuilder, terms: Terms) -> Terms:
    """Add the adjustments of the profile to the relevance; return all terms, in order."""
    parts = {name: getattr(profile, name) for name in _GAINS}
    gains = {name: part for name, part in parts.items() if part is not None}
    if gains and not profile.fusion.is_sum:
        terms = (("fusion", program.relevance),)
    for name, part in gains.items():
        gain = part.emit(program)
        terms = (*terms, (name, gain))
        program.add_to_relevance(gain)
    return terms


def _reads_scores(text: ProgramText) -> bool:
    return any(isinstance(name, str) and name.startswith("score:") for _, name, _ in text.inputs)
