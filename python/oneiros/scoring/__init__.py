"""Profiles and their parts: channels, fusion, factors, selection, reinforcement.

All are frozen declarations; :meth:`oneiros.scoring.profile.Profile.compile` converts them into the
core's plan.
"""
