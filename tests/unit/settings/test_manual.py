"""docs/configuration.md is in sync with the schema."""

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


def test_snippets_are_texts_by_name_and_have_a_section_of_their_own():
    assert "`[snippets]`" in configuration_manual()
