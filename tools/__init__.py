"""What prints the files that are made from other people's: facts of theirs, in a form of our own."""
