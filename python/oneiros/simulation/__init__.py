"""Simulation of a year of memories on the virtual clock, for any profile.

A :class:`~oneiros.simulation.script.Script` lists memories and the facts that they state, either
generated or read from a file. A :class:`~oneiros.simulation.workload.Workload` adds times and
questions, which makes a :class:`~oneiros.simulation.world.World`: it knows what is true and still
relevant at any time. :func:`oneiros.simulation.run.simulate` runs it on an engine, which knows
neither, and measures what is forgotten.
"""
