"""Fuzz targets and their campaigns: ``python -m tests.fuzz NAME --seconds N --folder F``."""
