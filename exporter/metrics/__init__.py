"""What a metric is, the counters, and what the exporter says of itself."""
