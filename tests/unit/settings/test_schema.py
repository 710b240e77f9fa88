"""The types of the configuration."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tui.settings.load import load_text
from tui.settings.references import FromEnvironment
from tui.settings.schema import LimitSettings, ModelSettings, name_fault


@pytest.mark.parametrize("value", ["5", 5.5, True, None, [5]])
def test_a_limit_must_be_an_integer_and_is_not_converted(value: object):
    with pytest.raises(ValidationError):
        LimitSettings.model_validate({"max_steps": value})


@pytest.mark.parametrize("text", ["x", "", "1.5"])
def test_a_variable_that_is_not_a_number_is_refused_for_a_number(text: str):
    with pytest.raises(ValidationError):
        LimitSettings.model_validate({"max_steps": FromEnvironment(text)})


@pytest.mark.parametrize("url", ["ftp://h", "h/v1", "http://", "http://h:x/", "", "javascript:alert(1)"])
def test_an_endpoint_must_be_an_http_url(url: str):
    with pytest.raises(ValidationError):
        ModelSettings.model_validate({"model": "m", "base_url": url})


@pytest.mark.parametrize("price", [-0.1, float("inf"), "0.3", True])
def test_the_price_of_cached_tokens_must_not_be_negative(price: object):
    with pytest.raises(ValidationError):
        ModelSettings.model_validate({"model": "m", "price_in": 3.0, "price_cached": price})


def test_a_price_of_cached_tokens_requires_a_price_of_input_tokens():
    with pytest.raises(ValidationError, match="`price_cached` but no `price_in`"):
        ModelSettings.model_validate({"model": "m", "price_out": 3.0, "price_cached": 0.3})


def test_an_error_message_never_contains_the_value():
    with pytest.raises(ValidationError) as raised:
        ModelSettings.model_validate({"model": "m", "api_key": ["sk-secret"]})
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["weather", "two words", "天气", "a.b", "x" * 64])
def test_ordinary_names_are_valid(name: str):
    assert name_fault(name) == ""


@pytest.mark.parametrize("kind", ["servers", "models"])
def test_a_header_in_two_spellings_is_an_error(kind: str, tmp_path: Path):
    needed = 'url = "https://h"' if kind == "servers" else 'model = "m"'
    text = f'[{kind}.a]\n{needed}\nheaders = {{ User-Agent = "a", user-agent = "b" }}\n'
    (problem,) = load_text(text, tmp_path / "config.toml", {}).problems
    assert problem.path == f"{kind}.a.headers"
    assert problem.message == "contains user-agent in two spellings, which are the same header"
