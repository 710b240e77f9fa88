"""docs/configuration.md is in sync with the schema."""

import re
from pathlib import Path

from tui.settings import schema
from tui.settings.manual import SECTIONS, configuration_manual, field_docs

MANUAL = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_manual_is_what_the_docstrings_say():
    assert MANUAL.read_text(encoding="utf-8") == configuration_manual(), (
        "write it anew: python -m tui.settings.manual > docs/configuration.md"
    )


def test_every_field_has_a_docstring():
    docs = field_docs()
    for _, _, model in SECTIONS:
        assert set(model.model_fields) <= set(docs[model.__name__])


def test_every_table_of_the_configuration_has_a_section():
    headers = {header.strip("[]").partition(".")[0] for _, header, _ in SECTIONS}
    assert set(schema.Settings.model_fields) - {"default_model", "snippets"} == headers - {""}


def test_every_environment_variable_of_the_source_has_a_row_and_no_other():
    source = MANUAL.parents[1] / "tui"
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py") if path.name != "manual.py"]
    known = {name for text in texts for name in re.findall(r"\bMCPTUI_[A-Z_]+", text)}
    assert set(re.findall(r"\| `(MCPTUI_[A-Z_]+)` \|", configuration_manual())) == known


def test_snippets_are_texts_by_name_and_have_a_section_of_their_own():
    assert "`[snippets]`" in configuration_manual()
