"""What a question says: what it is after, which times it names, of how many parts it is."""
