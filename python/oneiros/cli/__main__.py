"""``python -m oneiros.cli``: the same as the ``oneiros`` command."""

from oneiros.cli import main

main()
