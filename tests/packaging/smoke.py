"""Use an installed Oneiros the way a first user does; run by ``nox -s packages``.

Needs nothing but the installation: ``python -I smoke.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import oneiros

COMMAND = Path(sys.executable).parent / "oneiros"


def ran(*arguments: str) -> str:
    """Return what the command printed."""
    done = subprocess.run(
        [str(COMMAND), *arguments], check=True, capture_output=True, text=True, cwd="/"
    )
    return done.stdout


def main() -> None:
    """Import, add, search by words and by vector, reopen, and run the command."""
    installed = Path(oneiros.__file__).is_relative_to(sys.prefix)
    assert installed, f"{oneiros.__file__} is not the installed one"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mind.db"
        with oneiros.Engine(path) as mind:
            mind.add("Ada likes her coffee black", id="coffee", embedding=[1.0, 0.0])
            mind.add("Grace drinks tea", id="tea", embedding=[0.0, 1.0])
        with oneiros.Engine(path) as mind:
            assert mind.search("black coffees", k=1).ids == ["coffee"]
            assert mind.search("zzz", k=1, embedding=[0.1, 1.0]).ids == ["tea"]
        index = oneiros.LexicalIndex()
        index.add(7, "the sky is blue")
        assert index.search("blue skies").ids.tolist() == [7]
        assert "tea" in ran("search", "tea", "--store", str(path))
    for command in ("demo", "import", "search", "get", "stats", "doctor"):
        assert command in ran("--help")
    assert ran("--version").strip() == oneiros.__version__
    assert "recall" in ran("demo").lower()
    sys.stdout.write(f"oneiros {oneiros.__version__} from {oneiros.__file__}: works\n")


if __name__ == "__main__":
    main()
