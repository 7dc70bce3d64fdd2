"""What is fast, what it costs, and what it costs beside others: ratios within one run, as machines are noisy."""
