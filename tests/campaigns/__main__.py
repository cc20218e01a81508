"""Long campaigns: ``python -m tests.campaigns NAME --count 10000 --folder F --seed 1``.

A campaign goes on where the last one in its folder ended, with that one's seed.
"""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import suppress
from pathlib import Path

from tests.campaigns.campaign import Report, run
from tests.campaigns.registry import CAMPAIGNS


def main() -> int:
    """Run a campaign and print its figures, after Ctrl-C those so far; exit 0 without a problem."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            f"{name}: {campaign.run.__doc__} {campaign.usual:,} {campaign.unit} by default."
            for name, campaign in CAMPAIGNS.items()
        ),
    )
    parser.add_argument("name", choices=CAMPAIGNS)
    parser.add_argument(
        "--folder", type=Path, required=True, help="of the campaigns, on the disk to test"
    )
    parser.add_argument("--count", type=int, help="cases in all, with those of earlier runs")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no part begins after them")
    parser.add_argument("--seed", type=int, default=1, help="of a new campaign")
    given = parser.parse_args()
    campaign = CAMPAIGNS[given.name]
    report = Report(given.name, campaign.unit, given.seed)

    def tell(found: Report) -> None:
        nonlocal report
        report = found
        sys.stderr.write(f"{found}\n")

    with suppress(KeyboardInterrupt):
        report = run(
            given.name,
            campaign,
            given.folder,
            seed=given.seed,
            count=campaign.usual if given.count is None else given.count,
            seconds=given.seconds,
            tell=tell,
        )
    sys.stdout.write("\n  ".join([f"{report}", *report.problems]) + "\n")
    return 0 if report.cases and not report.problems else 1


if __name__ == "__main__":
    sys.exit(main())
