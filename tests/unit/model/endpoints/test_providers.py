"""Providers recognized by environment variables and addresses."""

import pytest

from tui.model.endpoints.providers import PROVIDERS, from_environment, is_local, provider_of


def named(env: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(found.name, found.base_url, found.model) for found in from_environment(env)]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_the_key_of_each_provider_gives_its_profile(provider) -> None:
    (found,) = from_environment({provider.keys[-1]: " sk-x\n"})
    assert (found.name, found.base_url, found.model) == (provider.name, provider.base_url, provider.model)
    assert found.api_key is not None and found.api_key.reveal() == "sk-x"
    assert provider_of(found.base_url) is provider


def test_several_keys_give_profiles_in_a_fixed_order() -> None:
    found = named({"XAI_API_KEY": "x", "DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"})
    assert [name for name, _, _ in found] == ["openai", "deepseek", "xai"]


def test_empty_variables_count_as_unset() -> None:
    assert named({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": " ", "OPENAI_MODEL": "m"}) == []
    assert named({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": ""})[0][1] == "https://api.openai.com/v1"


def test_a_base_url_in_the_environment_replaces_that_of_the_provider() -> None:
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost:8000/v1", "OPENAI_MODEL": "qwen3"}
    assert named(env) == [("openai", "http://localhost:8000/v1", "qwen3")]


def test_an_address_alone_gives_an_endpoint_without_a_key() -> None:
    (found,) = from_environment({"OPENAI_BASE_URL": "http://localhost:8000/v1"})
    assert found.api_key is None


def test_the_key_is_not_in_the_repr_of_a_profile() -> None:
    assert "sk-secret" not in repr(from_environment({"OPENAI_API_KEY": "sk-secret"}))


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:8000", True),
        ("http://192.168.1.7/v1", True),
        ("http://172.20.0.2/v1", True),
        ("http://172.40.0.2/v1", False),
        ("http://gpu-box/v1", True),
        ("http://nas.local/v1", True),
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
