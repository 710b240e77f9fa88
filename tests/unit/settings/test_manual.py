"""docs/configuration.md is in sync with the schema."""

import re
import tomllib

import jsonschema
import pytest

from tests.unit.settings.manual_tables import MANUAL, SECTIONS, with_sections
from tests.unit.settings.test_locations_shipped import starter, uncommented
from tui.settings import schema
from tui.settings.manual import configuration_schema
from tui.settings.themes import ROLES


def test_the_manual_matches_the_docstrings():
    text = MANUAL.read_text(encoding="utf-8")
    assert text == with_sections(text), "write it anew: python -m tests.unit.settings.manual_tables"


def test_every_table_of_the_configuration_has_a_section():
    headers = {header.strip("[]").partition(".")[0] for _, header, _ in SECTIONS} | {"snippets"}
    assert set(schema.Settings.model_fields) - {"default_model"} == headers - {""}
    text = MANUAL.read_text(encoding="utf-8")
    assert all(f"\n## {title}\n\n" in text for title, _, _ in SECTIONS) and "`[snippets]`" in text


def test_the_manual_has_exactly_the_environment_variables_of_the_source():
    source = MANUAL.parents[1] / "tui"
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    known = {name for text in texts for name in re.findall(r"\bMCPTUI_[A-Z_]+", text)}
    assert set(re.findall(r"\| `(MCPTUI_[A-Z_]+)` \|", MANUAL.read_text(encoding="utf-8"))) == known


def test_the_manual_has_every_role_of_a_theme():
    text = MANUAL.read_text(encoding="utf-8").partition("## Custom themes")[2]
    assert all(f"`{role}`" in text for role in ROLES)


def faults(text: str) -> list[str]:
    checker = jsonschema.Draft202012Validator(configuration_schema())
    return [fault.message for fault in checker.iter_errors(tomllib.loads(text))]


def test_the_json_schema_describes_every_key():
    found = configuration_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    sections = [found, *found["$defs"].values()]
    assert all(field["description"] for section in sections for field in section["properties"].values())


def test_the_json_schema_accepts_the_starter_file_with_all_examples():
    assert faults(uncommented(starter())) == []
    assert faults('[limits]\nmax_steps = "${STEPS}"') == []


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nmax_step = 3",
        "[limits]\nmax_steps = 0",
        '[limits]\nmax_steps = "3"',
        '[servers.a]\ncommand = "a"\ntransport = "pigeon"',
    ],
)
def test_the_json_schema_rejects_what_the_configuration_rejects(text: str):
    assert faults(text)
