"""Tests of the formats Oneiros writes."""
