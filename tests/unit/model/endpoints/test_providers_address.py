"""An address as used, as stored, and as shown."""

import pytest

from tests.endpoint import Answer, Endpoint, says
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError
from tui.core.ports import ModelRequest
from tui.model.endpoints.listing import offered_by
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import endpoint_key, query_of, usable_url, without_secrets
from tui.model.openai_api.openai_chat import OpenAIChat


def profile(url: str) -> ModelProfile:
    return ModelProfile("test", url, "m")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("localhost:11434/v1/", "http://localhost:11434/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://h/v1/chat/completions/?a=b#c", "https://h/v1"),
        ("https://h/v1/?a=/chat/completions", "https://h/v1"),
        ("https://h/v1/Chat/Completions", "https://h/v1"),
        ("https://h/v1/responses", "https://h/v1"),
        ("https://h/v1?", "https://h/v1"),
    ],
)
def test_an_address_is_completed(written: str, meant: str) -> None:
    assert usable_url(profile(written)) == meant
    assert endpoint_key(profile(written)) == meant


AZURE = "/openai/deployments/gpt-4o"


@pytest.mark.parametrize("written", [AZURE, f"{AZURE}/", f"{AZURE}/chat/completions"])
async def test_the_query_of_an_address_is_sent_with_every_request(written: str) -> None:
    listing = Answer(body={"data": [{"id": "m"}]})
    pages = {f"{AZURE}/models?api-version=2024-10-21&x=": listing}
    async with Endpoint([says("Hi")], prefix=AZURE, pages=pages) as endpoint:
        url = f"{endpoint.origin}{written}?api-version=2024-10-21&x"
        model = OpenAIChat(profile(url))
        request = ModelRequest("", [UserMessage("hi")])
        _ = [part async for part in model.stream(request)]
        await model.aclose()
        assert [one.id for one in await offered_by(profile(url))] == ["m"]
        sent = [one.path for one in (*endpoint.requests, *endpoint.others)]
    assert sent == [f"{AZURE}/chat/completions?api-version=2024-10-21&x=", *pages]


def test_an_address_with_too_many_parameters_is_rejected() -> None:
    with pytest.raises(ConfigError, match="parameters"):
        query_of(profile("https://h/v1?" + "a=b&" * 60))


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
