"""Vector search by cosine: exact for few vectors, by an HNSW graph for many."""
