"""What people should know of a node although all was read."""

from typing import NamedTuple


class Remark(NamedTuple):
    """What people should know although the run is ok. A remark is a new one only if its summary changed."""

    summary: str
    """What is the matter, in words that stay the same as long as it is the same."""
    detail: str = ""
    """The node's message, or figures: they may differ from run to run."""

    def __str__(self) -> str:
        return f"{self.summary}: {self.detail}" if self.detail else self.summary
