"""From configuration and environment to a model: keys, choices, learned facts."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Endpoint, refuses, says
from tests.streams import output_of_model
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError, ModelError, UsageError
from tui.core.ports import ChatModel, ModelRequest, MonotonicClock, ToolSpec, Usage
from tui.core.secrets.redact import Secret
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.options import Options
from tui.runtime.profiles import Profiles, forget, make_model, offered
from tui.settings.learned_file import LearnedFile
from tui.settings.load import Loaded, load_text

ASK = ModelRequest("", [UserMessage("hi")])


@pytest.fixture(autouse=True)
def nothing_runs_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ignore local model servers on this machine."""
    monkeypatch.setattr("tui.model.endpoints.listing.candidates", lambda env: [])
    yield


def configured(text: str, env: Mapping[str, str] | None = None) -> Loaded:
    loaded = load_text(text, Path("config.toml"), env or {})
    assert loaded.settings.models
    return loaded


def profile(text: str, env: Mapping[str, str] | None = None) -> ModelProfile:
    loaded = configured(text, env)
    (found,) = Profiles(loaded, env or {}).configured()
    return found


def found_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a search of this machine find Ollama."""

    async def detected(_: object) -> list[ModelProfile]:
        return [ModelProfile("ollama", "http://127.0.0.1:11434/v1", "m", source="detected")]

    monkeypatch.setattr("tui.runtime.profiles.detect", detected)


def made(profile: ModelProfile) -> ChatModel:
    return make_model(profile, MonotonicClock(), lambda captured: None)


async def sent_by(profile: ModelProfile, *replies: Any) -> list[Any]:
    """Send a request with a profile to an endpoint, and return it."""
    async with Endpoint(replies or [says("a")]) as endpoint:
        model = made(replace(profile, base_url=endpoint.base_url))
        await output_of_model(model.stream(ASK))
        await model.aclose()
    return endpoint.requests


# ---- keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        ("", "openai"),
        ('base_url = "https://api.deepseek.com/v1"', "deepseek"),
        ('base_url = "https://api.openai.com.evil.example/v1"', ""),
        ('base_url = "http://localhost:8000/v1"', ""),
        ('base_url = "http://localhost:8000/v1"\napi_key_env = "OPENAI_API_KEY"', "openai"),
        ('api_key_env = "MINE"', ""),
        ('api_key = "${MINE:-literal}"', "literal"),
    ],
)
def test_the_key_of_a_provider_is_sent_only_to_it_or_where_the_user_binds_it(lines: str, key: str) -> None:
    env = {"OPENAI_API_KEY": "openai", "DEEPSEEK_API_KEY": "deepseek"}
    found = profile(f'[models.m]\nmodel = "m"\n{lines}', env)
    assert (found.api_key.reveal() if found.api_key else "") == key


async def test_the_openai_key_is_not_sent_to_another_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    env = {"OPENAI_API_KEY": "sk-mine"}
    free = profile('[models.m]\nmodel = "m"\nbase_url = "http://localhost:1/v1"', env)
    (sent,) = await sent_by(free)
    assert "sk-mine" not in str(sent.headers)
    bound = profile('[models.m]\nmodel = "m"\nbase_url = "http://h/v1"\napi_key_env = "OPENAI_API_KEY"', env)
    (sent,) = await sent_by(bound)
    assert sent.headers["authorization"] == "Bearer sk-mine"


IN_KEYCHAIN = '[models.work]\nmodel = "m"\napi_key = "keyring:mcptui/work"\nbase_url = "http://h/v1"'


async def test_a_key_in_the_keychain_is_read_when_its_model_is_selected(
    keychain: dict[tuple[str, str], str],
) -> None:
    keychain["mcptui", "work"] = "sk-kept"
    loaded = configured(IN_KEYCHAIN)
    assert profile(IN_KEYCHAIN).api_key is None
    for found in (await Profiles(loaded, {}).chosen(None), await Profiles(loaded, {}).named("work")):
        assert found is not None and found.api_key == Secret("sk-kept")


async def test_a_missing_keychain_is_reported_when_its_model_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match=r"work: .*keyring"):
        await Profiles(configured(IN_KEYCHAIN), {}).chosen(None)


def test_a_keychain_reference_is_not_a_secret_and_is_shown() -> None:
    loaded = configured(IN_KEYCHAIN)
    assert not loaded.secrets and "keyring:mcptui/work" in loaded.to_masked_toml()


# ---- choices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["k", "my k"])
@pytest.mark.parametrize("is_default", [True, False])
async def test_a_profile_with_a_wrong_key_is_refused_with_that_key(name: str, is_default: bool) -> None:
    named = f'default_model = "{name}"\n' if is_default else ""
    text = f'{named}[models."{name}"]\nmodel = "m"\ntemprature = 1\n[models.good]\nmodel = "m"\n'
    expected = rf"profile “{name}” cannot be used: .*temprature: unknown key, did you"
    with pytest.raises(ConfigError, match=expected):
        await Profiles(configured(text), {}).chosen(None if is_default else name)


@pytest.mark.parametrize(
    ("env", "asked", "expect"),
    [
        ({}, None, "mine"),
        ({"OPENAI_API_KEY": "k"}, "openai", "openai"),
        ({}, "ollama", "ollama"),
        ({}, "demo", None),
    ],
)
async def test_the_named_model_is_used_wherever_it_is_known_from(
    env: dict[str, str], asked: str | None, expect: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_here(monkeypatch)
    mine = configured('[models.mine]\nmodel = "m"\napi_key = "k"')
    found = await Profiles(mine, env).chosen(asked)
    assert (found and found.name) == expect


async def test_without_a_configured_model_the_environment_comes_before_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found_here(monkeypatch)
    nothing = load_text("", Path("config.toml"), {})
    by_env = await Profiles(nothing, {"OPENAI_API_KEY": "k"}).chosen(None)
    here = await Profiles(nothing, {}).chosen(None)
    assert by_env is not None and here is not None and (by_env.name, here.name) == ("openai", "ollama")


async def test_the_picker_lists_what_is_configured_then_the_environment_then_the_demo() -> None:
    text = (
        '[models.mine]\nmodel = "m"\nbase_url = "http://h/v1"\ncontext_window = 9000\ntool_protocol = "xml"'
    )
    found = await Profiles(configured(text), {"DEEPSEEK_API_KEY": "k"}).choices()
    assert [(one.name, one.source) for one in found] == [
        ("mine", "configuration"),
        ("deepseek", "environment"),
        ("demo", "built in"),
    ]
    assert [one.window for one in found] == [9000, 131_072, None]
    assert found[0].facts == ("text protocol xml",) and not found[0].problem


async def test_the_picker_shows_why_a_profile_cannot_work() -> None:
    text = '[models.a]\nmodel = "m"\n[models.b]\nmodel = "m"\napi_key = "k\u00e9y"'
    found = await Profiles(configured(text), {}).choices()
    assert [one.problem for one in found[:2]] == [
        "OPENAI_API_KEY is not set",
        "the key in api_key contains invalid characters",
    ]


async def test_rejected_parameters_of_a_model_are_remembered_and_shown() -> None:
    refusal = refuses(400, "stream_options: extra inputs")
    async with Endpoint([refusal, says("a"), says("b"), says("c")]) as endpoint:
        for name in ("m", "m", "other"):  # as in three runs of the program
            model = made(ModelProfile("mine", endpoint.base_url, name))
            await output_of_model(model.stream(ASK))
            await model.aclose()
        assert ["stream_options" in one.json for one in endpoint.requests] == [True, False, False, True]
        text = f'[models.mine]\nmodel = "m"\nbase_url = "{endpoint.base_url}"'
        assert (await Profiles(configured(text), {}).choices())[0].learned == ("rejects stream_options",)
        other = configured(text.replace('"m"', '"other"'))
        assert (await Profiles(other, {}).choices())[0].learned == ()


async def test_in_the_next_run_a_model_without_function_calling_gets_tools_as_text() -> None:
    request = ModelRequest("", [UserMessage("hi")], [ToolSpec("a__b", "", {"type": "object"})])
    async with Endpoint([refuses(400, "m does not support tools"), says("a"), says("b")]) as endpoint:
        mine = ModelProfile("mine", endpoint.base_url, "m")
        for _ in range(2):
            model = made(mine)
            assert (await output_of_model(model.stream(request))).error is None
            await model.aclose()
        assert ["tools" in one.json for one in endpoint.requests] == [True, False, False]
        text = f'[models.mine]\nmodel = "m"\nbase_url = "{endpoint.base_url}"'
        (found, *_) = await Profiles(configured(text), {}).choices()
        assert (found.facts, found.learned) == (("text protocol xml",), ("no function calling",))


async def test_credentials_in_a_url_are_neither_remembered_nor_shown() -> None:
    async with Endpoint([refuses(400, "stream_options: extra inputs"), refuses(400, "no")]) as endpoint:
        address = endpoint.base_url.replace("http://", "http://user:hunter2@")
        model = made(ModelProfile("m", address, "m"))
        heard = await output_of_model(model.stream(ASK))
        await model.aclose()
    (entry,) = LearnedFile().entries()
    assert entry.endpoint == endpoint.base_url
    assert heard.error is not None and "hunter2" not in str(heard.error)
    loaded = configured(f'[models.m]\nmodel = "m"\nbase_url = "{address}"')
    assert (await Profiles(loaded, {}).choices())[0].where == endpoint.base_url


async def test_the_models_of_an_endpoint_are_listed_without_those_that_cannot_chat() -> None:
    async with Endpoint(models=["b", "text-embedding-3", "a"]) as endpoint:
        loaded = configured(f'[models.mine]\nmodel = "m"\nbase_url = "{endpoint.base_url}"')
        assert await offered(await Profiles(loaded, {}).named("mine")) == ["b", "a"]
    with pytest.raises(ModelError):
        await offered(await Profiles(loaded, {}).named("mine"))
    assert await offered(await Profiles(loaded, {}).named("demo")) == ("demo",)
    with pytest.raises(UsageError):
        await Profiles(loaded, {}).named("nobody")


@pytest.mark.parametrize(("cached", "cost"), [("0.3", 0.6 + 0.24 + 1.5), ("0", 0.6 + 1.5), ("", 4.5)])
def test_cached_tokens_have_a_price_of_their_own_or_that_of_the_input(cached: str, cost: float) -> None:
    more = f"price_cached = {cached}\n" if cached else ""
    found = profile(f'[models.m]\nmodel = "m"\n{more}price_in = 3.0\nprice_out = 15\ncurrency = "EUR"')
    assert found.cost_of(Usage(1_000_000, 100_000, cached=800_000)) == pytest.approx(cost)
    assert found.currency == "EUR"


@pytest.mark.parametrize(("command", "waits"), [(None, True), ("run", False), ("call", False)])
async def test_the_demo_model_is_paced_only_on_a_screen(
    command: str | None, waits: bool, monkeypatch: pytest.MonkeyPatch
):
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    options = Options.from_args(argparse.Namespace(command=command))
    model = make_model(None, MonotonicClock(), lambda captured: None, paced=options.paced)
    heard = await output_of_model(model.stream(ASK))
    assert heard.reply is not None
    assert any(waited) is waits


async def test_learned_limitations_are_deleted_for_one_model() -> None:
    file = LearnedFile()
    file.save("http://h/v1", "m", {"dropped": ["seed"]})
    file.save("http://h/v1", "other", {"dropped": ["seed"]})
    profile = ModelProfile("p", "http://h/v1", "m")
    assert forget(profile) and not forget(profile)
    assert [entry.model for entry in file.entries()] == ["other"]
