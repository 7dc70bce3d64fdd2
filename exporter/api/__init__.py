"""What several collectors ask a scan, a ledger or a validator."""
