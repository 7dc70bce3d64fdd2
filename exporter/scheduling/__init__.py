"""Which watches there are, when they run, and what is known of each."""
