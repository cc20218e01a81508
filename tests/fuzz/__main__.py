"""Fuzz targets: ``python -m tests.fuzz NAME --seconds 3600 --folder F``; ``all``, or several names.

A campaign goes on where the last one in its folder ended. Findings are in ``F/NAME/findings``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz import native
from tests.fuzz.campaign import Report, run
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Run the campaigns and print the figures; exit 0 when none found anything."""
    names = (*native.NATIVE, *TARGETS)
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "names", nargs="+", choices=("all", *names), metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--folder", type=Path, required=True, help="of the campaigns")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    is_clean = True
    for name in names if "all" in given.names else given.names:
        if name in TARGETS:
            report = run(
                name,
                TARGETS[name],
                given.folder,
                seed=given.seed,
                seconds=given.seconds,
                tell=_tell,
            )
        else:
            report = native.run(name, given.folder, seed=given.seed, seconds=given.seconds)
        lines = [f"{report}", *(f"  {place}: {said}" for place, said in report.findings.items())]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        is_clean &= not report.findings
    return 0 if is_clean else 1


def _tell(report: Report) -> None:
    sys.stderr.write(f"{report}\n")


if __name__ == "__main__":
    sys.exit(main())
