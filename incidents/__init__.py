"""What happens on such networks, played against the real exporter, a real Prometheus and the rules, in less time."""
