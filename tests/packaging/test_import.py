"""What ``import oneiros`` costs: next to nothing, whatever the package stands on."""

from __future__ import annotations

import subprocess
import sys

import apsw
import pytest

import oneiros

HEAVY = (
    *("numpy", "faiss", "apsw", "pyroaring", "Stemmer"),
    *("rich", "typer", "click", "pydantic"),
    *("dataclasses", "inspect", "typing", "re", "enum", "json", "datetime", "pathlib"),
    "oneiros._core",
)


def new_modules(code: str) -> set[str]:
    """Return the names of the modules that ``code`` loads into a fresh interpreter."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(told.stdout.split())


def test_import_loads_the_face_and_nothing_behind_it() -> None:
    loaded = new_modules("import oneiros")
    assert "oneiros" in loaded
    assert {name for name in loaded if name.split(".")[0] == "oneiros"} == {"oneiros"}
    assert loaded.isdisjoint(HEAVY)


def test_the_command_parses_no_argument_at_import() -> None:
    loaded = new_modules("import oneiros.cli")
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", [name for name in oneiros.__all__ if name != "__version__"])
def test_every_public_name_is_there_on_first_use(name: str) -> None:
    assert getattr(oneiros, name) is not None
    assert name in dir(oneiros)


def test_sqlite_is_one_that_keeps_its_commits() -> None:
    # 3.7.0 to 3.51.2 can lose commits in WAL mode; apsw brings its own, whatever the system has.
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    assert version >= (3, 51, 3)
