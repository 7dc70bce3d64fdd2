"""A pretend Canton network on loopback, for the demo and the tests; it shares no code with the rest of the exporter."""

from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import (
    Cut,
    Delay,
    Disconnected,
    Down,
    Fault,
    Frozen,
    Garbage,
    Html,
    Late,
    Quiet,
    Skew,
    Status,
)
from exporter.simulator.network import Kind, Network, NodeSpec
from exporter.simulator.node import Node

__all__ = [
    "Cut",
    "Delay",
    "Dialect",
    "Disconnected",
    "Down",
    "Fault",
    "Frozen",
    "Garbage",
    "Html",
    "Kind",
    "Late",
    "Network",
    "Node",
    "NodeSpec",
    "Quiet",
    "Skew",
    "Status",
]
