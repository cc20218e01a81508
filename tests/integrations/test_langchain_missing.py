"""The adapters of LangChain are imported only when they are named, and say which extra they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = {"langchain": "langchain_core", "langgraph": "langgraph"}


def test_oneiros_imports_none_of_them() -> None:
    script = """
import sys
import oneiros
with oneiros.Engine(":memory:") as engine:
    engine.add("ant")
    engine.search("ant")
import oneiros.integrations
assert not {name.partition("_")[0] for name in sys.modules} & {"langchain", "langgraph"}
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", MODULES)
def test_a_missing_package_is_named(name: str) -> None:
    package = MODULES[name]
    script = f"""
import sys

class Blocker:
    @staticmethod
    def find_spec(name, *_):
        if name == {package!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Blocker)
try:
    import oneiros.integrations.{name}
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert f"pip install 'oneiros[{name}]'" in done.stdout
