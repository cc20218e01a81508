"""The tests of Oneiros."""
