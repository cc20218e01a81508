# ruff: noqa: T201 - a command
"""Record what must not change, compare with the record, or show an answer in full.

::

    python -m tests.frozen.record                     record everything
    python -m tests.frozen.record times messages      record parts: scenarios, "profiles", "messages"
    python -m tests.frozen.record --compare           list the searches that differ from the record
    python -m tests.frozen.record --show times/omega/3

The record holds digests only. ``--show`` prints the whole answer of a search, floats in hexadecimal
too: run it in two checkouts and compare the outputs. If a change is meant to alter some answers,
record those parts again and give the reason in the commit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.frozen.answers import DIGESTS, digests_of, plain_values, profile_digests, run, variants
from tests.frozen.messages import messages
from tests.frozen.scenarios import SCENARIOS, WORLDS, World

__all__ = ["MESSAGES", "PROFILES", "SEARCHES", "differences", "digests_of_profiles", "recorded"]

_FOLDER = Path(__file__).parent
SEARCHES = _FOLDER / "searches.npz"
PROFILES = _FOLDER / "profiles.json"
MESSAGES = _FOLDER / "messages.json"

Digests = npt.NDArray[Any]


def digests_of_profiles() -> dict[str, dict[str, str]]:
    """Return the digests of every named profile and its variants."""
    return {name: profile_digests(profile) for name, profile in variants().items()}


def recorded() -> dict[str, dict[str, Digests]]:
    """Return the recorded digests by scenario and world, in the order of the searches."""
    with np.load(SEARCHES) as archive:
        worlds = archive["worlds"].tolist()
        return {
            name: dict(
                zip(
                    worlds,
                    np.split(archive[name], np.cumsum(archive[f"{name} counts"])[:-1]),
                    strict=True,
                )
            )
            for name in archive.files
            if name != "worlds" and not name.endswith(" counts")
        }


def differences(
    world: World,
    expected: dict[str, dict[str, Digests]],
    *,
    every: int = 1,
    names: Iterable[str] = SCENARIOS,
) -> list[str]:
    """Return the searches whose answers differ from the record, with the parts that differ.

    Args:
        world: the profile and its stores.
        expected: the record, as :func:`recorded` returns it.
        every: run every n-th search only.
        names: the scenarios to run.
    """
    found = []
    for name in names:
        known = expected[name][world.name]
        count = 0
        for place, answer in run(world, name, every):
            count = place + 1
            digests = digests_of(answer)
            if place >= len(known) or known[place].tolist() != digests:
                was = known[place].tolist() if place < len(known) else ()
                fields = [
                    field
                    for field, old, new in zip(DIGESTS.names or (), was, digests, strict=False)
                    if old != new
                ]
                found.append(f"{name}/{world.name}/{place}: {', '.join(fields) or 'new'}")
        if every == 1 and count < len(known):
            found.append(f"{name}/{world.name}/{count}: {len(known) - count} searches are missing")
    return found


def _record_searches(names: Iterable[str]) -> None:
    record = recorded() if SEARCHES.exists() else {}
    for name in [old for old in record if old not in SCENARIOS]:
        del record[name]
    chosen = list(names)
    for world in WORLDS.values():
        for name in chosen:
            digests = [digests_of(answer) for _, answer in run(world, name)]
            record.setdefault(name, {})[world.name] = np.array(digests, DIGESTS)
        world.close()
    arrays: dict[str, Digests] = {"worlds": np.array(list(WORLDS))}
    for name in SCENARIOS:
        of_worlds = [record[name][world] for world in WORLDS]
        arrays[name] = np.concatenate(of_worlds)
        arrays[f"{name} counts"] = np.array([len(part) for part in of_worlds], np.uint16)
    np.savez_compressed(SEARCHES, **arrays)
    print(
        f"{sum(len(arrays[name]) for name in SCENARIOS)} searches, {SEARCHES.stat().st_size} bytes"
    )


def _record_table(path: Path, table: dict[str, Any]) -> None:
    path.write_text(json.dumps(table, indent=1, ensure_ascii=True) + "\n")
    print(f"{len(table)} entries in {path.name}")


def _show(search: str) -> int:
    name, world_name, *place = search.split("/")
    world = WORLDS[world_name]
    for number, answer in run(world, name):
        if place and str(number) != place[0]:
            continue
        print(f"{name}/{world_name}/{number}")
        for heading, part in zip(
            ("answer", "trace", "explanations"), plain_values(answer), strict=True
        ):
            _print_part(heading, part, 1)
    world.close()
    return 0


def _print_part(heading: str, part: object, depth: int) -> None:
    """Print nested tuples: one line for each flat tuple or value."""
    pad = "  " * depth
    if isinstance(part, tuple | list) and any(isinstance(one, tuple | list) for one in part):
        print(f"{pad}{heading}:")
        for number, one in enumerate(part):
            _print_part(str(number), one, depth + 1)
    else:
        print(f"{pad}{heading}: {_text(part)}")


def _text(part: object) -> str:
    if isinstance(part, float):
        return f"{part!r} {part.hex()}"
    if isinstance(part, tuple | list):
        return " | ".join(map(_text, part))
    return repr(part)


def _compare(every: int, worlds: Sequence[str]) -> int:
    expected, count = recorded(), 0
    for name in worlds or WORLDS:
        for line in differences(WORLDS[name], expected, every=every):
            print(line)
            count += 1
        WORLDS[name].close()
    print(f"{count} searches differ")
    return int(count > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen.record")
    parser.add_argument("parts", nargs="*", help="scenarios, 'profiles', 'messages'; default: all")
    parser.add_argument(
        "--show", metavar="SCENARIO/PROFILE[/N]", help="print answers as they are now"
    )
    parser.add_argument("--compare", action="store_true", help="list the searches that differ")
    parser.add_argument("--every", type=int, default=1, help="with --compare: every n-th search")
    parser.add_argument(
        "--profile",
        action="append",
        default=[],
        help="with --compare: one profile; may be repeated",
    )
    given = parser.parse_args(arguments)
    if given.show is not None:
        return _show(given.show)
    if given.compare:
        return _compare(given.every, given.profile)
    known = ("profiles", "messages", *SCENARIOS)
    parts = given.parts or known
    for part in parts:
        if part not in known:
            parser.error(f"no part is called {part!r}; known: {', '.join(known)}")
    if "profiles" in parts:
        _record_table(PROFILES, digests_of_profiles())
    if "messages" in parts:
        _record_table(MESSAGES, messages())
    if scenarios := [name for name in SCENARIOS if name in parts]:
        _record_searches(scenarios)
    return 0


if __name__ == "__main__":
    sys.exit(main())
