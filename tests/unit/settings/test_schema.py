"""The types of the configuration."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tui.settings.load import load_text
from tui.settings.references import FromEnvironment
from tui.settings.schema import LimitSettings, ModelSettings, Section


@pytest.mark.parametrize(
    ("section", "key", "values"),
    [
        (LimitSettings, "max_steps", ["5", 5.5, True, None, [5], *map(FromEnvironment, ("x", "", "1.5"))]),
        (ModelSettings, "base_url", ["ftp://h", "h/v1", "http://", "http://h:x/", "", "javascript:alert(1)"]),
        (ModelSettings, "price_cached", [-0.1, float("inf"), "0.3", True]),
    ],
)
def test_an_invalid_value_is_refused_and_not_converted(
    section: type[Section], key: str, values: list[object]
):
    given = {} if section is LimitSettings else {"model": "m", "price_in": 3.0}
    for value in values:
        with pytest.raises(ValidationError):
            section.model_validate({**given, key: value})


def test_a_price_of_cached_tokens_requires_a_price_of_input_tokens():
    with pytest.raises(ValidationError, match="`price_cached` but no `price_in`"):
        ModelSettings.model_validate({"model": "m", "price_out": 3.0, "price_cached": 0.3})


def test_an_error_message_never_contains_the_value():
    with pytest.raises(ValidationError) as raised:
        ModelSettings.model_validate({"model": "m", "api_key": ["sk-secret"]})
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("kind", ["servers", "models"])
def test_a_header_in_two_spellings_is_an_error(kind: str, tmp_path: Path):
    needed = 'url = "https://h"' if kind == "servers" else 'model = "m"'
    text = f'[{kind}.a]\n{needed}\nheaders = {{ User-Agent = "a", user-agent = "b" }}\n'
    (problem,) = load_text(text, tmp_path / "config.toml", {}).problems
    assert problem.path == f"{kind}.a.headers"
    assert problem.message == "contains user-agent in two spellings, which are the same header"
