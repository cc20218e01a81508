"""Entry point of ``python -m oneiros``, the same as the ``oneiros`` command."""

from oneiros.cli import main

main()
