"""The engine from outside: against plain oracles, and by its laws."""
