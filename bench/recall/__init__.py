"""A whole search, every stage of it, beside what is glued together of parts."""
