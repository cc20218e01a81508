"""Tests of the columns."""
