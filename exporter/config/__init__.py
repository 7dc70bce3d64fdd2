"""What the operator writes, checked: file, environment and flags."""
