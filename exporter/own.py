"""The exporter's own metrics: what it is, how its watches do, and what it asked of each node."""

from exporter.metric import Metric

BUILD_INFO = Metric(
    "canton_exporter_build_info", "The exporter's version, always 1.", ("version", "revision", "pythonversion")
)
SHARD = Metric("canton_exporter_shard", "Which shard of the targets this exporter watches, from 0.")
SHARDS = Metric("canton_exporter_shards", "How many shards the targets are split into, as this exporter was told.")
RELOAD_SUCCESSFUL = Metric(
    "canton_exporter_config_last_reload_successful",
    "1 if the configuration was last read without a fault, 0 after a refused reload.",
)
RELOAD_SUCCESS_TIMESTAMP = Metric(
    "canton_exporter_config_last_reload_success_timestamp_seconds",
    "When the configuration in force was read.",
)

TARGET_INFO = Metric(
    "canton_target_info",
    "A configured node, always 1; the url as far as it may be shown.",
    ("kind", "url"),
)

SUCCESS = Metric("canton_collector_success", "1 if the watch's last run was ok, else 0.", ("collector",))
SUPPORTED = Metric(
    "canton_collector_supported",
    "0 if the node does not have the operation, 1 if it has; as known from the last run that told.",
    ("collector",),
)
DURATION = Metric("canton_collector_duration_seconds", "How long the last run took.", ("collector",))
INTERVAL = Metric("canton_collector_interval_seconds", "How often the collector runs, as configured.", ("collector",))
LAST_RUN = Metric("canton_collector_last_run_timestamp_seconds", "When the last run ended.", ("collector",))
LAST_SUCCESS = Metric(
    "canton_collector_last_success_timestamp_seconds",
    "When the last run that was ok ended; 0 until the first.",
    ("collector",),
)
RUNS = Metric("canton_collector_runs_total", "Runs that ended, however they ended.", ("collector",))
FAILURES = Metric("canton_collector_failures_total", "Runs that failed, by reason.", ("collector", "reason"))
FAILURE_INFO = Metric(
    "canton_collector_failure_info", "1 while the last run is a failed one, with its reason.", ("collector", "reason")
)
SKIPPED = Metric(
    "canton_collector_runs_skipped_total",
    "Runs that did not start because the run before had not ended.",
    ("collector",),
)
DROPPED = Metric(
    "canton_collector_samples_dropped_total",
    "Samples left out of the page because the watch has more series than its max_series.",
    ("collector",),
)

HEALTH_RESULTS = Metric(
    "canton_health_results_total",
    "Runs of the collector health by what they found: the node up, down, or unknown, which is a run that failed.",
    ("result",),
)

REQUESTS = Metric(
    "canton_http_requests_total",
    "Requests to the node; route is the path's template, code the status or the reason no answer came.",
    ("route", "method", "code"),
)
REQUEST_SECONDS = Metric("canton_http_request_seconds_total", "Time spent in requests to the node.", ("route",))
RESPONSE_BYTES = Metric("canton_http_response_bytes_total", "Bytes of the node's answers, on the wire.", ("route",))
THROTTLED = Metric("canton_http_throttled_total", "Answers with status 429.")
BUDGET_WAIT = Metric(
    "canton_http_budget_wait_seconds_total",
    "Time spent waiting for the request budget, or for a node that asked to be left alone.",
)

TOKEN_ISSUED = Metric(
    "canton_auth_token_issued_timestamp_seconds", "When the token in use was issued, by its own word.", ("renewed_by",)
)
TOKEN_EXPIRY = Metric(
    "canton_auth_token_expiry_timestamp_seconds", "When the token in use expires, by its own word.", ("renewed_by",)
)
