"""What types of settings accept, beyond the type itself."""

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.cases import each_case
from tui.settings.field_types import EnvValue, ExtensionId, Headers, Texts, issuer_fault


@pytest.mark.parametrize("url", ["https://idp.example", "http://127.0.0.1:9000", "http://localhost"])
def test_an_issuer_is_read_encrypted_or_from_this_machine(url: str) -> None:
    assert issuer_fault(url) == ""


@pytest.mark.parametrize("url", ["http://idp.example", "http://localhost.example", "idp.example", "ftp://x"])
def test_any_other_issuer_has_a_fault(url: str) -> None:
    assert issuer_fault(url)


def test_a_single_text_is_a_list_of_one() -> None:
    assert TypeAdapter(Texts).validate_python("*.py") == ["*.py"]


def test_a_number_is_the_text_of_a_variable_but_a_boolean_is_an_error() -> None:
    assert TypeAdapter(EnvValue).validate_python(5) == "5"
    with pytest.raises(ValidationError):
        TypeAdapter(EnvValue).validate_python(True)


def test_a_header_in_two_spellings_is_an_error() -> None:
    with pytest.raises(ValidationError, match="two spellings"):
        TypeAdapter(Headers).validate_python({"X-Key": "a", "x-key": "b"})


@each_case("text", ["skills", "", "a b/c", "/skills", "io.x/"])
def test_an_extension_is_named_by_its_whole_id(text: str) -> None:
    with pytest.raises(ValidationError, match="must be an id"):
        TypeAdapter(ExtensionId).validate_python(text)
