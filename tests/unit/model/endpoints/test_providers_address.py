"""An address as used, as stored, and as shown."""

import pytest

from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import endpoint_key, usable_url, without_secrets


def profile(url: str) -> ModelProfile:
    return ModelProfile("test", url, "m")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("localhost:11434/v1/", "http://localhost:11434/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_is_completed(written: str, meant: str) -> None:
    assert usable_url(profile(written)) == meant
    assert endpoint_key(profile(written)) == meant


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:hunter2@host.example:8443/v1?key=abc#x", "https://host.example:8443/v1"),
        ("http://ada:hunter2@[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://ada:hunter2@host:notaport/v1?key=abc", "host:notaport/v1"),
    ],
)
def test_no_secret_in_an_address_is_shown(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
