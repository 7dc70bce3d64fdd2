"""Which text format and packing a scraper gets, by its Accept headers."""

from collections.abc import Iterator

from exporter.exposition.text import Format

OFFERED = {
    ("text/plain", None): Format.TEXT_0,
    ("text/plain", "0.0.4"): Format.TEXT_0,
    ("text/plain", "1.0.0"): Format.TEXT_1,
    ("application/openmetrics-text", None): Format.OPENMETRICS,
    ("application/openmetrics-text", "1.0.0"): Format.OPENMETRICS,
    ("text/*", None): Format.TEXT_0,
    ("*/*", None): Format.TEXT_0,
}


def choose_format(accept: str) -> Format:
    """Return the offered format the scraper likes best; the plainest if it likes none, as every exporter does."""
    liked = [
        (quality, format_)
        for name, parameters, quality in preferences(accept)
        if quality > 0 and (format_ := OFFERED.get((name, parameters.get("version"))))
    ]
    return max(liked, key=lambda pair: pair[0], default=(0.0, Format.TEXT_0))[1]  # the first of equals


def takes_gzip(accept_encoding: str) -> bool:
    qualities = {name: quality for name, _, quality in preferences(accept_encoding)}
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


def preferences(header: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield each name in an Accept header with its parameters and quality; a quality that is not a number is 0."""
    for item in header.split(","):
        name, *rest = (part.strip() for part in item.split(";"))
        pairs = (part.partition("=") for part in rest)
        parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 0.0
        if name:
            yield name.lower(), parameters, quality
