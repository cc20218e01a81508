"""OMEGA's Thompson boost: how well memories of a kind were received. Source: docs/systems/omega.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import LARGEST_WEIGHT, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factors.omega import WEIGHT
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.scoring.factor import Factor

__all__ = ["Thompson", "Verdicts", "verdict_tables"]

Verdicts = Mapping[str, tuple[int, int]]
"""Kind -> good and bad verdicts on memories of it."""

_LARGEST_SEED = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Thompson:
    """Weigh by how well memories of the same kind were received.

    ``factor = base + spread * mean`` of Beta(1 + good, 1 + bad), 1 under ``least`` observations:
    good are the helpful verdicts on the kind, bad the unhelpful and outdated ones, as
    ``Engine.feedback`` counted them. With a ``seed``, a draw of that distribution stands for its
    mean: kinds that little is known of get their chances (Thompson sampling). A draw follows from
    seed, kind, verdicts and the search's ``now`` alone, so that the same search gives the same bits.

    Source: docs/systems/omega.md O15 (ours; the source's module is not public).
    """

    name: ClassVar[str] = "thompson"
    reads_verdicts: ClassVar[bool] = True
    is_lifecycle: ClassVar[bool] = True

    base: float = 0.8
    """0 to 1e6."""

    spread: float = 0.4
    """0 to 1e6."""

    least: float = 10.0
    """Observations, > 0 to 1e6."""

    seed: int | None = None
    """Of the draws, 0 to 2^53; None: no draws, the mean."""

    def __post_init__(self) -> None:
        settle_numbers(self, base=WEIGHT, spread=WEIGHT, least=(0.0, LARGEST_WEIGHT, True))
        if self.seed is not None and not _is_seed(self.seed):
            msg = f"seed: must be an integer in 0 to 2^53, or None, got {self.seed!r}"
            raise ValueError(msg)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        good, bad = program.signal("good", 0.0), program.signal("bad", 0.0)
        boost = program.call("thompson_boost", good, bad, **numbers_of(self))
        if self.seed is None:
            return boost
        drawn = program.call(
            "scale", program.signal(self.signal, 0.5), factor=self.spread, offset=self.base
        )
        few = program.call("greater", program.constant(self.least), program.call("add", good, bad))
        return program.call("select", few, boost, drawn)  # under `least` it is 1

    @property
    def signal(self) -> str:
        """The name by which a search gives the draws."""
        return f"thompson draw {self.seed}"

    def draw(self, kind: str, verdicts: tuple[int, int], now: float) -> float:
        """Return the draw of one kind in one search, in [0, 1].

        Args:
            kind: of the memories.
            verdicts: on the kind, good and bad.
            now: the search's clock, seconds.

        Raises:
            ValueError: there is no seed.
        """
        if self.seed is None:
            msg = "seed: None draws nothing"
            raise ValueError(msg)
        good, bad = verdicts
        told = repr((self.seed, kind, good, bad, float(now)))
        from random import Random  # noqa: PLC0415 - few profiles draw

        return Random(told).betavariate(1 + good, 1 + bad)

    def values(self, good: npt.NDArray[Real], bad: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory; with a seed too that of the mean.

        Args:
            good: helpful verdicts on its kind, shape (n,), contiguous, >= 0.
            bad: unhelpful and outdated ones, the same shape and dtype.

        Returns:
            Shape (n,), the dtype of ``good``; NaN where either is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or the two differ.
            ValueError: a count below 0 or infinite, another shape, or not contiguous.
        """
        return strict_values("thompson_boost", numbers_of(self), good=good, bad=bad)


def verdict_tables(
    factors: Sequence[Factor], verdicts: Verdicts, kinds: Sequence[str], now: float
) -> list[tuple[str, list[float], float]]:
    """Return what the verdicts say of each kind: signal, a value a code, and that of any other code.

    Args:
        factors: a profile's.
        verdicts: on the kinds.
        kinds: the words for the codes.
        now: the clock, seconds.
    """
    asked = [factor for factor in factors if isinstance(factor, Thompson)]
    if not asked or not verdicts:
        return []
    told = [(kind, verdicts.get(kind, (0, 0))) for kind in kinds]
    tables = [
        ("good", [float(good) for _, (good, _) in told], 0.0),
        ("bad", [float(bad) for _, (_, bad) in told], 0.0),
    ]
    for factor in asked:
        if factor.seed is not None:
            drawn = [factor.draw(kind, pair, now) for kind, pair in told]
            tables.append((factor.signal, drawn, 0.5))
    return tables


def _is_seed(value: object) -> bool:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and 0 <= value <= _LARGEST_SEED  # type: ignore[operator]
