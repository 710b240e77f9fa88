"""Bounds of a schema that are no bounds: enormous, negative, or of another type."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.foreign import FOREIGN
from tui.core.forms.checks import read_text, size_problem, text_problem
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import bound_words

_KEYS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems"


@given(
    st.sampled_from(["integer", "number", "string", "array"]),
    st.dictionaries(st.sampled_from(_KEYS.split()), FOREIGN),
    st.sampled_from(["", "7", "-0.5", "1e308", "word", "9" * 400, "9" * 5000]),
)
def test_any_bounds_can_be_shown_and_checked(kind: str, bounds: dict[str, Any], text: str):
    spec = SchemaReader({}).spec({"type": kind, **bounds})
    assert isinstance(read_text(spec, text)[1], str)
    assert isinstance(text_problem(spec, text) + size_problem(spec, 5), str)
    assert len(bound_words(spec.bounds, is_number=kind != "string")) < 200


@pytest.mark.parametrize(("key", "limit"), [("minimum", -(10**400)), ("maximum", 10**400)])
def test_a_limit_that_no_float_can_hold_limits_nothing(key: str, limit: int):
    spec = SchemaReader({}).spec({"type": "number", key: limit})
    assert read_text(spec, "7") == (7, "")
    assert bound_words(spec.bounds, is_number=True) == ""
