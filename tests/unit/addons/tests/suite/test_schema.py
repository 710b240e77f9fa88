"""The JSON Schema of suites: the reader and the schema accept the same keys."""

import json
import tomllib
from argparse import Namespace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cases import each_case
from tests.unit.addons.tests.suite_tables import MANUAL, SCHEMA, sections_in, with_tables
from tui.addons.tests.suite.keys import SECTIONS
from tui.addons.tests.suite.read import SuiteError, suite_of
from tui.addons.tests.suite.schema import print_schema, schema_text, suite_schema


def fits_schema(tree: Any) -> bool:
    return jsonschema.Draft202012Validator(suite_schema()).is_valid(tree)


def is_read(text: str) -> bool:
    try:
        suite_of(text, Path("a.mcp.toml"))
    except SuiteError:
        return False
    return True


def test_the_schema_is_a_valid_schema():
    jsonschema.Draft202012Validator.check_schema(suite_schema())


def test_the_schema_has_the_keys_that_the_reader_knows():
    found = suite_schema()
    sections = {"": found} | found["$defs"]
    assert {name: set(one["properties"]) for name, one in sections.items()} == {
        name: set(keys) for name, keys in SECTIONS.items()
    }


@each_case(
    "text",
    [
        'server = "weather"',
        '[server]\ncommand = ["a"]\nenv = { A = "${B}" }',
        '[[call]]\ntool = "a"\nargs = { b = [1, { c = true }] }\nresult = { d = 1 }\nerror = false',
        '[[call]]\nread = "a://b"\ntags = "x"\ncontent = [{ type = "image", size = "<number>" }]',
        '[[call]]\ntool = "a"\nanswers = { form = ["decline", { a = 1 }], sampling = ["x", false] }',
        '[[call]]\ntool = "a"\nanswers = { form = {}, sampling = "x", url = "accept", roots = ["."] }',
        '[[call]]\ntool = "a"\nwithin = "1.5s"\nlose = "connection"\nthen = [{ list = "tools", text = "" }]',
        '[[turn]]\nquestion = "a"\nruns = 3\npass = 0.5\nmodels = ["a"]',
        '[contract]\nlock = "a.json"\nfail = ["routing"]\ntokens = 10\nstrength = "shape"',
    ],
)
def test_reader_and_schema_accept_the_same(text: str):
    assert is_read(text)
    assert fits_schema(tomllib.loads(text))


@each_case(
    "text",
    [
        "other = 1",
        "server = 1",
        '[server]\ncwd = "a"',
        '[server]\ncommand = ["a"]\nurl = "http://b/"',
        '[server]\ncommand = "a"',
        '[[call]]\nname = "a"',
        '[[call]]\ntool = "a"\nread = "b"',
        '[[call]]\ntool = ""',
        '[[call]]\ntool = "a"\nother = 1',
        '[[call]]\ntool = "a"\nlose = "all"',
        '[[call]]\ntool = "a"\nwithin = "soon"',
        '[[call]]\ntool = "a"\nthen = [{ tool = "b", fresh = true }]',
        '[[call]]\ntool = "a"\ncontent = [{ size = 1 }]',
        '[[call]]\ntool = "a"\nanswers = { form = "accept" }',
        '[[call]]\ntool = "a"\nanswers = { sampling = true }',
        '[[turn]]\nname = "a"',
        '[[turn]]\nquestion = "a"\nruns = 0',
        '[contract]\nfail = ["routing"]',
        '[contract]\nlock = "a"\nfail = ["other"]',
    ],
)
def test_reader_and_schema_refuse_the_same(text: str):
    assert not is_read(text)
    assert not fits_schema(tomllib.loads(text))


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]):
    assert print_schema(Namespace()) == 0
    assert json.loads(capsys.readouterr().out) == suite_schema()


def test_the_schema_in_the_docs_is_current():
    """If not: python -m tests.unit.addons.tests.suite_tables."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()


@pytest.mark.skipif(not MANUAL.exists(), reason="docs/tests.md is not written yet")
def test_the_tables_in_the_docs_are_current():
    """If not: python -m tests.unit.addons.tests.suite_tables."""
    manual = MANUAL.read_text(encoding="utf-8")
    assert manual == with_tables(manual)
    assert sections_in(manual) == {name or "file" for name in SECTIONS} - {"then"}
