"""tools.shapes: which rows are made of API files, and in which versions they hold."""

from pathlib import Path

import pytest

from tests.shapes.table import TABLES, without_file
from tools.openapi import Files
from tools.shapes import rows, table, wanted

PETS = """
paths:
  /pets/{name}:
    parameters: [{in: path, name: name, schema: {type: string}}]
    get:
      parameters:
        - {in: query, name: limit, schema: {type: integer, format: int32}}
        - {in: query, name: sort, required: true, schema: {type: string, enum: [up, down]}}
      responses:
        "200": {content: {application/json: {schema: {$ref: "../common/pets.yaml#/schemas/Pet"}}}}
        "503": {description: closed}
    post:
      requestBody: {content: {application/json: {schema: {type: array, items: {type: string}}}}}
      responses: {default: {content: {text/plain: {schema: {}}}}}
  /others: {get: {responses: {"200": {description: none}}}}
"""
COMMON = """
schemas:
  Pet:
    type: object
    required: [name, born, owner, kind]
    properties:
      name: {type: string}
      born: {type: string, format: date-time}
      owner: {type: string, nullable: true}
      chip: {type: integer, format: int64}
      young: {type: array, items: {$ref: "#/schemas/Pet"}}
      weights: {type: object, additionalProperties: {type: number}}
      kind: {oneOf: [{$ref: "#/schemas/Cat"}, {$ref: "#/schemas/Dog"}], discriminator: DISCRIMINATOR}
  Cat:
    allOf:
      - {type: object, required: [kind], properties: {kind: {type: string}}}
      - {properties: {lives: {type: integer}}}
  Dog: {type: object, required: [kind, barks], properties: {kind: {type: string}, barks: {type: boolean}}}
"""
OPERATIONS = frozenset({"GET /pets/{}", "POST /pets/{}"})


@pytest.fixture
def files(tmp_path: Path) -> Files:
    discriminator = "{propertyName: kind, mapping: {cat: '#/schemas/Cat', dog: '#/schemas/Dog'}}"
    (tmp_path / "zoo-1-shop.yaml").write_text(PETS)
    (tmp_path / "zoo-1-pets.yaml").write_text(COMMON.replace("DISCRIMINATOR", discriminator))
    return Files([tmp_path / "zoo-1-shop.yaml", tmp_path / "zoo-1-pets.yaml"])


def test_each_field_has_a_row_whatever_it_is_made_of(files: Files) -> None:
    found = {" ".join((row.status, row.field, row.type, row.required)) for row in rows(files, OPERATIONS)}
    assert found == {
        "query . object yes",
        "query limit integer/int32 no",
        "query sort enum down|up yes",
        "200 . object yes",
        "200 name string yes",
        "200 born string/date-time yes",
        "200 owner string no",
        "200 chip integer/int64 no",
        "200 young array no",
        "200 young[] recursive yes",
        "200 weights object no",
        "200 weights{} number yes",
        "200 kind object yes",
        "200 kind.kind enum cat|dog yes",
        "200 kind.lives integer no",
        "200 kind.barks boolean no",
        "503 . empty yes",
        "request . array no",
        "request [] string yes",
        "default . any yes",
    }
    assert {row.media for row in rows(files, OPERATIONS)} == {"-", "application/json", "text/plain"}


def test_a_row_says_from_when_to_when_it_holds(files: Files) -> None:
    [one, other, *_] = sorted(rows(files, OPERATIONS))
    versions = {
        "1": frozenset({one}),
        "2": frozenset({one, other}),
        "3": frozenset({other}),
        "4": frozenset({one, other}),
    }
    assert [*table(versions)] == [(*one, "1", "2"), (*one, "4", ""), (*other, "2", "")]


@pytest.mark.parametrize("kind", TABLES)
def test_every_operation_that_is_read_stands_in_a_table(kind: str) -> None:
    known = {operation for release in TABLES[kind].releases for operation in TABLES[kind].operations(release)}
    assert known | without_file(kind) == wanted(kind)
    assert not known & without_file(kind)
