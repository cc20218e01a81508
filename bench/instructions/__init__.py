"""Instructions of fixed searches, counted by callgrind."""
