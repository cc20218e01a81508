"""Integrations with other libraries, each imported on first use."""
