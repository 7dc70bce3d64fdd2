"""The control endpoint: what it takes and shows, a module for each thing it changes."""
