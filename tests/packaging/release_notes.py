"""Print a version's section of the changelog: ``python -m tests.packaging.release_notes 0.1.0``.

Run by ``nox -s release_notes``; standard library only.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

__all__ = ["notes"]

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
_HEADING = re.compile(r"^## +(?P<version>\S+).*\n", re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """Return the text below the heading of a version, without the heading.

    Args:
        changelog: Markdown with a heading "## VERSION" for each version, after which a date may
            stand.
        version: such as "0.1.0", or "Unreleased".

    Raises:
        ValueError: the changelog has no such section, or an empty one.
    """
    headings = list(_HEADING.finditer(changelog))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading["version"].lower() == version.lower():
            text = changelog[heading.end() : following.start() if following else None].strip()
            if not text:
                msg = f"version: the changelog's section {heading['version']} is empty"
                raise ValueError(msg)
            return text
    known = ", ".join(heading["version"] for heading in headings)
    msg = f"version: expected one of {known}, got {version!r}"
    raise ValueError(msg)


def main() -> int:
    """Print the notes; exit 2 for a version that the changelog does not have."""
    if len(sys.argv) != 2:
        sys.stderr.write("error: one version, such as 0.1.0\n")
        return 2
    try:
        text = notes(CHANGELOG.read_text("utf-8"), sys.argv[1])
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
