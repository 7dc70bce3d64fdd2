"""What is true of the whole network, whichever node shows it."""
