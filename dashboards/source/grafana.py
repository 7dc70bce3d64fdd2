"""Grafana's own kit, for classic dashboards: those that every release reads.

It warns where it is imported that there is a newer form, which only the newest releases read. That is no news here.
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.builders import common, prometheus, stat, statetimeline, table, timeseries
    from grafana_foundation_sdk.builders import dashboard as build
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.models import common as options
    from grafana_foundation_sdk.models import dashboard as model
    from grafana_foundation_sdk.models.prometheus import PromQueryFormat

__all__ = [
    "JSONEncoder",
    "PromQueryFormat",
    "build",
    "common",
    "model",
    "options",
    "prometheus",
    "stat",
    "statetimeline",
    "table",
    "timeseries",
]
