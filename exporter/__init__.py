"""A Prometheus exporter for the nodes of a Canton Network."""

__version__ = "0.1.0"
