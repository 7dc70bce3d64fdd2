"""What the network pays and charges, for the dashboard of its governance: rewards and traffic."""

from dashboards.source.looks import BLUE, BYTES, BYTES_A_SECOND, COUNT, WHOLE, Look, falls
from dashboards.source.panels import Made, graph, number
from dashboards.source.queries import most, pace

NO_RUNWAY = (
    "No data: the collector traffic is off until it is configured (docs/collectors/traffic.md), has run for less than "
    "an hour, no member uses any, or dashboards/rules.yaml is not loaded into Prometheus"
)
TRAFFIC = falls("decbytes", critical="trafficReserve")
RUNWAY = falls("s", critical="trafficRunwayCritical", warning="trafficRunwayWarning")
AMOUNT = Look("short", steps=((None, BLUE),), decimals=2)


def weights() -> list[Made]:
    return [
        graph(
            "Reward weights of super validators",
            "The share of rewards of each listed super validator, by the last vote on it. It is flat but for votes. A "
            "step that you do not know of is worth a question; a super validator without a line was never voted on.",
            most("canton_sv_reward_weight"),
            COUNT,
        ),
        graph(
            "Newest round of rewards",
            "The round whose rewards were added up last. It should rise by one about every ten minutes, where the "
            "scan tells its newest round. A round that was set by hand stays as it is.",
            most("canton_reward_round"),
            WHOLE,
        ),
    ]


def rewards() -> list[Made]:
    return [
        graph(
            "Minting allowances of the round",
            "How many coins all app providers together may mint for the newest round. It moves with the use of the "
            "network. A fall to 0 means that nobody is paid for the round.",
            most("canton_reward_round_minting_allowance_coin"),
            AMOUNT,
            width=6,
        ),
        graph(
            "Allowance of listed providers",
            "How many coins each listed provider may mint for the newest round. Compare with your app's use: if that "
            "stays and this falls, its activity is not counted.",
            most("canton_reward_minting_allowance_coin"),
            AMOUNT,
            width=6,
        ),
        graph(
            "Providers with an allowance",
            "How many app providers may mint anything for the newest round. It changes slowly. A sudden fall means "
            "that activity of many was not counted.",
            most("canton_reward_round_providers"),
            COUNT,
            width=6,
        ),
        graph(
            "Batches of the round",
            "In how many parts, by kind, the newest round's list of rewards was published. It grows with the number "
            "of providers. It is of interest only where a sum above looks wrong.",
            most("canton_reward_round_batches"),
            COUNT,
            width=6,
        ),
    ]


def traffic() -> list[Made]:
    return [
        number(
            "Traffic left",
            "How many bytes a member (a participant, for one) may still send of the traffic that it bought. Normal is "
            "far above the reserve of 200 kB. Below, it can send nothing any more until it buys more.",
            most("canton_traffic_left_bytes"),
            TRAFFIC,
            width=12,
        ),
        number(
            "Traffic lasts for",
            "How long the traffic left will last at the pace of the last hours. A day or more is normal where it is "
            "bought automatically. Below two hours buy more now. A member that consumes none is not shown, nor is any "
            "in the first hour.",
            most("canton:traffic_runway_seconds"),
            RUNWAY,
            width=12,
            none=NO_RUNWAY,
        ),
        graph(
            "Bought and consumed",
            "All the traffic that a member ever bought, and how much of it is consumed. The first rises in steps, the "
            "second steadily. Where the lines meet it can send nothing any more.",
            [
                (most("canton_traffic_purchased_bytes_total"), "{{network}} {{target}} {{member}} bought"),
                (most("canton_traffic_consumed_bytes_total"), "{{network}} {{target}} {{member}} consumed"),
            ],
            BYTES,
        ),
        graph(
            "Pace of traffic",
            "How many bytes of its traffic a member consumes in a second. It follows what it sends. A jump without "
            "more business is worth a look, because it costs money.",
            pace("canton_traffic_consumed_bytes_total"),
            BYTES_A_SECOND,
        ),
        graph(
            "Traffic to come",
            "How many bytes a member has bought that it may not use yet. After a purchase it rises and is back at 0 "
            "within minutes. If it stays up, the super validators are late to count what was paid for.",
            most("canton_traffic_pending_bytes"),
            BYTES,
            width=24,
            height=5,
        ),
    ]
