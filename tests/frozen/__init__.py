"""Recorded profiles, search results and error messages, and the tests that compare with them."""
