"""What a participant has indexed, and the operations of a ledger that show it."""
