"""Vectors of rows, searched by cosine: exactly while few, through an HNSW graph when many."""
