"""Where settings are looked for. Flags and settings share it, and flags are read without all that settings need."""

from pathlib import Path

PREFIX = "CANTON_EXPORTER_"
"""What the name of each variable begins with."""
DEFAULT_FILE = Path("exporter.yaml")
"""What is read if nothing is named; where the environment names targets, it need not be there."""
