"""A year in a minute: made-up lives of a memory, run on the virtual clock against any profile.

A :class:`~oneiros.simulation.script.Script` is what is told and which facts it states, invented or
read from a file; a :class:`~oneiros.simulation.workload.Workload` gives it times and questions and
makes a :class:`~oneiros.simulation.world.World` of it, which knows what is true and what is still
relevant at any time. :func:`oneiros.simulation.run.simulate` runs it on an engine that knows neither,
and measures what is forgotten.
"""
