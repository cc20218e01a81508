"""The lexical index side by side with other engines: `python -m bench.peers`."""
