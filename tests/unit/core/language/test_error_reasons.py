"""Words for the errors of libraries."""

import json
import tomllib

import pytest

from tests.cases import each_case
from tui.core.errors import reason_of
from tui.core.language.error_reasons import all_reasons


@each_case("text", ["{", '{"a" 1}', '{"a": 1,}', "[1] 2", '"a'])
def test_an_error_of_json_has_words_of_the_table(text: str):
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    assert any(one in reason_of(raised.value) for one in all_reasons())


@pytest.mark.parametrize("text", ["a", "[a", "a = ", "a = 1\na = 2"])
def test_an_error_of_toml_has_words_of_the_table(text: str):
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    assert any(one in reason_of(raised.value) for one in all_reasons())
