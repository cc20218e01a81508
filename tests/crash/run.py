"""Kill a writer many times: ``python -m tests.crash.run --kills 1000`` ."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.crash.harness import Report, run


def main() -> int:
    """Run the kills and print the figures, after Ctrl-C those so far; exit 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument("--folder", type=Path, help="on the disk to test; default: a temporary one")
    given = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, suppress(KeyboardInterrupt):
        run(
            Path(folder),
            kills=given.kills,
            seed=given.seed,
            durability=given.durability,
            report=report,
            tell=_tell,
        )
    sys.stdout.write(f"{report}\n")
    for line in [*report.lost, *report.torn, *report.problems]:
        sys.stdout.write(f"  {line}\n")
    return 0 if report.is_clean() and report.acknowledged else 1


def _tell(report: Report) -> None:
    sys.stderr.write(f"{report}\n")


if __name__ == "__main__":
    sys.exit(main())
