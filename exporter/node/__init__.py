"""One node: requests to it, what its answers mean, and how it is spared."""
