"""What a model finds wrong is a sentence for operators: none of pydantic's own texts, which speak to programmers."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AwareDatetime, Field

from exporter.config.models import Strict
from exporter.config.validation_errors import validate


class Inner(Strict):
    x: int = 1


class Example(Strict):
    role: Literal["own", "observed"] = "own"
    style: Literal["a", "b", "c"] = "a"
    count: int = Field(default=1, ge=1, le=10)
    nonce: int = Field(default=0, ge=0, lt=2**63)
    rate: float = Field(default=5, gt=0)
    enabled: bool = True
    name: Annotated[str, Field(min_length=1, max_length=5)] = "x"
    parties: Annotated[list[str], Field(min_length=1, max_length=2)] = ["p"]
    before: AwareDatetime | None = None
    file: Path | None = None
    labels: dict[str, str] = {}
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("role", "rol", "must be own or observed"),
        ("style", 1, "must be a, b or c"),
        ("count", 0, "must be 1 or more"),
        ("count", 11, "must be 10 or less"),
        ("count", "many", "must be a whole number"),
        ("count", 1.5, "must be a whole number"),
        ("count", None, "must be a whole number"),
        ("count", "9" * 5000, "must be a whole number"),
        ("nonce", 2**63, "must be less than 9223372036854775808"),
        ("rate", 0, "must be more than 0"),
        ("rate", "fast", "must be a number"),
        ("rate", [], "must be a number"),
        ("rate", math.inf, "must be a finite number"),
        ("rate", -math.inf, "must be a finite number"),
        ("rate", math.nan, "must be a finite number"),
        ("rate", "inf", "must be a finite number"),
        ("count", math.inf, "must be a finite number"),
        ("enabled", "perhaps", "must be true or false"),
        ("enabled", [], "must be true or false"),
        ("name", "", "must not be empty"),
        ("name", "longer", "must have at most 5 characters"),
        ("name", True, "must be text"),
        ("parties", [], "needs at least one entry"),
        ("parties", ["a", "b", "c"], "must have at most 2 entries"),
        ("parties", "a", "must be a list"),
        ("before", "soon", "must be a time with its zone, such as 2026-12-01T00:00:00Z"),
        ("before", "2026-12-01T00:00:00", "must be a time with its zone, such as 2026-12-01T00:00:00Z"),
        ("before", [], "must be a time with its zone, such as 2026-12-01T00:00:00Z"),
        ("file", 5, "must be the path of a file"),
        ("labels", [], "is not a mapping; write its settings below it"),
        ("inner", "x", "is not a mapping; write its settings below it"),
    ],
)
def test_says_what_would_be_right(setting: str, value: Any, text: str) -> None:
    assert validate(Example, {setting: value}, ("here",)) == (None, [(("here", setting), text)])
