"""``oneiros mcp`` as far as it needs no client; tests/integrations/mcp has the rest."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import oneiros.integrations
from tests.cli.conftest import Run


def test_a_missing_package_is_named(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocker:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "mcp":
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)

    loaded = [name for name in sys.modules if name.partition(".")[0] == "mcp"]
    for name in [*loaded, "oneiros.integrations.mcp"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(oneiros.integrations, "mcp", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocker, *sys.meta_path])
    done = run("mcp", "--store", store)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "pip install 'oneiros[mcp]'" in done.stderr


def test_a_new_store_is_announced_once_it_is_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Path] = []
    server = SimpleNamespace(
        make_server=lambda tools: tools,
        serve_stdio=lambda _tools: served.append(tmp_path / "agent.db"),
    )
    monkeypatch.setitem(sys.modules, "oneiros.integrations.mcp", server)
    monkeypatch.setattr(oneiros.integrations, "mcp", server, raising=False)
    path = tmp_path / "agent.db"
    done = run("mcp", "--store", path)
    assert done == (0, "", f"new store: {path}\n")
    assert path.is_file()
    assert run("mcp", "--store", path) == (0, "", "")
    assert served == [path, path]
    missing = tmp_path / "absent" / "agent.db"
    done = run("mcp", "--store", missing)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {missing}: No such file or directory\n"


def test_help_needs_no_package_and_names_the_options(run: Run) -> None:
    done = run("mcp", "--help")
    assert done.exit_code == 0
    options = ("user", "agent", "project", "namespace", "read-only", "http", "token", "budget")
    for option in options:
        assert f"--{option}" in done.stdout
