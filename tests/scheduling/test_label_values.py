"""Label values that are safe to show: without secrets, however written, and without control characters."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from exporter.metrics.metric import Metric
from exporter.node.redaction import Redaction
from exporter.scheduling.label_values import clean_labels

SECRET = "c4nary/T0ken+of=some_l3ngth"
SEEN = Metric("canton_seen", "Something seen.", ("template",))

WRITTEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON with every character escaped": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "JSON in upper case": lambda text: "".join(f"\\u{ord(char):04X}" for char in text),
    "JSON with slashes escaped": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "a url": lambda text: quote(text, safe=""),
    "a url with every character escaped": lambda text: "".join(f"%{ord(char):02x}" for char in text),
    **{
        f"base64 after {before} bytes": lambda text, before=before: base64.b64encode(  # type: ignore[misc]
            b"x" * before + text.encode() + b"yz"
        ).decode()
        for before in range(4)
    },
    "base64 of urls": lambda text: base64.urlsafe_b64encode(b"?" + text.encode()).decode(),
}


@pytest.fixture
def redaction() -> Redaction:
    redaction = Redaction()
    redaction.add(SECRET)
    return redaction


def leaks(text: str) -> bool:
    """Return whether any eight characters of the secret can be read in a text, as written or decoded."""
    parts = {SECRET[start : start + 8] for start in range(len(SECRET) - 7)}
    return any(part in text or base64.b64encode(part.encode()).decode()[2:10] in text for part in parts)


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("around", ["{}", "before {} after", "{}{}"])
def test_a_secret_is_in_no_label_and_no_error_however_it_is_written(
    redaction: Redaction, write: Callable[[str], str], around: str
) -> None:
    text = around.format(*[write(SECRET)] * 2)
    for shown in (redaction.label(text), redaction(text), redaction.body(text.encode(), is_answer=False).decode()):
        assert "***" in shown
        assert not leaks(shown)


@pytest.mark.parametrize("text", ["100%", "50%25 more", "a\\b", "C:\\/x", "%zz", "\\u00", "Splice.Amulet:Amulet", "ä"])
def test_what_holds_no_secret_is_left_as_it_is(redaction: Redaction, text: str) -> None:
    assert redaction.label(text) == redaction(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb", "a\\nb"),
        ("a\u202eb", "a\\u202eb"),
        ("\x00\x85", "\\x00\\x85"),
        ("\ud800", "\\ud800"),
        ("a b", "a b"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(redaction: Redaction, text: str, shown: str) -> None:
    assert redaction.label(text) == shown


def test_series_that_become_one_are_shown_once(redaction: Redaction) -> None:
    samples = [
        SEEN.sample(1, template=f"a{SECRET}"),
        SEEN.sample(2, template=f"a{quote(SECRET)}"),
        SEEN.sample(3, template="b"),
    ]
    assert clean_labels(samples, redaction.label) == [SEEN.sample(1, template="a***"), SEEN.sample(3, template="b")]


def test_clean_samples_are_the_same_ones(redaction: Redaction) -> None:
    samples = [SEEN.sample(1, template="a"), SEEN.sample(3, template="b")]
    assert clean_labels(samples, redaction.label) is samples
