"""The nodes that answer, a class for each kind, and the operations of scans and validators."""
