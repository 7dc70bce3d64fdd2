"""The command: its subcommands, and what each prints."""
