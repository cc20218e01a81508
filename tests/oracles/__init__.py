"""Slow, plain re-statements of the formulas, written from docs/systems and never from a kernel."""
