"""What writes files that are not written by hand: from the code, or from facts of the network's own API files."""
