"""Whether objects share any function with the rest of a program: nm OBJECT...

The linker keeps one of several weak symbols of a name. Were it one compiled for wide registers, a
machine without them would stop at it.
"""

from __future__ import annotations

import subprocess
import sys

SHARED = "WwVvu"
"""nm's letters for what may stand in several objects: weak and unique symbols."""


def shared_symbols(nm: str, path: str) -> list[str]:
    listed = subprocess.run(
        [nm, "--format=posix", path], check=True, capture_output=True, text=True
    ).stdout
    symbols = [line.split() for line in listed.splitlines()]
    if not symbols:
        sys.exit(f"{path}: has no symbols")
    return [name for name, letter, *_ in symbols if letter in SHARED]


def main() -> None:
    nm, *paths = sys.argv[1:]
    if not paths:
        sys.exit("no objects to look into")
    found = [(path, name) for path in paths for name in shared_symbols(nm, path)]
    for path, name in found:
        sys.stdout.write(f"{path}: shares {name}\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
