"""Kill a writer many times: ``python -m tests.crash.run --kills 1000`` ."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.harness import run


def main() -> int:
    """Run the kills and print the figures; exit 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument("--folder", type=Path, help="on the disk to test; default: a temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        report = run(Path(folder), kills=given.kills, seed=given.seed, durability=given.durability)
    sys.stdout.write(f"{report}\n")
    for line in [*report.lost, *report.torn, *report.problems]:
        sys.stdout.write(f"  {line}\n")
    return 0 if report.is_clean() and report.acknowledged else 1


if __name__ == "__main__":
    sys.exit(main())
