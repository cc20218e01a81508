"""The ``oneiros`` command: memories in and out, found, scored and checked.

Light on import: typer, rich and the engine are loaded when a command runs. The first two come with
``pip install 'oneiros[cli]'``.

Streams and exit codes, the same for every command: results on stdout (with ``--json`` exactly one
JSON document), progress and messages on stderr; 0 done, 1 failed, 2 wrong usage or input,
130 interrupted.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process, then exit.

    Where typer or rich is not installed, one line on stderr names the extra, and the exit code is 1.
    """
    try:
        from oneiros._lazy import require_installed  # noqa: PLC0415  (keeps the import light)

        for module in ("typer", "rich"):
            require_installed(module, "cli")
        from oneiros.cli.application import application  # noqa: PLC0415

        application()
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:  # while all this was loaded; a command tells its own
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
