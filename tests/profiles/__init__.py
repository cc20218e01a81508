"""Tests of profiles as data and by name."""
