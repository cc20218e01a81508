"""How results came to their scores, and why a memory is not among them."""
