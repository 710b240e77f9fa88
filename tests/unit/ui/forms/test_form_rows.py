"""The rows of the fields of a form."""

from typing import Any

import pytest

from tui.core.forms.form import Form
from tui.ui.forms.field_input import LineEdit
from tui.ui.forms.form_rows import FieldRows, FormLine, FormLook
from tui.ui.widgets.rows import text_of, width_of

KEYS = {"form.add": "ctrl+n", "form.cycle": "ctrl+a", "form.remove": ""}
LOOK = FormLook(60, KEYS.__getitem__)


def form_of(schema: dict[str, Any], *required: str, **values: str) -> Form:
    form = Form({"type": "object", "properties": schema, "required": list(required)})
    for name, text in values.items():
        form.set((name,), text)
    return form


def rows(form: Form, look: FormLook = LOOK, current: str = "") -> list[FormLine]:
    return [
        row
        for field in form.fields()
        for row in FieldRows(
            field, look, LineEdit.at_end(field.text) if field.name == current else None
        ).lines()
    ]


def texts(form: Form, look: FormLook = LOOK, current: str = "") -> list[str]:
    return [text_of(one.row).rstrip() for one in rows(form, look, current)]


@pytest.mark.parametrize("current", ["", "days"])
def test_neither_cursor_nor_error_changes_the_number_of_rows(current: str) -> None:
    schema = {"days": {"type": "integer", "maximum": 7, "description": "How many"}}
    right, wrong = form_of(schema, days="5"), form_of(schema, days="9")
    assert len(texts(right)) == len(texts(wrong, current=current))
    assert texts(wrong, current=current)[-1] == "    ! must be at most 7"


def test_the_background_of_an_input_extends_to_the_right_edge() -> None:
    found = rows(form_of({"city": {"type": "string"}}, city="北京"))
    (surface,) = [one.row for one in found if one.path is not None]
    assert width_of(surface) == LOOK.columns
    assert all(style.endswith("on field") for text, style in surface[1:])


def test_only_the_input_that_gets_the_keys_has_an_edge() -> None:
    form = form_of({"city": {"type": "string"}, "days": {"type": "integer"}}, city="Oslo", days="x")
    edges = [line[2:3] for line in texts(form, current="days") if line[4:] in ("Oslo", "x")]
    assert edges == [" ", "▌"]
    assert "▌" not in "".join(texts(form, FormLook(LOOK.columns, focused=False), current="days"))


def test_booleans_and_enums_are_choices_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of({"unit": {"enum": ["C", "F"], "default": "C"}, "fine": {"type": "boolean"}}, fine="true")
    assert texts(form)[:2] == ["  unit  one of 2 · default C", "    ( ) C  ( ) F"]
    assert texts(form)[3:5] == ["  fine  boolean", "    (•) true  ( ) false"]
    monkeypatch.setenv("TERM", "linux")
    assert "(*) true" in texts(form)[4]


def test_an_enum_too_long_for_its_line_is_a_drop_down_list() -> None:
    form = form_of({"zone": {"enum": [f"zone number {n}" for n in range(9)]}}, zone="zone number 3")
    surface = texts(form)[1]
    assert surface.startswith("    zone number 3")
    assert surface.endswith("▾")


def test_the_option_under_a_click_is_found() -> None:
    (field,) = form_of({"fine": {"type": "boolean"}}).fields()
    line = texts(form_of({"fine": {"type": "boolean"}}))[1]
    assert FieldRows(field, LOOK).option_at(line.index("true")) == "true"
    assert FieldRows(field, LOOK).option_at(line.index("false")) == "false"
    assert FieldRows(field, LOOK).option_at(1) is None
    assert FieldRows(field, LOOK).option_at(50) is None


def test_an_item_of_a_list_is_one_row_with_its_error_beside_it() -> None:
    form = form_of({"tags": {"type": "array", "items": {"type": "string", "maxLength": 3}}})
    for text in ("one", "three"):
        path = form.add(("tags",))
        assert path is not None
        form.set(path, text)
    found = texts(form)
    assert found[:2] == ["  tags  list", "    2 items"]
    assert found[3].startswith("   1   one")
    assert found[4].startswith("   2   three")
    assert "! may have at most 3" in found[4]


def test_a_secret_is_shown_as_dots() -> None:
    form = form_of({"key": {"type": "string", "format": "password"}}, key="hunter2")
    assert texts(form)[1] == "    •••••••"
    assert "hunter2" not in "".join(texts(form, current="key"))


def test_a_long_description_is_truncated_after_three_rows() -> None:
    form = form_of({"city": {"type": "string", "description": "many words " * 60}})
    found = texts(form)
    assert len(found) == 6
    assert found[4].endswith("…")


def test_a_default_is_shown_with_its_label_and_in_the_empty_input() -> None:
    sizes = {"enum": [1, True], "enumNames": ["Small", "Medium"], "default": True}
    form = form_of({"size": sizes, "days": {"type": "integer", "default": 3}})
    assert texts(form)[0].endswith("default Medium")
    assert texts(form)[3:5] == ["  days  integer · default 3", "    3"]
