"""The Thompson boost of OMEGA, by the verdicts on a kind. Source: docs/systems/omega.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import LARGEST_WEIGHT
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import WEIGHT, Range

if TYPE_CHECKING:
    from oneiros.scoring.factor import Factor

__all__ = ["Thompson", "Verdicts", "verdict_tables"]

Verdicts = Mapping[str, tuple[int, int]]
"""Kind -> good and bad verdicts on memories of it."""

_LARGEST_SEED = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Thompson(KernelFactor):
    """Multiply by a factor of the verdicts on memories of the same kind.

    ``factor = base + spread * mean`` of Beta(1 + good, 1 + bad), 1 below ``least`` observations.
    Good counts the helpful verdicts on the kind, bad the unhelpful and outdated ones, as counted by
    ``Engine.feedback``. With a ``seed``, a draw from that distribution replaces its mean, so that
    kinds with few verdicts get their chance (Thompson sampling). A draw depends only on seed, kind,
    verdicts and the search's ``now``, so the same search gives the same bits.

    Source: docs/systems/omega.md O15 (ours; the source's module is not public).
    """

    name: ClassVar[str] = "thompson"
    reads_verdicts: ClassVar[bool] = True
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "thompson_boost"
    ranges: ClassVar[Mapping[str, Range]] = {
        "base": WEIGHT,
        "spread": WEIGHT,
        "least": (0.0, LARGEST_WEIGHT, True),
    }
    others: ClassVar[tuple[str, ...]] = ("seed",)

    base: float = 0.8
    """Factor at a mean of 0, 0 to 1e6."""

    spread: float = 0.4
    """Gain from a mean of 0 to a mean of 1, 0 to 1e6."""

    least: float = 10.0
    """Number of observations from which the boost applies, > 0 to 1e6."""

    seed: int | None = None
    """Seed of the draws, 0 to 2^53; None: use the mean."""

    def __post_init__(self) -> None:
        KernelFactor.__post_init__(self)
        if self.seed is not None and not _is_seed(self.seed):
            msg = f"seed: must be an integer in 0 to 2^53, or None, got {self.seed!r}"
            raise ValueError(msg)

    def emit_base(self, program: ProgramBuilder) -> int:
        good, bad = program.signal("good", 0.0), program.signal("bad", 0.0)
        boost = program.call(self.kernel, good, bad, **self.parameters())
        if self.seed is None:
            return boost
        drawn = program.call(
            "scale", program.signal(self.signal, 0.5), factor=self.spread, offset=self.base
        )
        few = program.call("greater", program.constant(self.least), program.call("add", good, bad))
        return program.call("select", few, boost, drawn)  # below `least` the boost is 1

    @property
    def signal(self) -> str:
        """The name of the signal with the draws."""
        return f"thompson draw {self.seed}"

    def draw(self, kind: str, verdicts: tuple[int, int], now: float) -> float:
        """Return the draw of one kind in one search, in [0, 1].

        Args:
            kind: the kind.
            verdicts: good and bad verdicts on the kind.
            now: the time of the search, seconds since the Unix epoch.

        Raises:
            ValueError: ``seed`` is None.
        """
        if self.seed is None:
            msg = "seed: None draws nothing"
            raise ValueError(msg)
        good, bad = verdicts
        key = repr((self.seed, kind, good, bad, float(now)))
        return Random(key).betavariate(1 + good, 1 + bad)


def verdict_tables(
    factors: Sequence[Factor], verdicts: Verdicts, kinds: Sequence[str], now: float
) -> list[tuple[str, list[float], float]]:
    """Return the signals of the Thompson factors as tables by code of the kind.

    Args:
        factors: factors of a profile.
        verdicts: good and bad verdicts by kind.
        kinds: the kind of each code.
        now: the time of the search, seconds since the Unix epoch.

    Returns:
        Per signal: its name, its value for each code, and its value for any other code.
    """
    boosts = [factor for factor in factors if isinstance(factor, Thompson)]
    if not boosts or not verdicts:
        return []
    by_code = [(kind, verdicts.get(kind, (0, 0))) for kind in kinds]
    tables = [
        ("good", [float(good) for _, (good, _) in by_code], 0.0),
        ("bad", [float(bad) for _, (_, bad) in by_code], 0.0),
    ]
    for factor in boosts:
        if factor.seed is not None:
            drawn = [factor.draw(kind, pair, now) for kind, pair in by_code]
            tables.append((factor.signal, drawn, 0.5))
    return tables


def _is_seed(value: object) -> bool:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and 0 <= value <= _LARGEST_SEED  # type: ignore[operator]
