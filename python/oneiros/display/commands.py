"""Commands about a memory that a person copies into a shell."""

from __future__ import annotations

import re
import shlex

from oneiros.display.escaping import OBEYED

__all__ = ["restore_command"]


def restore_command(id: str, path: str | None = None) -> str | None:
    """Return the command that restores a memory; None if it cannot be copied into a shell safely.

    Args:
        id: of the memory.
        path: of the store; None: the command uses the one that its settings name.

    >>> from oneiros.display.commands import restore_command
    >>> print(restore_command("rm -r", "agent.db"))
    oneiros restore --store agent.db -- 'rm -r'
    """
    if re.search(OBEYED, id) or "\n" in id or "\t" in id:
        return None
    store = [] if path is None else ["--store", path]
    return shlex.join(["oneiros", "restore", *store, "--", id])
