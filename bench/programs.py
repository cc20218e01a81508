"""Profiles and expressions as the core runs them over a table whose ages are given as columns."""

from __future__ import annotations

from math import nan

from bench.formula import Array, Form, Work
from bench.formulas import KINDS, Chain
from oneiros import Expression, _core, profiles
from oneiros.scoring.factor import operation_of
from oneiros.scoring.program import ProgramBuilder, Unit

_AGE_OF = {"created_at": "age", "updated_at": "updated", "last_accessed_at": "idle"}


class GivenAges(ProgramBuilder):
    """Writes programs that read ages where others compute them: the bytes that rivals move too."""

    def age(self, *times: str, unit: Unit = "days") -> int:
        return self.signal(f"{_AGE_OF[times[0]]}_{unit}", nan)


def profile_form(formula: Chain, work: Work) -> Form:
    """The program of ``rescore``: the profile's relevance, then its factors in order."""
    profile = profiles.get(formula.profile)
    builder = GivenAges(formula.kinds)
    profile.fusion.emit(builder)
    score = builder.relevance
    for factor in profile.factors:
        if formula.factors is None or factor.name in formula.factors:
            score = builder.call(operation_of(factor), score, factor.emit(builder))
    if formula.is_clamped:
        score = builder.call("clip", score, low=0.0, high=1.0)
    return _form(builder, score, work)


def expression_form(work: Work) -> Form:
    builder = GivenAges(KINDS)
    return _form(builder, Expression(work.text).emit(builder), work)


def _form(builder: ProgramBuilder, register: int, work: Work) -> Form:
    text = builder.build()
    program = _core.Program(inputs=list(text.inputs), instructions=list(text.instructions))
    outputs = builder.numbers([register])
    operands: dict[str, Array | float] = {
        name: work.columns[name] for name in program.input_names if name in work.columns
    }
    assert set(operands) == set(work.columns), "the program reads other columns than its rivals"

    def run(threads: int) -> Array:
        program.run(
            operands=operands,
            now_seconds=0.0,
            size=len(work.out),
            outputs=outputs,
            dtype="float32",
            out=[work.out],
            threads=threads,
        )
        return work.out

    return run
