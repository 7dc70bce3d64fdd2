"""The exporter's own metrics: its build, the state of its watches, and its requests to each node."""

from exporter.metrics.metric import Metric

BUILD_INFO = Metric(
    "canton_exporter_build_info",
    "The exporter's version, revision and Python version; always 1.",
    ("version", "revision", "pythonversion"),
)
SHARD = Metric("canton_exporter_shard", "Number of this exporter's shard, counted from 0.")
SHARDS = Metric("canton_exporter_shards", "Configured number of shards that the targets are split into.")
RELOAD_SUCCESSFUL = Metric(
    "canton_exporter_config_last_reload_successful",
    "1 if the last reload of the configuration succeeded, 0 if the new configuration had errors.",
)
RELOAD_SUCCESS_TIMESTAMP = Metric(
    "canton_exporter_config_last_reload_success_timestamp_seconds",
    "Unix time in seconds when the configuration in force was read.",
)

RELOADS = Metric("canton_exporter_reloads_total", "Reloads of the configuration, by result.", ("result",))
LAST_START = Metric(
    "canton_exporter_last_run_timestamp_seconds",
    "Unix time in seconds of the start of the newest run of any collector; absent before the first.",
)
LATE = Metric(
    "canton_exporter_runs_late_seconds",
    "Seconds that the newest run of a collector started late; absent before the first.",
)
LOG_LINES_DROPPED = Metric(
    "canton_exporter_log_lines_dropped_total",
    "Log lines that were dropped, as nobody read the log or it could not be written.",
)
LOGINS_REFUSED = Metric(
    "canton_exporter_logins_refused_total",
    "Requests to this exporter with a wrong password or an unknown user.",
)
PROBES = Metric("canton_exporter_probes_running", "Number of /probe requests that are being answered.")
BODY_BYTES = Metric(
    "canton_exporter_body_bytes_in_flight",
    "Bytes of the nodes' responses that are being read, unpacked; beyond 64 MiB the largest response fails.",
)

TARGET_INFO = Metric(
    "canton_target_info",
    "A configured target with its kind and url, without user, password and query; always 1.",
    ("kind", "url"),
)

SUCCESS = Metric("canton_collector_success", "1 if the last run of the collector succeeded, 0 if not.", ("collector",))
SUPPORTED = Metric(
    "canton_collector_supported",
    "1 if the node supports the collector, 0 if it lacks the operation; from the last run that showed it.",
    ("collector",),
)
DURATION = Metric("canton_collector_duration_seconds", "Duration of the last run in seconds.", ("collector",))
INTERVAL = Metric(
    "canton_collector_interval_seconds", "Configured interval between two runs in seconds.", ("collector",)
)
LAST_RUN = Metric(
    "canton_collector_last_run_timestamp_seconds", "Unix time in seconds when the last run ended.", ("collector",)
)
LAST_SUCCESS = Metric(
    "canton_collector_last_success_timestamp_seconds",
    "Unix time in seconds when the last successful run ended; 0 before the first.",
    ("collector",),
)
RUNS = Metric("canton_collector_runs_total", "Finished runs of the collector, successful or not.", ("collector",))
FAILURES = Metric(
    "canton_collector_failures_total", "Failed runs of the collector, by reason.", ("collector", "reason")
)
FAILURE_INFO = Metric(
    "canton_collector_failure_info",
    "1 while the last run of the collector failed, with the reason; absent otherwise.",
    ("collector", "reason"),
)
SKIPPED = Metric(
    "canton_collector_runs_skipped_total",
    "Runs that did not start because the previous run had not ended.",
    ("collector",),
)
DROPPED = Metric(
    "canton_collector_samples_dropped_total",
    "Samples dropped because the collector has more series on this target than max_series.",
    ("collector",),
)

HEALTH_RESULTS = Metric(
    "canton_health_results_total",
    "Health checks by result: up, down, or unknown if the check itself failed.",
    ("result",),
)

REQUESTS = Metric(
    "canton_http_requests_total",
    "HTTP requests to the node by path template, method, status code and, if the response is missing or "
    "incomplete, the reason.",
    ("route", "method", "code", "reason"),
)
REQUEST_DURATION = Metric(
    "canton_http_request_duration_seconds",
    "Duration of HTTP requests to the node in seconds.",
    ("route",),
    type="summary",
)
REQUEST_COUNT, REQUEST_SECONDS = REQUEST_DURATION.part("_count"), REQUEST_DURATION.part("_sum")
RESPONSE_BYTES = Metric(
    "canton_http_response_bytes_total", "Response bytes received from the node, as compressed on the wire.", ("route",)
)
THROTTLED = Metric("canton_http_throttled_total", "Responses of the node with status 429.")
BUDGET_WAIT = Metric(
    "canton_http_budget_wait_seconds_total",
    "Seconds spent waiting for our own rate limit (setting budget), or because the node answered 429.",
)

TOKEN_ISSUED = Metric(
    "canton_auth_token_issued_timestamp_seconds",
    "Unix time in seconds when the token in use was issued, from its iat claim.",
    ("renewed_by",),
)
TOKEN_EXPIRY = Metric(
    "canton_auth_token_expiry_timestamp_seconds",
    "Unix time in seconds when the token in use expires, from its exp claim.",
    ("renewed_by",),
)

ALL = tuple(value for value in tuple(vars().values()) if isinstance(value, Metric))
"""Each of them once, in their order; of a summary its parts too."""
