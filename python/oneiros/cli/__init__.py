"""The ``oneiros`` command: memories in and out, found, scored and checked.

Light on import: typer, rich and the engine are loaded when a command runs.

Streams and exit codes, the same for every command: results on stdout (with ``--json`` exactly one
JSON document), progress and messages on stderr; 0 done, 1 failed, 2 wrong usage or input,
130 interrupted.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process, then exit."""
    try:
        from oneiros.cli.application import application  # noqa: PLC0415  (keeps the import light)

        application()
    except KeyboardInterrupt:  # while all this was loaded; a command tells its own
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
