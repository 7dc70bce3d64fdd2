"""The dashboards: a file each."""

from dashboards.overview import overview

SCREENS = (overview(),)


def dashboards() -> dict[str, str]:
    """Return each dashboard's file and text."""
    return {f"{screen.slug}.json": screen.text_of_file() for screen in SCREENS}
