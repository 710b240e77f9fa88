"""Providers recognized by environment variables and addresses."""

import pytest

from tests.cases import each_case
from tests.endpoint import Answer, Endpoint, says
from tests.streams import output_at
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError
from tui.core.ports import ModelRequest
from tui.model.endpoints.listing import offered_by
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import (
    PROVIDERS,
    bare_url,
    endpoint_key,
    from_environment,
    is_local,
    provider_of,
    query_of,
    usable_url,
)


@each_case("provider", PROVIDERS)
def test_the_key_of_each_provider_gives_its_profile(provider) -> None:
    (found,) = from_environment({provider.keys[-1]: " sk-x\n"})
    assert (found.name, found.base_url, found.model) == (provider.name, provider.base_url, provider.model)
    assert found.api_key is not None and found.api_key.reveal() == "sk-x"
    assert provider_of(found.base_url) is provider


OPENAI = ("openai", "https://api.openai.com/v1", "gpt-5.1")


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"XAI_API_KEY": "x", "OPENAI_API_KEY": "o"}, [OPENAI, ("xai", "https://api.x.ai/v1", "grok-4")]),
        ({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": " ", "OPENAI_MODEL": "m"}, []),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": ""}, [OPENAI]),
        (
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost:8000/v1", "OPENAI_MODEL": "qwen3"},
            [("openai", "http://localhost:8000/v1", "qwen3")],
        ),
    ],
    ids=["a fixed order", "empty is unset", "an empty address", "another address"],
)
def test_variables_give_profiles(env: dict[str, str], found: list[tuple[str, str, str]]) -> None:
    assert [(one.name, one.base_url, one.model) for one in from_environment(env)] == found


def test_an_address_alone_gives_an_endpoint_without_a_key() -> None:
    (found,) = from_environment({"OPENAI_BASE_URL": "http://localhost:8000/v1"})
    assert found.api_key is None


def test_the_key_is_not_in_the_repr_of_a_profile() -> None:
    assert "sk-secret" not in repr(from_environment({"OPENAI_API_KEY": "sk-secret"}))


@each_case(
    ("url", "private"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://172.20.0.2/v1", True),
        ("http://172.40.0.2/v1", False),
        ("http://gpu-box/v1", True),
        ("http://nas.local/v1", True),
        ("http://nas.local./v1", True),
        ("http://db.internal/v1", True),
        ("http://box.home.arpa/v1", True),
        ("http://100.64.0.9/v1", True),
        ("http://[fe80::1]/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://10.example.com/v1", False),
        ("http://[not", False),
    ],
)
def test_private_addresses_are_recognized(url: str, private: bool) -> None:
    assert is_local(url) is private


def test_a_host_that_only_looks_like_a_provider_is_not_one() -> None:
    assert provider_of("https://api.openai.com.evil.example/v1") is None


def profile(url: str) -> ModelProfile:
    return ModelProfile("test", url, "m")


@each_case(
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
        await output_at(profile(url), ModelRequest("", [UserMessage("hi")]))
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
    assert bare_url(url) == shown
