"""The tests of LangGraph's own stores, from its source archives, with our store in their imports.

The archives are downloaded into a folder with the command of :data:`DOWNLOAD`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

__all__ = ["DOWNLOAD", "MODULES", "outcomes", "write_tests"]

ARCHIVES = ("langgraph-checkpoint==4.3.2", "langgraph-checkpoint-sqlite==3.1.2")
SOURCES = ",".join(name.partition("==")[0] for name in ARCHIVES)
DOWNLOAD = ("-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", SOURCES, *ARCHIVES)
"""Arguments of ``python``; ``--dest FOLDER`` follows."""

CHECKPOINT, SQLITE = (name.replace("-", "_").replace("==", "-") for name in ARCHIVES)
MODULES = {
    "embed_test_utils.py": (CHECKPOINT, "embed_test_utils.py"),
    "test_memory_store.py": (CHECKPOINT, "test_store.py"),
    "test_sqlite_store.py": (SQLITE, "test_store.py"),
    "test_async_sqlite_store.py": (SQLITE, "test_async_store.py"),
    "test_ttl.py": (SQLITE, "test_ttl.py"),
}
"""Each module by its name here: the archive and the file in its folder of tests."""

LIFETIMES = "test_ttl.py"
TESTS = [name for name in MODULES if name.startswith("test_")]

IMPORTS = (
    (r"from langgraph\.store\.memory import InMemoryStore", "from peer_store import InMemoryStore"),
    (r"from langgraph\.store\.sqlite(\.aio)? import (\w+)", r"from peer_store import \2"),
    # Names of its SQL, for tests that are left out, and a type.
    (r"from langgraph\.store\.sqlite\.base import (\([^)]*\)|\w+)", "SqliteIndexConfig = dict"),
    (r"from tests\.embed_test_utils", "from embed_test_utils"),
    (r"from tests\.test_store", "from test_sqlite_store"),
)
INI = """\
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
markers =
    flaky: tests of lifetimes
"""


def write_tests(folder: Path, archives: Path) -> None:
    """Write the tests into a folder, with the imports of the stores replaced."""
    texts: dict[str, str] = {}
    for archive, file in MODULES.values():
        with tarfile.open(archives / f"{archive}.tar.gz") as packed:
            member = packed.extractfile(f"{archive}/tests/{file}")
            assert member is not None
            texts[f"{archive}/{file}"] = member.read().decode()
    for name, (archive, file) in MODULES.items():
        text = texts[f"{archive}/{file}"]
        for pattern, replacement in IMPORTS:
            text = re.sub(pattern, replacement, text)
        assert "import InMemoryStore" not in text or "from peer_store import" in text
        assert "langgraph.store.sqlite" not in text
        (folder / name).write_text(text, encoding="utf-8")
    store = Path(__file__).with_name("peer_store.py").read_text(encoding="utf-8")
    (folder / "peer_store.py").write_text(store, encoding="utf-8")
    (folder / "pytest.ini").write_text(INI, encoding="utf-8")


def outcomes(folder: Path) -> dict[str, dict[str, str]]:
    """Run the tests in a folder over our store, "oneiros", and over one that stores nothing, "null".

    Returns "passed" or what failed, by store and module::test[parameters].
    """
    others = [name for name in TESTS if name != LIFETIMES]
    with ThreadPoolExecutor(2) as pool:  # the tests of lifetimes wait for the clock
        lifetimes = pool.submit(_run, folder, "oneiros", [LIFETIMES])
        rest = pool.submit(_run, folder, "oneiros", others)
        # Another try would find nothing either.
        null = pool.submit(_run, folder, "null", TESTS, "-p", "no:pytest-retry")
    return {"oneiros": lifetimes.result() | rest.result(), "null": null.result()}


def _run(folder: Path, store: str, modules: list[str], *options: str) -> dict[str, str]:
    report = folder / f"{store}-{modules[0]}.xml"
    quick = ("-q", "-p", "no:cacheprovider", "--tb=native")
    command = (sys.executable, "-m", "pytest", *quick, f"--junitxml={report}", *options, *modules)
    environment = os.environ | {"PEER_STORE": store, "TMPDIR": str(folder)}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment
    )
    assert done.returncode in (0, 1), f"{done.stdout}{done.stderr}"
    found = {}
    for case in ET.parse(report).iter("testcase"):
        module = case.attrib["classname"].split(".")[0]
        wrong = [child for child in case if child.tag in ("failure", "error", "skipped")]
        name = f"{module}::{case.attrib['name']}"
        found[name] = wrong[0].attrib["message"] if wrong else "passed"
    return found
