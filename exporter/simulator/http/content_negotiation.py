"""Whether a client takes an answer of some media type, as its header Accept says."""

from collections.abc import Iterator


def admits(accept: str, media_type: str) -> bool:
    """The most specific range that fits decides; without the header everything is taken."""
    if not accept.strip():
        return True
    main = media_type.partition("/")[0]
    weights = dict(ranges(accept))
    for fitting in (media_type, f"{main}/*", "*/*"):
        if fitting in weights:
            return weights[fitting] > 0
    return False


def ranges(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        try:
            yield name, float(weight)
        except ValueError:
            yield name, 0.0
