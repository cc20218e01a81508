"""Tests of channels, fusion, factors, kernels and the plan."""
