"""Plain English in code, docs and messages: ``python -m tests.packaging.check_prose`` lists what is not.

Words of a private dialect, and docstrings that open with a question word, are refused everywhere but
in data: the sample sentences of simulated lives, the sources' own pages in docs/systems.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["complaints", "files"]

ROOT = Path(__file__).parents[2]
WORDS = (
    *("told", "heard", "whoever", "nobody", "anybody", "anew"),
    *("so many words", "of one's own", "who asks", "what asks", "not be had"),
    *("lowers it not", "dreams not"),
)
BANNED = re.compile(rf"\b({'|'.join(WORDS)})\b|^\s*\"\"\"(What|Which|Of|How|Who)\s", re.MULTILINE)
SCANNED = (
    *("python/oneiros/**/*.py", "python/oneiros/*.pyi", "cpp/**/*.h", "cpp/**/*.cpp"),
    *(
        "*.md",
        "docs/**/*.md",
        "bench/*.md",
        "bench/**/*.py",
        "noxfile.py",
        ".ci/run",
        "CMakeLists.txt",
    ),
)
DATA = (
    "docs/systems",  # the published systems in their own words
    "python/oneiros/simulation/invented.py",  # sentences of invented lives
    "CHANGELOG.md",
)


def files() -> list[Path]:
    """Return the files that are read, sorted."""
    found = {path for pattern in SCANNED for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path for path in found if not str(path.relative_to(ROOT)).startswith(DATA))


def complaints(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the words of each place that is not plain English."""
    for match in BANNED.finditer(text):
        words = match.group(0).strip()
        place = match.start() + match.group(0).index(words[0])
        yield text.count("\n", 0, place) + 1, words


def main() -> int:
    count = 0
    for path in files():
        for line, words in complaints(path.read_text(encoding="utf-8")):
            sys.stdout.write(f"{path.relative_to(ROOT)}:{line}: {words}\n")
            count += 1
    sys.stdout.write(f"{count} places are not plain English\n" if count else "plain English\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
