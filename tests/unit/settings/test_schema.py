"""The types of the configuration."""

import pytest
from pydantic import ValidationError

from tui.settings.references import FromEnvironment
from tui.settings.schema import LimitSettings, ModelSettings, ServerSettings, Settings, name_fault


def test_nothing_is_needed():
    assert Settings.model_validate({}) == Settings()


@pytest.mark.parametrize("value", ["5", 5.5, True, None, [5]])
def test_a_limit_is_a_whole_number_and_nothing_that_could_become_one(value: object):
    with pytest.raises(ValidationError):
        LimitSettings.model_validate({"max_steps": value})


def test_a_whole_number_may_stand_for_seconds():
    assert LimitSettings.model_validate({"turn_seconds": 30}).turn_seconds == 30.0


@pytest.mark.parametrize("text", ["x", "", "1.5"])
def test_text_of_the_environment_that_is_not_a_number_is_refused(text: str):
    with pytest.raises(ValidationError):
        LimitSettings.model_validate({"max_steps": FromEnvironment(text)})


@pytest.mark.parametrize("url", ["ftp://h", "h/v1", "http://", "http://h:x/", "", "javascript:alert(1)"])
def test_an_endpoint_is_an_http_address(url: str):
    with pytest.raises(ValidationError):
        ModelSettings.model_validate({"model": "m", "base_url": url})


@pytest.mark.parametrize("price", [-0.1, float("inf"), "0.3", True])
def test_the_price_of_cached_tokens_is_a_number_of_at_least_0(price: object):
    with pytest.raises(ValidationError):
        ModelSettings.model_validate({"model": "m", "price_in": 3.0, "price_cached": price})


def test_a_price_of_cached_tokens_needs_that_of_others():
    with pytest.raises(ValidationError, match="`price_cached` but no `price_in`"):
        ModelSettings.model_validate({"model": "m", "price_out": 3.0, "price_cached": 0.3})


def test_an_error_text_never_holds_the_value():
    with pytest.raises(ValidationError) as raised:
        ModelSettings.model_validate({"model": "m", "api_key": ["sk-secret"]})
    assert "sk-secret" not in str(raised.value)


def test_a_server_with_a_url_only_is_an_http_server():
    assert ServerSettings.model_validate({"url": "https://h/mcp"}).kind == "http"


@pytest.mark.parametrize("name", ["weather", "two words", "天气", "a.b", "x" * 64])
def test_ordinary_names_are_fine(name: str):
    assert name_fault(name) == ""
