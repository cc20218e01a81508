"""Speed beside other libraries, on the machine at hand.

:class:`~oneiros.benchmark.comparison.EngineComparison` draws memories from a seed, builds each engine that
is installed in a process of its own, lets the engines take turns, and checks what they find against
exact answers. An engine that is absent or fails is named with the reason. ``oneiros bench`` prints the
result; ``python -m bench.peers`` of the repository runs the same over other texts.

A rival is a class of one file in ``rivals`` with a line in ``rivals/__init__.py``.
"""
