"""What the exporter needs and is, for its dashboard: tokens, certificates, clocks, and its process."""

from dashboards.source.looks import (
    BAD,
    BYTES,
    COUNT,
    DATE,
    FROM_NOW,
    GREEN,
    ORANGE,
    RATIO,
    RED,
    SECONDS,
    UP,
    WHOLE,
    WORTH_A_LOOK,
    Look,
    falls,
    states,
)
from dashboards.source.panels import Column, Made, graph, grid, number
from dashboards.source.queries import RATE, age, least, left, moment, more, most, of
from dashboards.source.thresholds import default

CERTIFICATE = falls("s", critical="certificateCritical", warning="certificateWarning")
TOKEN = falls("s", critical="tokenCritical", warning="tokenWarning")
SKEW = Look("s", steps=((None, ORANGE), (-default("clockSkew"), GREEN), (default("clockSkew"), ORANGE)), decimals=2)
READ = states((1, "read", GREEN), (0, "refused", RED))

EXPIRY = "canton_auth_token_expiry_timestamp_seconds"
ISSUED = "canton_auth_token_issued_timestamp_seconds"
# The same job may scrape other things, which have a process too. One that is down was an exporter within the last day.
EXPORTERS = f"and on (job, instance) max by (job, instance) (last_over_time({of('canton_exporter_build_info')}[1d]))"
MISSING = (
    f"max by (job) ({of('canton_exporter_shards')})"
    f' - count by (job) (count_values by (job) ("shard", {of("canton_exporter_shard")}))'
)
STARTED = f"max by (job, instance) ({of('process_start_time_seconds')}) * 1000 {EXPORTERS}"


def trust() -> list[Made]:
    return [
        number(
            "Time left of certificates",
            "How long the certificate of each node is still valid. They are usually renewed a month before their end. "
            "Below three weeks somebody forgot to; after the end nobody who checks will talk to the node.",
            left("canton_target_certificate_expiry_timestamp_seconds"),
            CERTIFICATE,
            width=8,
            none="No target is asked over https",
        ),
        number(
            "Time left of tokens nobody renews",
            "How long the exporter's token for a node is still good, where nobody sees to the next one. Below a day "
            "it is worth a ticket: after its end the node tells nothing any more.",
            left(EXPIRY, 'renewed_by="nobody"'),
            TOKEN,
            width=8,
            none="No target has a token that says when it ends and that nobody renews",
        ),
        number(
            "Clock offset",
            "How far the clock of each node (or of the proxy before it) is ahead of the exporter's, exact to about "
            "half a second. Up to two seconds either way is normal. All ages and lags are wrong by as much; if all "
            "nodes differ alike, it is our clock.",
            most("canton_target_clock_offset_seconds"),
            SKEW,
            width=8,
        ),
    ]


def tokens() -> list[Made]:
    return [
        grid(
            "Tokens",
            "When the token in use of each node was issued and when it ends, and who renews it: the exporter, whoever "
            "writes its file, or nobody. Short lives are normal where somebody renews them. One that somebody should "
            "renew, with less than a tenth of its life left, was not.",
            [
                Column("Issued", moment(ISSUED), DATE),
                Column("Ends", moment(EXPIRY), DATE),
                Column("Time left", left(EXPIRY), SECONDS),
                Column("Life left", f"({left(EXPIRY)}) / ({least(EXPIRY)} - {least(ISSUED)})", RATIO),
            ],
            width=12,
            none="No target has a token that says when it ends",
        )
    ]


def clocks() -> list[Made]:
    return [
        graph(
            "Clock offset, over time",
            "The same over time. Flat around 0 is normal, with steps of half a second. A steady drift is a clock that "
            "is no longer set; a step of all nodes at once is ours.",
            most("canton_target_clock_offset_seconds"),
            Look("s", decimals=2),
        )
    ]


def exporters() -> Made:
    return grid(
        "Exporters",
        "Each exporter that Prometheus scrapes, or did within a day: whether it can be scraped, its version, and "
        "whether the configuration was read without a fault when it last changed. Refused means that it goes on with "
        "the old one; its log says what is wrong. Shards are numbered from 0; 0 of 1 watches everything. All but the "
        "first of one that is down is unknown.",
        [
            Column("", most("canton_exporter_build_info")),
            Column("Scraped", f"min by (job, instance) ({of('up')}) {EXPORTERS}", UP),
            Column("Configuration", least("canton_exporter_config_last_reload_successful"), READ),
            Column("Configured", moment("canton_exporter_config_last_reload_success_timestamp_seconds"), FROM_NOW),
            Column("Started", STARTED, FROM_NOW),
            Column("Shard", most("canton_exporter_shard"), WHOLE),
            Column("Of", most("canton_exporter_shards"), WHOLE),
            Column("Targets", f"count by (job, instance) ({of('canton_target_info')})", WHOLE),
        ],
        height=5,
    )


def process() -> list[Made]:
    none = "No data: does the exporter run with --web.disable-exporter-metrics?"
    return [
        number(
            "Shards nobody watches",
            "How many shards of the targets no exporter of the job says it has, so that their targets are watched by "
            "nobody. 0 is normal, with all instances chosen. Otherwise an exporter is down, is not scraped, or was "
            "told another number of shards.",
            MISSING,
            BAD,
        ),
        graph(
            "Memory",
            "The memory that the exporter's process takes. It levels off after the first counts of contracts. A rise "
            "that goes on for days is worth a report.",
            f"max by (job, instance) ({of('process_resident_memory_bytes')}) {EXPORTERS}",
            BYTES,
            width=6,
            none=none,
        ),
        graph(
            "Processor",
            "Which part of one processor the exporter takes. A few per cent are normal, more while contracts are "
            "counted. 100% for long means that answers wait, and ages look larger than they are.",
            f"max by (job, instance) (rate({of('process_cpu_seconds_total')}[{RATE}])) {EXPORTERS}",
            RATIO,
            width=6,
            none=none,
        ),
        graph(
            "Open files",
            "How many files and connections the exporter has open, of what it may. Some dozens are normal. Near 100% "
            "it can make no new connection; raise the process's limit.",
            f"max by (job, instance) ({of('process_open_fds')} / {of('process_max_fds')}) {EXPORTERS}",
            RATIO,
            width=6,
            none=none,
        ),
    ]


def work() -> list[Made]:
    return [
        graph(
            "How late questions are asked",
            "By how much the last start of a question was late, and how long ago it was. Milliseconds and seconds are "
            "normal. Seconds of delay mean that the processor is too slow for so many nodes; a line that rises means "
            "that nothing is asked any more.",
            [
                (f"max by (job, instance) ({of('canton_exporter_runs_late_seconds')})", "late"),
                (age("canton_exporter_last_run_timestamp_seconds"), "last start"),
            ],
            SECONDS,
        ),
        graph(
            "Probes under way",
            "How many requests of /probe the exporter answers at this moment. A few are normal where Prometheus or "
            "people use it. Many that stay are nodes that hang.",
            most("canton_exporter_probes_running"),
            COUNT,
            width=6,
        ),
        graph(
            "Reloads of the configuration",
            "When the configuration was read again, and whether it was put in force. A failure means that the exporter "
            "goes on with the old one; its log says what is wrong.",
            more("canton_exporter_reloads_total"),
            WORTH_A_LOOK,
            width=6,
            bars=True,
        ),
    ]


def bounds() -> list[Made]:
    return [
        graph(
            "Responses being read",
            "How much of the nodes' responses the exporter holds while it reads them, unpacked. A few MB for moments "
            "are normal. At 64 MiB the largest response fails as too_large: nodes hold their responses open, or send "
            "far more than they should.",
            most("canton_exporter_body_bytes_in_flight"),
            BYTES,
            width=6,
        ),
        graph(
            "Dropped log lines",
            "Log lines that were lost, as whatever reads the exporter's standard error did not keep up. Normal is 0. "
            "Look at the container's log driver, or at what standard error is piped to.",
            more("canton_exporter_log_lines_dropped_total"),
            WORTH_A_LOOK,
            width=6,
            bars=True,
        ),
        graph(
            "Refused logins",
            "Requests to the exporter's own port with a wrong password or an unknown user, where the web configuration "
            "has users. Normal is 0. A steady rate is a scraper with an old password; bursts are somebody who guesses. "
            "The exporter's log names the address, at most once a minute.",
            more("canton_exporter_logins_refused_total"),
            WORTH_A_LOOK,
            width=6,
            bars=True,
        ),
    ]
