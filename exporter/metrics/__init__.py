"""What a metric is, the counters, and the exporter's metrics of itself."""
