"""Use an installed Oneiros the way a first user does; run by ``nox -s packages``.

Needs nothing but the installation: ``python -I smoke.py``. With ``bare``, of a package without extras.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import oneiros

COMMAND = Path(sys.executable).parent / "oneiros"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [str(COMMAND), *arguments], check=False, capture_output=True, text=True, cwd="/"
    )


def ran(*arguments: str) -> str:
    """Return what the command printed."""
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def use_the_library() -> None:
    """Import, add, search by words and by vector, and reopen."""
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


def use_the_command() -> None:
    """Add, search, ask for help and run the demo."""
    with tempfile.TemporaryDirectory() as folder:
        store = ("--store", str(Path(folder) / "mind.db"))
        ran("add", "Grace drinks tea", *store)
        assert "Grace" in ran("search", "tea", *store)
    for command in ("demo", "import", "search", "get", "stats", "doctor"):
        assert command in ran("--help")
    assert ran("--version").strip() == oneiros.__version__
    assert "recall" in ran("demo").lower()


def main() -> None:
    """Use the library, and the command; without extras, that it names the one it needs."""
    use_the_library()
    if "bare" in sys.argv[1:]:
        done = run("demo")
        assert (done.returncode, done.stdout) == (1, "")
        assert "run: pip install 'oneiros[cli]'" in done.stderr
    else:
        use_the_command()
    sys.stdout.write(f"oneiros {oneiros.__version__} from {oneiros.__file__}: works\n")


if __name__ == "__main__":
    main()
