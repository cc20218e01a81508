"""Damping: how much of a factor counts. Source: docs/systems/house.md H6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.ranking.program import ProgramBuilder
from oneiros.ranking.strict import Real, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["damped", "damped_values"]


def damped(program: ProgramBuilder, register: int, amount: float) -> int:
    """Return the register of ``1 - amount + amount * factor``; at an amount of 1, the factor's."""
    return register if amount == 1.0 else program.call("damp", register, amount=amount)


def damped_values(factor: npt.NDArray[Real], amount: float) -> npt.NDArray[Real]:
    """Return what :func:`damped` computes, over an array."""
    return factor if amount == 1.0 else strict_values("damp", {"amount": amount}, factor=factor)
