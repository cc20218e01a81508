"""A profile and its parts: channels, fusion, factors, selection, reinforcement.

All are frozen declarations; :meth:`oneiros.scoring.profile.Profile.compile` turns them into the
core's plan, which does the work.
"""
