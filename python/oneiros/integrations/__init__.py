"""Oneiros beside other libraries, each imported when it is asked for."""
