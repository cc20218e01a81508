# ruff: noqa: T201 - a command
"""The figures of simulated lives in the documentation, made again.

Each section prints a table in Markdown; its title names the page that shows it::

    nice -n 10 python -m bench.simulated --plot docs/images/simulated_year.svg     # all
    nice -n 10 python -m bench.simulated rules kinds                               # some
    python -m bench.simulated --seeds 0 --memories 500                             # a quick look

Nothing is fitted here: rules of forgetting are chosen on dated collections, not on simulated lives.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Final

from oneiros import profiles
from oneiros.runtime.dataclasses import dataclass, field, replace
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.phases.reverie import Consolidate, Downscale, Place, Promote, Prune, Scan
from oneiros.scoring.profile import Profile
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.scoring.tables import Table
from oneiros.simulation.figures import Course, Lives
from oneiros.simulation.invented import invent
from oneiros.simulation.plots import drawn
from oneiros.simulation.run import simulate
from oneiros.simulation.script import Script, demo_script
from oneiros.simulation.workload import Workload
from oneiros.simulation.world import World

__all__ = ["BY_KIND", "RAILS", "SECTIONS", "Simulations", "with_limits"]

_NAMES: Final = ("oneiros", "reverie", "cognitive", "omega", "mnemosyne", "ciar")

RAILS: Final = SafetyRails(
    youngest_days=7.0, most_pruned=0.1, activity_times=("updated_at", "learned_at")
)
"""Rails that do not look at kinds, importance or priority."""

BY_KIND: Final = Table(
    {
        "session": 75.0,
        "bug": 120.0,
        "config": 180.0,
        "decision": 180.0,
        **dict.fromkeys(("reference", "heuristic", "directive", "preference"), float("inf")),
    }
)
"""Days without use after which memories of a kind are removed."""


def with_limits(limits_days: Table, other_days: float, name: str) -> Profile:
    """Return the default profile with Reverie's phases, limits of staleness, and :data:`RAILS`.

    Nothing is removed for being weak.
    """
    limits = {"limits_days": limits_days, "other_limit_days": other_days}
    phases = (
        *(Scan(), Consolidate(), Downscale()),
        Prune(strength_floor=0.0, **limits),  # type: ignore[arg-type]
        Place(below_strength=0.0, **limits),  # type: ignore[arg-type]
        Promote(**limits),  # type: ignore[arg-type]
    )
    return profiles.get("oneiros").replace(name=name, phases=phases, rails=RAILS)


def half_kept() -> Profile:
    """Return the default profile with a budget of half of the memories (H15)."""
    default = profiles.get("oneiros")
    phases = tuple(
        replace(phase, share=0.5) if isinstance(phase, Budget) else phase
        for phase in default.phases
    )
    return default.replace(name="oneiros half kept", phases=phases)


@dataclass(slots=True)
class Simulations:
    """Runs lives, and keeps each, since several tables show it."""

    seeds: Sequence[int]
    memories: int
    plot: Path | None = None
    _kept: dict[tuple[object, ...], Course] = field(default_factory=dict)

    def lives(
        self,
        profile: Profile | str,
        every: float | None,
        *,
        seeds: Sequence[int] | None = None,
        days: float = 365.0,
        are_dealt: bool = False,
    ) -> Lives:
        """Return the lives of a profile in the worlds of all seeds, or of some.

        Args:
            profile: a profile, or its name.
            every: days between cycles; None: no cycles.
            seeds: None: all.
            days: length of the lives.
            are_dealt: whether the kinds of all memories are dealt out at random.
        """
        chosen = profiles.get(profile) if isinstance(profile, str) else profile
        name = chosen.name
        if every is None:  # the phases of a profile have no influence on a life without dreams
            chosen = chosen.replace(name="awake", phases=(), rails=SafetyRails())
        courses = []
        for seed in self.seeds if seeds is None else seeds:
            key = (chosen, every, seed, days, are_dealt)
            if key not in self._kept:
                world = self.world(seed, days, are_dealt=are_dealt)
                self._kept[key] = simulate(world, chosen, dream_every_days=every)
            courses.append(replace(self._kept[key], profile=name))
        return Lives(courses)

    def world(self, seed: int, days: float, *, are_dealt: bool = False) -> World:
        """Return the world of a seed, its kinds dealt out at random or not."""
        workload = Workload(days=days, memories=self.memories, seed=seed)
        if not are_dealt:
            return workload.world()
        script, chance = invent(workload, Random(seed)), Random(f"{seed} kinds")
        kinds = [line.record["kind"] for line in script.lines]
        chance.shuffle(kinds)
        of_fact: dict[int, str] = {}  # a fact keeps the kind of its first statement
        lines = []
        for line, kind in zip(script.lines, kinds, strict=True):
            kept = kind if line.fact is None else of_fact.setdefault(line.fact, kind)
            lines.append(line._replace(record={**line.record, "kind": kept}))
        return workload.world(Script(lines, script.facts))


def _row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _heads(*heads: str) -> None:
    _row(*heads)
    print(f"|{'---|' * len(heads)}", flush=True)


def _share(value: float) -> str:
    """Return a share with three digits, as the documentation writes it."""
    return f"{value:.3f}".removeprefix("0")


def _shares(awake: Lives, dreaming: Lives) -> tuple[str, ...]:
    """Return cells: the share removed, recall@10 and stale@1 without dreams and with them."""
    both = (awake, dreaming)
    return (
        f"{100.0 * dreaming.at_the_end('removed'):.1f} %",
        ", ".join(_share(each.over_time("found")) for each in both),
        ", ".join(_share(each.over_time("stale_at_rank_1")) for each in both),
    )


def _profiles(run: Simulations) -> None:
    """docs/guide/dreaming.md: every profile, a cycle a day."""
    _heads(
        *("profile", "cycles", "recalled", "archived", "deleted", "removed", "recall@10"),
        *("stale@1", "stale@10", "p50, p99 of a search, ms"),
    )
    drawn_lives = []
    lived = [(name, profiles.get(name)) for name in _NAMES]
    lived.insert(1, ("oneiros half kept", half_kept()))
    for name, profile in lived:
        for every in (None, 1.0) if profile.phases else (None,):
            if every is None and name == "oneiros half kept":
                continue
            life = run.lives(profile, every)
            drawn_lives.append(life)
            counts = (life.at_the_end(figure) for figure in ("active", "archived", "deleted"))
            shares = ("found", "stale_at_rank_1", "stale_in_top_k")
            _row(
                "" if every else name,
                life.courses[0].dreams if every else "none",
                *(f"{count:.0f}" for count in counts),
                f"{100.0 * life.at_the_end('removed'):.1f} %",
                *(_share(life.over_time(figure)) for figure in shares),
                f"{life.at_the_end('p50_ms'):.2f}, {life.at_the_end('p99_ms'):.2f}",
            )
    if run.plot is not None:
        run.plot.write_bytes(drawn(drawn_lives, run.plot.suffix.removeprefix(".")))


def _rules(run: Simulations) -> None:
    """docs/systems/house.md: Reverie's numbers within the rails, and half kept by worth."""
    heads = ("removed", "recall@10", "stale@1")
    _heads("seed", *heads, *(f"H15: {head}" for head in heads))
    default = profiles.get("oneiros")
    reverie = default.replace(name="reverie in rails", phases=profiles.get("reverie").phases)
    for seed in run.seeds:
        awake = run.lives(default, None, seeds=[seed])
        cells = (
            _shares(awake, run.lives(each, 1.0, seeds=[seed])) for each in (reverie, half_kept())
        )
        _row(seed, *(cell for shares in cells for cell in shares))


def _kinds(run: Simulations) -> None:
    """docs/simulation.md: limits by kind and one limit for all kinds, without rails by kind."""
    heads = ("removed", "recall@10", "stale@1")
    _heads("limit in days without use", *heads, *(f"kinds dealt: {head}" for head in heads))
    variants = [with_limits(BY_KIND, 180.0, "by kind")]
    variants += [with_limits(Table({}), days, f"{days:g}") for days in (120.0, 180.0)]
    for profile in variants:
        cells = (
            _shares(*(run.lives(profile, every, are_dealt=are_dealt) for every in (None, 1.0)))
            for are_dealt in (False, True)
        )
        _row(profile.name, *(cell for shares in cells for cell in shares))


def _cycles(run: Simulations) -> None:
    """docs/simulation.md names it: how often cycles run."""
    _heads("days between cycles", "removed", "recall@10", "stale@1")
    awake = run.lives("oneiros", None)
    for every in (1.0, 7.0, 30.0):
        _row(f"{every:g}", *_shares(awake, run.lives(half_kept(), every)))


def _years(run: Simulations) -> None:
    """docs/simulation.md: the same number of memories in four years, a cycle every four days."""
    _heads("profile", "removed", "recall@10", "stale@1")
    awake, dreaming = (run.lives(half_kept(), every, days=1461.0) for every in (None, 4.0))
    _row("oneiros half kept", *_shares(awake, dreaming))


def _demo(run: Simulations) -> None:
    """docs/guide/dreaming.md: the demo's memories, one seed."""
    _heads("profile", "removed", "recall@10", "stale@1")
    world = Workload(seed=run.seeds[0]).world(demo_script())
    awake, dreaming = (
        Lives([simulate(world, half_kept(), dream_every_days=every)]) for every in (None, 1.0)
    )
    _row("oneiros half kept", *_shares(awake, dreaming))


SECTIONS: Final[dict[str, Callable[[Simulations], None]]] = {
    "profiles": _profiles,
    "rules": _rules,
    "cycles": _cycles,
    "kinds": _kinds,
    "years": _years,
    "demo": _demo,
}


def _seeds(text: str) -> list[int]:
    return [int(seed) for seed in text.split(",")]


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--seeds", type=_seeds, default=[0, 1, 2, 3, 4], help="0,1,...")
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--plot", type=Path, help="draw the profiles as .svg or .png")
    given = parser.parse_args(None if arguments is None else list(arguments))
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"section: must be among {', '.join(SECTIONS)}, got {', '.join(unknown)}")
    run = Simulations(given.seeds, given.memories, given.plot)
    for name in given.sections or SECTIONS:
        section = SECTIONS[name]
        print(f"\n{section.__doc__}\n{given.memories} memories, seeds {given.seeds}\n", flush=True)
        started = perf_counter()
        section(run)
        print(f"\n{name}: {perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
